//! What was sent before: searched by prefix with the arrows, by words with Ctrl-R, kept in a file.
//!
//! The file has the format of Python's `prompt_toolkit`, so that both programs share it: `# time`, then each line of
//! the entry behind a `+`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Reading the newest of a long file is enough, and takes the same time however long it is.
const READ_AT_MOST: u64 = 256 << 10;
/// A longer entry is not kept: it is pasted text.
const LONGEST_ENTRY: usize = 64 << 10;

/// The history and where one is in it.
#[derive(Debug, Default)]
pub struct History {
    entries: Vec<String>,
    walk: Option<Walk>,
}

/// A walk through the entries that begin with what was typed.
#[derive(Debug)]
struct Walk {
    /// What was being written before.
    draft: String,
    prefix: String,
    at: usize,
}

impl History {
    /// A history with entries, oldest first.
    pub fn new(entries: Vec<String>) -> Self {
        Self { entries, walk: None }
    }

    /// Adds what was sent. Repetitions and what begins with a blank are left out.
    pub fn add(&mut self, text: &str) -> Added {
        self.walk = None;
        let skip = text.trim().is_empty()
            || text.starts_with(' ')
            || text.len() > LONGEST_ENTRY
            || self.entries.last().is_some_and(|last| last == text);
        if skip {
            return Added::No;
        }
        self.entries.push(text.to_owned());
        Added::Yes
    }

    /// The next older entry that begins as `text` did when the walk began.
    pub fn older(&mut self, text: &str) -> Option<String> {
        let walk = self.walk.get_or_insert_with(|| Walk {
            draft: text.to_owned(),
            prefix: text.to_owned(),
            at: self.entries.len(),
        });
        let found = self.entries[..walk.at].iter().rposition(|e| e.starts_with(&walk.prefix) && e != text)?;
        walk.at = found;
        Some(self.entries[found].clone())
    }

    /// The next newer one; at the end what was being written.
    pub fn newer(&mut self, text: &str) -> Option<String> {
        let walk = self.walk.as_mut()?;
        let newer =
            self.entries[walk.at..].iter().skip(1).position(|e| e.starts_with(&walk.prefix) && e != text);
        if let Some(skipped) = newer {
            walk.at += 1 + skipped;
            return Some(self.entries[walk.at].clone());
        }
        self.walk.take().map(|walk| walk.draft)
    }

    /// Something was typed: the next walk starts from it.
    pub fn stop(&mut self) {
        self.walk = None;
    }

    /// The newest entry that goes on from `text`, to suggest it.
    pub fn suggestion(&self, text: &str) -> Option<&str> {
        let found = self.entries.iter().rev().find(|e| e.len() > text.len() && e.starts_with(text))?;
        let rest = &found[text.len()..];
        (!text.is_empty() && !rest.contains('\n')).then_some(rest)
    }

    /// The newest entry that contains `words`, leaving out as many matches as `skip` says.
    pub fn search(&self, words: &str, skip: usize) -> Option<&str> {
        let lower = words.to_lowercase();
        let mut matches = self.entries.iter().rev().filter(|e| e.to_lowercase().contains(&lower));
        matches.nth(skip).map(String::as_str)
    }
}

/// Whether an entry was worth keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is new.
    Yes,
    /// It is empty, repeated, private or too long.
    No,
}

/// Why the history could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} the input history '{}': {source}", path.display())]
pub struct HistoryError {
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// The file the history is kept in.
#[derive(Debug, Clone)]
pub struct HistoryFile {
    path: PathBuf,
}

impl HistoryFile {
    /// The file at that path; it is made when something is added.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Reads the newest entries, oldest first.
    pub fn load(&self) -> Result<Vec<String>, HistoryError> {
        match read_tail(&self.path) {
            Ok(text) => Ok(parse(&text)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(HistoryError { doing: "read", path: self.path.clone(), source }),
        }
    }

    /// Appends an entry in one write, so that two programs can share the file. `time` is local, to the microsecond.
    pub fn append(&self, text: &str, time: &str) -> Result<(), HistoryError> {
        let failed = |source| HistoryError { doing: "write", path: self.path.clone(), source };
        let mut options = OpenOptions::new();
        let mut file = options.append(true).create(true).mode(0o600).open(&self.path).map_err(failed)?;
        file.write_all(entry(text, time).as_bytes()).map_err(failed)
    }
}

fn entry(text: &str, time: &str) -> String {
    let mut out = format!("\n# {time}\n");
    for line in text.split('\n') {
        out.push('+');
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn read_tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let skipped = length.saturating_sub(READ_AT_MOST);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(READ_AT_MOST).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    if skipped == 0 {
        return Ok(text.into_owned());
    }
    // The first entry is cut somewhere; it begins anew at the next comment.
    Ok(text.find("\n#").map(|at| text[at..].to_owned()).unwrap_or_default())
}

fn parse(text: &str) -> Vec<String> {
    let mut entries = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.split('\n') {
        match line.strip_prefix('+') {
            Some(line) => lines.push(line),
            None if lines.is_empty() => {}
            None => entries.push(std::mem::take(&mut lines).join("\n")),
        }
    }
    if !lines.is_empty() {
        entries.push(lines.join("\n"));
    }
    entries
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn history() -> History {
        History::new(["git status", "cargo test", "git log"].map(str::to_owned).to_vec())
    }

    #[test]
    fn arrows_walk_through_what_begins_the_same() {
        let mut history = history();
        assert_eq!(history.older("git").as_deref(), Some("git log"));
        assert_eq!(history.older("git log").as_deref(), Some("git status"));
        assert_eq!(history.older("git status"), None);
        assert_eq!(history.newer("git status").as_deref(), Some("git log"));
        assert_eq!(history.newer("git log").as_deref(), Some("git"), "the draft comes back");
        assert_eq!(history.newer("git"), None);
    }

    #[test]
    fn repetitions_and_private_lines_are_left_out() {
        let mut history = history();
        assert_eq!(history.add("git log"), Added::No);
        assert_eq!(history.add(" secret"), Added::No);
        assert_eq!(history.add("new"), Added::Yes);
        assert_eq!(history.older("").as_deref(), Some("new"));
    }

    #[test]
    fn suggests_and_searches_the_newest() {
        let history = history();
        assert_eq!(history.suggestion("git"), Some(" log"));
        assert_eq!(history.suggestion(""), None);
        assert_eq!(history.search("GIT", 1), Some("git status"));
        assert_eq!(history.search("nothing", 0), None);
    }

    #[test]
    fn the_file_is_private_and_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = HistoryFile::new(dir.path().join(".hermes_history"));
        assert_eq!(file.load().unwrap(), Vec::<String>::new());
        file.append("one", "2026-01-02 03:04:05.000006").unwrap();
        file.append("two\n\n+lines", "2026-01-02 03:04:06.000000").unwrap();
        assert_eq!(file.load().unwrap(), ["one", "two\n\n+lines"]);
        assert_eq!(std::fs::metadata(&file.path).unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&file.path).unwrap();
        assert!(text.starts_with("\n# 2026-01-02 03:04:05.000006\n+one\n\n# "), "{text}");
    }

    #[test]
    fn a_long_file_is_read_from_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h");
        let mut text = String::new();
        for i in 0..20_000 {
            text.push_str(&entry(&format!("entry number {i}"), "t"));
        }
        std::fs::write(&path, text).unwrap();
        let entries = HistoryFile::new(&path).load().unwrap();
        assert_eq!(entries.last().map(String::as_str), Some("entry number 19999"));
        assert!(entries.len() < 20_000 && entries[0].starts_with("entry number "));
    }
}
