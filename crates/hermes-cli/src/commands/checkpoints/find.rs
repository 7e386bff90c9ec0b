//! Which directory and which snapshot are meant.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use hermes_checkpoint::{BoxTree, CheckpointError, Key, ObjectId, Place};
use hermes_sandbox::context::Environment;
use hermes_sandbox::from_settings;
use hermes_sandbox::sandbox::Sandbox;
use hermes_sandbox::scope::Caller;

use super::Desk;

impl Desk<'_> {
    /// The directory that is meant: the nearest one at or above it that has snapshots, else its project.
    pub(super) fn key(&self, dir: Option<&Path>) -> anyhow::Result<Key> {
        let dir = match dir {
            Some(dir) => dir.to_path_buf(),
            None => std::env::current_dir().context("the current directory cannot be used")?,
        };
        let dir = std::fs::canonicalize(&dir).unwrap_or(dir);
        let known: Vec<PathBuf> = self
            .checkpoints
            .status()?
            .projects
            .into_iter()
            .filter(|project| project.place.is_none() && project.commits > 0)
            .map(|project| PathBuf::from(project.workdir))
            .collect();
        let nearest = dir.ancestors().find(|dir| known.iter().any(|known| known == dir));
        Ok(Key::Host(nearest.map_or_else(|| self.checkpoints.project(&dir), Path::to_path_buf)))
    }

    /// A snapshot by its number in the directory's list or by the beginning of its name; names are looked for
    /// everywhere.
    pub(super) fn find(&self, wanted: &str, dir: Option<&Path>) -> anyhow::Result<(Key, ObjectId)> {
        let key = self.key(dir)?;
        let error = match self.checkpoints.resolve(&key, wanted) {
            Ok(id) => return Ok((key, id)),
            Err(error) => error,
        };
        let is_number = wanted.len() < 4;
        if is_number || dir.is_some() || !matches!(error, CheckpointError::NotFound { .. }) {
            return Err(error.into());
        }
        for project in self.checkpoints.status()?.projects {
            let key = project.key();
            if let Ok(id) = self.checkpoints.resolve(&key, wanted) {
                return Ok((key, id));
            }
        }
        Err(error.into())
    }

    /// The files of a directory.
    pub(super) fn place(&self, key: Key) -> anyhow::Result<Place> {
        let Key::Box { place, dir } = &key else { return Ok(Place::host(key.dir())) };
        let env = Environment::from_iter(self.app.env.clone());
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let config = from_settings::config(&self.settings)?;
        let context = from_settings::context(&self.app.home, &self.settings, env, cwd, Caller::default())?;
        let sandbox = Sandbox::open(&config, &context)?;
        let ours = sandbox.describe().place;
        anyhow::ensure!(
            place.trim_start_matches("ssh:") == ours,
            "the checkpoint is of '{place}', and the settings lead to '{ours}': use /rollback in a conversation there"
        );
        let tree = Arc::new(BoxTree::new(sandbox.client()?, dir.clone()));
        Ok(Place { key, tree })
    }
}
