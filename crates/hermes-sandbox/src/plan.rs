//! A plan of removals: what goes, what stays, and why. Printing it is the dry run; applying it is elsewhere.

use std::time::Duration;

use jiff::Timestamp;
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
    /// The rule that decided.
    pub rule: Rule,
    /// Since when what the rule looks at holds, where that is known.
    pub since: Option<Timestamp>,
    /// Why, in words.
    pub reason: String,
}

/// The rules by which containers go or stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// It must be this profile's.
    Ownership,
    /// Stopped ones go some time after they ended.
    Stopped,
    /// Ones that were made and never started go some time after they were made.
    NeverStarted,
    /// Ones the engine calls dead go.
    Dead,
    /// What is in use stays.
    InUse,
    /// What cannot be asked whether it is in use stays.
    Unasked,
    /// Running ones that nobody uses go after the retention.
    Unused,
    /// Ones of a single process go some time after that process left them.
    LeftBehind,
    /// Ones in any other state stay.
    OtherState,
}

/// Why something goes or stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The rule.
    pub rule: Rule,
    /// Since when what it looks at holds.
    pub since: Option<Timestamp>,
    /// In words.
    pub reason: String,
}

impl Why {
    /// A rule and words, at no known time.
    pub fn new(rule: Rule, reason: impl Into<String>) -> Self {
        Self { rule, since: None, reason: reason.into() }
    }

    /// The same since a time.
    #[must_use]
    pub fn since(self, time: Timestamp) -> Self {
        Self { since: Some(time), ..self }
    }
}

impl Plan {
    /// Writes down what was decided: `Ok` removes, `Err` leaves alone.
    pub fn decide(&mut self, seen: &Observed, verdict: Result<Why, Why>) {
        match verdict {
            Ok(why) => self.remove.push(decided(seen, why)),
            Err(why) => self.spare.push(decided(seen, why)),
        }
    }
}

fn decided(seen: &Observed, why: Why) -> Decided {
    let Why { rule, since, reason } = why;
    Decided { id: seen.id.clone(), name: seen.name.clone(), state: seen.state, rule, since, reason }
}

/// What applying a plan did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Applied {
    /// Removed.
    pub removed: Vec<Decided>,
    /// Not removed after all: the engine refused, or someone came in between.
    pub kept: Vec<Decided>,
}

/// A time span as people say it.
pub fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
