//! How much there is.

use rusqlite::Transaction;

use super::SessionStore;
use super::error::SessionError;

/// How much there is in a `state.db`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Stats {
    /// Sessions.
    pub sessions: u64,
    /// Messages, those that were summarised or taken back included.
    pub messages: u64,
    /// Sessions that were put away.
    pub archived: u64,
    /// Messages a summary stands for.
    pub compacted: u64,
    /// Messages that were taken back.
    pub taken_back: u64,
    /// The size of the database in bytes, with what is free in it.
    pub bytes: u64,
    /// What of it is free.
    pub free_bytes: u64,
    /// Per door.
    pub sources: Vec<SourceCount>,
}

/// How much came through one door.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SourceCount {
    /// The door.
    pub source: String,
    /// Sessions.
    pub sessions: u64,
    /// Messages that count.
    pub messages: u64,
}

impl SessionStore {
    /// Counts what there is.
    pub fn stats(&mut self) -> Result<Stats, SessionError> {
        Ok(self.db.read(count)?)
    }
}

fn count(tx: &Transaction<'_>) -> rusqlite::Result<Stats> {
    let one = |sql: &str| tx.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|n| n.max(0) as u64);
    let page = one("PRAGMA page_size")?;
    let mut statement = tx.prepare(
        "SELECT source, count(*), sum(ifnull(message_count, 0)) FROM sessions GROUP BY source ORDER BY 2 DESC, 1",
    )?;
    let sources = statement.query_map([], |row| {
        Ok(SourceCount {
            source: row.get(0)?,
            sessions: row.get::<_, i64>(1)? as u64,
            messages: row.get::<_, i64>(2)?.max(0) as u64,
        })
    })?;
    Ok(Stats {
        sessions: one("SELECT count(*) FROM sessions")?,
        messages: one("SELECT count(*) FROM messages")?,
        archived: one("SELECT count(*) FROM sessions WHERE archived = 1")?,
        compacted: one("SELECT count(*) FROM messages WHERE active = 0 AND compacted = 1")?,
        taken_back: one("SELECT count(*) FROM messages WHERE active = 0 AND compacted = 0")?,
        bytes: one("PRAGMA page_count")?.saturating_mul(page),
        free_bytes: one("PRAGMA freelist_count")?.saturating_mul(page),
        sources: sources.collect::<Result<_, _>>()?,
    })
}
