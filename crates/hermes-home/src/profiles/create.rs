//! Making a profile: a fresh one, one with another's settings, or a full copy.

use std::path::{Path, PathBuf};

use super::copy::{self, CopyDatabase};
use super::layout::{self, Place};
use super::stage::{self, Stage};
use super::walk::identity;
use super::{ProfileError, Profiles, describe};
use crate::files::{Access, create_private_dir, write_atomic};
use crate::profile::{Profile, ProfileName};

/// What to make.
#[derive(Debug, Clone)]
pub struct NewProfile {
    /// Its name.
    pub name: ProfileName,
    /// What it starts with.
    pub contents: Contents,
    /// What it is good at.
    pub description: Option<String>,
}

/// What a new profile starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// Empty directories and a neutral SOUL.md.
    Fresh(BundledSkills),
    /// A copy of another profile.
    Clone {
        /// The profile to copy.
        source: Profile,
        /// How much of it.
        scope: CloneScope,
    },
}

/// Whether a fresh profile wants the skills that come with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundledSkills {
    /// Take them.
    Wanted,
    /// Leave them out, now and after updates.
    Refused,
}

/// How much of a profile is cloned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloneScope {
    /// config.yaml, .env, SOUL.md, skills, MEMORY.md and USER.md.
    Settings,
    /// Everything but running processes, caches and backups.
    All,
}

/// What was made.
#[derive(Debug)]
pub struct Created {
    /// Where the profile is.
    pub path: PathBuf,
    /// Sockets, pipes and devices of the source that were not copied.
    pub left_out: Vec<PathBuf>,
    /// Whether logins came along, which some services allow only once.
    pub logins: Logins,
}

/// Whether a clone holds the logins of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logins {
    /// auth.json was copied.
    Copied,
    /// The new profile has no logins.
    None,
}

impl Profiles {
    /// Makes a profile. It appears complete or not at all.
    pub fn create(&self, new: &NewProfile, databases: &dyn CopyDatabase) -> Result<Created, ProfileError> {
        self.settle()?;
        self.refuse_existing(&new.name)?;
        if let Contents::Clone { source, .. } = &new.contents {
            self.dir(source)?;
        }
        let stage = Stage::begin(&self.profiles_dir())?;
        let left_out = match &new.contents {
            Contents::Fresh(_) => Vec::new(),
            Contents::Clone { source, scope } => self.fill(stage.path(), source, *scope, databases)?,
        };
        complete(stage.path())?;
        if new.contents == Contents::Fresh(BundledSkills::Refused) {
            seed(&stage.path().join(layout::NO_SKILLS), layout::NO_SKILLS_TEXT)?;
        }
        if let Some(text) = new.description.as_deref().filter(|text| !text.trim().is_empty()) {
            describe::write_new(stage.path(), text)?;
        }
        let logins = if stage.path().join("auth.json").exists() { Logins::Copied } else { Logins::None };
        Ok(Created { path: stage.publish(&new.name)?, left_out, logins })
    }

    fn fill(
        &self,
        to: &Path,
        source: &Profile,
        scope: CloneScope,
        databases: &dyn CopyDatabase,
    ) -> Result<Vec<PathBuf>, ProfileError> {
        let from = self.dir(source)?;
        let before = identity(&from);
        let left_out = match scope {
            CloneScope::Settings => settings(&from, to, databases)?,
            CloneScope::All => {
                let (place, own) = (self.place(&from), identity(to));
                // A profile that leads to a directory above the profiles must not be copied into itself.
                let skip = |path: &Path| {
                    layout::skipped_by_clone(path, place)
                        || (stage::is_hidden(path) && identity(&from.join(path)) == own)
                };
                copy::tree(&from, to, databases, &skip)?
            }
        };
        // Vanished files are passed over while copying, so a vanished profile must be noticed here.
        if before.is_none() || identity(&from) != before {
            return Err(ProfileError::SourceChanged { name: source.as_str().to_owned() });
        }
        Ok(left_out)
    }
}

fn settings(from: &Path, to: &Path, databases: &dyn CopyDatabase) -> Result<Vec<PathBuf>, ProfileError> {
    for name in layout::CLONED_FILES {
        // The content, not a link to it: the new profile must not change when the source does.
        let Ok(real) = from.join(name).canonicalize() else { continue };
        let target = to.join(name);
        create_private_dir(target.parent().unwrap_or(to))?;
        copy::file(&real, &target)?;
    }
    let skills = from.join("skills");
    if !skills.is_dir() {
        return Ok(Vec::new());
    }
    create_private_dir(&to.join("skills"))?;
    copy::tree(&skills, &to.join("skills"), databases, &|path| {
        layout::skipped_by_clone(&Path::new("skills").join(path), Place::Named)
    })
}

/// Adds what every profile has and this one lacks.
pub fn complete(dir: &Path) -> Result<(), ProfileError> {
    for name in layout::DIRS {
        create_private_dir(&dir.join(name))?;
    }
    seed(&dir.join(".env"), layout::ENV)?;
    seed(&dir.join("SOUL.md"), layout::SOUL)
}

fn seed(path: &Path, text: &str) -> Result<(), ProfileError> {
    // A link without a target is the user's too.
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    Ok(write_atomic(path, text.as_bytes(), Access::Private)?)
}
