//! Sweeping and reclaiming, once in a process, behind everybody's back and never in their way.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::attach::Attach;
use super::belongs;
use super::cleanup::{self, Removal};
use super::cli::deadline;
use super::errors::EngineError;
use super::identity::Identity;
use super::inspect::{self, Observed, State};
use super::labels;
use super::reclaim::{self, Activity, Keep};
use super::sweep::{self, Gate};
use crate::config::SandboxConfig;
use crate::files;
use crate::plan::{Applied, Decided, Plan};

/// What the work needs.
pub struct Housekeeping {
    /// How containers are reached.
    pub attach: Attach,
    /// Whose containers.
    pub identity: Identity,
    /// The settings.
    pub config: SandboxConfig,
    /// Where we note when it was last done.
    pub sandbox_dir: PathBuf,
    /// Why it is done now.
    pub occasion: Occasion,
}

/// Why housekeeping is done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// The engine was asked anyway.
    EngineAsked,
    /// A container was attached to without asking the engine, which should stay cheap: only if it was not
    /// done for a while.
    QuickAttach,
}

/// One gate for the whole process.
static GATE: LazyLock<Gate> = LazyLock::new(Gate::default);

/// Starts the work on a thread of its own, unless this process did it already.
pub fn start(work: Housekeeping) {
    let stamp = work.sandbox_dir.join(".boxes").join(".swept");
    let every = sweep::threshold(work.config.lifetime);
    if work.occasion == Occasion::QuickAttach && age_of(&stamp).is_some_and(|age| age < every) {
        return;
    }
    if !GATE.enter(work.config.container.orphan_sweep, &work.identity) {
        return;
    }
    // A machine without a thread to spare has other worries.
    let _ = thread::Builder::new().name("hermes-sweep".to_owned()).spawn(move || {
        let _ = files::write_private(&stamp, b"");
        // Whatever fails is tried again by the next process.
        let _ = sweep::run(&*work.attach.engine, &work.identity, work.config.lifetime, Timestamp::now());
        let _ = clear_directories(&work.attach, every);
        let _ = reclaim(&work.attach, &work.identity, Which::AllButOwn, &work.config, Timestamp::now());
    });
}

/// Names of boxes that have a directory of ours and no container, and had none for a while.
pub fn stale_directories(attach: &Attach, older_than: Duration) -> Result<Vec<String>, EngineError> {
    let filter = ["--filter".to_owned(), format!("label={}=1", labels::AGENT)];
    let ids = inspect::list(&*attach.engine, &filter, deadline::SWEEP)?;
    let seen = inspect::look(&*attach.engine, &ids)?;
    let is_stale = |name: &String| {
        // A process that is about to make a container has just touched its directory.
        let old = age_of(&attach.registry.run_dir(name)).is_some_and(|age| age >= older_than);
        old && !seen.iter().any(|one| one.name == *name)
    };
    Ok(attach.registry.names().into_iter().filter(is_stale).collect())
}

fn clear_directories(attach: &Attach, older_than: Duration) -> Result<(), EngineError> {
    for name in stale_directories(attach, older_than)? {
        let _ = attach.registry.remove(&name);
    }
    Ok(())
}

fn age_of(stamp: &Path) -> Option<Duration> {
    let modified = std::fs::metadata(stamp).and_then(|meta| meta.modified()).ok()?;
    SystemTime::now().duration_since(modified).ok()
}

/// Which containers of the profile are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// All of them.
    All,
    /// Not the one this process uses: it is in use, and even asking it counts as a client.
    AllButOwn,
}

/// Everything of this profile, with what its agents say.
pub fn survey(
    attach: &Attach,
    identity: &Identity,
    which: Which,
) -> Result<Vec<(Observed, Activity)>, EngineError> {
    let filters: Vec<String> = [
        format!("label={}=1", labels::AGENT),
        format!("label={}={}", labels::PROFILE, labels::sanitise(&identity.profile)),
    ]
    .into_iter()
    .flat_map(|filter| ["--filter".to_owned(), filter])
    .collect();
    let ids = inspect::list(&*attach.engine, &filters, deadline::SWEEP)?;
    let seen = inspect::look(&*attach.engine, &ids)?;
    Ok(seen
        .into_iter()
        // Containers of others are not even asked.
        .filter(|one| belongs::to_this_profile(identity, one).is_ok())
        .filter(|one| which == Which::All || one.label(labels::KEY) != Some(&identity.key()))
        .map(|one| {
            let activity =
                if one.state == State::Running { attach.activity(&one) } else { Activity::Unknown };
            (one, activity)
        })
        .collect())
}

/// The plan of what to reclaim now.
pub fn plan_reclaim(
    attach: &Attach,
    identity: &Identity,
    which: Which,
    config: &SandboxConfig,
    now: Timestamp,
) -> Result<(Plan, Vec<(Observed, Activity)>), EngineError> {
    let seen = survey(attach, identity, which)?;
    let keep = Keep { retention: config.container.retention, lifetime: config.lifetime };
    Ok((reclaim::plan(identity, &seen, keep, now), seen))
}

/// Reclaims what nobody has used for a long time.
pub fn reclaim(
    attach: &Attach,
    identity: &Identity,
    which: Which,
    config: &SandboxConfig,
    now: Timestamp,
) -> Result<Applied, EngineError> {
    let (plan, seen) = plan_reclaim(attach, identity, which, config, now)?;
    let mut applied = Applied::default();
    for decided in plan.remove {
        let Some((one, _)) = seen.iter().find(|(one, _)| one.id == decided.id) else { continue };
        match take_away(attach, one) {
            Ok(()) => {
                let _ = attach.registry.remove(&one.name);
                applied.removed.push(decided);
            }
            Err(reason) => applied.kept.push(Decided { reason, ..decided }),
        }
    }
    Ok(applied)
}

/// Asks once more, stops it, and removes it without force: whoever comes in between wins.
fn take_away(attach: &Attach, one: &Observed) -> Result<(), String> {
    if one.state == State::Running {
        match attach.activity(one) {
            Activity::Known { clients: 0, running: 0, .. } => {}
            _ => return Err("it came into use meanwhile".to_owned()),
        }
        cleanup::stop(&*attach.engine, &one.id).map_err(|error| error.to_string())?;
    }
    cleanup::remove(&*attach.engine, &one.id, Removal::OnlyStopped).map_err(|error| error.to_string())
}
