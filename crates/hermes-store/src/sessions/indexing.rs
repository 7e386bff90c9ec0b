//! Keeps the full-text indexes right.
//!
//! The tables have triggers that index a message with the statement that adds or changes it. For a long result that takes
//! many times as long as storing it, while somebody waits for the next step. On our connections the triggers are off: a new
//! message is put on a list in the same transaction, and whoever has time works the list off ([`SessionStore::index_next`]).
//! Searching does so first. Other programs keep their triggers; an entry they made meanwhile is left alone. Where the triggers
//! are not the ones we know, they stay on and everything is left to them.
//!
//! Messages of parts need care. Their text starts with a zero byte. Older versions of SQLite stop there when they cut a text
//! into pieces of three characters, newer ones go on. To take an entry out of the index SQLite cuts the text again, so a
//! version that cuts it differently takes out what is not there, or leaves something behind, and then calls the file
//! malformed. The other program may well run on an older version. Two rules keep both out of trouble:
//!
//! - What we put into the index for such a message has no zero byte, so every version cuts it alike.
//! - Before we change such a message whose entry was made by a version that stopped, the entry's text is made what that
//!   version indexed: what is before the zero byte.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction};

use super::SessionStore;
use super::error::SessionError;
use super::layout::{TEXT_INDEXES, VERSION};
use super::own::UNINDEXED;
use super::state::Found;

/// Bytes of text that are indexed at once; others want to write too.
const AT_ONCE: i64 = 32 * 1024;

impl SessionStore {
    /// Indexes some of the messages that wait for it. Whether more are waiting.
    pub fn index_next(&mut self) -> Result<bool, SessionError> {
        if !self.unindexed {
            return Ok(false);
        }
        self.unindexed = self.db.write(work_off)?;
        Ok(self.unindexed)
    }

    /// Indexes everything that waits for it, also what an earlier process left. Fails where another one is at it all the time.
    pub fn index_all(&mut self) -> Result<(), SessionError> {
        self.unindexed = self.db.is_writable() && self.db.read(is_waiting)?;
        while self.index_next()? {}
        Ok(())
    }
}

impl Drop for SessionStore {
    fn drop(&mut self) {
        // What stays on the list is for the next process; nothing is lost.
        while let Ok(true) = self.index_next() {}
    }
}

/// Takes indexing into our own hands, if the triggers that do it are those we know.
pub(super) fn take_over(db: &Connection) -> rusqlite::Result<()> {
    let found = Found::look(db)?;
    let known = TEXT_INDEXES.iter().all(|index| found.has_text_index(index.name));
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'messages'";
    let triggers: i64 = db.query_row(sql, [], |row| row.get(0))?;
    if known
        && triggers == 3 * TEXT_INDEXES.len() as i64
        && found.version.is_some_and(|version| version <= VERSION)
    {
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    }
    Ok(())
}

/// Whether the triggers index.
fn by_triggers(tx: &Transaction<'_>) -> rusqlite::Result<bool> {
    tx.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER)
}

/// A message was added.
pub(super) fn added(tx: &Transaction<'_>, message: i64) -> rusqlite::Result<()> {
    if by_triggers(tx)? {
        return settle(tx, message);
    }
    UNINDEXED.ensure(tx)?;
    tx.prepare_cached("INSERT OR IGNORE INTO hermes_rs_unindexed (id) VALUES (?1)")?.execute([message])?;
    Ok(())
}

/// Changes what is not indexed of messages, one after the other.
pub(super) fn change(
    tx: &Transaction<'_>,
    messages: &[i64],
    mut change: impl FnMut(i64) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let by_triggers = by_triggers(tx)?;
    if by_triggers {
        prepare(tx, &Touched::Messages(messages))?;
    }
    for message in messages {
        change(*message)?;
        if by_triggers {
            settle(tx, *message)?;
        }
    }
    Ok(())
}

/// The messages of a session are about to be removed.
pub(super) fn forget(tx: &Transaction<'_>, session: &str) -> rusqlite::Result<()> {
    prepare(tx, &Touched::Session(session))?;
    if by_triggers(tx)? {
        return Ok(());
    }
    for index in &TEXT_INDEXES {
        let sql = format!(
            "DELETE FROM {} WHERE rowid IN (SELECT id FROM messages WHERE session_id = ?1)",
            index.name
        );
        tx.prepare_cached(&sql)?.execute([session])?;
    }
    if UNINDEXED.exists(tx)? {
        let sql =
            "DELETE FROM hermes_rs_unindexed WHERE id IN (SELECT id FROM messages WHERE session_id = ?1)";
        tx.prepare_cached(sql)?.execute([session])?;
    }
    Ok(())
}

/// Everything was indexed anew.
pub(super) fn nothing_waits(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    if UNINDEXED.exists(tx)? { tx.execute_batch("DELETE FROM hermes_rs_unindexed") } else { Ok(()) }
}

fn is_waiting(tx: &Transaction<'_>) -> rusqlite::Result<bool> {
    Ok(UNINDEXED.exists(tx)? && tx.prepare_cached("SELECT 1 FROM hermes_rs_unindexed LIMIT 1")?.exists([])?)
}

/// Indexes the oldest on the list. Whether something is left.
fn work_off(tx: &Transaction<'_>) -> rusqlite::Result<bool> {
    if by_triggers(tx)? || !UNINDEXED.exists(tx)? {
        return Ok(false);
    }
    let sql = "SELECT u.id, ifnull(length(m.content), 0) + ifnull(length(m.tool_calls), 0)
               FROM hermes_rs_unindexed u LEFT JOIN messages m ON m.id = u.id ORDER BY u.id LIMIT 64";
    let waiting = tx
        .prepare_cached(sql)?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(i64, i64)>>>()?;
    let mut room = AT_ONCE;
    for (message, length) in waiting {
        for index in &TEXT_INDEXES {
            tx.prepare_cached(&index.add_one())?.execute([message])?;
        }
        tx.prepare_cached("DELETE FROM hermes_rs_unindexed WHERE id = ?1")?.execute([message])?;
        room -= length;
        if room < 0 {
            break;
        }
    }
    is_waiting(tx)
}

/// The SQL for the text of a column without a zero byte at its start.
pub(super) fn without_zero(column: &str) -> String {
    format!(
        "iif(substr(CAST({column} AS BLOB), 1, 1) = x'00', CAST(substr(CAST({column} AS BLOB), 2) AS TEXT), {column})"
    )
}

/// Messages that a change is about to be made to.
enum Touched<'a> {
    Messages(&'a [i64]),
    Session(&'a str),
}

/// Makes it safe to change or remove messages.
fn prepare(tx: &Transaction<'_>, touched: &Touched<'_>) -> rusqlite::Result<()> {
    let stopped = "SELECT m.id FROM messages m JOIN messages_fts_trigram_docsize d ON d.id = m.id
        WHERE substr(CAST(m.content AS BLOB), 1, 1) = x'00' AND d.sz = x'00'";
    let mut ids: Vec<i64> = Vec::new();
    match touched {
        Touched::Session(session) => {
            let mut statement = tx.prepare_cached(&format!("{stopped} AND m.session_id = ?1"))?;
            ids.extend(statement.query_map([session], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?);
        }
        Touched::Messages(messages) => {
            let mut statement = tx.prepare_cached(&format!("{stopped} AND m.id = ?1"))?;
            for message in *messages {
                ids.extend(
                    statement.query_map([message], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?,
                );
            }
        }
    }
    if ids.is_empty() {
        return Ok(());
    }
    // SQLite does not let anybody write to the tables behind an index, for good reason; this is the exception.
    tx.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    let done = forget_text(tx, &ids);
    tx.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    done
}

fn forget_text(tx: &Transaction<'_>, ids: &[i64]) -> rusqlite::Result<()> {
    let mut statement = tx.prepare("UPDATE messages_fts_trigram_content SET c0 = '' WHERE id = ?1")?;
    ids.iter().try_for_each(|id| statement.execute([id]).map(drop))
}

/// Indexes a message of parts that we just wrote or changed, so that every version can take it out again. Other messages
/// are left as they are.
fn settle(tx: &Transaction<'_>, message: i64) -> rusqlite::Result<()> {
    let parts = "SELECT 1 FROM messages WHERE id = ?1 AND substr(CAST(content AS BLOB), 1, 1) = x'00'";
    if !tx.prepare_cached(parts)?.exists([message])? {
        return Ok(());
    }
    tx.prepare_cached("DELETE FROM messages_fts_trigram WHERE rowid = ?1")?.execute([message])?;
    tx.prepare_cached(&format!(
        "INSERT INTO messages_fts_trigram (rowid, content)
         SELECT id, ifnull({}, '') || ' ' || ifnull(tool_name, '') || ' ' || ifnull(tool_calls, '')
         FROM messages WHERE id = ?1",
        without_zero("content")
    ))?
    .execute([message])?;
    Ok(())
}
