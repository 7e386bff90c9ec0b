//! What can go wrong with snapshots.

use std::path::PathBuf;
use std::time::Duration;

use hermes_home::files::FileError;

use crate::tree::TreeError;

/// Why something about snapshots could not be done.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// Git is not installed.
    #[error(
        "checkpoints need git, and there is none on PATH: install it, or switch 'checkpoints.enabled' off"
    )]
    NoGit,
    /// Git refused.
    #[error("git could not {doing}: {message}")]
    Git {
        /// What it was to do.
        doing: &'static str,
        /// What it said.
        message: String,
    },
    /// Git took too long and was ended.
    #[error("git did not {doing} within {} s and was ended: HERMES_CHECKPOINT_TIMEOUT gives it more time", .limit.as_secs())]
    TooSlow {
        /// What it was to do.
        doing: &'static str,
        /// How long it had.
        limit: Duration,
    },
    /// A file of the store.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file of the workspace.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Somebody else works on the store for too long.
    #[error("the checkpoint store is being cleaned up by another process: try again in a moment")]
    Busy,
    /// There is no such snapshot.
    #[error("there is no checkpoint '{wanted}': `hermes checkpoints list` shows what there is")]
    NotFound {
        /// What was asked for.
        wanted: String,
    },
    /// Several snapshots begin like this.
    #[error("'{wanted}' is the beginning of several checkpoints: write more of it")]
    Ambiguous {
        /// What was asked for.
        wanted: String,
    },
    /// The path cannot be one of the workspace.
    #[error("'{}' is not a path inside the directory: name it from the directory's top, without '..'", .path.display())]
    Outside {
        /// The path.
        path: PathBuf,
    },
    /// Nothing about the path is in the snapshot or in the directory.
    #[error("the checkpoint holds nothing under '{}', and neither does the directory", .path.display())]
    NoSuchPath {
        /// The path.
        path: PathBuf,
    },
    /// The directory cannot be looked at as a whole.
    #[error("{0}")]
    Skipped(crate::limits::Skip),
}
