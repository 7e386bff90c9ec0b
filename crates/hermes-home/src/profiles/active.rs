//! The sticky active profile: `<root>/active_profile`.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::walk::identity;
use super::{ProfileError, Profiles};
use crate::files::{Access, Lock, failed, read_if_exists, write_locked};
use crate::profile::Profile;

impl Profiles {
    /// Makes a profile the one that is used when nothing else is said.
    pub fn use_profile(&self, profile: &Profile) -> Result<PathBuf, ProfileError> {
        let lock = self.lock()?;
        let dir = self.dir(profile)?;
        self.write_active(profile, &lock)?;
        Ok(dir)
    }

    /// The profile the sticky file names, if it holds a proper name.
    pub(super) fn sticky(&self) -> Option<Profile> {
        let bytes = read_if_exists(&self.active_file()).ok().flatten()?;
        Profile::parse(String::from_utf8_lossy(&bytes).trim()).ok()
    }

    /// Whether the sticky profile leads to the same directory as `profile`, under whatever name.
    pub(super) fn sticky_leads_to(&self, profile: &Profile) -> bool {
        let Some(sticky) = self.sticky() else { return false };
        let here = identity(&profile.dir(&self.root));
        sticky == *profile || (here.is_some() && here == identity(&sticky.dir(&self.root)))
    }

    /// No file means the default profile, for the reference as well.
    pub(super) fn write_active(&self, profile: &Profile, lock: &Lock) -> Result<(), ProfileError> {
        let path = self.active_file();
        if *profile != Profile::Default {
            return Ok(write_locked(&path, format!("{profile}\n").as_bytes(), Access::Keep, lock)?);
        }
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("remove", &path)(e).into()),
            _ => Ok(()),
        }
    }

    fn active_file(&self) -> PathBuf {
        self.root.join("active_profile")
    }
}
