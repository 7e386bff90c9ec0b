//! Putting restored files in place so that a crash at any moment can be finished or undone.
//!
//! Everything new is unpacked into `state-snapshots/.importing/new` first. Then `plan.json` is written: from here on the
//! import can be completed from what is on disk. Each file is put in place by a rename, after what it replaces was
//! linked into `state-snapshots/pre-import-<time>`. A file that is no longer in `new` is in place: that is the whole
//! state, and both [`Swap::finish`] and [`Swap::undo`] can be repeated after a crash of their own.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hermes_home::files::{Access, FileError, create_private_dir, failed, write_atomic};
use serde::{Deserialize, Serialize};

use super::entry::safe_path;
use crate::commands::backup::quick::Manifest;
use crate::commands::backup::rules::{self, SNAPSHOTS};

/// Called between any two changes; an error stops there, as a crash would.
pub type Between<'a> = &'a mut dyn FnMut() -> io::Result<()>;

/// An import whose files are unpacked.
#[derive(Debug)]
pub struct Swap {
    target: PathBuf,
    journal: Journal,
}

/// What must be on disk to complete an import.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Journal {
    /// The archive, for messages.
    pub archive: String,
    /// The directory below the snapshots that gets what is replaced.
    pub kept_in: String,
    /// Files to put in place, relative to the home.
    pub place: Vec<String>,
    /// Directories to make.
    pub directories: Vec<String>,
}

/// What an import left behind.
#[derive(Debug)]
pub struct Kept {
    /// Where the files lie that were replaced; `None` when none were.
    pub dir: Option<PathBuf>,
}

/// Where an import into `target` is prepared.
pub fn staging(target: &Path) -> PathBuf {
    target.join(SNAPSHOTS).join(".importing")
}

/// Where the unpacked files lie until they are put in place.
pub fn unpacked(target: &Path) -> PathBuf {
    staging(target).join("new")
}

fn journal_file(target: &Path) -> PathBuf {
    staging(target).join("plan.json")
}

/// Whether an import into `target` was interrupted while it changed the home.
pub fn is_pending(target: &Path) -> bool {
    journal_file(target).exists()
}

impl Swap {
    /// Records that everything is unpacked: from now on the import can be completed.
    pub fn begin(target: &Path, journal: Journal) -> Result<Self, FileError> {
        sync(target);
        let path = journal_file(target);
        let text = serde_json::to_vec_pretty(&journal).map_err(|e| failed("write", &path)(e.into()))?;
        write_atomic(&path, &text, Access::Private)?;
        Ok(Self { target: target.to_path_buf(), journal })
    }

    /// Takes up an interrupted import.
    pub fn resume(target: &Path) -> Result<Self, FileError> {
        let path = journal_file(target);
        let text = fs::read(&path).map_err(failed("read", &path))?;
        let journal: Journal = serde_json::from_slice(&text).map_err(|e| failed("read", &path)(e.into()))?;
        let names = journal.place.iter().chain(&journal.directories).chain([&journal.kept_in]);
        for name in names {
            safe_path(name).map_err(|e| failed("read", &path)(io::Error::other(e)))?;
        }
        Ok(Self { target: target.to_path_buf(), journal })
    }

    /// The archive this import is from.
    pub fn archive(&self) -> &str {
        &self.journal.archive
    }

    /// Puts everything in place that is not yet.
    pub fn finish(&self, between: Between<'_>) -> Result<Kept, FileError> {
        for name in &self.journal.directories {
            create_private_dir(&self.target.join(name))?;
        }
        for name in &self.journal.place {
            self.place(name, between)?;
        }
        let kept = self.describe_kept()?;
        self.conclude(between)?;
        Ok(kept)
    }

    /// Puts everything back as it was.
    pub fn undo(&self, between: Between<'_>) -> Result<(), FileError> {
        for name in self.journal.place.iter().rev() {
            self.take_back(name, between)?;
        }
        let kept = self.kept_dir();
        match fs::remove_dir_all(&kept) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed("remove", &kept)(e)),
            _ => {}
        }
        self.conclude(between)
    }

    fn kept_dir(&self) -> PathBuf {
        self.target.join(SNAPSHOTS).join(&self.journal.kept_in)
    }

    fn place(&self, name: &str, between: Between<'_>) -> Result<(), FileError> {
        let (new, there, kept) = self.paths(name);
        if !exists(&new) {
            return Ok(());
        }
        // The log of the replaced database was already kept together with it.
        if rules::sidecar_of(Path::new(name)).is_none() {
            keep(&there, &kept)?;
            step(&there, between)?;
        }
        if rules::is_database(Path::new(name)) {
            move_sidecars_away(&there, &kept, between)?;
        }
        if let Some(parent) = there.parent() {
            create_private_dir(parent)?;
        }
        fs::rename(&new, &there).map_err(failed("replace", &there))?;
        step(&there, between)
    }

    /// The new file goes back to where it was unpacked, which is the mark that it is not in place, and then the old
    /// one takes its place.
    fn take_back(&self, name: &str, between: Between<'_>) -> Result<(), FileError> {
        let (new, there, kept) = self.paths(name);
        if rules::sidecar_of(Path::new(name)).is_some() {
            if !exists(&new) && exists(&there) {
                fs::rename(&there, &new).map_err(failed("put back", &new))?;
            }
            return step(&there, between);
        }
        let is_database = rules::is_database(Path::new(name));
        if !exists(&new) {
            for sidecar in rules::sidecars(&there).filter(|_| is_database) {
                remove(&sidecar)?;
                step(&there, between)?;
            }
            keep(&there, &new)?;
            step(&there, between)?;
        }
        if exists(&kept) {
            fs::rename(&kept, &there).map_err(failed("put back", &there))?;
        } else if same_file(&there, &new) {
            remove(&there)?;
        }
        step(&there, between)?;
        for (old, kept) in rules::sidecars(&there).zip(rules::sidecars(&kept)).filter(|_| is_database) {
            if exists(&kept) {
                fs::rename(&kept, &old).map_err(failed("put back", &old))?;
                step(&there, between)?;
            }
        }
        Ok(())
    }

    fn paths(&self, name: &str) -> (PathBuf, PathBuf, PathBuf) {
        (unpacked(&self.target).join(name), self.target.join(name), self.kept_dir().join(name))
    }

    /// Makes what was replaced a snapshot like any other.
    fn describe_kept(&self) -> Result<Kept, FileError> {
        let dir = self.kept_dir();
        if !exists(&dir) {
            return Ok(Kept { dir: None });
        }
        let manifest = Manifest::of_directory(&dir, &self.journal.kept_in)?;
        manifest.write(&dir)?;
        Ok(Kept { dir: Some(dir) })
    }

    /// From here on there is nothing left to finish or undo.
    fn conclude(&self, between: Between<'_>) -> Result<(), FileError> {
        sync(&self.target);
        let path = journal_file(&self.target);
        step(&path, between)?;
        fs::remove_file(&path).map_err(failed("remove", &path))?;
        discard(&self.target)
    }
}

/// The log of the old database must not be applied to the new one.
fn move_sidecars_away(there: &Path, kept: &Path, between: Between<'_>) -> Result<(), FileError> {
    for (old, kept) in rules::sidecars(there).zip(rules::sidecars(kept)) {
        if exists(&old) {
            keep(&old, &kept)?;
            step(there, between)?;
            remove(&old)?;
            step(there, between)?;
        }
    }
    Ok(())
}

/// Removes what is unpacked of an import that changed nothing yet.
pub fn discard(target: &Path) -> Result<(), FileError> {
    let dir = staging(target);
    match fs::remove_dir_all(&dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("remove", &dir)(e)),
        _ => Ok(()),
    }
}

/// Keeps what is at `there` also at `kept`. A second link leaves no moment without the file; where there are no links,
/// it is moved.
fn keep(there: &Path, kept: &Path) -> Result<(), FileError> {
    if !exists(there) {
        return Ok(());
    }
    if let Some(parent) = kept.parent() {
        create_private_dir(parent)?;
    }
    remove(kept)?;
    if fs::hard_link(there, kept).is_ok() {
        return Ok(());
    }
    fs::rename(there, kept).map_err(failed("keep", there))
}

/// Also true for a link that leads nowhere.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn same_file(a: &Path, b: &Path) -> bool {
    let id = |path: &Path| fs::symlink_metadata(path).ok().map(|m| (m.dev(), m.ino()));
    id(a).is_some() && id(a) == id(b)
}

fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(e)),
        _ => Ok(()),
    }
}

fn step(path: &Path, between: Between<'_>) -> Result<(), FileError> {
    between().map_err(failed("go on with", path))
}

/// Everything written so far is on disk before what relies on it is.
fn sync(target: &Path) {
    if let Ok(dir) = File::open(target) {
        let _ = rustix::fs::syncfs(&dir);
    }
}

#[cfg(test)]
mod tests;
