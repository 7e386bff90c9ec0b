//! Files that hold the whole output of a command, and keeping their number down.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The directory for such files.
#[derive(Debug)]
pub(crate) struct Spills {
    directory: Option<PathBuf>,
    max_bytes: u64,
    max_age: Duration,
    instance: u64,
    counter: AtomicU64,
}

impl Spills {
    pub(crate) fn new(directory: Option<PathBuf>, max_bytes: u64, max_age: Duration, instance: u64) -> Self {
        let spills = Self { directory, max_bytes, max_age, instance, counter: AtomicU64::new(0) };
        spills.tidy(SystemTime::now());
        spills
    }

    /// A new file.
    fn create(&self) -> io::Result<(PathBuf, File)> {
        let directory = self.directory.as_ref().ok_or_else(|| {
            io::Error::new(io::ErrorKind::Unsupported, "the agent has no directory to write to")
        })?;
        self.tidy(SystemTime::now());
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("{:016x}-{number}.out", self.instance));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok((path, file))
    }

    /// Removes files that are too old, and the oldest while there are too many.
    fn tidy(&self, now: SystemTime) {
        let Some(directory) = &self.directory else { return };
        for path in superfluous(files(directory), now, self.max_bytes, self.max_age) {
            let _ = fs::remove_file(path);
        }
    }
}

type Found = (SystemTime, u64, PathBuf);

fn files(directory: &Path) -> Vec<Found> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let found = entries.flatten().filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        Some((metadata.modified().ok()?, metadata.len(), entry.path()))
    });
    found.collect()
}

/// Which files have to go.
fn superfluous(mut files: Vec<Found>, now: SystemTime, max_bytes: u64, max_age: Duration) -> Vec<PathBuf> {
    files.sort_by_key(|(modified, ..)| std::cmp::Reverse(*modified));
    let mut kept = 0;
    let mut removed = Vec::new();
    for (modified, bytes, path) in files {
        let old = now.duration_since(modified).is_ok_and(|age| age > max_age);
        if old || kept + bytes > max_bytes {
            removed.push(path);
        } else {
            kept += bytes;
        }
    }
    removed
}

/// One output on its way into a file.
#[derive(Debug)]
pub(crate) struct SpillFile {
    path: PathBuf,
    file: Option<File>,
    left: u64,
    pub(crate) trouble: Option<Trouble>,
}

/// Why a file does not hold everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    Full,
    Failed(String),
}

impl SpillFile {
    /// Opens a file for at most `max` bytes.
    pub(crate) fn create(spills: &Spills, max: u64) -> io::Result<Self> {
        let (path, file) = spills.create()?;
        Ok(Self { path, file: Some(file), left: max, trouble: None })
    }

    /// Writes what still fits. Trouble is noted, never reported: the command does not depend on it.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let count = (bytes.len() as u64).min(self.left) as usize;
        if let Err(error) = file.write_all(&bytes[..count]) {
            self.trouble = Some(Trouble::Failed(error.to_string()));
            self.file = None;
            return;
        }
        self.left -= count as u64;
        if count < bytes.len() {
            self.trouble = Some(Trouble::Full);
            self.file = None;
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_oldest_and_the_too_old_go() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000);
        let file = |age: u64, bytes| (now - Duration::from_secs(age), bytes, PathBuf::from(age.to_string()));
        let removed = superfluous(
            vec![file(1, 40), file(50, 40), file(20, 40), file(900, 1)],
            now,
            100,
            Duration::from_mins(10),
        );
        assert_eq!(removed, ["50", "900"].map(PathBuf::from));
    }

    #[test]
    fn a_file_holds_no_more_than_it_may() {
        let directory = tempfile::tempdir().unwrap();
        let spills = Spills::new(Some(directory.path().into()), 1000, Duration::from_mins(1), 1);
        let mut file = SpillFile::create(&spills, 5).unwrap();
        file.write(b"abc");
        assert_eq!(file.trouble, None);
        file.write(b"defgh");
        file.write(b"ij");
        assert_eq!(file.trouble, Some(Trouble::Full));
        assert_eq!(fs::read(file.path()).unwrap(), b"abcde");
    }
}
