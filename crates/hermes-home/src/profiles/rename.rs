//! Renaming a profile: the directory, its aliases and the sticky active profile, at no moment pointing nowhere.
//!
//! While a rename is under way the new name is a link to the old one, so both work. A note in the profiles
//! directory says what was begun; whoever changes profiles next finishes it if we die.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};

use super::alias::{AliasError, AliasMove, NamedAlias, Surroundings};
use super::delete::StickyAfter;
use super::{ProfileError, Profiles};
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
        finish_earlier(self, &lock)?;
        let (old, new) = (Profile::Named(from.clone()), Profile::Named(to.clone()));
        self.refuse_running(&old, &self.dir(&old)?)?;
        let path = self.refuse_existing(to)?;
        let has_named = self.aliases(&old).iter().any(|alias| alias == from.as_str());
        let collision = self.refuse_collision(&new, to, around);
        let active = if self.sticky() == Some(old) { StickyAfter::Moved } else { StickyAfter::Unchanged };
        let note = Note { from: from.to_string(), to: to.to_string(), alias_moves: collision.is_ok() };
        let text = serde_json::to_vec(&note).map_err(|e| failed("write", &path)(e.into()))?;
        write_locked(&note_path(self), &text, Access::Private, &lock)?;
        finish(self, &note, &lock).inspect_err(|_| undo(self, &note, &lock))?;
        let lost_alias = collision.err().filter(|_| has_named);
        Ok(Renamed { path, active, aliases: self.aliases(&new), lost_alias })
    }
}

fn note_path(profiles: &Profiles) -> PathBuf {
    profiles.profiles_dir().join(".rename.json")
}

/// Finishes a rename that a dead process began. Both names work until that succeeds, so whoever does not touch
/// either of them can go on after a failure.
pub fn finish_earlier(profiles: &Profiles, lock: &Lock) -> Result<(), ProfileError> {
    let Some(bytes) = read_if_exists(&note_path(profiles))? else { return Ok(()) };
    // What nobody can read is not worth stopping for; the next rename replaces it.
    let Ok(note) = serde_json::from_slice::<Note>(&bytes) else { return Ok(()) };
    let Ok((old, _)) = places(profiles, &note) else { return Ok(()) };
    profiles.refuse_running(&Profile::parse(&note.from)?, &old)?;
    finish(profiles, &note, lock)
}

/// Where a profile was and where it goes.
fn places(profiles: &Profiles, note: &Note) -> Result<(PathBuf, PathBuf), ProfileError> {
    let dir = profiles.profiles_dir();
    let place = |name: &str| ProfileName::parse(name).map(|name| dir.join(name.as_str()));
    Ok((place(&note.from)?, place(&note.to)?))
}

/// Goes on from wherever a rename stands; every step may already have been done.
fn finish(profiles: &Profiles, note: &Note, lock: &Lock) -> Result<(), ProfileError> {
    let (old, new) = places(profiles, note)?;
    let (from, to) = (Profile::parse(&note.from)?, Profile::parse(&note.to)?);
    let named = if note.alias_moves { NamedAlias::Moves } else { NamedAlias::Goes };
    // On a full disk this fails, and nothing has happened yet.
    let aliases = profiles.prepare_move(&from, &to, named)?;
    if old.is_dir() && fs::symlink_metadata(&new).is_err() {
        std::os::unix::fs::symlink(from.as_str(), &new).map_err(failed("create link", &new))?;
    }
    if profiles.sticky().as_ref() == Some(&from) {
        profiles.write_active(&to, lock)?;
    }
    aliases.carry_out()?;
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

/// Takes back a rename that failed before the directory moved. The error that counts is the one that led here.
fn undo(profiles: &Profiles, note: &Note, lock: &Lock) {
    let Ok((_, new)) = places(profiles, note) else { return };
    let (Ok(from), Ok(to)) = (Profile::parse(&note.from), Profile::parse(&note.to)) else { return };
    let begun = leads_by_link(&new, &note.from);
    if begun {
        if profiles.sticky().as_ref() == Some(&to) {
            let _ = profiles.write_active(&from, lock);
        }
        let back = profiles.prepare_move(&to, &from, NamedAlias::Moves);
        let _ = back.and_then(AliasMove::carry_out);
        let _ = fs::remove_file(&new);
    }
    if begun || fs::symlink_metadata(&new).is_err() {
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
