//! Looking for what is wrong with the sessions, and putting right what can be, after a copy was made.

use std::path::{Path, PathBuf};

use rusqlite::Transaction;

use super::SessionStore;
use super::compact::recount;
use super::error::SessionError;
use super::ids::SessionId;
use super::indexing;
use super::layout::TEXT_INDEXES;
use super::own::UNINDEXED;
use crate::Error;
use crate::database::{Complaints, complaints};

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Health {
    /// What SQLite found in the file itself. Only a backup helps.
    pub damage: Option<String>,
    /// Full-text indexes that do not agree with the messages. They can be made anew.
    pub stale_indexes: Vec<String>,
    /// Messages of sessions that are not there.
    pub lost_messages: u64,
    /// Sessions under sessions that are not there.
    pub lost_children: u64,
}

impl Health {
    /// Whether nothing is wrong.
    pub fn is_good(&self) -> bool {
        *self == Self::default()
    }
}

/// What was put right.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Repaired {
    /// The copy that was made before.
    pub backup: PathBuf,
    /// Full-text indexes that were made anew.
    pub indexes: Vec<String>,
    /// Sessions that were given to messages without one.
    pub sessions: u64,
    /// Sessions that stand alone now, because what they were under is gone.
    pub children: u64,
    /// Sessions whose counts were wrong.
    pub counts: u64,
}

impl SessionStore {
    /// Looks for what is wrong. Reads the whole file.
    pub fn check(&mut self) -> Result<Health, SessionError> {
        Ok(self.db.read(|tx| {
            let found = complaints(tx, "PRAGMA integrity_check(10)")?;
            if !found.damage.is_empty() {
                return Ok(Health { damage: Some(found.damage.join("; ")), ..Health::default() });
            }
            let mut stale_indexes = Vec::new();
            for index in &TEXT_INDEXES {
                if !agrees(tx, index.name, &found)? {
                    stale_indexes.push(index.name.to_owned());
                }
            }
            let one = |sql: &str| tx.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|n| n as u64);
            Ok(Health {
                damage: None,
                stale_indexes,
                lost_messages: one(&format!("SELECT count(*) FROM messages WHERE {LOST_MESSAGE}"))?,
                lost_children: one(&format!("SELECT count(*) FROM sessions WHERE {LOST_CHILD}"))?,
            })
        })?)
    }

    /// Makes a copy, then makes the indexes anew, finds sessions for lost messages and counts everything again.
    pub fn repair(&mut self, backup: &Path) -> Result<Repaired, SessionError> {
        self.db.backup_to(backup)?;
        let mut done = self.db.write(put_right)?;
        backup.clone_into(&mut done.backup);
        Ok(done)
    }

    /// Merges the full-text indexes and gives free space back. Takes a while, and needs room for a copy of the file.
    pub fn optimize(&mut self) -> Result<(), SessionError> {
        self.index_all()?;
        self.db.write(|tx| {
            for index in &TEXT_INDEXES {
                tx.execute_batch(&format!("INSERT INTO {0}({0}) VALUES ('optimize')", index.name))?;
            }
            Ok(())
        })?;
        let done = self.db.connection.execute_batch("VACUUM");
        Ok(done.map_err(|source| Error::explain(self.db.path(), "compact", source))?)
    }
}

const LOST_MESSAGE: &str = "NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = messages.session_id)";
const LOST_CHILD: &str = "parent_session_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id = sessions.parent_session_id)";

/// Whether an index has an entry for each message that does not wait for it and none besides, and SQLite does not complain about it. Messages of
/// parts begin with a zero byte, which some versions of SQLite index differently; then a complaint says nothing.
fn agrees(tx: &Transaction<'_>, index: &str, found: &Complaints) -> rusqlite::Result<bool> {
    let waiting =
        if UNINDEXED.exists(tx)? { "SELECT id FROM hermes_rs_unindexed" } else { "SELECT 0 WHERE 0" };
    let sql = format!(
        "SELECT NOT EXISTS (SELECT 1 FROM {index}_docsize d WHERE NOT EXISTS
                (SELECT 1 FROM messages m WHERE m.id = d.id))
            AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.id NOT IN ({waiting})
                AND NOT EXISTS (SELECT 1 FROM {index}_docsize d WHERE d.id = m.id))"
    );
    let same: bool = tx.query_row(&sql, [], |row| row.get(0))?;
    // One name is the beginning of the other.
    let named = |line: &String| {
        line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == index)
    };
    if !same || !found.text_indexes.iter().any(named) {
        return Ok(same);
    }
    tx.query_row("SELECT EXISTS (SELECT 1 FROM messages WHERE instr(content, char(0)) > 0)", [], |row| {
        row.get(0)
    })
}

fn put_right(tx: &Transaction<'_>) -> rusqlite::Result<Repaired> {
    let sessions = tx.execute(
        &format!(
            "INSERT INTO sessions (id, source, started_at)
             SELECT session_id, 'unknown', min(timestamp) FROM messages WHERE {LOST_MESSAGE} GROUP BY session_id"
        ),
        [],
    )?;
    let children =
        tx.execute(&format!("UPDATE sessions SET parent_session_id = NULL WHERE {LOST_CHILD}"), [])?;
    let counts = recount_all(tx)?;
    for index in &TEXT_INDEXES {
        index.rebuild(tx)?;
    }
    indexing::nothing_waits(tx)?;
    Ok(Repaired {
        backup: PathBuf::new(),
        indexes: TEXT_INDEXES.iter().map(|index| index.name.to_owned()).collect(),
        sessions: sessions as u64,
        children: children as u64,
        counts,
    })
}

/// Counts every session's messages again. How many sessions had other counts.
fn recount_all(tx: &Transaction<'_>) -> rusqlite::Result<u64> {
    let mut statement = tx.prepare("SELECT id, message_count, tool_call_count FROM sessions")?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?));
    let before = statement.query_map([], read)?.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut changed = 0;
    for (id, messages, calls) in before {
        recount(tx, &SessionId::from(id.as_str()))?;
        let sql = "SELECT message_count, tool_call_count FROM sessions WHERE id = ?1";
        let after: (Option<i64>, Option<i64>) =
            tx.prepare_cached(sql)?.query_row([&id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        changed += u64::from(after != (messages, calls));
    }
    Ok(changed)
}
