//! Taking away what nobody needs: the plan, and carrying it out.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::Manager;
use crate::docker::housekeeping::Which;
use crate::docker::inspect::{Observed, State};
use crate::docker::{belongs, cleanup, housekeeping, sweep};
use crate::error::SandboxError;
use crate::plan::{Applied, Decided, Plan};

/// What would go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrunePlan {
    /// Containers, each once: stopped ones nobody came back to, running ones nobody has used for a long time, and
    /// corpses of failed starts.
    pub containers: Plan,
    /// Directories of ours whose container is gone.
    pub directories: Vec<StaleDir>,
}

/// A directory without a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StaleDir {
    /// The name of the container it belonged to.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

/// What went.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Pruned {
    /// Containers.
    pub containers: Applied,
    /// Directories.
    pub directories: Vec<StaleDir>,
}

/// The plans of the two sweeps, which both look at every container.
struct Parts {
    exited: Plan,
    idle: Plan,
    directories: Vec<StaleDir>,
}

/// One plan of two: each container is the business of one of them.
fn merged(exited: Plan, idle: Plan) -> Plan {
    let stopped = |one: &Decided| one.state == State::Exited;
    let mut plan = Plan { remove: exited.remove, spare: Vec::new() };
    plan.remove.extend(idle.remove);
    plan.spare.extend(exited.spare.into_iter().filter(stopped));
    plan.spare.extend(idle.spare.into_iter().filter(|one| !stopped(one)));
    plan
}

impl Manager {
    /// What pruning would take away now; a dry run is this, printed.
    pub fn prune_plan(&self, now: Timestamp) -> Result<PrunePlan, SandboxError> {
        let Parts { exited, idle, directories } = self.parts(now)?;
        Ok(PrunePlan { containers: merged(exited, idle), directories })
    }

    fn parts(&self, now: Timestamp) -> Result<Parts, SandboxError> {
        let all = self.all()?;
        let (idle, _) =
            housekeeping::plan_reclaim(self.attach(), self.identity(), Which::All, &self.config, now)?;
        let ours: Vec<Observed> = all
            .iter()
            .filter(|one| belongs::to_this_profile(self.identity(), one).is_ok())
            .cloned()
            .collect();
        let exited = sweep::plan(self.identity(), &ours, sweep::threshold(self.config.lifetime), now);
        let registry = &self.attach().registry;
        let stale = housekeeping::stale_directories(self.attach(), Duration::ZERO)?;
        let directories =
            stale.into_iter().map(|name| StaleDir { path: registry.run_dir(&name), name }).collect();
        Ok(Parts { exited, idle, directories })
    }

    /// Takes it away. Whatever came into use since the plan was made stays.
    pub fn prune(&self, now: Timestamp) -> Result<Pruned, SandboxError> {
        let plan = self.parts(now)?;
        let mut containers = cleanup::apply_to_stopped(&*self.attach().engine, plan.exited);
        let idle = housekeeping::reclaim(self.attach(), self.identity(), Which::All, &self.config, now)?;
        containers.removed.extend(idle.removed);
        containers.kept.extend(idle.kept);
        let mut directories = plan.directories;
        // A directory that cannot be removed holds files of the container's user; the engine's owner can.
        directories.retain(|dir| self.attach().registry.remove(&dir.name).is_ok());
        Ok(Pruned { containers, directories })
    }
}
