//! How an attempt can end, as types. What becomes of the card then is decided in one place.

use serde::{Deserialize, Serialize};

use crate::card::Seconds;

/// How an attempt ended, as seen by whoever watched the worker.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// The worker's program ended by itself. Whether the card was closed before is on the card; what the program had to
    /// say of it is the verdict.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// It was killed by a signal nobody here sent.
    Signaled {
        /// The signal.
        signal: i32,
    },
    /// It took longer than it may and was ended.
    TimedOut {
        /// How long it took.
        elapsed: Seconds,
        /// How long it may take.
        limit: Seconds,
        /// Whether it had to be killed.
        killed: Killed,
    },
    /// Nothing came of it for so long that it was ended.
    Stale {
        /// Since when.
        silent: Seconds,
        /// How long it may be silent.
        limit: Seconds,
    },
    /// Somebody wanted it to end.
    Stopped(Stop),
    /// It could not be started: the program, the workspace.
    NotStarted {
        /// What was being done when it failed: `spawn`, `workspace`.
        step: &'static str,
        /// What went wrong.
        error: String,
    },
    /// Its process is not there any more and nobody saw it end.
    Vanished,
}

/// Whether a process had to be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Killed {
    /// It ended when it was asked to.
    Asked,
    /// It was killed.
    Forced,
}

/// What the worker's own program says of an attempt before it ends, when the card was not closed by its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// The model stopped without closing the card, also after it was asked to.
    None {
        /// Its last words.
        text: String,
    },
    /// A limit of tokens, money, or rounds is used up.
    OutOfBudget {
        /// Which, for people.
        what: String,
    },
    /// The provider had enough.
    Quota {
        /// When it may be tried again, if the provider said so.
        until: Option<Seconds>,
        /// What it said.
        error: String,
    },
    /// Something around it is broken: no key, no sandbox, no model.
    Infrastructure {
        /// What.
        error: String,
    },
}

/// That a worker should end, by whom and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// What the card does then.
    pub then: Then,
    /// Who wants it.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

/// What a card does when its worker was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// It is kept out until somebody unblocks it.
    StayOut,
    /// It may be taken again.
    GoOn,
    /// It was closed or put away already: only the process ends.
    Nothing,
}

/// Whose fault a failure is. Each kind has a budget of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The work itself.
    Task,
    /// What is around it: programs, directories, sandboxes.
    Infrastructure,
    /// The provider's limits.
    Quota,
    /// Somebody wanted it so.
    Operator,
}
