//! What kind of session a session is. The tables have no column for it; both programs keep marks in `model_config`.

use serde_json::{Map, Value};

use super::ids::SessionId;

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A conversation with somebody.
    #[default]
    Conversation,
    /// A single question from a script. Can be resumed by name, and is never what "the last session" means.
    OneShot,
    /// The work of a helper, under the session that started it.
    Delegated,
    /// A conversation that went another way from some point of its parent.
    Branch,
}

/// A mark in `model_config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Whose helper this is. Shared with the other program.
    Delegated,
    /// What this branched from. Shared with the other program.
    Branched,
    /// That this was a single question. Ours; the other program ignores it.
    OneShot,
}

impl Mark {
    pub fn key(self) -> &'static str {
        match self {
            Self::Delegated => "_delegate_from",
            Self::Branched => "_branched_from",
            Self::OneShot => "_hermes_rs_one_shot",
        }
    }

    /// The SQL for the mark of a row of `sessions`: null where there is none.
    pub fn of(self, table: &str) -> String {
        format!("json_extract({}, '$.{}')", config_of(table), self.key())
    }
}

/// The SQL for a session's settings, also where they are missing or no JSON.
pub(super) fn config_of(table: &str) -> String {
    format!("iif(json_valid({table}.model_config), {table}.model_config, '{{}}')")
}

/// The SQL that is true for helpers' sessions and for continuations of another row: what a list of conversations leaves
/// out.
pub(super) fn is_hidden_child(table: &str) -> String {
    let (delegated, branched) = (Mark::Delegated.of(table), Mark::Branched.of(table));
    format!(
        "({delegated} IS NOT NULL OR ({table}.parent_session_id IS NOT NULL AND {branched} IS NULL AND NOT EXISTS (
            SELECT 1 FROM sessions p WHERE p.id = {table}.parent_session_id
              AND p.end_reason = 'branched' AND {table}.started_at >= p.ended_at)))"
    )
}

/// The settings of a new session with the marks of its kind.
pub(super) fn marked(config: Option<&Value>, kind: Kind, parent: Option<&SessionId>) -> Option<String> {
    let parent = || parent.map_or(Value::Null, |id| Value::from(id.as_str()));
    let mark = match kind {
        Kind::Conversation => None,
        Kind::OneShot => Some((Mark::OneShot, Value::Bool(true))),
        Kind::Delegated => Some((Mark::Delegated, parent())),
        Kind::Branch => Some((Mark::Branched, parent())),
    };
    let mut map = match config {
        Some(Value::Object(map)) => map.clone(),
        _ => Map::new(),
    };
    if let Some((mark, value)) = mark {
        map.insert(mark.key().to_owned(), value);
    }
    if map.is_empty() { None } else { Some(Value::Object(map).to_string()) }
}

/// What kind a row is, from its settings.
pub(super) fn kind(config: Option<&str>) -> Kind {
    let Some(Value::Object(map)) = config.and_then(|text| serde_json::from_str(text).ok()) else {
        return Kind::Conversation;
    };
    let has = |mark: Mark| map.get(mark.key()).is_some_and(|value| !value.is_null());
    if has(Mark::Delegated) {
        Kind::Delegated
    } else if has(Mark::Branched) {
        Kind::Branch
    } else if has(Mark::OneShot) {
        Kind::OneShot
    } else {
        Kind::Conversation
    }
}
