//! Going on reading a log while it is written, rotated and truncated.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::LogFile;
use super::record::Record;
use super::rotate::FileId;
use super::tail::End;
use crate::files::{FileError, failed};

/// Renamed files that are still looked at: a writer that does not notice the rotation goes on writing there.
const MAX_SOURCES: usize = 4;
/// What is read from one file per look.
const MAX_READ: u64 = 4 * 1024 * 1024;
/// A line that does not end is let go at this length.
const MAX_LINE: usize = 256 * 1024;

/// Gives the records that were added since the last look.
#[derive(Debug)]
pub struct Follower {
    log: LogFile,
    /// The files being read, oldest first; the last one is current.
    sources: VecDeque<Source>,
    /// The newest record; lines that belong to it may still come.
    held: Option<Record>,
}

impl Follower {
    /// Goes on where a [`super::tail`] ended.
    pub fn new(log: LogFile, end: End) -> Self {
        let source = end.file.and_then(|file| Source::new(file, end.offset).ok());
        Self { log, sources: source.into_iter().collect(), held: None }
    }

    /// Looks once. The newest record is held back until a look brings nothing that could belong to it.
    pub fn poll(&mut self) -> Result<Vec<Record>, FileError> {
        self.notice_rotation()?;
        let mut lines = Vec::new();
        for source in &mut self.sources {
            source.read(&mut lines).map_err(failed("read", self.log.path()))?;
        }
        let mut records = Vec::new();
        if lines.is_empty() {
            records.extend(self.held.take());
        }
        for line in lines {
            let record = Record::starting(line);
            match &mut self.held {
                Some(held) if record.head.is_none() && held.head.is_some() => held.push_line(&record.text),
                _ => records.extend(self.held.replace(record)),
            }
        }
        Ok(records)
    }

    /// Opens what has appeared at the path. When several rotations happened between two looks, the files in between
    /// are read too.
    fn notice_rotation(&mut self) -> Result<(), FileError> {
        let Some(current) = id_of(self.log.path()) else { return Ok(()) };
        let known = self.sources.back().map(|s| s.id);
        if known == Some(current) {
            return Ok(());
        }
        let mut new = Vec::new();
        for path in std::iter::once(self.log.path().to_path_buf()).chain(self.log.predecessors()) {
            let Some(source) = open(&path)? else { continue };
            if self.sources.iter().any(|s| s.id == source.id) {
                break;
            }
            if !new.iter().any(|s: &Source| s.id == source.id) {
                new.push(source);
            }
            // Nothing was read before: everything older than the first file was there before us.
            if known.is_none() {
                break;
            }
        }
        self.sources.extend(new.into_iter().rev());
        while self.sources.len() > MAX_SOURCES {
            self.sources.pop_front();
        }
        Ok(())
    }
}

fn id_of(path: &Path) -> Option<FileId> {
    fs::metadata(path).ok().map(|meta| FileId::of(&meta))
}

fn open(path: &Path) -> Result<Option<Source>, FileError> {
    match File::open(path) {
        Ok(file) => Source::new(file, 0).map(Some).map_err(failed("read", path)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed("open", path)(e)),
    }
}

/// One file with the place up to which it was read.
#[derive(Debug)]
struct Source {
    file: File,
    id: FileId,
    offset: u64,
    /// The start of a line whose end has not been written yet.
    partial: Vec<u8>,
}

impl Source {
    fn new(file: File, offset: u64) -> io::Result<Self> {
        let id = FileId::of(&file.metadata()?);
        Ok(Self { file, id, offset, partial: Vec::new() })
    }

    /// Adds the lines that were completed since the last look.
    fn read(&mut self, lines: &mut Vec<String>) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if length < self.offset {
            // Truncated: it starts anew.
            self.offset = 0;
            self.partial.clear();
        }
        let mut fresh = vec![0; (length - self.offset).min(MAX_READ) as usize];
        let mut filled = 0;
        while filled < fresh.len() {
            match self.file.read_at(&mut fresh[filled..], self.offset + filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.offset += filled as u64;
        self.split(&fresh[..filled], lines);
        Ok(())
    }

    fn split(&mut self, fresh: &[u8], lines: &mut Vec<String>) {
        for piece in fresh.split_inclusive(|b| *b == b'\n') {
            let (content, ended) =
                piece.strip_suffix(b"\n").map_or((piece, false), |content| (content, true));
            let room = MAX_LINE.saturating_sub(self.partial.len());
            self.partial.extend_from_slice(&content[..content.len().min(room)]);
            if ended {
                lines.push(String::from_utf8_lossy(&self.partial).into_owned());
                self.partial.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::logging::{Query, Unfinished, tail};
    use std::io::Write;

    fn line(n: usize) -> String {
        format!("2026-11-15 20:54:14,735 INFO x: {n}\n")
    }

    fn append(path: &Path, text: &str) {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn start(log: &LogFile) -> Follower {
        let end = tail(log, &Query::default(), Some(0), Unfinished::Leave).unwrap().end;
        Follower::new(log.clone(), end)
    }

    /// Looks until a look brings nothing.
    fn messages(follower: &mut Follower) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let records = follower.poll().unwrap();
            if records.is_empty() && follower.held.is_none() {
                return all;
            }
            all.extend(records.iter().map(|r| r.message().to_owned()));
        }
    }

    fn fixture() -> (tempfile::TempDir, LogFile) {
        let dir = tempfile::tempdir().unwrap();
        let log = LogFile::new(dir.path(), "agent");
        (dir, log)
    }

    #[test]
    fn new_lines_come_once_and_old_ones_never() {
        let (_dir, log) = fixture();
        append(log.path(), &line(1));
        let mut follower = start(&log);
        assert!(messages(&mut follower).is_empty());
        append(log.path(), &line(2));
        assert_eq!(messages(&mut follower), ["2"]);
        append(log.path(), "2026-11-15 20:54:14,735 IN");
        assert!(messages(&mut follower).is_empty());
        append(log.path(), "FO x: 3\n");
        assert_eq!(messages(&mut follower), ["3"]);
    }

    #[test]
    fn a_traceback_written_later_joins_its_record() {
        let (_dir, log) = fixture();
        let mut follower = start(&log);
        append(log.path(), &line(1));
        assert!(follower.poll().unwrap().is_empty());
        append(log.path(), "Traceback:\n  File\n");
        assert_eq!(messages(&mut follower), ["1\nTraceback:\n  File"]);
    }

    #[test]
    fn a_log_that_appears_later_is_read_from_its_start() {
        let (_dir, log) = fixture();
        let mut follower = start(&log);
        assert!(messages(&mut follower).is_empty());
        append(log.path(), &line(1));
        assert_eq!(messages(&mut follower), ["1"]);
    }

    #[test]
    fn rotations_lose_nothing_even_several_between_two_looks() {
        let (_dir, log) = fixture();
        append(log.path(), &line(1));
        let mut follower = start(&log);
        append(log.path(), &line(2));
        fs::rename(log.path(), log.rotated(2)).unwrap();
        append(&log.rotated(1), &line(3));
        append(log.path(), &line(4));
        assert_eq!(messages(&mut follower), ["2", "3", "4"]);
        append(&log.rotated(2), &line(5));
        append(log.path(), &line(6));
        assert_eq!(messages(&mut follower), ["5", "6"]);
    }

    #[test]
    fn a_truncated_log_starts_anew() {
        let (_dir, log) = fixture();
        append(log.path(), &(line(1) + &line(2)));
        let mut follower = start(&log);
        fs::write(log.path(), line(3)).unwrap();
        assert_eq!(messages(&mut follower), ["3"]);
    }

    #[test]
    fn a_removed_log_is_waited_for() {
        let (_dir, log) = fixture();
        append(log.path(), &line(1));
        let mut follower = start(&log);
        fs::remove_file(log.path()).unwrap();
        assert!(messages(&mut follower).is_empty());
        append(log.path(), &line(2));
        assert_eq!(messages(&mut follower), ["2"]);
    }
}
