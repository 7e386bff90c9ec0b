//! What a look at a board shows. Read in one snapshot, set by set.

use crate::card::{CardId, RunId, Seconds};
use crate::dispatch::why::Guard;
use crate::state::State;
use crate::workers::Worker;

/// How much of a board is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of it.
    All,
    /// What changed since this event, and as many cards as could be started.
    Since(i64),
}

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Whether cards are started at all.
    pub state: State,
    /// How much was looked at.
    pub scope: Scope,
    /// The newest event at that time: the next look can begin there.
    pub newest_event: i64,
    /// Cards under way.
    pub running: Vec<Running>,
    /// Cards that were put off until now.
    pub due: Vec<Due>,
    /// Cards that were given up under other settings.
    pub rules_changed: Vec<CardId>,
    /// Cards that waited for others and need not any more.
    pub free: Vec<Candidate>,
    /// Cards that can be taken, in the order they should be.
    pub ready: Vec<Candidate>,
    /// Cards that wait to be looked at.
    pub review: Vec<Candidate>,
    /// When something happens by itself next: a wait is over, a card's time has come.
    pub wake_at: Option<Seconds>,
}

/// A card under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// The card.
    pub card: CardId,
    /// Who works.
    pub profile: Option<String>,
    /// The attempt; none only in a file somebody else broke.
    pub run: Option<RunId>,
    /// Who holds it: `host:pid`.
    pub lock: Option<String>,
    /// Until when.
    pub expires: Option<Seconds>,
    /// The worker's process, once it began.
    pub pid: Option<i64>,
    /// When the attempt began.
    pub started_at: Seconds,
    /// When the worker was last heard of.
    pub heartbeat_at: Option<Seconds>,
    /// How long the attempt may take.
    pub max_runtime: Option<Seconds>,
    /// The worker, if this program started it.
    pub worker: Option<Worker>,
    /// Whether a dispatcher of ours took it, to start a worker.
    pub taken: Taken,
    /// That the worker was asked to end, by signal.
    pub signalled: Option<Signalled>,
}

/// Who took a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// A dispatcher of this program.
    ToStart,
    /// Somebody else: a person, another program.
    Otherwise,
}

/// A signal that was sent to a worker which another program started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signalled {
    /// When the first was sent.
    pub at: Seconds,
    /// Why: `timed_out`, `stale`, `expired`.
    pub why: String,
}

/// A card whose time has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Due {
    /// The card.
    pub candidate: Candidate,
    /// Whether it waits for others still.
    pub parents: crate::transition::Parents,
}

/// A card that might be started.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidate {
    /// The card.
    pub card: CardId,
    /// Who should work on it.
    pub assignee: Option<String>,
    /// Larger comes sooner.
    pub priority: i64,
    /// When it should be finished.
    pub deadline: Option<Seconds>,
    /// When it was made.
    pub created_at: Seconds,
    /// The order of cards made in the same second.
    pub row: i64,
    /// Where it is worked on, if that is known.
    pub workspace: Option<String>,
    /// Before then it is not tried.
    pub not_before: Option<Seconds>,
    /// Somebody edits it until then.
    pub editing_until: Option<Seconds>,
    /// What of its budget is used up.
    pub used_up: Option<String>,
    /// Why it should not be started again so soon.
    pub guard: Option<Guard>,
    /// Why it was passed over last time.
    pub skip_reason: Option<String>,
    /// Who should look at it.
    pub reviewer: Option<String>,
    /// Who did the work that is to be looked at.
    pub produced_by: Option<String>,
}
