//! What a look at the board did, or would do.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::card::{CardId, Seconds};

/// See the module. The first names are those other programs read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Cards whose claim had run out.
    pub reclaimed: u32,
    /// Cards whose worker died.
    pub crashed: Vec<CardId>,
    /// Cards whose time was up.
    pub timed_out: Vec<CardId>,
    /// Cards of which nothing was heard.
    pub stale: Vec<CardId>,
    /// Cards that nobody tries any more.
    pub auto_blocked: Vec<CardId>,
    /// Cards that need not wait any more.
    pub promoted: u32,
    /// Workers that were started.
    pub spawned: Vec<Spawned>,
    /// Cards that nobody was named for.
    pub skipped_unassigned: Vec<CardId>,
    /// Cards of profiles that are not there.
    pub skipped_nonspawnable: Vec<CardId>,
    /// Cards of profiles that have enough.
    pub skipped_per_profile_capped: Vec<Capped>,
    /// Cards the settings gave to a profile.
    pub auto_assigned_default: Vec<CardId>,
    /// Cards that should not be started again so soon.
    pub respawn_guarded: Vec<Passed>,
    /// Cards whose provider had enough.
    pub rate_limited: Vec<CardId>,
    /// Whether another dispatcher was at it.
    pub skipped_locked: bool,
    /// Cards that were passed over for another reason.
    pub skipped: Vec<Passed>,
    /// How many cards wait for a cap, by the cap.
    pub waiting_for_cap: BTreeMap<String, u32>,
    /// When it is worth looking again, if nothing happens before.
    pub wake_at: Option<Seconds>,
}

/// A worker that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Spawned {
    /// For this card.
    pub task_id: CardId,
    /// The profile.
    pub assignee: String,
    /// Where it works; empty as long as nobody chose it.
    pub workspace: String,
}

/// A card of a profile that has enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capped {
    /// The card.
    pub task_id: CardId,
    /// The profile.
    pub assignee: String,
    /// How many it has.
    pub current: u32,
}

/// A card that was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passed {
    /// The card.
    pub task_id: CardId,
    /// Why.
    pub reason: String,
}
