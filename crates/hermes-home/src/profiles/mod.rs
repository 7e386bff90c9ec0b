//! Working with profiles: list, create, clone, rename, delete, describe, export, import, alias, use.
//!
//! - Everything new is built in a hidden directory beside its place and renamed into it ([`stage`]), so a crash
//!   leaves the old state or the new one. Leftovers are hidden from [`Profiles::list`] and swept later.
//! - A profile is its real directory: links are shown as links and never followed to delete something.
//! - Databases are copied by `SQLite`, through the [`CopyDatabase`] the caller brings.

mod active;
mod alias;
mod copy;
mod create;
mod delete;
mod describe;
mod error;
mod export;
mod import;
mod layout;
mod list;
mod mounts;
mod rename;
mod running;
mod stage;
mod walk;

use std::fs;
use std::path::{Path, PathBuf};

pub use alias::{AliasError, Surroundings};
pub use copy::{CopyDatabase, DatabaseCopy};
pub use create::{BundledSkills, CloneScope, Contents, Created, Logins, NewProfile};
pub use delete::{Deleted, StickyAfter};
pub use describe::{Author, Description};
pub use error::ProfileError;
pub use export::Exported;
pub use import::{ArchiveError, Imported, Limits};
pub use list::{Details, Model, Summary};
pub use rename::Renamed;
pub use running::Gateway;

use self::layout::Place;
use crate::files::Lock;
use crate::profile::{Profile, ProfileName};

/// The profiles of one root.
#[derive(Debug, Clone)]
pub struct Profiles {
    root: PathBuf,
    user_home: PathBuf,
    proc_dir: PathBuf,
}

impl Profiles {
    /// The profiles below `root`, whose aliases live in `<user_home>/.local/bin`.
    pub fn new(root: &Path, user_home: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            user_home: user_home.to_path_buf(),
            proc_dir: PathBuf::from("/proc"),
        }
    }

    /// Looks for running processes here instead of in `/proc`.
    #[must_use]
    pub fn with_proc_dir(mut self, dir: &Path) -> Self {
        self.proc_dir = dir.to_path_buf();
        self
    }

    /// Where the named profiles live.
    pub fn profiles_dir(&self) -> PathBuf {
        self.root.join("profiles")
    }

    /// The directory of an existing profile.
    pub fn dir(&self, profile: &Profile) -> Result<PathBuf, ProfileError> {
        let dir = profile.dir(&self.root);
        if *profile == Profile::Default || dir.is_dir() {
            return Ok(dir);
        }
        Err(ProfileError::Missing { name: profile.as_str().to_owned() })
    }

    /// Whether a profile's directory is the root, under whatever name.
    fn place(&self, dir: &Path) -> Place {
        let here = walk::identity(dir);
        if here.is_some() && here == walk::identity(&self.root) { Place::Root } else { Place::Named }
    }

    /// Keeps other processes from changing profiles, and finishes a rename or delete that was cut short.
    fn lock(&self) -> Result<Lock, ProfileError> {
        let lock = Lock::acquire(&stage::lock_path(&self.profiles_dir()))?;
        // What cannot be finished now can wait; only who renames or deletes must know.
        let _ = rename::finish_earlier(self, &lock);
        delete::finish_earlier(self);
        Ok(lock)
    }

    /// Finishes what a dead process began, before something longer is done without the lock.
    fn settle(&self) -> Result<(), ProfileError> {
        self.lock().map(drop)
    }

    /// Refuses a name that is taken by anything, also by a file or a broken link.
    fn refuse_existing(&self, name: &ProfileName) -> Result<PathBuf, ProfileError> {
        let path = self.profiles_dir().join(name.as_str());
        if fs::symlink_metadata(&path).is_ok() {
            return Err(ProfileError::Exists { name: name.to_string(), path });
        }
        Ok(path)
    }

    /// Refuses to touch a profile whose gateway runs.
    fn refuse_running(&self, profile: &Profile, dir: &Path) -> Result<(), ProfileError> {
        match running::gateway(dir, &self.proc_dir) {
            None => Ok(()),
            Some(gateway) => Err(ProfileError::Running {
                name: profile.as_str().to_owned(),
                pid: gateway.pid,
                evidence: gateway.evidence,
            }),
        }
    }
}
