//! Renaming a profile: the directory, its aliases and the sticky active profile, at no moment pointing nowhere.
//!
//! While a rename is under way the new name is a link to the old one, so both work. A note in the profiles
//! directory says what was begun; whoever changes profiles next finishes it if we die.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};

use super::alias::{AliasError, NamedAlias, Surroundings};
use super::delete::StickyAfter;
use super::{ProfileError, Profiles, running};
use crate::files::{Access, Lock, failed, read_if_exists, write_locked};
use crate::profile::{Profile, ProfileName};

/// What a rename did.
#[derive(Debug)]
pub struct Renamed {
    /// Where the profile is now.
    pub path: PathBuf,
    /// What became of the sticky active profile.
    pub active: StickyAfter,
    /// Its aliases now.
    pub aliases: Vec<String>,
    /// Why the alias called like the profile could not take the new name; it was removed.
    pub lost_alias: Option<AliasError>,
}

/// A rename under way.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    from: String,
    to: String,
    alias_moves: bool,
}

impl Profiles {
    /// Renames a profile with its aliases; the sticky active profile follows.
    pub fn rename(
        &self,
        from: &ProfileName,
        to: &ProfileName,
        around: &Surroundings,
    ) -> Result<Renamed, ProfileError> {
        let lock = self.lock()?;
        let (old, new) = (Profile::Named(from.clone()), Profile::Named(to.clone()));
        self.refuse_running(&old, &self.dir(&old)?)?;
        let path = self.refuse_existing(to)?;
        let has_named = self.aliases(&old).iter().any(|alias| alias == from.as_str());
        let collision = self.refuse_collision(&new, to, around);
        let active = if self.sticky() == Some(old) { StickyAfter::Moved } else { StickyAfter::Unchanged };
        let note = Note { from: from.to_string(), to: to.to_string(), alias_moves: collision.is_ok() };
        let text = serde_json::to_vec(&note).map_err(|e| failed("write", &path)(e.into()))?;
        write_locked(&note_path(self), &text, Access::Private, &lock)?;
        finish(self, &note, &lock)?;
        let lost_alias = collision.err().filter(|_| has_named);
        Ok(Renamed { path, active, aliases: self.aliases(&new), lost_alias })
    }
}

fn note_path(profiles: &Profiles) -> PathBuf {
    profiles.profiles_dir().join(".rename.json")
}

/// Finishes a rename that a dead process began.
pub fn recover(profiles: &Profiles, lock: &Lock) -> Result<(), ProfileError> {
    let path = note_path(profiles);
    let Some(bytes) = read_if_exists(&path)? else { return Ok(()) };
    // A note we cannot read is none of ours.
    let Ok(note) = serde_json::from_slice::<Note>(&bytes) else { return Ok(()) };
    let old = profiles.profiles_dir().join(ProfileName::parse(&note.from)?.as_str());
    if running::gateway(&old, &profiles.proc_dir).is_some() {
        // Both names work until it stops.
        return Ok(());
    }
    finish(profiles, &note, lock)
}

/// Goes on from wherever a rename stands; every step may already have been done.
fn finish(profiles: &Profiles, note: &Note, lock: &Lock) -> Result<(), ProfileError> {
    let (from, to) = (ProfileName::parse(&note.from)?, ProfileName::parse(&note.to)?);
    let dir = profiles.profiles_dir();
    let (old, new) = (dir.join(from.as_str()), dir.join(to.as_str()));
    if old.is_dir() && fs::symlink_metadata(&new).is_err() {
        std::os::unix::fs::symlink(from.as_str(), &new).map_err(failed("create link", &new))?;
    }
    let (from, to) = (Profile::Named(from), Profile::Named(to));
    if profiles.sticky().as_ref() == Some(&from) {
        profiles.write_active(&to, lock)?;
    }
    let named = if note.alias_moves { NamedAlias::Moves } else { NamedAlias::Goes };
    profiles.move_aliases(&from, &to, named)?;
    if leads_by_link(&new, &note.from) {
        swap(&old, &new).map_err(failed("rename", &old))?;
    }
    // After the swap the link to the old name lies at the old name itself.
    if leads_by_link(&old, &note.from) {
        fs::remove_file(&old).map_err(failed("remove the link", &old))?;
    }
    let path = note_path(profiles);
    Ok(fs::remove_file(&path).map_err(failed("remove", &path))?)
}

fn leads_by_link(path: &Path, name: &str) -> bool {
    fs::read_link(path).is_ok_and(|target| target == Path::new(name))
}

/// Exchanges the directory and the link that leads to it.
fn swap(old: &Path, new: &Path) -> io::Result<()> {
    match renameat_with(CWD, old, CWD, new, RenameFlags::EXCHANGE) {
        // Some file systems cannot; there the name is free for a moment.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            fs::remove_file(new)?;
            fs::rename(old, new)
        }
        result => Ok(result?),
    }
}
