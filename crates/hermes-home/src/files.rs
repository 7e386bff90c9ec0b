//! The only way files in a home are written: atomically, with private modes, under a lock where writers meet.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Which mode a written file gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// 0600 always, also when the file was more open before: for files with secrets.
    Private,
    /// What the file has; 0600 for a new one.
    Keep,
}

/// A file operation that failed: what was being done, to what, and why.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system refused.
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// What was being done, as a verb.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Another process kept the lock for too long.
    #[error("{} is locked by another process for more than {}s: see which with `fuser -v` and try again", .path.display(), .waited.as_secs())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
}

/// Turns an [`io::Error`] into a [`FileError`] that says what was being done.
pub fn failed<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> FileError + 'a {
    move |source| FileError::Io { doing, path: path.to_path_buf(), source }
}

/// Creates a directory and its missing parents with mode 0700; existing ones stay as they are.
pub fn create_private_dir(path: &Path) -> Result<(), FileError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed("create directory", path))
}

/// Reads a file; `None` when it does not exist.
pub fn read_if_exists(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    // A pipe or device in the place of a file would block for ever.
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => fs::read(path).map(Some).map_err(failed("read", path)),
        Ok(_) => Err(failed("read", path)(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not an ordinary file",
        ))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed("read", path)(e)),
    }
}

/// Replaces a file's content in one step: readers see the old or the new bytes, also after a crash.
///
/// A symbolic link stays one: its target is replaced. The owner of an existing file is kept when we may.
pub fn write_atomic(path: &Path, bytes: &[u8], access: Access) -> Result<(), FileError> {
    let target = resolve_link(path)?;
    let dir = parent_of(&target)?;
    let mut temp = tempfile::Builder::new()
        .prefix(".hermes-write-")
        .tempfile_in(dir)
        .map_err(failed("write in", dir))?;
    fill(temp.as_file_mut(), &target, bytes, access)?;
    temp.persist(&target).map_err(|e| failed("replace", &target)(e.error))?;
    sync_dir(dir);
    Ok(())
}

/// The same for a file whose writers all hold `lock`: the temporary file has a fixed name, so that one left behind
/// by a killed writer is overwritten by the next instead of piling up.
pub fn write_locked(path: &Path, bytes: &[u8], access: Access, _lock: &Lock) -> Result<(), FileError> {
    let target = resolve_link(path)?;
    let dir = parent_of(&target)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temp = dir.join(format!(".{}.hermes-write", name.trim_start_matches('.')));
    let _ = fs::remove_file(&temp);
    let mut file = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(&temp)
        .map_err(failed("write in", dir))?;
    let done = fill(&mut file, &target, bytes, access)
        .and_then(|()| fs::rename(&temp, &target).map_err(failed("replace", &target)));
    if done.is_err() {
        let _ = fs::remove_file(&temp);
    }
    sync_dir(dir);
    done
}

fn parent_of(target: &Path) -> Result<&Path, FileError> {
    let dir = target.parent().unwrap_or_else(|| Path::new("."));
    create_private_dir(dir)?;
    Ok(dir)
}

/// Writes, sets mode and owner, and makes sure it is on disk.
fn fill(file: &mut File, target: &Path, bytes: &[u8], access: Access) -> Result<(), FileError> {
    let before = fs::metadata(target).ok();
    let mode = match (&before, access) {
        (Some(meta), Access::Keep) => meta.mode() & 0o7777,
        _ => 0o600,
    };
    file.write_all(bytes).map_err(failed("write", target))?;
    file.set_permissions(fs::Permissions::from_mode(mode)).map_err(failed("set the mode of", target))?;
    if let Some(meta) = &before {
        keep_owner(file, meta);
    }
    file.sync_all().map_err(failed("write", target))
}

/// Follows the last component's links, so that a linked config.yaml keeps being one. A link to a file that is not
/// there (a disk that is not mounted, say) is not replaced behind its owner's back.
fn resolve_link(path: &Path) -> Result<PathBuf, FileError> {
    match fs::canonicalize(path) {
        Ok(target) => Ok(target),
        Err(source) if fs::symlink_metadata(path).is_ok() => Err(failed("follow the link", path)(source)),
        Err(_) => Ok(path.to_path_buf()),
    }
}

/// Only root can give a file away; for everyone else the owner is already right or cannot be.
fn keep_owner(file: &File, meta: &fs::Metadata) {
    let _ = std::os::unix::fs::fchown(file, Some(meta.uid()), Some(meta.gid()));
}

/// Some file systems refuse to sync a directory; the data itself is already on disk.
fn sync_dir(dir: &Path) {
    if let Ok(handle) = File::open(dir) {
        let _ = handle.sync_all();
    }
}

/// An exclusive lock between processes, released when dropped or when the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// How long [`Lock::acquire`] waits before it gives up.
    pub const PATIENCE: Duration = Duration::from_secs(15);

    /// Waits for the lock at `path`, creating the (empty) lock file when needed.
    pub fn acquire(path: &Path) -> Result<Self, FileError> {
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(lock) = Self::try_acquire(path)? {
                return Ok(lock);
            }
            let waited = started.elapsed();
            if waited > Self::PATIENCE {
                return Err(FileError::Locked { path: path.to_path_buf(), waited });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Takes the lock at `path` if nobody holds it.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>, FileError> {
        if let Some(dir) = path.parent() {
            create_private_dir(dir)?;
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path)
            .map_err(failed("open lock", path))?;
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(None),
            Err(e) => Err(failed("lock", path)(e.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn new_files_and_directories_are_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/file");
        write_atomic(&path, b"x", Access::Keep).unwrap();
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }

    #[test]
    fn an_existing_mode_is_kept_unless_the_file_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write_atomic(&path, b"new", Access::Keep).unwrap();
        assert_eq!((mode(&path), fs::read_to_string(&path).unwrap().as_str()), (0o644, "new"));
        write_atomic(&path, b"new", Access::Private).unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_atomic(&link, b"new", Access::Keep).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    }

    #[test]
    fn a_dangling_link_is_refused_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path().join("unmounted/file"), &link).unwrap();
        assert!(write_atomic(&link, b"new", Access::Keep).is_err());
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn what_is_not_a_file_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read_if_exists(dir.path()).is_err());
        assert!(read_if_exists(&dir.path().join("none")).unwrap().is_none());
        assert!(read_if_exists(Path::new("/dev/zero")).is_err());
    }

    #[test]
    fn no_temporary_file_is_left_when_the_target_cannot_be_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target");
        fs::create_dir(&path).unwrap();
        assert!(write_atomic(&path, b"x", Access::Keep).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_lock_excludes_and_is_released() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = Lock::try_acquire(&path).unwrap().unwrap();
        assert!(Lock::try_acquire(&path).unwrap().is_none());
        drop(held);
        assert!(Lock::try_acquire(&path).unwrap().is_some());
    }
}
