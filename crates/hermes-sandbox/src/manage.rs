//! Looking after containers by hand: list, look inside, compare, stop, remove, prune. Data for people and
//! for `--json`; nothing here prints.

mod act;
mod details;
mod df;
mod jobs;
mod list;
mod prune;

use std::sync::Arc;

pub use act::{Force, Recreated};
pub use details::{AgentDetails, Details, Limit, MountDetails};
pub use df::{DiskUse, Usage as DiskUsage};
pub use jobs::{Job, JobStatus};
pub use list::{MadeBy, Summary, Which};
pub use prune::{PrunePlan, Pruned, StaleDir};

use crate::config::SandboxConfig;
use crate::context::Context;
use crate::docker::attach::Attach;
use crate::docker::cli::deadline;
use crate::docker::identity::Identity;
use crate::docker::inspect::{self, Observed};
use crate::docker::{DockerBackend, labels};
use crate::error::SandboxError;

/// Looks after the containers of an engine, from the point of view of one profile.
pub struct Manager {
    backend: Arc<DockerBackend>,
    config: SandboxConfig,
    context: Context,
}

impl Manager {
    /// A manager for these settings. The engine is not asked yet.
    pub fn new(config: &SandboxConfig, context: &Context) -> Result<Self, SandboxError> {
        let backend = Arc::new(DockerBackend::new(config, context)?);
        Ok(Self { backend, config: config.clone(), context: context.clone() })
    }

    fn attach(&self) -> &Attach {
        self.backend.attach()
    }

    fn identity(&self) -> &Identity {
        self.backend.identity()
    }

    /// Every container that carries the family's label.
    fn all(&self) -> Result<Vec<Observed>, SandboxError> {
        let filter = ["--filter".to_owned(), format!("label={}=1", labels::AGENT)];
        let ids = inspect::list(&*self.attach().engine, &filter, deadline::SWEEP)?;
        Ok(inspect::look(&*self.attach().engine, &ids)?)
    }

    /// The container a word means: its name, the beginning of its id, or nothing for the profile's own.
    pub fn find(&self, word: Option<&str>) -> Result<Observed, SandboxError> {
        let own = self.identity().container_name();
        let word = word.unwrap_or(&own);
        let all = self.all()?;
        if let Some(exact) = all.iter().find(|one| one.name == word || one.id == word) {
            return Ok(exact.clone());
        }
        // Four characters of an id are what people copy; fewer are a slip of the hand.
        let mut meant = all.iter().filter(|one| word.len() >= 4 && one.id.starts_with(word));
        match (meant.next(), meant.next()) {
            (Some(one), None) => Ok(one.clone()),
            (Some(_), Some(_)) => Err(SandboxError::Ambiguous(word.to_owned())),
            (None, _) => Err(SandboxError::NoSuchSandbox(word.to_owned())),
        }
    }
}
