//! Why a card is passed over, as types and in words.

use std::fmt;

use crate::card::Seconds;
use crate::state::Mode;

/// Why a card is not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The board starts nothing.
    Mode(Mode),
    /// Nobody was named for it.
    Unassigned,
    /// There is no such profile.
    NoProfile {
        /// The name.
        profile: String,
        /// Whether the card says so, or the settings do.
        named: Named,
    },
    /// Somebody edits it.
    Editing {
        /// Until then.
        until: Seconds,
    },
    /// The worker that had it before is still there.
    Leaving,
    /// It failed and waits.
    NotBefore {
        /// Until then.
        at: Seconds,
    },
    /// Its budget is used up.
    UsedUp(String),
    /// It should not be started again so soon.
    Guarded(Guard),
    /// A person has to look at it.
    NeedsHuman,
    /// The one who should look at it did the work.
    ReviewerIsAuthor(String),
    /// Its profile has as many as it may.
    ProfileCap {
        /// The profile.
        profile: String,
        /// How many it has.
        current: u32,
        /// How many it may have.
        limit: u32,
    },
    /// As many run as may.
    Cap(Cap),
}

/// Who named a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// The card.
    ByCard,
    /// The settings, for cards that name nobody.
    ByDefault,
}

/// A cap that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap {
    /// Which.
    pub kind: CapKind,
    /// How many may run.
    pub limit: u32,
    /// How many do, with those that are about to be started.
    pub running: u32,
}

/// What a cap counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapKind {
    /// Workers of all boards.
    Host,
    /// Running cards of the board.
    Board,
    /// The same, as given for this look.
    Spawn,
}

impl CapKind {
    /// The setting's name.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Host => "kanban.max_in_progress_host",
            Self::Board => "kanban.max_in_progress",
            Self::Spawn => "kanban.max_spawn",
        }
    }
}

/// Why a card should not be started again so soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// The provider had enough.
    Cooldown {
        /// Until then.
        until: Seconds,
    },
    /// The last attempt failed for want of a key, a right or a quota.
    Auth {
        /// Until then.
        until: Seconds,
    },
    /// It was done a short time ago.
    RecentSuccess {
        /// Until then.
        until: Seconds,
    },
    /// There is a pull request for it.
    ActivePr {
        /// Until then.
        until: Seconds,
    },
}

impl Guard {
    /// The word for it in events.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cooldown { .. } => "rate_limit_cooldown",
            Self::Auth { .. } => "blocker_auth",
            Self::RecentSuccess { .. } => "recent_success",
            Self::ActivePr { .. } => "active_pr",
        }
    }

    /// Until when it holds.
    pub fn until(self) -> Seconds {
        match self {
            Self::Cooldown { until }
            | Self::Auth { until }
            | Self::RecentSuccess { until }
            | Self::ActivePr { until } => until,
        }
    }
}

impl Why {
    /// The reason, if it is the card's own and cannot be seen from the card: it is written down. Others are worked out
    /// by whoever looks.
    pub fn to_write(&self) -> Option<String> {
        match self {
            Self::NoProfile { .. } | Self::UsedUp(_) | Self::Guarded(_) | Self::ReviewerIsAuthor(_) => {
                Some(self.to_string())
            }
            _ => None,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mode(Mode::Parked) => {
                f.write_str("the board has not been started: `hermes kanban resume` starts it")
            }
            Self::Mode(Mode::Draining) => f.write_str("the board is draining: nothing new is started"),
            Self::Mode(_) => f.write_str("the board is paused: `hermes kanban resume` lets it go on"),
            Self::Unassigned => {
                f.write_str("nobody was named for it, and kanban.default_assignee is not set")
            }
            Self::NoProfile { profile, named: Named::ByCard } => {
                write!(f, "there is no profile \"{profile}\"")
            }
            Self::NoProfile { profile, named: Named::ByDefault } => {
                write!(
                    f,
                    "nobody was named for it, and kanban.default_assignee is \"{profile}\", which is no profile"
                )
            }
            Self::Editing { .. } => f.write_str("somebody edits it"),
            Self::Leaving => f.write_str("the worker that had it before is still ending"),
            Self::NotBefore { .. } => f.write_str("it failed and waits before it is tried again"),
            Self::UsedUp(what) => write!(f, "its budget is used up: {what}"),
            Self::Guarded(guard) => f.write_str(match guard {
                Guard::Cooldown { .. } => "the provider had enough a short time ago",
                Guard::Auth { .. } => "the last attempt failed for want of a key, a right or a quota",
                Guard::RecentSuccess { .. } => "it was done a short time ago",
                Guard::ActivePr { .. } => "there is a pull request for it",
            }),
            Self::NeedsHuman => f.write_str("a person has to look at it"),
            Self::ReviewerIsAuthor(name) => {
                write!(
                    f,
                    "\"{name}\" should look at it and did the work: a person has to, or another profile"
                )
            }
            Self::ProfileCap { profile, current, limit } => {
                write!(
                    f,
                    "\"{profile}\" has {current} running of {limit} (kanban.max_in_progress_per_profile)"
                )
            }
            Self::Cap(cap) => write!(f, "{} running of {} ({})", cap.running, cap.limit, cap.kind.setting()),
        }
    }
}
