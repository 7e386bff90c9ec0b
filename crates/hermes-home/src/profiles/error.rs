//! What can go wrong with profiles, and what to do about it.

use std::error::Error;
use std::path::PathBuf;

use super::{AliasError, ArchiveError};
use crate::files::FileError;
use crate::profile::NameError;

/// Why something could not be done with a profile. Nothing is half-done when one of these comes back.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The name is malformed or reserved.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The archive is not one we take in.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The alias cannot be made or removed.
    #[error(transparent)]
    Alias(#[from] AliasError),
    /// There is no such profile.
    #[error("there is no profile \"{name}\": `hermes profile list` shows the profiles")]
    Missing {
        /// The name that was asked for.
        name: String,
    },
    /// There is no home yet.
    #[error("there is no home at {}: nothing has been set up here yet", .path.display())]
    NoHome {
        /// Where it would be.
        path: PathBuf,
    },
    /// The name is taken.
    #[error("profile \"{name}\" already exists at {}: choose another name", .path.display())]
    Exists {
        /// The name that was asked for.
        name: String,
        /// What is in the way.
        path: PathBuf,
    },
    /// The default profile is the root home itself.
    #[error("the default profile is the home directory itself and cannot be {doing}")]
    Default {
        /// What was asked for, as a participle.
        doing: &'static str,
    },
    /// A gateway runs on this profile.
    #[error(
        "the gateway of profile \"{name}\" is running (process {pid}, says {}): stop it and try again",
        .evidence.display()
    )]
    Running {
        /// The profile.
        name: String,
        /// The gateway's process.
        pid: i32,
        /// The file that names the process.
        evidence: PathBuf,
    },
    /// Deleting would reach beyond the profiles directory.
    #[error(
        "{} is really {}, which is not inside {}: nothing was deleted",
        .path.display(), .real.display(), .profiles.display()
    )]
    Outside {
        /// The profile's directory.
        path: PathBuf,
        /// Where it really is.
        real: PathBuf,
        /// Where profiles live.
        profiles: PathBuf,
    },
    /// Something is mounted inside the profile.
    #[error("something is mounted at {}, inside the profile: unmount it and try again", .at.display())]
    Mounted {
        /// The mount point.
        at: PathBuf,
    },
    /// The profile that was being copied was renamed or deleted meanwhile.
    #[error("profile \"{name}\" was changed or removed while it was being copied: try again")]
    SourceChanged {
        /// The profile that was copied.
        name: String,
    },
    /// A database could not be copied.
    #[error("cannot copy the database {}: {source}", .path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// `profile.yaml` is not what it should be.
    #[error("{} cannot be changed, {reason}: mend it or remove it", .path.display())]
    Metadata {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}
