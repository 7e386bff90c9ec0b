//! The last records of a log, across its rotated files.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::LogFile;
use super::query::Query;
use super::record::{MAX_TEXT, Record};
use super::reverse::ReverseLines;
use super::rotate::FileId;
use crate::files::{FileError, failed};

/// What was read, and where following goes on.
#[derive(Debug)]
pub struct Tail {
    /// The records, oldest first.
    pub records: Vec<Record>,
    /// The end of what was read.
    pub end: End,
}

/// A place in the file that was current when it was read; no file when there was none.
#[derive(Debug, Default)]
pub struct End {
    pub(super) file: Option<File>,
    pub(super) offset: u64,
}

/// What happens to a last line without a line end: one that is just being written, or one that never will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// Show what is there of it.
    Show,
    /// Leave it to whoever follows.
    Leave,
}

/// Reads the last `most` records that `query` accepts (all of them for `None`), newest files first and no more of them
/// than needed. A log that does not exist has no records.
pub fn tail(
    log: &LogFile,
    query: &Query,
    most: Option<usize>,
    unfinished: Unfinished,
) -> Result<Tail, FileError> {
    let mut wanted = Wanted::new(query, most.unwrap_or(usize::MAX));
    let mut seen = Vec::new();
    let mut end = End::default();
    for path in std::iter::once(log.path().to_path_buf()).chain(log.predecessors()) {
        let Some((file, id, length)) = open(&path)? else { continue };
        // A rotation while we look moves a file we already read down the chain.
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let is_current = path == log.path();
        let upto = match unfinished {
            Unfinished::Leave if is_current => last_line_end(&file, length).map_err(failed("read", &path))?,
            _ => length,
        };
        let more = wanted.read(&mut ReverseLines::new(&file, upto)).map_err(failed("read", &path))?;
        if is_current {
            end = End { file: Some(file), offset: upto };
        }
        if more == More::No {
            break;
        }
    }
    Ok(Tail { records: wanted.finish(), end })
}

fn open(path: &Path) -> Result<Option<(File, FileId, u64)>, FileError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed("open", path)(e)),
    };
    let meta = file.metadata().map_err(failed("read", path))?;
    if !meta.is_file() {
        let odd = io::Error::new(ErrorKind::InvalidInput, "not a regular file");
        return Err(failed("read", path)(odd));
    }
    Ok(Some((file, FileId::of(&meta), meta.len())))
}

fn last_line_end(file: &File, length: u64) -> io::Result<u64> {
    let mut lines = ReverseLines::new(file, length);
    if lines.ends_a_line()? { Ok(length) } else { lines.next_line().map(|_| lines.position()) }
}

#[derive(Debug, PartialEq, Eq)]
enum More {
    Yes,
    No,
}

/// Lines without a head line in sight stand alone from here on: the file is not in our format.
const MAX_CONTINUATION: usize = 2000;

/// Collects records backwards.
struct Wanted<'a> {
    query: &'a Query,
    most: usize,
    records: Vec<Record>,
    /// Lines whose head line has not been met yet, last line first.
    lines: Vec<String>,
    held: usize,
}

impl<'a> Wanted<'a> {
    fn new(query: &'a Query, most: usize) -> Self {
        Self { query, most, records: Vec::new(), lines: Vec::new(), held: 0 }
    }

    fn read(&mut self, lines: &mut ReverseLines<'_>) -> io::Result<More> {
        while self.records.len() < self.most {
            let Some(line) = lines.next_line()? else { return Ok(More::Yes) };
            let record = Record::starting(line);
            if record.head.is_none() {
                self.hold(record.text);
                continue;
            }
            if self.query.is_past(&record) {
                self.lines.clear();
                return Ok(More::No);
            }
            self.complete(record);
        }
        Ok(More::No)
    }

    fn complete(&mut self, mut record: Record) {
        for line in std::mem::take(&mut self.lines).iter().rev() {
            record.push_line(line);
        }
        self.held = 0;
        self.keep(record);
    }

    fn hold(&mut self, line: String) {
        self.held += line.len();
        self.lines.push(line);
        if self.lines.len() > MAX_CONTINUATION || self.held > MAX_TEXT {
            self.let_go();
        }
    }

    fn let_go(&mut self) {
        self.held = 0;
        for text in std::mem::take(&mut self.lines) {
            self.keep(Record { head: None, text });
        }
    }

    fn keep(&mut self, record: Record) {
        if self.records.len() < self.most && self.query.accepts(&record) {
            self.records.push(record);
        }
    }

    fn finish(mut self) -> Vec<Record> {
        self.let_go();
        self.records.reverse();
        self.records
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::logging::Level;
    use std::fs;

    fn at(second: u32, rest: &str) -> String {
        format!("2026-11-15 20:54:{second:02},000 {rest}")
    }

    fn with_files(files: &[(&str, &str)]) -> (tempfile::TempDir, LogFile) {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(dir.path().join(name), content).unwrap();
        }
        let log = LogFile::new(dir.path(), "agent");
        (dir, log)
    }

    fn texts(log: &LogFile, query: &Query, most: Option<usize>) -> Vec<String> {
        tail(log, query, most, Unfinished::Show).unwrap().records.into_iter().map(|r| r.text).collect()
    }

    #[test]
    fn a_missing_log_is_empty() {
        let (_dir, log) = with_files(&[]);
        assert_eq!(texts(&log, &Query::default(), Some(5)), Vec::<String>::new());
    }

    #[test]
    fn rotated_files_are_read_as_far_as_needed() {
        let line = |n| at(n, &format!("INFO x: {n}"));
        let (dir, log) = with_files(&[
            ("agent.log", &format!("{}\n{}\n", line(4), line(5))),
            ("agent.log.1", &format!("{}\n", line(3))),
            ("agent.log.2", &format!("{}\n{}\n", line(1), line(2))),
            ("agent.log.old", "not ours"),
        ]);
        assert_eq!(texts(&log, &Query::default(), Some(4)), [line(2), line(3), line(4), line(5)]);
        assert_eq!(texts(&log, &Query::default(), None).len(), 5);
        fs::remove_file(dir.path().join("agent.log.1")).unwrap();
        fs::create_dir(dir.path().join("agent.log.1")).unwrap();
        assert_eq!(texts(&log, &Query::default(), Some(2)), [line(4), line(5)]);
    }

    #[test]
    fn a_traceback_stays_with_its_record_also_across_files() {
        let (_dir, log) = with_files(&[
            ("agent.log", &format!("ZeroDivisionError\n{}\n", at(2, "INFO x: fine"))),
            ("agent.log.1", &format!("{}\nTraceback:\n  File\n", at(1, "ERROR x: boom"))),
        ]);
        let query = Query { level: Some(Level::Error), ..Query::default() };
        assert_eq!(
            texts(&log, &query, Some(9)),
            [at(1, "ERROR x: boom\nTraceback:\n  File\nZeroDivisionError")]
        );
    }

    #[test]
    fn a_file_in_another_format_is_a_list_of_lines() {
        let content = (0..5000).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let (_dir, log) = with_files(&[("agent.log", &content)]);
        assert_eq!(texts(&log, &Query::default(), Some(2)), ["line 4998", "line 4999"]);
        let query = Query { level: Some(Level::Debug), ..Query::default() };
        assert!(texts(&log, &query, Some(2)).is_empty());
    }

    #[test]
    fn an_unfinished_line_is_shown_or_left() {
        let whole = at(1, "INFO x: whole");
        let (_dir, log) = with_files(&[("agent.log", &format!("{whole}\n2026-11-15 20:5"))]);
        assert_eq!(texts(&log, &Query::default(), None), [format!("{whole}\n2026-11-15 20:5")]);
        let left = tail(&log, &Query::default(), None, Unfinished::Leave).unwrap();
        assert_eq!(left.records.len(), 1);
        assert_eq!(
            (left.records[0].text.as_str(), left.end.offset),
            (whole.as_str(), whole.len() as u64 + 1)
        );
    }

    #[test]
    fn reading_stops_at_records_that_are_too_old() {
        let (dir, log) = with_files(&[
            ("agent.log", "2026-11-15 20:54:00,000 INFO x: new\n"),
            ("agent.log.1", "2026-11-15 10:00:00,000 INFO x: old\n"),
        ]);
        fs::create_dir(dir.path().join("agent.log.2")).unwrap();
        let query = Query { since: Some("2026-11-15T20:00:00".parse().unwrap()), ..Query::default() };
        assert_eq!(texts(&log, &query, None), ["2026-11-15 20:54:00,000 INFO x: new"]);
    }
}
