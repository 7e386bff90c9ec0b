//! Taking in a profile from a `.tar.gz`: unpacked out of sight, checked entry by entry, then put in place.

mod entry;
mod limits;
mod unpack;

use std::path::{Path, PathBuf};

pub use entry::EntryError;
pub use limits::Limits;
use unpack::Unpacked;

use super::stage::Stage;
use super::walk::open_plain;
use super::{ProfileError, Profiles, create};
use crate::files::failed;
use crate::profile::{Profile, ProfileName};

/// Why an archive was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file is not readable as a gzipped tar archive.
    #[error("{} is not a complete .tar.gz archive: {reason}", .path.display())]
    Unreadable {
        /// The archive.
        path: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// An entry tries something, or looks like it.
    #[error("{} was refused because of its entry {entry:?}: {source}", .path.display())]
    Entry {
        /// The archive.
        path: PathBuf,
        /// The entry.
        entry: String,
        /// What is wrong with it.
        source: EntryError,
    },
    /// There is nothing in it.
    #[error("{} holds no profile: it is empty", .0.display())]
    Empty(PathBuf),
    /// The archive is of a default profile.
    #[error("{} is an export of the default profile: give the new one a name with --name", .0.display())]
    NamedDefault(PathBuf),
    /// The name in the archive is no profile name.
    #[error("{}: {source}; give the profile a name with --name", .path.display())]
    BadName {
        /// The archive.
        path: PathBuf,
        /// What is wrong with its name.
        source: crate::profile::NameError,
    },
}

/// What was imported.
#[derive(Debug)]
pub struct Imported {
    /// The new profile.
    pub name: ProfileName,
    /// Where it is.
    pub path: PathBuf,
    /// How many files it has from the archive.
    pub files: usize,
    /// What it brought that can run by itself or change what runs: worth a look before use.
    pub runnable: Vec<&'static str>,
    /// Files with keys and logins that were not taken: who made the archive must not choose them.
    pub left_out: Vec<PathBuf>,
}

/// Parts of a profile that can make something run.
const RUNNABLE: &[&str] = &["cron/jobs.json", "hooks", "plugins", "scripts", "mcp.json"];

impl Profiles {
    /// Imports an archive as `name`, or under the name of its top directory.
    pub fn import(
        &self,
        archive: &Path,
        name: Option<&ProfileName>,
        limits: Limits,
    ) -> Result<Imported, ProfileError> {
        self.settle()?;
        if let Some(name) = name {
            self.refuse_existing(name)?;
        }
        let file = open_plain(archive).map_err(failed("read", archive))?;
        let stage = Stage::begin(&self.profiles_dir())?;
        let mut chosen = name.cloned();
        let Unpacked { files, left_out } = unpack::unpack(archive, file, stage.path(), limits, &mut |top| {
            if chosen.is_none() {
                chosen = Some(self.name_for(archive, top)?);
            }
            Ok(())
        })?;
        let name = chosen.ok_or_else(|| ArchiveError::Empty(archive.to_path_buf()))?;
        let runnable =
            RUNNABLE.iter().copied().filter(|part| holds_something(&stage.path().join(part))).collect();
        create::complete(stage.path())?;
        Ok(Imported { path: stage.publish(&name)?, name, files, runnable, left_out })
    }

    /// The name an archive gives itself, if it is free.
    fn name_for(&self, archive: &Path, top: &str) -> Result<ProfileName, ProfileError> {
        let path = archive.to_path_buf();
        if Profile::parse(top) == Ok(Profile::Default) {
            return Err(ArchiveError::NamedDefault(path).into());
        }
        let name = ProfileName::parse_new(top).map_err(|source| ArchiveError::BadName { path, source })?;
        self.refuse_existing(&name)?;
        Ok(name)
    }
}

/// Whether there is a file, or a directory that is not empty.
fn holds_something(path: &Path) -> bool {
    path.is_file() || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
}
