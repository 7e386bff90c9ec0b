//! A message, as it is written and as it is read back.

use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlResult, ValueRef};
use rusqlite::{Row, Statement};
use serde_json::Value;

use super::ids::{MessageId, SessionId, seconds, timestamp};

/// Who speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The result of a tool.
    Tool,
    /// Something the other program knows.
    Other(String),
}

impl Role {
    /// As it is in the table.
    pub fn as_str(&self) -> &str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for Role {
    fn from(name: &str) -> Self {
        match name {
            "system" => Self::System,
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "tool" => Self::Tool,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// What is said.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Text.
    Text(String),
    /// A list of parts: text, images …
    Parts(Value),
}

/// Stands before parts in the table. No text starts like this.
const PARTS: &str = "\0json:";

impl Body {
    /// As it is in the table.
    pub(super) fn encode(&self) -> String {
        match self {
            // A zero byte in a text would make it look like parts, or end it early for some readers.
            Self::Text(text) => text.replace('\0', "\u{fffd}"),
            Self::Parts(parts) => format!("{PARTS}{parts}"),
        }
    }

    /// From the table.
    pub(super) fn decode(text: String) -> Self {
        match text.strip_prefix(PARTS).and_then(|json| serde_json::from_str(json).ok()) {
            Some(parts) => Self::Parts(parts),
            None => Self::Text(text),
        }
    }

    /// The words in it, without what is not text.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(Value::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
                texts.collect::<Vec<_>>().join(" ")
            }
            Self::Parts(_) => String::new(),
        }
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A message to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Option<Body>,
    /// What was sent to the model in its place, if it was not the same.
    pub api_content: Option<String>,
    /// Which call a tool's result answers.
    pub tool_call_id: Option<String>,
    /// The calls the model makes, a list.
    pub tool_calls: Option<Value>,
    /// The tool whose result it is.
    pub tool_name: Option<String>,
    /// What became of a call's effect.
    pub effect_disposition: Option<String>,
    /// When.
    pub timestamp: Timestamp,
    /// How many tokens it has.
    pub token_count: Option<i64>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// What the model thought, for people.
    pub reasoning: Option<String>,
    /// What the model thought, for sending back.
    pub reasoning_content: Option<String>,
    /// The same in the form some providers want back.
    pub reasoning_details: Option<Value>,
    /// Opaque items of the responses format.
    pub codex_reasoning_items: Option<Value>,
    /// Opaque items of the responses format.
    pub codex_message_items: Option<Value>,
    /// The name of the message on the platform it came from.
    pub platform_message_id: Option<String>,
    /// Whether the agent only overheard it.
    pub observed: bool,
}

impl NewMessage {
    /// A message with nothing but its words.
    pub fn new(role: Role, content: impl Into<Body>, timestamp: Timestamp) -> Self {
        Self { content: Some(content.into()), ..Self::empty(role, timestamp) }
    }

    /// A message without content, to be filled.
    pub fn empty(role: Role, timestamp: Timestamp) -> Self {
        Self {
            role,
            content: None,
            api_content: None,
            tool_call_id: None,
            tool_calls: None,
            tool_name: None,
            effect_disposition: None,
            timestamp,
            token_count: None,
            finish_reason: None,
            reasoning: None,
            reasoning_content: None,
            reasoning_details: None,
            codex_reasoning_items: None,
            codex_message_items: None,
            platform_message_id: None,
            observed: false,
        }
    }

    /// How many calls of tools it makes.
    pub(super) fn calls(&self) -> usize {
        match &self.tool_calls {
            None | Some(Value::Null) => 0,
            Some(Value::Array(calls)) => calls.len(),
            Some(_) => 1,
        }
    }

    /// Binds what [`INSERT`] wants.
    pub(super) fn bind(&self, statement: &mut Statement<'_>, session: &SessionId) -> rusqlite::Result<()> {
        statement.raw_bind_parameter(1, session.as_str())?;
        statement.raw_bind_parameter(2, self.role.as_str())?;
        statement.raw_bind_parameter(3, self.content.as_ref().map(Body::encode))?;
        statement.raw_bind_parameter(4, &self.tool_call_id)?;
        statement.raw_bind_parameter(5, json(self.tool_calls.as_ref()))?;
        statement.raw_bind_parameter(6, &self.tool_name)?;
        statement.raw_bind_parameter(7, &self.effect_disposition)?;
        statement.raw_bind_parameter(8, seconds(self.timestamp))?;
        statement.raw_bind_parameter(9, self.token_count)?;
        statement.raw_bind_parameter(10, &self.finish_reason)?;
        statement.raw_bind_parameter(11, &self.reasoning)?;
        statement.raw_bind_parameter(12, &self.reasoning_content)?;
        statement.raw_bind_parameter(13, json(self.reasoning_details.as_ref()))?;
        statement.raw_bind_parameter(14, json(self.codex_reasoning_items.as_ref()))?;
        statement.raw_bind_parameter(15, json(self.codex_message_items.as_ref()))?;
        statement.raw_bind_parameter(16, &self.platform_message_id)?;
        statement.raw_bind_parameter(17, i64::from(self.observed))?;
        statement.raw_bind_parameter(18, &self.api_content)
    }
}

/// Adds a message.
pub(super) const INSERT: &str = "INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name,
     effect_disposition, timestamp, token_count, finish_reason, reasoning, reasoning_content, reasoning_details,
     codex_reasoning_items, codex_message_items, platform_message_id, observed, api_content, active, compacted)
 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, 1, 0)";

/// Nothing is kept for an empty list, which means the same.
fn json(value: Option<&Value>) -> Option<String> {
    match value {
        None | Some(Value::Null) => None,
        Some(Value::Array(list)) if list.is_empty() => None,
        Some(value) => Some(value.to_string()),
    }
}

/// Whether a message is part of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Active,
    /// A summary stands for it. It can still be found.
    Compacted,
    /// The user took it back.
    TakenBack,
}

/// A message that was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    /// Its number.
    pub id: MessageId,
    /// The session it belongs to.
    pub session: SessionId,
    /// Whether it is part of the conversation.
    pub standing: Standing,
    /// All the rest.
    pub message: NewMessage,
}

/// The columns of [`read`], in its order.
pub(super) const COLUMNS: &str = "id, session_id, role, content, tool_call_id, tool_calls, tool_name,
     effect_disposition, timestamp, token_count, finish_reason, reasoning, reasoning_content, reasoning_details,
     codex_reasoning_items, codex_message_items, platform_message_id, observed, api_content, active, compacted";

/// Reads a row of [`COLUMNS`].
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<StoredMessage> {
    let message = NewMessage {
        role: Role::from(row.get::<_, Loose>(2)?.text().unwrap_or_default().as_str()),
        content: row.get::<_, Loose>(3)?.text().map(Body::decode),
        tool_call_id: row.get::<_, Loose>(4)?.text(),
        tool_calls: row.get::<_, Loose>(5)?.json(),
        tool_name: row.get::<_, Loose>(6)?.text(),
        effect_disposition: row.get::<_, Loose>(7)?.text(),
        timestamp: timestamp(row.get(8)?),
        token_count: row.get(9)?,
        finish_reason: row.get::<_, Loose>(10)?.text(),
        reasoning: row.get::<_, Loose>(11)?.text(),
        reasoning_content: row.get::<_, Loose>(12)?.text(),
        reasoning_details: row.get::<_, Loose>(13)?.json(),
        codex_reasoning_items: row.get::<_, Loose>(14)?.json(),
        codex_message_items: row.get::<_, Loose>(15)?.json(),
        platform_message_id: row.get::<_, Loose>(16)?.text(),
        observed: row.get::<_, Option<i64>>(17)?.is_some_and(|flag| flag != 0),
        api_content: row.get::<_, Loose>(18)?.text(),
    };
    let (active, compacted): (Option<i64>, Option<i64>) = (row.get(19)?, row.get(20)?);
    let standing = match (active, compacted) {
        (Some(0), Some(1)) => Standing::Compacted,
        (Some(0), _) => Standing::TakenBack,
        _ => Standing::Active,
    };
    let session = SessionId::from(row.get::<_, String>(1)?);
    Ok(StoredMessage { id: MessageId(row.get(0)?), session, standing, message })
}

/// A value that should be text. The other program can put anything it holds into these columns.
pub(super) struct Loose(Option<String>);

impl Loose {
    pub fn text(self) -> Option<String> {
        self.0
    }

    fn json(self) -> Option<Value> {
        self.0.and_then(|text| serde_json::from_str(&text).ok())
    }
}

impl FromSql for Loose {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self(match value {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number.to_string()),
            ValueRef::Real(number) => Some(number.to_string()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Some(String::from_utf8_lossy(bytes).into_owned())
            }
        }))
    }
}
