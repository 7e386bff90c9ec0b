//! Appending lines to a log that several processes write and rotate.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use super::{Limit, LogFile};
use crate::files::{FileError, Lock, create_private_dir, failed};

/// A log opened for appending, at the first line and not before.
#[derive(Debug)]
pub struct RotatingFile {
    log: LogFile,
    limit: Limit,
    open: Option<Opened>,
    /// A write stopped in the middle of a line: the next one starts a new line first.
    torn: bool,
}

#[derive(Debug)]
struct Opened {
    file: File,
    id: FileId,
}

/// Names a file even after it was renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub fn of(meta: &fs::Metadata) -> Self {
        Self { device: meta.dev(), inode: meta.ino() }
    }
}

impl RotatingFile {
    pub fn new(log: LogFile, limit: Limit) -> Self {
        Self { log, limit, open: None, torn: false }
    }

    /// Appends a finished line in one write, so that lines of several processes never mix.
    ///
    /// A process that looks just before another one rotates still writes to the renamed file: the line is then at the
    /// end of `.1` and not lost.
    pub fn append(&mut self, line: &str) -> Result<(), FileError> {
        let size = self.open_current()?;
        if self.is_full(size, line) && self.rotate(line)? {
            self.open_current()?;
        }
        let Some(Opened { file, .. }) = &mut self.open else { return Ok(()) };
        let whole = if self.torn { Cow::Owned(format!("\n{line}")) } else { Cow::Borrowed(line) };
        let written = write_once(file, whole.as_bytes()).map_err(failed("write", self.log.path()))?;
        self.torn = written < whole.len();
        if self.torn {
            let cut = io::Error::new(ErrorKind::WriteZero, "only part of a line was written");
            return Err(failed("write", self.log.path())(cut));
        }
        Ok(())
    }

    /// Makes sure the file we hold is the one at the path, and gives its size.
    fn open_current(&mut self) -> Result<u64, FileError> {
        let path = self.log.path();
        if let (Some(opened), Ok(meta)) = (&self.open, fs::metadata(path))
            && opened.id == FileId::of(&meta)
        {
            return Ok(meta.len());
        }
        self.open = None;
        if let Some(dir) = path.parent() {
            create_private_dir(dir)?;
        }
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .map_err(failed("open", path))?;
        let meta = file.metadata().map_err(failed("read", path))?;
        self.open = Some(Opened { file, id: FileId::of(&meta) });
        Ok(meta.len())
    }

    fn is_full(&self, size: u64, line: &str) -> bool {
        size > 0 && size + line.len() as u64 > self.limit.max_bytes
    }

    /// Renames the chain of files. False when the lock could not be had: one line too many is better than waiting.
    fn rotate(&self, line: &str) -> Result<bool, FileError> {
        let Some(_lock) = self.rotation_lock()? else { return Ok(false) };
        // Another process may have rotated while we waited.
        let path = self.log.path();
        let ours = self.open.as_ref().map(|o| o.id);
        let Ok(meta) = fs::metadata(path) else { return Ok(true) };
        if ours != Some(FileId::of(&meta)) || !self.is_full(meta.len(), line) || !meta.is_file() {
            return Ok(true);
        }
        if self.limit.backups == 0 {
            return fs::remove_file(path).map_err(failed("rotate", path)).map(|()| true);
        }
        for number in (1..self.limit.backups).rev() {
            rename(&self.log.rotated(number), &self.log.rotated(number + 1))?;
        }
        rename(path, &self.log.rotated(1))?;
        Ok(true)
    }

    fn rotation_lock(&self) -> Result<Option<Lock>, FileError> {
        let path = self.log.path().with_file_name(".rotate.lock");
        for _ in 0..100 {
            if let Some(lock) = Lock::try_acquire(&path)? {
                return Ok(Some(lock));
            }
            // Whoever holds it only renames a few files.
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(None)
    }
}

/// A gap in the chain is normal: the reference and the user remove files too.
fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    match fs::rename(from, to) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(failed("rotate", from)(e)),
        _ => Ok(()),
    }
}

/// One `write`, repeated only when nothing was written at all.
fn write_once(file: &mut File, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match file.write(bytes) {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn log(dir: &tempfile::TempDir, max_bytes: u64, backups: u32) -> (LogFile, RotatingFile) {
        let file = LogFile::new(&dir.path().join("logs"), "agent");
        (file.clone(), RotatingFile::new(file, Limit { max_bytes, backups }))
    }

    fn read(path: impl AsRef<std::path::Path>) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn nothing_exists_before_the_first_line_and_then_it_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let (log, mut writer) = log(&dir, 100, 1);
        assert!(!log.path().parent().unwrap().exists());
        writer.append("one\n").unwrap();
        assert_eq!(fs::metadata(log.path()).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(log.path().parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_chain_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let (log, mut writer) = log(&dir, 10, 2);
        for line in ["first1\n", "second\n", "third3\n", "fourth\n"] {
            writer.append(line).unwrap();
        }
        assert_eq!(read(log.path()), "fourth\n");
        assert_eq!(log.predecessors(), [log.rotated(1), log.rotated(2)]);
        assert_eq!((read(log.rotated(1)), read(log.rotated(2))), ("third3\n".into(), "second\n".into()));
    }

    #[test]
    fn without_backups_the_file_starts_anew() {
        let dir = tempfile::tempdir().unwrap();
        let (log, mut writer) = log(&dir, 10, 0);
        writer.append("first1\n").unwrap();
        writer.append("second\n").unwrap();
        assert_eq!(read(log.path()), "second\n");
        assert!(log.predecessors().is_empty());
    }

    #[test]
    fn a_line_larger_than_the_file_may_be_is_still_written() {
        let dir = tempfile::tempdir().unwrap();
        let (log, mut writer) = log(&dir, 4, 1);
        writer.append("long line\n").unwrap();
        assert_eq!(read(log.path()), "long line\n");
    }

    #[test]
    fn a_file_that_was_renamed_or_removed_by_someone_else_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (log, mut writer) = log(&dir, 100, 1);
        writer.append("one\n").unwrap();
        fs::rename(log.path(), log.rotated(1)).unwrap();
        writer.append("two\n").unwrap();
        assert_eq!((read(log.rotated(1)), read(log.path())), ("one\n".into(), "two\n".into()));
        fs::remove_dir_all(log.path().parent().unwrap()).unwrap();
        writer.append("three\n").unwrap();
        assert_eq!(read(log.path()), "three\n");
    }

    #[test]
    fn a_full_disk_is_an_error_and_later_lines_are_whole() {
        let dir = tempfile::tempdir().unwrap();
        let (log, mut writer) = log(&dir, 100, 1);
        fs::create_dir_all(log.path().parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/dev/full", log.path()).unwrap();
        assert!(writer.append("lost\n").is_err());
        fs::remove_file(log.path()).unwrap();
        writer.torn = true;
        writer.append("whole\n").unwrap();
        writer.append("again\n").unwrap();
        assert_eq!(read(log.path()), "\nwhole\nagain\n");
    }
}
