//! Building something new out of sight and putting it in place in one step.
//!
//! A stage is a hidden directory beside the profiles. Its builder holds a kernel lock on it, so a stage nobody
//! locks belongs to a process that died, and the next builder removes it.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;
use tempfile::{NamedTempFile, TempDir};

use super::{ProfileError, walk};
use crate::files::{Lock, create_private_dir, failed};
use crate::profile::ProfileName;

const NEW: &str = ".new-";
const GONE: &str = ".gone-";
const EXPORT: &str = ".hermes-export-";

/// The lock that whoever changes profiles holds for a moment.
pub fn lock_path(profiles: &Path) -> PathBuf {
    profiles.join(".lock")
}

/// Whether a path is called like a stage.
pub fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_bytes().starts_with(NEW.as_bytes()))
}

/// A hidden directory that becomes a profile, or vanishes.
#[derive(Debug)]
pub struct Stage {
    dir: TempDir,
    profiles: PathBuf,
    /// Shows other processes that this stage is being worked on.
    _claim: Option<File>,
}

impl Stage {
    /// Makes an empty stage below `profiles`, and removes what dead processes left there.
    pub fn begin(profiles: &Path) -> Result<Self, ProfileError> {
        create_private_dir(profiles)?;
        let lock = Lock::acquire(&lock_path(profiles))?;
        let leftovers = abandoned(profiles, &[NEW, GONE]);
        let dir = tempfile::Builder::new()
            .prefix(NEW)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(profiles)
            .map_err(failed("create a directory in", profiles))?;
        let claim = claim(dir.path());
        drop(lock);
        for (path, _claim) in leftovers {
            // Removing it is a courtesy; it stays hidden if that fails.
            let _ = remove_tree(&path);
        }
        Ok(Self { dir, profiles: profiles.to_path_buf(), _claim: claim })
    }

    /// Where to build.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Puts the finished profile in place, unless the name was taken meanwhile.
    pub fn publish(self, name: &ProfileName) -> Result<PathBuf, ProfileError> {
        let target = self.profiles.join(name.as_str());
        let _lock = Lock::acquire(&lock_path(&self.profiles))?;
        match rename_new(self.dir.path(), &target) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                return Err(ProfileError::Exists { name: name.to_string(), path: target });
            }
            Err(e) => return Err(failed("put in place", &target)(e).into()),
        }
        // Its name is gone, so there is nothing left to clean up.
        let _ = self.dir.keep();
        Ok(target)
    }
}

/// A private file in a directory of the user's choice, to be renamed when it is complete. Those that dead
/// processes left there are removed.
pub fn temporary_file(profiles: &Path, dir: &Path) -> Result<NamedTempFile, ProfileError> {
    let _lock = Lock::acquire(&lock_path(profiles))?;
    for (path, _claim) in abandoned(dir, &[EXPORT]) {
        let _ = fs::remove_file(path);
    }
    let file = tempfile::Builder::new()
        .prefix(EXPORT)
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(dir)
        // The library names the file it tried to make, which means nothing to anybody.
        .map_err(|e| io::Error::from(e.kind()))
        .map_err(failed("write in", dir))?;
    // Where files cannot be locked nobody can sweep them either.
    let _ = flock(file.as_file(), FlockOperation::NonBlockingLockExclusive);
    Ok(file)
}

/// A directory that was moved out of sight to be removed.
#[derive(Debug)]
pub struct Hidden {
    path: PathBuf,
    _claim: Option<File>,
}

impl Hidden {
    /// Removes it; what cannot be removed stays hidden, and is named with the reason.
    pub fn remove(self) -> Result<(), (PathBuf, io::Error)> {
        remove_tree(&self.path).map_err(|e| (self.path, e))
    }
}

/// Moves a directory out of sight. Call it under the lock.
pub fn hide(profiles: &Path, dir: &Path) -> Result<Hidden, ProfileError> {
    let mut random = [0u8; 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .map_err(|e| failed("find a free name in", profiles)(e.into()))?;
    let hidden = profiles.join(format!("{GONE}{:016x}", u64::from_ne_bytes(random)));
    rename_new(dir, &hidden).map_err(failed("remove", dir))?;
    Ok(Hidden { _claim: claim(&hidden), path: hidden })
}

/// Removes a directory with all it holds, also where its owner had taken away the right to write.
fn remove_tree(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            make_removable(dir)?;
            fs::remove_dir_all(dir)
        }
        result => result,
    }
}

fn make_removable(dir: &Path) -> io::Result<()> {
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_removable(&entry.path())?;
        }
    }
    Ok(())
}

/// Renames without ever replacing something.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems do not know the flag; our own writers are kept out by the lock.
        Err(Errno::INVAL | Errno::NOSYS) if fs::symlink_metadata(to).is_err() => fs::rename(from, to),
        Err(Errno::INVAL | Errno::NOSYS) => Err(io::ErrorKind::AlreadyExists.into()),
        result => Ok(result?),
    }
}

/// Hidden entries whose maker is dead, each with our claim on it. Call it under the lock.
fn abandoned(dir: &Path, prefixes: &[&str]) -> Vec<(PathBuf, File)> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let hidden = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
    entries
        .flatten()
        .filter(|e| e.file_name().to_str().is_some_and(hidden))
        .filter_map(|e| claim(&e.path()).map(|claim| (e.path(), claim)))
        .collect()
}

/// Locks a directory or file itself. Where a file system cannot do that nobody can, and nothing is swept there.
fn claim(path: &Path) -> Option<File> {
    let handle = walk::open(path).ok()?;
    flock(&handle, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(handle)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_dropped_stage_leaves_nothing_and_a_published_one_is_the_profile() {
        let dir = tempfile::tempdir().unwrap();
        let profiles = dir.path().join("profiles");
        drop(Stage::begin(&profiles).unwrap());
        assert_eq!(names(&profiles), [".lock"]);
        let stage = Stage::begin(&profiles).unwrap();
        fs::write(stage.path().join("x"), "1").unwrap();
        stage.publish(&ProfileName::parse("work").unwrap()).unwrap();
        assert_eq!(names(&profiles), [".lock", "work"]);
        assert_eq!(fs::read_to_string(profiles.join("work/x")).unwrap(), "1");
    }

    #[test]
    fn an_existing_name_is_never_replaced_not_even_an_empty_directory() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        let stage = Stage::begin(dir.path()).unwrap();
        let error = stage.publish(&ProfileName::parse("work").unwrap()).unwrap_err();
        assert!(matches!(error, ProfileError::Exists { .. }));
        assert_eq!(names(dir.path()), [".lock", "work"]);
    }

    #[test]
    fn leftovers_of_the_dead_are_swept_and_the_living_keep_theirs() {
        let dir = tempfile::tempdir().unwrap();
        for left in [".new-dead", ".gone-dead"] {
            fs::create_dir_all(dir.path().join(left).join("sub")).unwrap();
        }
        let living = Stage::begin(dir.path()).unwrap();
        let other = Stage::begin(dir.path()).unwrap();
        assert!(living.path().is_dir() && other.path().is_dir());
        assert_eq!(names(dir.path()).len(), 3, "{:?}", names(dir.path()));
    }

    #[test]
    fn a_tree_without_write_permission_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("top");
        fs::create_dir_all(top.join("shut")).unwrap();
        fs::write(top.join("shut/file"), "x").unwrap();
        fs::set_permissions(top.join("shut"), fs::Permissions::from_mode(0o500)).unwrap();
        remove_tree(&top).unwrap();
        assert!(!top.exists());
    }
}
