//! Tables that only this program has. Made when first written to; their absence means there is nothing in them.

use rusqlite::{OptionalExtension, Transaction};

/// A table of ours: its name and the statements that make it.
pub(super) struct OwnTable {
    pub name: &'static str,
    pub create: &'static str,
}

impl OwnTable {
    /// Makes the table unless it is there.
    pub fn ensure(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        if self.exists(tx)? { Ok(()) } else { tx.execute_batch(self.create) }
    }

    /// Whether it is there.
    pub fn exists(&self, tx: &Transaction<'_>) -> rusqlite::Result<bool> {
        let mut statement =
            tx.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?;
        statement.query_row([self.name], |_| Ok(())).optional().map(|found| found.is_some())
    }

    /// Forgets what it holds about a session, if the table is there.
    pub fn forget(&self, tx: &Transaction<'_>, session: &str) -> rusqlite::Result<()> {
        if self.exists(tx)? {
            tx.execute(&format!("DELETE FROM {} WHERE session_id = ?1", self.name), [session])?;
        }
        Ok(())
    }
}

/// Which messages a compaction hid and added, so that it can be taken back.
pub(super) const COMPACTIONS: OwnTable = OwnTable {
    name: "hermes_rs_compactions",
    create: "CREATE TABLE IF NOT EXISTS hermes_rs_compactions (
                 id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, at REAL NOT NULL,
                 hidden TEXT NOT NULL, inserted TEXT NOT NULL, moved TEXT NOT NULL);
             CREATE INDEX IF NOT EXISTS hermes_rs_compactions_session ON hermes_rs_compactions(session_id, id)",
};

/// Which messages were taken back together, so that they can be brought back.
pub(super) const REWINDS: OwnTable = OwnTable {
    name: "hermes_rs_rewinds",
    create: "CREATE TABLE IF NOT EXISTS hermes_rs_rewinds (
                 id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, hidden TEXT NOT NULL);
             CREATE INDEX IF NOT EXISTS hermes_rs_rewinds_session ON hermes_rs_rewinds(session_id, id)",
};

/// Which messages are not in the full-text indexes yet.
pub(super) const UNINDEXED: OwnTable = OwnTable {
    name: "hermes_rs_unindexed",
    create: "CREATE TABLE IF NOT EXISTS hermes_rs_unindexed (id INTEGER PRIMARY KEY)",
};

/// What every call of a model took. Outlives the sessions, because a month's budget does.
pub(super) const SPEND: OwnTable = OwnTable {
    name: "hermes_rs_spend",
    create: "CREATE TABLE IF NOT EXISTS hermes_rs_spend (
                 id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, turn TEXT NOT NULL, day TEXT NOT NULL,
                 purpose TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
                 input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL,
                 cache_write INTEGER NOT NULL, reasoning INTEGER NOT NULL, tokens INTEGER NOT NULL,
                 micro_dollars INTEGER, guessed INTEGER NOT NULL, at REAL NOT NULL);
             CREATE INDEX IF NOT EXISTS hermes_rs_spend_session
                 ON hermes_rs_spend(session_id, turn, tokens, micro_dollars);
             CREATE INDEX IF NOT EXISTS hermes_rs_spend_turn ON hermes_rs_spend(turn, tokens, micro_dollars);
             CREATE INDEX IF NOT EXISTS hermes_rs_spend_day ON hermes_rs_spend(day, tokens, micro_dollars)",
};
