//! The files of a database as the directory shows them. Nothing here opens a database file: see the crate's README.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::error::Error;
use crate::retry::random;

/// What is to be seen of a database file before SQLite opens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Missing,
    Empty,
    Filled,
}

pub(crate) fn presence(path: &Path) -> Result<Presence, Error> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            Err(Error::io(path, "open", io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")))
        }
        Ok(metadata) if metadata.len() == 0 => Ok(Presence::Empty),
        // SQLite takes a single byte for an empty database and would write over it.
        Ok(metadata) if metadata.len() == 1 => Err(Error::NotADatabase { path: path.to_owned() }),
        Ok(_) => Ok(Presence::Filled),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Presence::Missing),
        Err(error) => Err(Error::io(path, "open", error)),
    }
}

/// The file SQLite puts beside the database, such as `-wal`.
pub(crate) fn sidecar(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether a log with content lies beside the database.
pub(crate) fn has_log(path: &Path) -> bool {
    fs::metadata(sidecar(path, "-wal")).is_ok_and(|metadata| metadata.len() > 0)
}

/// A fingerprint of a database that nobody has open. It changes when somebody opens it for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Files' times advance in ticks of up to ten milliseconds. A stamp this much older than now tells any later change.
const TICKS: Duration = Duration::from_millis(25);

/// The stamp of a database at rest, once it is old enough to tell a later change; nothing if it does not come to rest.
pub(crate) fn settled(path: &Path) -> Option<Stamp> {
    for _ in 0..3 {
        let stamp = at_rest(path)?;
        match stamp.rests_since(SystemTime::now()) {
            Rest::Long => return Some(stamp),
            Rest::Short(wait) => thread::sleep(wait),
            Rest::Future => return None,
        }
    }
    None
}

/// How long ago a file last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Long,
    /// So recently that it might change again within the same tick; wait this long.
    Short(Duration),
    /// Another clock than ours sets its times.
    Future,
}

impl Stamp {
    fn rests_since(&self, now: SystemTime) -> Rest {
        let (seconds, nanoseconds) = self.changed.max(self.modified);
        let changed = Duration::new(seconds.max(0) as u64, nanoseconds.clamp(0, 999_999_999) as u32);
        match now.duration_since(SystemTime::UNIX_EPOCH + changed) {
            Ok(age) if age > TICKS => Rest::Long,
            Ok(age) => Rest::Short(TICKS.saturating_sub(age) + Duration::from_millis(1)),
            Err(_) => Rest::Future,
        }
    }
}

/// The stamp of a database at rest; nothing if a log or journal lies beside it, as it does while one is in use and
/// after a crash.
pub(crate) fn at_rest(path: &Path) -> Option<Stamp> {
    if ["-wal", "-journal"].iter().any(|suffix| sidecar(path, suffix).exists()) {
        return None;
    }
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp {
        inode: metadata.ino(),
        length: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}

/// Makes an empty file that only its owner may read; SQLite gives its sidecars the same mode. Fine if it exists already.
///
/// The file is made under another name and then linked into place, so that our handle is closed before anybody can have
/// opened the database: closing it later would cancel the locks of SQLite in another thread.
pub(crate) fn create_private(path: &Path) -> Result<(), Error> {
    let temporary = beside(path)?;
    let made = create_new(&temporary).and_then(|()| publish(&temporary, path));
    match made {
        Ok(()) => Ok(()),
        Err(error) => {
            // Already gone if it was linked; of no use to anybody otherwise.
            let _ = fs::remove_file(&temporary);
            if error.kind() == io::ErrorKind::AlreadyExists {
                Ok(())
            } else {
                Err(Error::io(path, "create", error))
            }
        }
    }
}

/// Makes an empty private file under a name that is not taken.
pub(crate) fn create_new(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop)
}

/// Gives a finished file its name, unless that is taken.
pub(crate) fn publish(temporary: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, path) {
        Ok(()) => fs::remove_file(temporary),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Not every filesystem has links.
        Err(_) if path.exists() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(temporary, path),
    }
}

/// A free name in the same directory, hidden and easy to recognise as left over.
pub(crate) fn beside(path: &Path) -> Result<PathBuf, Error> {
    let name = path.file_name().ok_or_else(|| {
        Error::io(path, "create", io::Error::new(io::ErrorKind::InvalidInput, "not a file name"))
    })?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{:016x}.tmp", random()));
    Ok(path.with_file_name(hidden))
}

/// Makes a new directory entry survive a power cut.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_counts_once_its_tick_is_over() {
        let stamp = Stamp { inode: 1, length: 1, modified: (1000, 0), changed: (1000, 500_000_000) };
        let at = |millis| SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
        assert_eq!(stamp.rests_since(at(1_000_499)), Rest::Future);
        assert_eq!(stamp.rests_since(at(1_000_500)), Rest::Short(Duration::from_millis(26)));
        assert_eq!(stamp.rests_since(at(1_000_520)), Rest::Short(Duration::from_millis(6)));
        assert_eq!(stamp.rests_since(at(1_000_526)), Rest::Long);
    }
}
