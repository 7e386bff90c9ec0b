//! Keeps the index of three characters in a row right for messages of parts.
//!
//! The text of such a message starts with a zero byte. Older versions of SQLite stop there when they cut a text into pieces
//! for that index, newer ones go on. To take an entry out of the index SQLite cuts the text again, so a version that
//! cuts it differently takes out what is not there, or leaves something behind, and then calls the file malformed. The
//! other program may well run on an older version. Two rules keep both out of trouble:
//!
//! - What we put into the index for such a message has no zero byte, so every version cuts it alike.
//! - Before we change such a message whose entry was made by a version that stopped, the entry's text is made what that
//!   version indexed: what is before the zero byte.

use rusqlite::Transaction;
use rusqlite::config::DbConfig;

/// The SQL for the text of a column without a zero byte at its start.
pub(super) fn without_zero(column: &str) -> String {
    format!(
        "iif(substr(CAST({column} AS BLOB), 1, 1) = x'00', CAST(substr(CAST({column} AS BLOB), 2) AS TEXT), {column})"
    )
}

/// Messages that a change is about to be made to.
pub(super) enum Touched<'a> {
    Messages(&'a [i64]),
    Session(&'a str),
}

/// Makes it safe to change or remove messages.
pub(super) fn prepare(tx: &Transaction<'_>, touched: &Touched<'_>) -> rusqlite::Result<()> {
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
pub(super) fn settle(tx: &Transaction<'_>, message: i64) -> rusqlite::Result<()> {
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
