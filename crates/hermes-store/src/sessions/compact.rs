//! Compaction in place: a summary takes the place of messages, which stay in the file and can be found and brought back.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Transaction};

use super::SessionStore;
use super::error::SessionError;
use super::ids::{MessageId, SessionId, seconds};
use super::indexing;
use super::message::NewMessage;
use super::messages::{failed, insert};
use super::own::COMPACTIONS;
use super::rewind::{list, numbers, set_standing};

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// The messages that were put in, in order.
    pub inserted: Vec<MessageId>,
    /// Messages after the hidden ones have new numbers, because numbers give the order: old and new.
    pub moved: Vec<(MessageId, MessageId)>,
}

/// What taking back a compaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncompaction {
    /// The messages that are part of the conversation again.
    pub restored: Vec<MessageId>,
    /// The messages that are not any more: the summary, and the copies behind it.
    pub removed: Vec<MessageId>,
}

impl SessionStore {
    /// Puts `inserted` in the place of the `hidden` messages. Those count as compacted: the model does not see them,
    /// search finds them. What came after the first of them follows behind the new messages.
    pub fn compact(
        &mut self,
        session: &SessionId,
        hidden: &[MessageId],
        inserted: &[NewMessage],
        at: Timestamp,
    ) -> Result<Compaction, SessionError> {
        self.unindexed = true;
        self.db.transact(|tx| {
            let later = check(tx, session, hidden)?;
            let done = replace(tx, session, hidden, &later, inserted, at);
            Ok(done.map_err(|source| failed(tx, source))?)
        })
    }

    /// Takes the last compaction back: the messages it hid are seen again, its summary is not. What was said since stays.
    pub fn uncompact(&mut self, session: &SessionId) -> Result<Uncompaction, SessionError> {
        let done = self.db.write(|tx| take_back(tx, session))?;
        done.ok_or_else(|| SessionError::NothingCompacted { session: session.clone() })
    }

    /// How many compactions can be taken back, one after the other.
    pub fn compactions(&mut self, session: &SessionId) -> Result<usize, SessionError> {
        Ok(self.db.read(|tx| {
            if !COMPACTIONS.exists(tx)? {
                return Ok(0);
            }
            let sql = "SELECT count(*) FROM hermes_rs_compactions WHERE session_id = ?1";
            tx.query_row(sql, [session.as_str()], |row| row.get::<_, i64>(0)).map(|count| count as usize)
        })?)
    }
}

/// Checks that the hidden messages count, and finds those that count and come behind the first of them.
fn check(tx: &Transaction<'_>, session: &SessionId, hidden: &[MessageId]) -> Result<Vec<i64>, SessionError> {
    let active: Vec<i64> = tx
        .prepare_cached("SELECT id FROM messages WHERE session_id = ?1 AND active = 1 ORDER BY +id")
        .and_then(|mut s| s.query_map([session.as_str()], |row| row.get(0))?.collect())
        .map_err(|source| failed(tx, source))?;
    if let Some(gone) = hidden.iter().find(|id| active.binary_search(&id.0).is_err()) {
        return Err(SessionError::NoMessage { session: session.clone(), message: *gone });
    }
    let first = hidden.iter().min().map_or(i64::MAX, |id| id.0);
    Ok(active.into_iter().filter(|id| *id > first && !hidden.contains(&MessageId(*id))).collect())
}

fn replace(
    tx: &Transaction<'_>,
    session: &SessionId,
    hidden: &[MessageId],
    later: &[i64],
    inserted: &[NewMessage],
    at: Timestamp,
) -> rusqlite::Result<Compaction> {
    let hidden: Vec<i64> = hidden.iter().map(|id| id.0).collect();
    set_standing(tx, &hidden, "active = 0, compacted = 1")?;
    let inserted: Vec<MessageId> =
        inserted.iter().map(|message| insert(tx, session, message)).collect::<Result<_, _>>()?;
    let moved = move_behind(tx, later)?;
    recount(tx, session)?;
    COMPACTIONS.ensure(tx)?;
    let numbers: Vec<i64> = inserted.iter().map(|id| id.0).collect();
    let pairs: Vec<i64> = moved.iter().flat_map(|(old, new)| [old.0, new.0]).collect();
    tx.prepare_cached(
        "INSERT INTO hermes_rs_compactions (session_id, at, hidden, inserted, moved) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute((session.as_str(), seconds(at), list(&hidden), list(&numbers), list(&pairs)))?;
    Ok(Compaction { inserted, moved })
}

/// Copies messages to the end and hides the originals. They are not compacted, because their copies are there: search
/// must not find them twice.
fn move_behind(tx: &Transaction<'_>, later: &[i64]) -> rusqlite::Result<Vec<(MessageId, MessageId)>> {
    const CARRIED: &str = "session_id, role, content, tool_call_id, tool_calls, tool_name, effect_disposition,
        timestamp, token_count, finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items,
        codex_message_items, platform_message_id, observed, api_content";
    let mut copy = tx.prepare_cached(&format!(
        "INSERT INTO messages ({CARRIED}, active, compacted) SELECT {CARRIED}, 1, 0 FROM messages WHERE id = ?1"
    ))?;
    let mut moved = Vec::with_capacity(later.len());
    for old in later {
        copy.execute([old])?;
        let new = tx.last_insert_rowid();
        indexing::added(tx, new)?;
        moved.push((MessageId(*old), MessageId(new)));
    }
    set_standing(tx, later, "active = 0")?;
    Ok(moved)
}

fn take_back(tx: &Transaction<'_>, session: &SessionId) -> rusqlite::Result<Option<Uncompaction>> {
    if !COMPACTIONS.exists(tx)? {
        return Ok(None);
    }
    let sql = "SELECT id, hidden, inserted, moved FROM hermes_rs_compactions WHERE session_id = ?1
               ORDER BY id DESC LIMIT 1";
    let last: Option<(i64, String, String, String)> = tx
        .prepare_cached(sql)?
        .query_row([session.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    let Some((record, hidden, inserted, moved)) = last else { return Ok(None) };
    let mut restored = numbers(&hidden);
    let mut removed = numbers(&inserted);
    for pair in numbers(&moved).chunks_exact(2) {
        // A copy that the user took back meanwhile stays taken back, and so does its original.
        if is_active(tx, pair[1])? {
            restored.push(pair[0]);
        }
        removed.push(pair[1]);
    }
    restored.sort_unstable();
    set_standing(tx, &restored, "active = 1, compacted = 0")?;
    set_standing(tx, &removed, "active = 0, compacted = 0")?;
    recount(tx, session)?;
    tx.prepare_cached("DELETE FROM hermes_rs_compactions WHERE id = ?1")?.execute([record])?;
    let named = |ids: Vec<i64>| ids.into_iter().map(MessageId).collect();
    Ok(Some(Uncompaction { restored: named(restored), removed: named(removed) }))
}

fn is_active(tx: &Transaction<'_>, id: i64) -> rusqlite::Result<bool> {
    let mut statement = tx.prepare_cached("SELECT active FROM messages WHERE id = ?1")?;
    Ok(statement.query_row([id], |row| row.get::<_, i64>(0)).optional()? == Some(1))
}

/// Counts the messages that are part of the conversation, as the other program does after a compaction.
pub(super) fn recount(tx: &Transaction<'_>, session: &SessionId) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "UPDATE sessions SET (message_count, tool_call_count) = (
             SELECT count(*), ifnull(sum(CASE WHEN tool_calls IS NULL OR NOT json_valid(tool_calls) THEN 0
                 WHEN json_type(tool_calls) = 'array' THEN json_array_length(tool_calls) ELSE 1 END), 0)
             FROM messages WHERE session_id = ?1 AND active = 1)
         WHERE id = ?1",
    )?
    .execute([session.as_str()])?;
    Ok(())
}
