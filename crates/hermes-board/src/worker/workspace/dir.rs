//! A directory that somebody named. It is made if it is not there, and it stays.

use std::path::PathBuf;

use super::{Workspace, WorkspaceError};
use crate::card::Card;

pub(super) fn prepare(card: &Card) -> Result<Workspace, WorkspaceError> {
    let named = card.workspace_path.as_deref().ok_or(WorkspaceError::NoPath)?;
    let path = PathBuf::from(named);
    if !path.is_absolute() {
        return Err(WorkspaceError::NotAbsolute(named.to_owned()));
    }
    std::fs::create_dir_all(&path).map_err(WorkspaceError::file("make", &path))?;
    Ok(Workspace { path, branch: None, mounts: Vec::new() })
}
