//! Going back, as a conversation does it: in the directory it is about.

use std::path::Path;

use hermes_checkpoint::{CheckpointError, Difference, Mine, Restored, Snapshot, Wish};

use super::Keeper;
use super::whereabouts::WhereError;

/// Why it could not be done.
#[derive(Debug, thiserror::Error)]
pub enum RollbackError {
    /// The store, or the files.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The place where the files are.
    #[error("the directory cannot be reached: {0}")]
    Place(String),
}

impl From<WhereError> for RollbackError {
    fn from(error: WhereError) -> Self {
        Self::Place(error.to_string())
    }
}

impl Keeper {
    /// The directory the conversation is about, and its snapshots, newest first.
    pub fn list(&self) -> Result<(String, Vec<Snapshot>), RollbackError> {
        let place = self.whereabouts.own(&self.checkpoints)?;
        Ok((place.key.shown(), self.checkpoints.list(&place.key)?))
    }

    /// What is different since a snapshot: its number in the list, or the beginning of its name.
    pub fn diff(&self, which: &str) -> Result<Difference, RollbackError> {
        let place = self.whereabouts.own(&self.checkpoints)?;
        let id = self.checkpoints.resolve(&place.key, which)?;
        Ok(self.checkpoints.diff(&place, id)?)
    }

    /// Goes back to a snapshot, or puts one file of it back.
    pub fn restore(&self, which: &str, only: Option<&Path>, mine: Mine) -> Result<Restored, RollbackError> {
        let place = self.whereabouts.own(&self.checkpoints)?;
        let id = self.checkpoints.resolve(&place.key, which)?;
        let wish = Wish { id, only: only.map(Path::to_path_buf), mine };
        Ok(self.checkpoints.restore(&place, &wish)?)
    }
}
