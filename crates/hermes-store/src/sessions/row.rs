//! A session in a list: everything about it but its messages.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, Transaction};

use super::SessionStore;
use super::error::SessionError;
use super::ids::{SessionId, timestamp};
use super::marks::{self, Kind};
use super::message::{Body, Loose};

/// A session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Its name.
    pub id: SessionId,
    /// Through which door it came.
    pub source: String,
    /// What it is for.
    pub kind: Kind,
    /// What it is called.
    pub title: Option<String>,
    /// The beginning of the first thing the user said, on one line.
    pub preview: String,
    /// The model.
    pub model: Option<String>,
    /// Settings of the model as JSON text, marks included.
    pub model_config: Option<String>,
    /// The session it belongs under.
    pub parent: Option<SessionId>,
    /// The first session of its chain, where an older program cut a conversation into several.
    pub root: Option<SessionId>,
    /// When it began.
    pub started_at: Timestamp,
    /// When something was last said in it.
    pub last_active: Timestamp,
    /// When it ended, if it did.
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// How many messages it has.
    pub message_count: u64,
    /// How many calls of tools.
    pub tool_call_count: u64,
    /// How many calls of models.
    pub api_call_count: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// Tokens read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Tokens written to the provider's cache.
    pub cache_write_tokens: u64,
    /// Tokens of thought.
    pub reasoning_tokens: u64,
    /// What it is thought to cost.
    pub estimated_cost_usd: Option<f64>,
    /// What it cost, where the provider said.
    pub actual_cost_usd: Option<f64>,
    /// How sure the cost is.
    pub cost_status: Option<String>,
    /// Whose bill it is on.
    pub provider: Option<String>,
    /// The directory it works in.
    pub cwd: Option<String>,
    /// The branch checked out there.
    pub git_branch: Option<String>,
    /// The top of the repository.
    pub git_root: Option<String>,
    /// Who talks, where there are several.
    pub user_id: Option<String>,
    /// The profile it runs under.
    pub profile: Option<String>,
    /// How often something was taken back.
    pub rewind_count: u64,
    /// Whether it is put away.
    pub archived: bool,
}

impl SessionRow {
    /// What it cost, as well as anybody knows.
    pub fn cost_usd(&self) -> Option<f64> {
        self.actual_cost_usd.or(self.estimated_cost_usd)
    }
}

/// How much of the first message is read for the preview, and how much of it is shown.
const LOOK: usize = 400;
const PREVIEW: usize = 60;

/// The columns of [`read`], of `sessions s`. Both parts that look at messages use an index and stop at its first entry.
pub(super) fn columns() -> String {
    format!(
        "s.id, s.source, s.model_config, s.title, s.model, s.parent_session_id, s.started_at,
         ifnull((SELECT max(m.timestamp) FROM messages m WHERE m.session_id = s.id), s.started_at) AS last_active,
         s.ended_at, s.end_reason, s.message_count, s.tool_call_count, s.api_call_count, s.input_tokens,
         s.output_tokens, s.cache_read_tokens, s.cache_write_tokens, s.reasoning_tokens, s.estimated_cost_usd,
         s.actual_cost_usd, s.cost_status, s.billing_provider, s.cwd, s.git_branch, s.git_repo_root, s.user_id,
         s.profile_name, s.rewind_count, s.archived,
         (SELECT iif(substr(CAST(m.content AS BLOB), 1, 1) = x'00', m.content, substr(m.content, 1, {LOOK}))
          FROM messages m WHERE m.session_id = s.id AND m.role = 'user' AND m.content IS NOT NULL
            AND (m.active = 1 OR m.compacted = 1)
          ORDER BY m.timestamp, m.id LIMIT 1)"
    )
}

/// Reads a row of [`columns`].
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let text = |index: usize| row.get::<_, Loose>(index).map(Loose::text);
    let count = |index: usize| row.get::<_, Option<i64>>(index).map(|n| n.unwrap_or_default().max(0) as u64);
    let config = text(2)?;
    Ok(SessionRow {
        id: SessionId::from(row.get::<_, String>(0)?),
        source: text(1)?.unwrap_or_default(),
        kind: marks::kind(config.as_deref()),
        model_config: config,
        title: text(3)?,
        model: text(4)?,
        parent: text(5)?.map(SessionId::from),
        root: None,
        started_at: timestamp(row.get(6)?),
        last_active: timestamp(row.get(7)?),
        ended_at: row.get::<_, Option<f64>>(8)?.map(timestamp),
        end_reason: text(9)?,
        message_count: count(10)?,
        tool_call_count: count(11)?,
        api_call_count: count(12)?,
        input_tokens: count(13)?,
        output_tokens: count(14)?,
        cache_read_tokens: count(15)?,
        cache_write_tokens: count(16)?,
        reasoning_tokens: count(17)?,
        estimated_cost_usd: row.get(18)?,
        actual_cost_usd: row.get(19)?,
        cost_status: text(20)?,
        provider: text(21)?,
        cwd: text(22)?,
        git_branch: text(23)?,
        git_root: text(24)?,
        user_id: text(25)?,
        profile: text(26)?,
        rewind_count: count(27)?,
        archived: count(28)? != 0,
        preview: text(29)?.map(|content| preview(&Body::decode(content).text(), PREVIEW)).unwrap_or_default(),
    })
}

/// The beginning of a text on one line.
pub(super) fn preview(text: &str, length: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(length) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

pub(super) fn fetch(tx: &Transaction<'_>, id: &SessionId) -> rusqlite::Result<Option<SessionRow>> {
    let sql = format!("SELECT {} FROM sessions s WHERE s.id = ?1", columns());
    tx.prepare_cached(&sql)?.query_row([id.as_str()], read).optional()
}

impl SessionStore {
    /// A session.
    pub fn row(&mut self, id: &SessionId) -> Result<SessionRow, SessionError> {
        self.db.read(|tx| fetch(tx, id))?.ok_or_else(|| SessionError::no_session(id))
    }

    /// The sessions under a session, oldest first.
    pub fn children(&mut self, id: &SessionId) -> Result<Vec<SessionRow>, SessionError> {
        let sql = format!(
            "SELECT {} FROM sessions s WHERE s.parent_session_id = ?1 ORDER BY s.started_at, s.id",
            columns()
        );
        Ok(self.db.read(|tx| {
            let mut statement = tx.prepare_cached(&sql)?;
            let rows = statement.query_map([id.as_str()], read)?;
            rows.collect::<Result<_, _>>()
        })?)
    }
}
