//! What should be done about a board, decided from what was seen of it. Nothing is changed here: a dry run is this, printed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::card::{CardId, RunId, Seconds, Status};
use crate::claim::Lane;
use crate::dispatch::snapshot::Running;
use crate::dispatch::why::Why;
use crate::ending::{Ending, Stop};

/// What is known of the world outside the board.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct World {
    /// This machine's name, as it stands in locks.
    pub host: String,
    /// The profiles there are, `default` among them.
    pub profiles: BTreeSet<String>,
    /// What is known of the process behind each attempt: the worker's, or if none began, that of whoever took the card.
    pub alive: HashMap<RunId, Liveness>,
    /// What runs on other boards.
    pub elsewhere: Elsewhere,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It is there.
    Alive,
    /// It is not there any more.
    Dead,
    /// It is on another machine, or cannot be told.
    Unknown,
}

/// Cards running on other boards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// By profile.
    pub by_profile: BTreeMap<String, u32>,
    /// In all.
    pub total: u32,
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// What becomes of attempts under way. Those that simply go on are not here.
    pub attempts: Vec<Judged>,
    /// Cards whose time has come, and where they stand then.
    pub due: Vec<(CardId, Status)>,
    /// Cards that were given up under other settings.
    pub rules_changed: Vec<CardId>,
    /// Cards that need not wait any more.
    pub promote: Vec<CardId>,
    /// Workers to be started, in this order.
    pub start: Vec<Start>,
    /// Every other card that could have been, and why it is not.
    pub skip: Vec<Skip>,
    /// Cards that carry a reason which does not hold any more.
    pub cleared: Vec<CardId>,
    /// When it is worth looking again, if nothing happens before.
    pub wake_at: Option<Seconds>,
}

/// What becomes of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The attempt as it was seen.
    pub running: Running,
    /// What becomes of it.
    pub fate: Fate,
}

/// See [`Judged`].
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// The worker is alive and holds it longer.
    Extend,
    /// Nobody ever began: the card goes back and it costs nothing.
    Release,
    /// The claim ran out and nobody is there: the card goes back.
    Expire {
        /// Whether the claim was made on this machine.
        local: bool,
    },
    /// The worker ended, and how.
    End(Ending),
    /// The worker should end; whoever looks after it does that.
    Stop(Stop),
    /// A worker that another program started should end: it is sent a signal now and looked at again later.
    Signal {
        /// Which.
        how: Signal,
        /// Why.
        why: &'static str,
    },
}

/// A signal to a worker that another program started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// It is asked to end.
    Ask,
    /// It is killed.
    Kill,
}

/// A worker to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// For this card.
    pub card: CardId,
    /// The profile.
    pub profile: String,
    /// Whether the settings named it and the card is to be given to it.
    pub assigned: Assigned,
    /// To work, or to look at work.
    pub lane: Lane,
    /// Where, if that is known.
    pub workspace: Option<String>,
}

/// Who gave a card to a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assigned {
    /// The card had it already.
    Before,
    /// The settings say so.
    ByDefault,
}

/// A card that is not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// Which.
    pub card: CardId,
    /// Why.
    pub why: Why,
    /// Whether the card says the same already.
    pub written: bool,
    /// To whom the settings give it, if they do.
    pub assign: Option<String>,
}
