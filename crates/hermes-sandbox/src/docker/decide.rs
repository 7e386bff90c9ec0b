//! What to do with the containers that are there: attach, wake one up, replace it, or make a new one.

use std::path::Path;

use super::identity::Identity;
use super::inspect::{Observed, State};
use super::labels;

/// Whose container it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ownership {
    /// Exactly ours: its key label says so.
    Ours,
    /// Made by another program for this very home, and proven by its mounts.
    Adoptable,
    /// Not to be touched.
    Foreign {
        /// Why.
        reason: String,
    },
}

/// The labels of the contract do not name the home, so two homes with a `default` profile look alike.
/// A container without our key is only taken over when one of its mounts comes from this home.
pub fn ownership(identity: &Identity, seen: &Observed) -> Ownership {
    let foreign = |reason: &str| Ownership::Foreign { reason: reason.to_owned() };
    if seen.label(labels::AGENT) != Some("1") {
        return foreign("it does not carry our label");
    }
    match seen.label(labels::KEY) {
        Some(key) if key == identity.key() && seen.label(labels::REUSE) == Some(labels::REUSE_SINGLE) => {
            return foreign("it belongs to one process only");
        }
        Some(key) if key == identity.key() => return Ownership::Ours,
        Some(_) => return foreign("it belongs to another home, profile or scope"),
        None => {}
    }
    let contract = labels::contract(identity);
    if !contract.iter().all(|(name, value)| seen.label(name) == Some(value)) {
        return foreign("its labels name another task or profile");
    }
    if mounts_prove(&identity.home, seen) {
        Ownership::Adoptable
    } else {
        foreign("nothing proves that it belongs to this home")
    }
}

/// A mount from below this home, but not from below a profile inside it.
fn mounts_prove(home: &Path, seen: &Observed) -> bool {
    let profiles = home.join("profiles");
    seen.mounts.iter().any(|mount| {
        mount.kind == "bind" && mount.source.starts_with(home) && !mount.source.starts_with(&profiles)
    })
}

/// The next step towards a container that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It runs.
    Attach {
        /// Which one.
        id: String,
    },
    /// It is paused.
    Unpause {
        /// Which one.
        id: String,
    },
    /// It is made or ended.
    Start {
        /// Which one.
        id: String,
        /// Whether it had run before, and how that ended.
        before: Before,
    },
    /// It is on its way to another state.
    Wait {
        /// Which one.
        id: String,
    },
    /// It is beyond repair.
    Remove {
        /// Which one.
        id: String,
        /// Why.
        reason: String,
    },
    /// There is none.
    Create,
}

/// How the container ended before it is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// It never ran.
    NeverRan,
    /// It ended, with this exit code.
    Ended {
        /// Exit code of its first process.
        code: i32,
    },
    /// It ended for want of memory.
    OutOfMemory,
}

/// Decides on the next step.
///
/// Our own container comes before one that could be adopted; among equals a running one comes first, then
/// the first one listed. `own` is the container this process made for itself alone; `given_up` holds those
/// that could not be started a moment ago.
pub fn decide(identity: &Identity, own: Option<&str>, seen: &[Observed], given_up: &[String]) -> Step {
    let candidates = seen.iter().filter(|one| !given_up.contains(&one.id)).filter_map(|one| {
        let rank = match ownership(identity, one) {
            _ if own == Some(one.id.as_str()) => 0,
            Ownership::Ours => 0,
            Ownership::Adoptable => 1,
            Ownership::Foreign { .. } => return None,
        };
        Some((rank, readiness(one.state), one))
    });
    // `min_by_key` keeps the first of equals, which is the order the engine lists them in.
    match candidates.min_by_key(|(rank, ready, _)| (*rank, *ready)) {
        Some((_, _, chosen)) => step_for(chosen),
        None => Step::Create,
    }
}

fn readiness(state: State) -> u8 {
    match state {
        State::Running => 0,
        State::Paused => 1,
        State::Restarting => 2,
        State::Exited | State::Created => 3,
        State::Removing | State::Unknown | State::Dead => 4,
    }
}

fn step_for(chosen: &Observed) -> Step {
    let id = chosen.id.clone();
    match chosen.state {
        State::Running => Step::Attach { id },
        State::Paused => Step::Unpause { id },
        State::Restarting | State::Removing => Step::Wait { id },
        State::Created => Step::Start { id, before: Before::NeverRan },
        State::Exited | State::Unknown => Step::Start {
            id,
            before: if chosen.oom_killed {
                Before::OutOfMemory
            } else {
                Before::Ended { code: chosen.exit_code }
            },
        },
        State::Dead => Step::Remove { id, reason: "it is dead".to_owned() },
    }
}
