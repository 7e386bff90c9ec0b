//! The orphan sweep: exited containers of this profile that nobody came back to.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use super::belongs;
use super::cleanup;
use super::cli::{Engine, deadline};
use super::errors::EngineError;
use super::identity::Identity;
use super::inspect::{self, Observed, State};
use super::labels;
use crate::config::Switch;
use crate::plan::{Applied, Plan, Rule, Why, span};

/// How old an exited container must be: twice the lifetime of a handle, which itself counts as a minute at least.
pub fn threshold(lifetime: Duration) -> Duration {
    2 * lifetime.max(Duration::from_mins(1))
}

/// Decides which containers go. Only exited ones of this profile do, by how long ago they ended.
pub fn plan(identity: &Identity, seen: &[Observed], older_than: Duration, now: Timestamp) -> Plan {
    let mut plan = Plan::default();
    for one in seen {
        plan.decide(one, judge(identity, one, older_than, now));
    }
    plan
}

fn judge(identity: &Identity, one: &Observed, older_than: Duration, now: Timestamp) -> Result<Why, Why> {
    belongs::to_this_profile(identity, one).map_err(|reason| Why::new(Rule::Ownership, reason))?;
    if one.state != State::Exited {
        return Err(Why::new(Rule::OtherState, format!("it is {}", one.state.as_str())));
    }
    let spared = |reason: &str| Why::new(Rule::Stopped, reason);
    let ended = one.finished.ok_or_else(|| spared("it is not known when it ended"))?;
    let age =
        age(ended, now).ok_or_else(|| spared("it ended in the future, so clocks differ").since(ended))?;
    let nobody = if age < older_than { "" } else { " and nobody came back" };
    let reason = format!(
        "it ended {} ago ({ended:.0}){nobody}: stopped ones go after {}, twice terminal.lifetime_seconds",
        span(age),
        span(older_than)
    );
    let why = Why::new(Rule::Stopped, reason).since(ended);
    if age < older_than { Err(why) } else { Ok(why) }
}

/// The time from then to now; nothing for a time to come.
pub(super) fn age(then: Timestamp, now: Timestamp) -> Option<Duration> {
    now.duration_since(then).try_into().ok()
}

/// Looks, decides and removes. Nothing that fails here is anybody's problem: the worst outcome is that a
/// container stays until the next time.
pub fn run(
    engine: &dyn Engine,
    identity: &Identity,
    lifetime: Duration,
    now: Timestamp,
) -> Result<Applied, EngineError> {
    let seen = inspect::look(engine, &exited(engine, identity)?)?;
    Ok(cleanup::apply_to_stopped(engine, plan(identity, &seen, threshold(lifetime), now)))
}

fn exited(engine: &dyn Engine, identity: &Identity) -> Result<Vec<String>, EngineError> {
    let filters: Vec<String> = [
        format!("label={}=1", labels::AGENT),
        "status=exited".to_owned(),
        format!("label={}={}", labels::PROFILE, labels::sanitise(&identity.profile)),
    ]
    .into_iter()
    .flat_map(|filter| ["--filter".to_owned(), filter])
    .collect();
    inspect::list(engine, &filters, deadline::SWEEP)
}

/// Lets the sweep of each profile through once in a process.
#[derive(Debug, Default)]
pub struct Gate {
    swept: Mutex<HashSet<String>>,
}

impl Gate {
    /// Whether to sweep now. A switch that is off leaves the gate open for later.
    pub fn enter(&self, switch: Switch, identity: &Identity) -> bool {
        if switch == Switch::Off {
            return false;
        }
        let whose = format!("{}\0{}", identity.home.display(), identity.profile);
        self.swept.lock().unwrap_or_else(PoisonError::into_inner).insert(whose)
    }
}
