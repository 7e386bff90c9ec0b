//! The agent's own directory.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The places inside of an agent's directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directory {
    root: Option<PathBuf>,
}

impl Directory {
    /// Makes the directory ready; in words why it cannot be used otherwise.
    pub(crate) fn prepare(root: Option<&Path>) -> (Self, Option<String>) {
        let Some(root) = root else { return (Self::default(), None) };
        match private(root).and_then(|()| {
            ["sessions", "output", "jobs"].iter().try_for_each(|name| private(&root.join(name)))
        }) {
            Ok(()) => (Self { root: Some(root.to_path_buf()) }, None),
            Err(error) => {
                let problem = format!("nothing can be kept in '{}': {error}", root.display());
                (Self::default(), Some(problem))
            }
        }
    }

    pub(crate) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    pub(crate) fn sessions(&self) -> Option<PathBuf> {
        self.root.as_ref().map(|root| root.join("sessions"))
    }

    pub(crate) fn output(&self) -> Option<PathBuf> {
        self.root.as_ref().map(|root| root.join("output"))
    }

    pub(crate) fn jobs(&self) -> Option<PathBuf> {
        self.root.as_ref().map(|root| root.join("jobs"))
    }
}

/// Makes sure that `path` is a directory of ours that nobody else can look into. A link there would let somebody else choose where
/// our files go.
pub(crate) fn private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() {
        return Err(io::Error::other("it is not a directory"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}
