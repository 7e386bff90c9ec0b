//! Who uses the board, and which: as the environment says.

use std::path::Path;
use std::sync::Arc;

use hermes_board::act::By;
use hermes_board::claim::CLAIM_SECONDS;
use hermes_board::{Board, Card, CardId, Overrides, Root, RunId, Seconds, boards};
use hermes_guard::{Policy, Redactor};
use hermes_home::Home;
use serde_json::Value;

use super::GoalJudge;
use crate::fields;
use crate::tool::Arguments;

/// The variable that names a worker's card.
pub const TASK: &str = "HERMES_KANBAN_TASK";

/// Who uses the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// A worker on its card.
    Worker {
        /// The card.
        card: CardId,
        /// The attempt, if it was told.
        run: Option<RunId>,
    },
    /// Somebody who looks after the board.
    Orchestrator,
}

/// Who uses the board, and which. Cheap to clone; opens nothing.
#[derive(Clone)]
pub struct Desk(Arc<Inner>);

struct Inner {
    root: Root,
    role: Role,
    author: String,
    tenant: Option<String>,
    lock: Option<String>,
    claim_seconds: i64,
    terminal_timeout: Option<String>,
    redactor: Arc<Redactor>,
    judge: Option<Arc<dyn GoalJudge>>,
}

impl Desk {
    /// As the environment says.
    pub fn new(
        home: &Home,
        env: impl Fn(&str) -> Option<String>,
        user_home: &Path,
        redactor: Arc<Redactor>,
    ) -> Self {
        let text =
            |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let overrides = Overrides::from_env(|name| env(name).map(Into::into), user_home);
        let role = match text(TASK) {
            Some(card) => Role::Worker {
                card: CardId::new(card),
                run: text("HERMES_KANBAN_RUN_ID").and_then(|run| run.parse().ok()).map(RunId),
            },
            None => Role::Orchestrator,
        };
        let seconds = text("HERMES_KANBAN_CLAIM_TTL_SECONDS").and_then(|text| text.parse().ok());
        Self(Arc::new(Inner {
            root: Root::new(home.root(), overrides),
            role,
            // Never from what a model says: a name in a thread is worth something only then.
            author: text("HERMES_PROFILE").unwrap_or_else(|| home.profile().as_str().to_owned()),
            tenant: text("HERMES_TENANT"),
            lock: text("HERMES_KANBAN_CLAIM_LOCK"),
            claim_seconds: seconds.filter(|seconds| *seconds > 0).unwrap_or(CLAIM_SECONDS),
            terminal_timeout: text("TERMINAL_TIMEOUT"),
            redactor,
            judge: None,
        }))
    }

    /// With somebody who says whether a goal is reached.
    #[must_use]
    pub fn with_judge(self, judge: Arc<dyn GoalJudge>) -> Self {
        let Inner { root, role, author, tenant, lock, claim_seconds, terminal_timeout, redactor, .. } =
            &*self.0;
        Self(Arc::new(Inner {
            root: root.clone(),
            role: role.clone(),
            author: author.clone(),
            tenant: tenant.clone(),
            lock: lock.clone(),
            claim_seconds: *claim_seconds,
            terminal_timeout: terminal_timeout.clone(),
            redactor: Arc::clone(redactor),
            judge: Some(judge),
        }))
    }

    /// Who uses the board.
    pub fn role(&self) -> &Role {
        &self.0.role
    }

    /// Where boards are kept.
    pub fn root(&self) -> &Root {
        &self.0.root
    }

    pub(super) fn author(&self) -> &str {
        &self.0.author
    }

    pub(super) fn tenant(&self) -> Option<String> {
        self.0.tenant.clone()
    }

    pub(super) fn lock(&self) -> Option<&str> {
        self.0.lock.as_deref()
    }

    pub(super) fn claim_seconds(&self) -> i64 {
        self.0.claim_seconds
    }

    pub(super) fn terminal_timeout(&self) -> Option<&str> {
        self.0.terminal_timeout.as_deref()
    }

    pub(super) fn judge(&self) -> Option<&Arc<dyn GoalJudge>> {
        self.0.judge.as_ref()
    }

    /// The board a call is about.
    pub(super) fn board(&self, arguments: &Arguments) -> Result<Board, String> {
        let named = fields::text(arguments, "board")?;
        let open = || Board::open(&self.0.root, &boards::choose(&self.0.root, named.as_deref())?);
        open().map_err(said)
    }

    /// The card a call is about: the one it names, or the worker's own.
    pub(super) fn card(&self, arguments: &Arguments) -> Result<CardId, String> {
        match (fields::text(arguments, "task_id")?, &self.0.role) {
            (Some(id), _) => Ok(CardId::new(id)),
            (None, Role::Worker { card, .. }) => Ok(card.clone()),
            (None, Role::Orchestrator) => {
                Err("\"task_id\" is missing: name a card, kanban_list shows them".to_owned())
            }
        }
    }

    /// The card a call changes, and who changes it. A worker has one card.
    pub(super) fn own_card(&self, arguments: &Arguments) -> Result<(CardId, By), String> {
        let id = self.card(arguments)?;
        match &self.0.role {
            Role::Orchestrator => Ok((id, By::Anybody)),
            Role::Worker { card, run } if *card == id => {
                // One that was not told its attempt has the card's own; it is no person whose word is the last.
                let current = || self.board(arguments).ok()?.card(&id).ok()?.current_run;
                let by = run.or_else(current).map_or(By::Anybody, By::Attempt);
                Ok((id, by))
            }
            Role::Worker { card, .. } => Err(format!(
                "{id} is not your card: you work on {card}. Leave a comment there with kanban_comment, or make a card"
            )),
        }
    }

    /// The worker's own card as it is, to begin others like it.
    pub(super) fn own(&self, board: &mut Board) -> Option<Card> {
        match &self.0.role {
            Role::Worker { card, .. } => board.card(card).ok(),
            Role::Orchestrator => None,
        }
    }

    /// A text without secrets.
    pub(super) fn masked(&self, text: &str) -> String {
        self.0.redactor.redact(text, Policy::Log).into_owned()
    }

    /// A value without secrets in its texts.
    pub(super) fn masked_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.masked(text)),
            Value::Array(all) => all.iter().map(|value| self.masked_value(value)).collect(),
            Value::Object(map) => {
                map.iter().map(|(key, value)| (key.clone(), self.masked_field(key, value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// What a name announces as a secret is one, however it looks.
    fn masked_field(&self, key: &str, value: &Value) -> Value {
        let Value::String(text) = value else { return self.masked_value(value) };
        let line = format!("{key}={text}");
        let masked = self.masked(&line);
        if masked == line {
            return Value::String(self.masked(text));
        }
        Value::String(masked.strip_prefix(&format!("{key}=")).unwrap_or("***").to_owned())
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("role", &self.0.role).finish_non_exhaustive()
    }
}

/// What a board says, for the model.
#[allow(clippy::needless_pass_by_value, reason = "it stands in map_err")]
pub(super) fn said(error: hermes_board::BoardError) -> String {
    error.to_string()
}

/// Now.
pub(super) fn now() -> Seconds {
    jiff::Timestamp::now().as_second()
}
