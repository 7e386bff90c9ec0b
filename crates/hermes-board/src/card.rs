//! A card and the words that describe it.

use std::fmt;

use hermes_store::rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

/// Declares an enum whose values are words in the database.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum $name { $($(#[$each])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Reads the word.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> hermes_store::rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.as_str()))
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let word = value.as_str()?;
                Self::parse(word).ok_or_else(|| FromSqlError::Other(Box::new(UnknownWord(word.to_owned()))))
            }
        }
    };
}

/// A word in the database that this program does not know.
#[derive(Debug, thiserror::Error)]
#[error("the word \"{0}\" is not known to this program: a later version may have written it")]
struct UnknownWord(String);

words! {
    /// Where a card stands.
    Status {
        /// Not understood well enough to be worked on.
        Triage = "triage",
        /// Waits for other cards.
        Todo = "todo",
        /// Put off.
        Scheduled = "scheduled",
        /// Can be taken.
        Ready = "ready",
        /// A worker has it.
        Running = "running",
        /// Needs somebody.
        Blocked = "blocked",
        /// Waits to be looked at by another.
        Review = "review",
        /// Finished.
        Done = "done",
        /// Put away.
        Archived = "archived",
    }
}

impl Status {
    /// Whether a card that waits for this one may go on.
    pub fn frees_children(self) -> bool {
        matches!(self, Self::Done | Self::Archived)
    }
}

words! {
    /// Where a card is worked on.
    WorkspaceKind {
        /// In a directory of its own, removed afterwards.
        Scratch = "scratch",
        /// In a git worktree of its own.
        Worktree = "worktree",
        /// In a directory that stays.
        Dir = "dir",
    }
}

words! {
    /// Why a card is blocked.
    BlockKind {
        /// Another card must be finished first.
        Dependency = "dependency",
        /// A person must say something.
        NeedsInput = "needs_input",
        /// Something is missing that the worker cannot get.
        Capability = "capability",
        /// It may work later.
        Transient = "transient",
    }
}

words! {
    /// How an attempt ended.
    Outcome {
        /// The work is done.
        Completed = "completed",
        /// The worker could not go on.
        Blocked = "blocked",
        /// It was put off.
        Scheduled = "scheduled",
        /// The worker died.
        Crashed = "crashed",
        /// The time was up.
        TimedOut = "timed_out",
        /// The worker could not be started.
        SpawnFailed = "spawn_failed",
        /// It failed too often.
        GaveUp = "gave_up",
        /// It was taken away from the worker.
        Reclaimed = "reclaimed",
        /// Nothing was heard of it for too long.
        Stale = "stale",
        /// The provider had enough.
        RateLimited = "rate_limited",
    }
}

impl Outcome {
    /// What the attempt's own status says then.
    pub fn run_status(self) -> &'static str {
        match self {
            Self::Completed => "done",
            outcome => outcome.as_str(),
        }
    }
}

/// A card's name: `t_` and eight hexadecimal digits.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CardId(String);

impl CardId {
    /// A name made of four random bytes.
    pub fn from_random(bytes: [u8; 4]) -> Self {
        Self(format!("t_{:08x}", u32::from_be_bytes(bytes)))
    }

    /// A name as somebody wrote it. Whether there is such a card, the board knows.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into().trim().to_owned())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl ToSql for CardId {
    fn to_sql(&self) -> hermes_store::rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for CardId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(|text| Self(text.to_owned()))
    }
}

/// Seconds since 1970.
pub type Seconds = i64;

/// A card as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// Its name.
    pub id: CardId,
    /// What it is about.
    pub title: String,
    /// What is to be done.
    pub body: Option<String>,
    /// The profile that works on it.
    pub assignee: Option<String>,
    /// Where it stands.
    pub status: Status,
    /// Larger comes sooner.
    pub priority: i64,
    /// Who made it.
    pub created_by: Option<String>,
    /// When it was made.
    pub created_at: Seconds,
    /// When it was first started.
    pub started_at: Option<Seconds>,
    /// When it was finished.
    pub completed_at: Option<Seconds>,
    /// Where it is worked on.
    pub workspace_kind: WorkspaceKind,
    /// The directory of that.
    pub workspace_path: Option<String>,
    /// The branch of that.
    pub branch_name: Option<String>,
    /// The project it belongs to.
    pub project_id: Option<String>,
    /// Who holds it: `host:pid`.
    pub claim_lock: Option<String>,
    /// Until when.
    pub claim_expires: Option<Seconds>,
    /// A name space of its own.
    pub tenant: Option<String>,
    /// What came of it.
    pub result: Option<String>,
    /// What tells it from a second card for the same thing.
    pub idempotency_key: Option<String>,
    /// How often in a row it failed.
    pub failures: i64,
    /// The worker's process.
    pub worker_pid: Option<i64>,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// How long one attempt may take.
    pub max_runtime_seconds: Option<i64>,
    /// When the worker was last heard of.
    pub last_heartbeat_at: Option<Seconds>,
    /// The attempt under way.
    pub current_run: Option<RunId>,
    /// Skills the worker loads.
    pub skills: Vec<String>,
    /// The model the worker uses.
    pub model: Option<String>,
    /// Failures in a row before nobody tries any more.
    pub max_retries: Option<i64>,
    /// Whether a judge looks at every answer.
    pub goal_mode: GoalMode,
    /// Most turns of that.
    pub goal_max_turns: Option<i64>,
    /// The conversation it was made in.
    pub session_id: Option<String>,
    /// Why it was blocked last.
    pub block_kind: Option<BlockKind>,
    /// How often for the same reason.
    pub block_recurrences: i64,
    /// Kept for another program.
    pub workflow_template_id: Option<String>,
    /// Kept for another program.
    pub current_step_key: Option<String>,
}

/// Whether a judge looks at every answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GoalMode {
    /// No.
    #[default]
    Off,
    /// Yes.
    On,
}

/// The number of an attempt; it only grows, so it tells an old worker from a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RunId(pub i64);

impl ToSql for RunId {
    fn to_sql(&self) -> hermes_store::rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for RunId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A profile's name as it is kept on cards.
pub fn assignee(name: &str) -> Option<String> {
    let name = name.trim().to_lowercase();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_as_they_were() {
        for status in Status::ALL {
            assert_eq!(Status::parse(status.as_str()), Some(*status));
        }
        assert_eq!(Status::parse("unheard-of"), None);
        assert_eq!(Outcome::Completed.run_status(), "done");
        assert_eq!(Outcome::Stale.run_status(), "stale");
    }

    #[test]
    fn names_have_eight_digits() {
        assert_eq!(CardId::from_random([0, 0, 0xab, 1]).as_str(), "t_0000ab01");
        assert_eq!(assignee("  Alpha "), Some("alpha".to_owned()));
        assert_eq!(assignee("  "), None);
    }
}
