//! A file of notes on disk: changed under a lock that the other program takes as well, read again before each change, and
//! replaced in one step.

use std::path::{Path, PathBuf};

use hermes_home::files::{self, Access, FileError, Lock};

use super::change::{Done, Operation, Refusal, apply};
use super::entries::{join, length, parse};

/// A file of notes.
#[derive(Debug, Clone)]
pub struct MemoryFile {
    path: PathBuf,
    limit: usize,
}

/// The notes after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// All entries.
    pub entries: Vec<String>,
    /// What each operation did.
    pub done: Vec<Done>,
}

/// Why notes could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// An operation cannot be done; nothing was changed.
    #[error("{refusal}")]
    Refused {
        /// Which operation, by its place.
        operation: usize,
        /// Why.
        refusal: Refusal,
        /// The entries there are.
        entries: Vec<String>,
    },
    /// Somebody wrote something into the file that a change could lose.
    #[error(
        "'{}' {why}, so it is left as it is; a copy is in '{}'. Write it anew as entries with a line § between them, \
         or move what does not belong there, and try again", .path.display(), .backup.display()
    )]
    Drifted {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
        /// The copy.
        backup: PathBuf,
    },
}

impl MemoryFile {
    /// The file at `path`, which may have `limit` characters.
    pub fn new(path: PathBuf, limit: usize) -> Self {
        Self { path, limit }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many characters it may have.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Its entries; none if there is no file.
    pub fn read(&self) -> Result<Vec<String>, FileError> {
        let bytes = files::read_if_exists(&self.path)?.unwrap_or_default();
        Ok(parse(&String::from_utf8_lossy(&bytes)))
    }

    /// Does all operations or none. `now` is the time in seconds, for the name of a copy.
    pub fn change(&self, operations: &[Operation], now: i64) -> Result<Changed, MemoryError> {
        let lock = Lock::acquire(&with_suffix(&self.path, ".lock"))?;
        let bytes = files::read_if_exists(&self.path)?.unwrap_or_default();
        let only_adds = operations.iter().all(|operation| matches!(operation, Operation::Add { .. }));
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Err(self.drifted("is not UTF-8 text", &bytes, now)?);
        };
        let entries = parse(text);
        let oversized = || entries.iter().any(|entry| entry.chars().count() > self.limit);
        // What only adds cannot lose anything.
        if !only_adds && oversized() {
            let why = "holds an entry that is longer than the whole file may be, as if something else wrote into it";
            return Err(self.drifted(why, &bytes, now)?);
        }
        let (new, done) = match apply(&entries, operations, self.limit) {
            Ok(applied) => applied,
            Err((operation, refusal)) => {
                return Err(MemoryError::Refused { operation, refusal, entries });
            }
        };
        if new != entries {
            files::write_locked(&self.path, join(&new).as_bytes(), Access::Keep, &lock)?;
        }
        Ok(Changed { entries: new, done })
    }

    /// Takes all notes away. Whether there were any.
    pub fn clear(&self) -> Result<bool, FileError> {
        let lock = Lock::acquire(&with_suffix(&self.path, ".lock"))?;
        let there = files::read_if_exists(&self.path)?.is_some_and(|bytes| !bytes.is_empty());
        if there {
            files::write_locked(&self.path, b"", Access::Keep, &lock)?;
        }
        Ok(there)
    }

    /// How full it is with these entries, in per cent, at most 100.
    pub fn percent(&self, entries: &[String]) -> usize {
        (length(entries) * 100 / self.limit.max(1)).min(100)
    }

    /// Keeps a copy of what was found, unless there is one, and says so.
    fn drifted(&self, why: &'static str, bytes: &[u8], now: i64) -> Result<MemoryError, FileError> {
        let path = self.path.clone();
        let backup = if let Some(copy) = self.copy_of(bytes) {
            copy
        } else {
            let copy = with_suffix(&self.path, &format!(".bak.{now}"));
            files::write_atomic(&copy, bytes, Access::Private)?;
            copy
        };
        Ok(MemoryError::Drifted { path, why, backup })
    }

    /// An earlier copy with the same content: a model that tries again and again must not fill the disk.
    fn copy_of(&self, bytes: &[u8]) -> Option<PathBuf> {
        let prefix = format!("{}.bak.", self.path.file_name()?.to_string_lossy());
        let listing = std::fs::read_dir(self.path.parent()?).ok()?;
        let copies = listing.flatten().filter(|file| file.file_name().to_string_lossy().starts_with(&prefix));
        copies.map(|file| file.path()).find(|path| std::fs::read(path).is_ok_and(|kept| kept == bytes))
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(content: &str) -> Operation {
        Operation::Add { content: content.to_owned() }
    }

    fn remove(old_text: &str) -> Operation {
        Operation::Remove { old_text: old_text.to_owned() }
    }

    fn file(limit: usize) -> (tempfile::TempDir, MemoryFile) {
        let dir = tempfile::tempdir().unwrap();
        let file = MemoryFile::new(dir.path().join("memories/MEMORY.md"), limit);
        (dir, file)
    }

    fn text(file: &MemoryFile) -> String {
        std::fs::read_to_string(file.path()).unwrap()
    }

    #[test]
    fn notes_are_kept_and_refusals_change_nothing() {
        let (_dir, file) = file(20);
        assert_eq!(file.read().unwrap(), Vec::<String>::new());
        file.change(&[add("one")], 0).unwrap();
        assert_eq!(file.change(&[add("two"), add("one")], 0).unwrap().entries, ["one", "two"]);
        assert_eq!(text(&file), "one\n§\ntwo");
        let refused = file.change(&[remove("one"), add("far too long for the rest")], 0).unwrap_err();
        let MemoryError::Refused { entries, refusal, .. } = refused else { panic!("{refused}") };
        assert_eq!(entries, ["one", "two"]);
        assert!(matches!(refusal, Refusal::Full { .. }));
        assert_eq!(text(&file), "one\n§\ntwo");
        assert!(file.clear().unwrap() && !file.clear().unwrap());
        assert_eq!(text(&file), "");
    }

    #[test]
    fn what_a_person_wrote_is_never_lost() {
        let (_dir, file) = file(30);
        file.change(&[add("mine")], 0).unwrap();
        std::fs::write(file.path(), format!("mine\n\n{}", "by hand ".repeat(20))).unwrap();
        let before = text(&file);
        for now in [7, 8] {
            let refused = file.change(&[remove("mine")], now).unwrap_err();
            let MemoryError::Drifted { backup, .. } = refused else { panic!("{refused}") };
            assert!(backup.ends_with("MEMORY.md.bak.7"), "one copy is enough: {}", backup.display());
            assert_eq!(std::fs::read_to_string(backup).unwrap(), before);
        }
        assert_eq!(text(&file), before);
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let (_dir, file) = file(100);
        file.change(&[add("x")], 0).unwrap();
        std::fs::write(file.path(), b"caf\xe9").unwrap();
        assert!(matches!(file.change(&[add("y")], 1), Err(MemoryError::Drifted { .. })));
        assert_eq!(std::fs::read(file.path()).unwrap(), b"caf\xe9");
    }

    #[test]
    fn blank_lines_around_entries_are_no_reason_to_refuse() {
        let (_dir, file) = file(100);
        file.change(&[add("x")], 0).unwrap();
        std::fs::write(file.path(), "one\n\n§\n\ntwo\n").unwrap();
        file.change(&[remove("one")], 0).unwrap();
        assert_eq!(text(&file), "two");
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let (_dir, file) = file(100_000);
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let file = file.clone();
                scope.spawn(move || {
                    for note in 0..20 {
                        file.change(&[add(&format!("note {writer}/{note}."))], 0).unwrap();
                    }
                    file.change(&[remove(&format!("note {writer}/0."))], 0).unwrap();
                });
            }
        });
        let entries = file.read().unwrap();
        assert_eq!(entries.len(), 8 * 19);
        let mut sorted = entries.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), entries.len());
    }
}
