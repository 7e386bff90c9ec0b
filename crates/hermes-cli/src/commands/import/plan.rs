//! What an import will do to a home, decided before anything is touched.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::entry::Makes;
use super::source::{Entry, checksum};
use crate::commands::backup::rules::{self, SNAPSHOTS};

/// What an import will do.
#[derive(Debug, Default)]
pub struct Plan {
    /// Files to put in place, by their index in the entries.
    pub place: Vec<Placement>,
    /// Directories to make.
    pub directories: Vec<PathBuf>,
    /// Files that are already there with the same content.
    pub unchanged: usize,
    /// What is in the archive but stays as this machine has it.
    pub kept: Vec<PathBuf>,
}

/// One file to put in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    pub entry: usize,
    pub replaces: Replaces,
}

/// What is at a file's place now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaces {
    Nothing,
    /// Something that is kept in the snapshots.
    Existing,
}

/// Why the archive does not fit the home.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(
        "nothing was restored: {} is a symbolic link, and the archive has files below it. Remove or rename the link and try again",
        .0.display()
    )]
    LinkedDirectory(PathBuf),
    #[error("nothing was restored: {} is a directory here and a file in the archive. Move it away and try again", .0.display())]
    DirectoryInTheWay(PathBuf),
    #[error("nothing was restored: {} is a file here and a directory in the archive. Move it away and try again", .0.display())]
    FileInTheWay(PathBuf),
    #[error("cannot look at {}: {source}", .path.display())]
    Look { path: PathBuf, source: io::Error },
}

/// Compares the archive with the home at `target`.
pub fn plan(target: &Path, entries: &[Entry]) -> Result<Plan, PlanError> {
    let paths: BTreeSet<&Path> = entries.iter().map(|e| e.path.as_path()).collect();
    let mut plan = Plan::default();
    let mut checked = BTreeSet::new();
    for (index, entry) in entries.iter().enumerate() {
        if stays(&entry.path, &paths) {
            plan.kept.push(entry.path.clone());
            continue;
        }
        check_parents(target, entry, &mut checked)?;
        match (entry.makes, look(target, entry)?) {
            (Makes::Directory, There::Nothing) => plan.directories.push(entry.path.clone()),
            (Makes::Directory, There::Directory) => {}
            (Makes::Directory, _) => return Err(PlanError::FileInTheWay(target.join(&entry.path))),
            (Makes::File, There::Directory) => {
                return Err(PlanError::DirectoryInTheWay(target.join(&entry.path)));
            }
            (Makes::File, There::Same) => plan.unchanged += 1,
            (Makes::File, There::Nothing) => {
                plan.place.push(Placement { entry: index, replaces: Replaces::Nothing });
            }
            (Makes::File, There::Other) => {
                plan.place.push(Placement { entry: index, replaces: Replaces::Existing });
            }
        }
    }
    Ok(plan)
}

/// What an archive may hold and an import never touches.
///
/// The log of a database is restored only together with it: applied to another one, it would ruin it. Its index
/// (`-shm`) is made anew. Hidden names in the snapshots are ours.
fn stays(path: &Path, archive: &BTreeSet<&Path>) -> bool {
    let index = path.to_str().is_some_and(|p| p.ends_with("-shm"));
    let sidecar = rules::sidecar_of(path).is_some_and(|db| index || !archive.contains(db));
    let parts: Vec<&str> = path.components().filter_map(|c| c.as_os_str().to_str()).collect();
    let ours = parts.windows(2).any(|pair| pair[0] == SNAPSHOTS && pair[1].starts_with('.'));
    rules::is_of_this_machine(path) || sidecar || ours
}

/// Every directory above an entry must be a real one, or not be there yet.
fn check_parents(target: &Path, entry: &Entry, checked: &mut BTreeSet<PathBuf>) -> Result<(), PlanError> {
    let parents = entry.path.ancestors().skip(1).filter(|p| !p.as_os_str().is_empty());
    for parent in parents {
        if !checked.insert(parent.to_path_buf()) {
            continue;
        }
        let path = target.join(parent);
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_symlink() => return Err(PlanError::LinkedDirectory(path)),
            Ok(meta) if !meta.is_dir() => return Err(PlanError::FileInTheWay(path)),
            Ok(_) => {}
            Err(e) if is_missing(&e) => {}
            Err(source) => return Err(PlanError::Look { path, source }),
        }
    }
    Ok(())
}

enum There {
    Nothing,
    Directory,
    /// A file with the same bytes.
    Same,
    /// Another file, or a link.
    Other,
}

fn look(target: &Path, entry: &Entry) -> Result<There, PlanError> {
    let path = target.join(&entry.path);
    let meta = match fs::symlink_metadata(&path) {
        Ok(meta) => meta,
        Err(e) if is_missing(&e) => return Ok(There::Nothing),
        Err(source) => return Err(PlanError::Look { path, source }),
    };
    // A database is never opened as a plain file, so it is never known to be the same.
    let comparable = meta.is_file() && meta.len() == entry.size && !rules::is_database(&entry.path);
    Ok(match () {
        () if meta.is_dir() => There::Directory,
        () if comparable && entry.crc.is_some() && checksum(&path).ok() == entry.crc => There::Same,
        () => There::Other,
    })
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
