//! Deleting a profile: out of sight in one step, then removed; never through a link, never beyond the profiles.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::mounts::mount_below;
use super::stage::{Hidden, hide};
use super::{ProfileError, Profiles, rename};
use crate::files::{Access, Lock, failed, read_if_exists, write_locked};
use crate::profile::Profile;

/// What was deleted.
#[derive(Debug)]
pub struct Deleted {
    /// Where the profile was.
    pub path: PathBuf,
    /// The directory that a linked profile pointed to: it was left alone.
    pub kept: Option<PathBuf>,
    /// Aliases that went with it.
    pub aliases: Vec<PathBuf>,
    /// Why an alias did not.
    pub alias_problem: Option<ProfileError>,
    /// Set when the default profile is active again because of this.
    pub active: StickyAfter,
    /// What is left of the directory because the system refused to remove it, and why.
    pub remains: Option<(PathBuf, io::Error)>,
}

/// What became of the sticky active profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StickyAfter {
    /// It is as it was.
    Unchanged,
    /// It was this profile, and follows what happened to it.
    Moved,
}

impl Profiles {
    /// Deletes a profile with everything in it.
    pub fn delete(&self, profile: &Profile) -> Result<Deleted, ProfileError> {
        let lock = self.lock()?;
        rename::finish_earlier(self, &lock)?;
        let dir = self.deletable(profile)?;
        let kept = if is_link(&dir) { fs::canonicalize(&dir).ok() } else { None };
        // No command works while the active profile is a missing one, so this comes before the directory.
        let sticky = self.sticky();
        let active = self.reset_active(profile, &lock)?;
        // A full disk must not keep anyone from making room, so the note may fail.
        let _ = write_locked(&note_path(self), profile.as_str().as_bytes(), Access::Private, &lock);
        let hidden = match self.take_away(&dir) {
            Ok(hidden) => hidden,
            Err(e) => {
                // It stays, so what pointed to it must again; the error that counts is the first.
                let _ = sticky.map(|sticky| self.write_active(&sticky, &lock));
                let _ = fs::remove_file(note_path(self));
                return Err(e);
            }
        };
        // Only now: a profile that is still there keeps its aliases.
        let (aliases, alias_problem) = self.remove_aliases(&self.aliases_of(profile));
        let _ = fs::remove_file(note_path(self));
        drop(lock);
        let remains = hidden.and_then(|hidden| hidden.remove().err());
        Ok(Deleted { path: dir, kept, aliases, alias_problem, active, remains })
    }

    /// Removes the link, or hides the directory until it is removed.
    fn take_away(&self, dir: &Path) -> Result<Option<Hidden>, ProfileError> {
        if is_link(dir) {
            fs::remove_file(dir).map_err(failed("remove the link", dir))?;
            return Ok(None);
        }
        hide(&self.profiles_dir(), dir).map(Some)
    }

    /// Checks that a profile may be deleted, without doing it, and gives its directory.
    pub fn deletable(&self, profile: &Profile) -> Result<PathBuf, ProfileError> {
        if *profile == Profile::Default {
            return Err(ProfileError::Default { doing: "deleted" });
        }
        let dir = profile.dir(&self.root);
        if is_link(&dir) {
            // Also a broken one; only the link itself will go.
            return Ok(dir);
        }
        let dir = self.dir(profile)?;
        self.refuse_running(profile, &dir)?;
        self.refuse_beyond(&dir)?;
        Ok(dir)
    }

    fn refuse_beyond(&self, dir: &Path) -> Result<(), ProfileError> {
        let real = fs::canonicalize(dir).map_err(failed("look at", dir))?;
        let profiles = self.profiles_dir();
        let profiles = fs::canonicalize(&profiles).map_err(failed("look at", &profiles))?;
        if real.parent() != Some(&profiles) {
            return Err(ProfileError::Outside { path: dir.to_path_buf(), real, profiles });
        }
        // Without /proc there is nothing to ask.
        let mountinfo = fs::read(self.proc_dir.join("self/mountinfo")).unwrap_or_default();
        match mount_below(&mountinfo, &real) {
            Some(at) => Err(ProfileError::Mounted { at }),
            None => Ok(()),
        }
    }

    fn reset_active(&self, profile: &Profile, lock: &Lock) -> Result<StickyAfter, ProfileError> {
        let link = is_link(&profile.dir(&self.root));
        // Removing a link harms only those who use its name; removing a directory, whoever leads there.
        let ours = if link { self.sticky().as_ref() == Some(profile) } else { self.sticky_leads_to(profile) };
        if !ours {
            return Ok(StickyAfter::Unchanged);
        }
        self.write_active(&Profile::Default, lock)?;
        Ok(StickyAfter::Moved)
    }
}

/// Names the profile that is being deleted, for whoever comes after a crash.
fn note_path(profiles: &Profiles) -> PathBuf {
    profiles.profiles_dir().join(".delete")
}

/// Removes the aliases of a profile that a dead process deleted. Call it under the lock.
pub fn finish_earlier(profiles: &Profiles) {
    let Ok(Some(name)) = read_if_exists(&note_path(profiles)) else { return };
    let profile = String::from_utf8(name).ok().and_then(|name| Profile::parse(&name).ok());
    if let Some(profile @ Profile::Named(_)) = profile
        && fs::symlink_metadata(profile.dir(&profiles.root)).is_err()
    {
        profiles.remove_aliases(&profiles.aliases_of(&profile));
    }
    let _ = fs::remove_file(note_path(profiles));
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink())
}
