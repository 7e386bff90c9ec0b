//! A directory of the card's own, removed when nobody needs it any more.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::{PutAway, Workspace, WorkspaceError};
use crate::card::Card;

pub(super) fn prepare(root: &Path, card: &Card) -> Result<Workspace, WorkspaceError> {
    let path = match card.workspace_path.as_deref() {
        Some(named) if !Path::new(named).is_absolute() => {
            return Err(WorkspaceError::NotAbsolute(named.to_owned()));
        }
        Some(named) => PathBuf::from(named),
        None => root.join(card.id.as_str()),
    };
    let mut make = std::fs::DirBuilder::new();
    make.recursive(true).mode(0o700).create(&path).map_err(WorkspaceError::file("make", &path))?;
    Ok(Workspace { path, branch: None, mounts: Vec::new() })
}

/// Removes a directory that lies inside one of ours. What a link leads to is not ours.
pub(super) fn put_away(roots: &[PathBuf], path: &Path) -> Option<PutAway> {
    let real = std::fs::canonicalize(path).ok()?;
    let inside = roots.iter().any(|root| {
        std::fs::canonicalize(root).is_ok_and(|root| real.parent().is_some_and(|dir| dir.starts_with(&root)))
    });
    if !inside {
        return Some(PutAway::Kept(path.to_owned(), "it is not one of ours"));
    }
    match std::fs::remove_dir_all(&real) {
        Ok(()) => Some(PutAway::Removed(path.to_owned())),
        Err(_) => Some(PutAway::Kept(path.to_owned(), "it could not be removed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_inside_a_managed_root_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("workspaces");
        let (own, outside, link) = (root.join("t_1/deep"), dir.path().join("precious"), root.join("t_2"));
        for path in [&own, &outside] {
            std::fs::create_dir_all(path).unwrap();
        }
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        let put_away = |path: &Path| put_away(std::slice::from_ref(&root), path);
        assert!(matches!(put_away(&outside), Some(PutAway::Kept(..))));
        assert!(matches!(put_away(&link), Some(PutAway::Kept(..))), "a link does not make it ours");
        assert!(matches!(put_away(&root), Some(PutAway::Kept(..))), "the root itself stays");
        assert!(matches!(put_away(&root.join("t_1/../../precious")), Some(PutAway::Kept(..))));
        assert!(matches!(put_away(&root.join("t_1")), Some(PutAway::Removed(_))));
        assert!(outside.exists() && !root.join("t_1").exists());
        assert_eq!(put_away(&root.join("t_1")), None, "there is nothing left");
    }
}
