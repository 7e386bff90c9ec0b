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
    /// Why an alias could not be changed.
    pub alias_problem: Option<ProfileError>,
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
        let alias_problem = finish(self, &note, &lock).inspect_err(|_| undo(self, &note, &lock))?;
        let lost_alias = collision.err().filter(|_| has_named);
        Ok(Renamed { path, active, aliases: self.aliases(&new), lost_alias, alias_problem })
    }
}

fn note_path(profiles: &Profiles) -> PathBuf {
    profiles.profiles_dir().join(".rename.json")
}

/// Finishes a rename that a dead process began. Both names work until that succeeds, so a failure can wait.
pub fn recover(profiles: &Profiles, lock: &Lock) {
    let Ok(Some(bytes)) = read_if_exists(&note_path(profiles)) else { return };
    let Ok(note) = serde_json::from_slice::<Note>(&bytes) else { return };
    let Ok((old, _)) = places(profiles, &note) else { return };
    if running::gateway(&old, &profiles.proc_dir).is_none() {
        let _ = finish(profiles, &note, lock);
    }
}

/// Where a profile was and where it goes.
fn places(profiles: &Profiles, note: &Note) -> Result<(PathBuf, PathBuf), ProfileError> {
    let dir = profiles.profiles_dir();
    let place = |name: &str| ProfileName::parse(name).map(|name| dir.join(name.as_str()));
    Ok((place(&note.from)?, place(&note.to)?))
}

/// Goes on from wherever a rename stands; every step may already have been done. That an alias cannot be changed
/// is no reason to stop, and comes back.
fn finish(profiles: &Profiles, note: &Note, lock: &Lock) -> Result<Option<ProfileError>, ProfileError> {
    let (old, new) = places(profiles, note)?;
    let (from, to) = (Profile::parse(&note.from)?, Profile::parse(&note.to)?);
    if old.is_dir() && fs::symlink_metadata(&new).is_err() {
        std::os::unix::fs::symlink(from.as_str(), &new).map_err(failed("create link", &new))?;
    }
    if profiles.sticky().as_ref() == Some(&from) {
        profiles.write_active(&to, lock)?;
    }
    let named = if note.alias_moves { NamedAlias::Moves } else { NamedAlias::Goes };
    let alias_problem = profiles.move_aliases(&from, &to, named).err();
    if leads_by_link(&new, &note.from) {
        swap(&old, &new).map_err(failed("rename", &old))?;
    }
    // After the swap the link to the old name lies at the old name itself.
    if leads_by_link(&old, &note.from) {
        fs::remove_file(&old).map_err(failed("remove the link", &old))?;
    }
    let path = note_path(profiles);
    fs::remove_file(&path).map_err(failed("remove", &path))?;
    Ok(alias_problem)
}

/// Takes back a rename that failed before the directory moved. The error that counts is the one that led here.
fn undo(profiles: &Profiles, note: &Note, lock: &Lock) {
    let Ok((_, new)) = places(profiles, note) else { return };
    let (Ok(from), Ok(to)) = (Profile::parse(&note.from), Profile::parse(&note.to)) else { return };
    if leads_by_link(&new, &note.from) {
        if profiles.sticky().as_ref() == Some(&to) {
            let _ = profiles.write_active(&from, lock);
        }
        let _ = profiles.move_aliases(&to, &from, NamedAlias::Moves);
        let _ = fs::remove_file(&new);
        let _ = fs::remove_file(note_path(profiles));
    }
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
