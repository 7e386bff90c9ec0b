//! A plan of removals: what goes, what stays, and why. Printing it is the dry run; applying it is elsewhere.

use serde::Serialize;

use crate::docker::inspect::{Observed, State};

/// Decisions about containers, each with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Plan {
    /// To be removed.
    pub remove: Vec<Decided>,
    /// To be left alone.
    pub spare: Vec<Decided>,
}

/// One container and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// Its immutable id: a name could mean another container by the time we act.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// The state it was in when this was decided.
    pub state: State,
    /// Why.
    pub reason: String,
}

impl Plan {
    /// Decides to remove.
    pub fn remove(&mut self, seen: &Observed, reason: impl Into<String>) {
        self.remove.push(decided(seen, reason.into()));
    }

    /// Decides to leave alone.
    pub fn spare(&mut self, seen: &Observed, reason: impl Into<String>) {
        self.spare.push(decided(seen, reason.into()));
    }
}

fn decided(seen: &Observed, reason: String) -> Decided {
    Decided { id: seen.id.clone(), name: seen.name.clone(), state: seen.state, reason }
}

/// What applying a plan did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Applied {
    /// Removed.
    pub removed: Vec<Decided>,
    /// Not removed after all: the engine refused, or someone came in between.
    pub kept: Vec<Decided>,
}
