//! A hit with what surrounds it: the beginning of its conversation, the place itself, and the end.

use rusqlite::{OptionalExtension, Transaction};

use super::super::SessionStore;
use super::super::error::SessionError;
use super::super::ids::{MessageId, SessionId};
use super::super::message::{self, COLUMNS, StoredMessage};
use super::super::messages::Around;

/// A place in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchored {
    /// The messages around the place.
    pub around: Around,
    /// The first words of user and model, without those that are around the place.
    pub first: Vec<StoredMessage>,
    /// The last words of user and model, without those that are around the place.
    pub last: Vec<StoredMessage>,
    /// How many messages of the conversation come before those around the place.
    pub before: usize,
    /// How many come after.
    pub after: usize,
}

/// The beginning and the end of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Excerpt {
    /// Its messages in order: all, or the first and the last ones.
    pub messages: Vec<StoredMessage>,
    /// How many it has.
    pub total: usize,
}

impl SessionStore {
    /// The first and the last messages of a session; all if there are no others.
    pub fn excerpt(
        &mut self,
        session: &SessionId,
        first: usize,
        last: usize,
    ) -> Result<Excerpt, SessionError> {
        let some = |tx: &Transaction<'_>, direction: &str, limit: usize| {
            let mut statement = tx.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM messages WHERE session_id = ?1 AND (active = 1 OR compacted = 1)
                 ORDER BY +id {direction} LIMIT ?2"
            ))?;
            let rows = statement.query_map((session.as_str(), limit as i64), message::read)?;
            rows.collect::<rusqlite::Result<Vec<StoredMessage>>>()
        };
        Ok(self.db.read(|tx| {
            let mut messages = some(tx, "ASC", first)?;
            let seen = messages.last().map(|message| message.id);
            let end = some(tx, "DESC", last)?.into_iter().rev();
            messages.extend(end.filter(|message| Some(message.id) > seen));
            Ok(Excerpt { messages, total: count(tx, session, ">", MessageId(0))? })
        })?)
    }

    /// The session a message belongs to.
    pub fn session_of(&mut self, message: MessageId) -> Result<Option<SessionId>, SessionError> {
        let found = self.db.read(|tx| {
            tx.prepare_cached("SELECT session_id FROM messages WHERE id = ?1")?
                .query_row([message.0], |row| row.get::<_, String>(0))
                .optional()
        })?;
        Ok(found.map(SessionId::from))
    }

    /// Shows a place in a conversation: `window` messages to both sides, and `ends` messages at either end.
    pub fn anchored(
        &mut self,
        session: &SessionId,
        middle: MessageId,
        window: usize,
        ends: usize,
    ) -> Result<Anchored, SessionError> {
        let around = self.around(session, middle, window)?;
        let (Some(from), Some(to)) =
            (around.messages.first().map(|m| m.id), around.messages.last().map(|m| m.id))
        else {
            return Err(SessionError::NoMessage { session: session.clone(), message: middle });
        };
        Ok(self.db.read(|tx| {
            let first = ends_of(tx, session, "<", from, "ASC", ends)?;
            let mut last = ends_of(tx, session, ">", to, "DESC", ends)?;
            last.reverse();
            let (before, after) = (count(tx, session, "<", from)?, count(tx, session, ">", to)?);
            Ok(Anchored { around: around.clone(), first, last, before, after })
        })?)
    }
}

fn ends_of(
    tx: &Transaction<'_>,
    session: &SessionId,
    compare: &str,
    edge: MessageId,
    direction: &str,
    limit: usize,
) -> rusqlite::Result<Vec<StoredMessage>> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM messages WHERE session_id = ?1 AND +id {compare} ?2 AND (active = 1 OR compacted = 1)
             AND role IN ('user', 'assistant') AND content IS NOT NULL AND content <> ''
         ORDER BY +id {direction} LIMIT ?3"
    ))?;
    let rows = statement.query_map((session.as_str(), edge.0, limit as i64), message::read)?;
    rows.collect()
}

fn count(
    tx: &Transaction<'_>,
    session: &SessionId,
    compare: &str,
    edge: MessageId,
) -> rusqlite::Result<usize> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT count(*) FROM messages WHERE session_id = ?1 AND +id {compare} ?2 AND (active = 1 OR compacted = 1)"
    ))?;
    statement.query_row((session.as_str(), edge.0), |row| row.get::<_, i64>(0)).map(|count| count as usize)
}
