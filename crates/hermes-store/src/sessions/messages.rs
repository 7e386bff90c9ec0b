//! Adding messages to a session and reading them back.

use rusqlite::{OptionalExtension, Transaction};

use super::SessionStore;
use super::error::SessionError;
use super::ids::{MessageId, SessionId};
use super::indexing;
use super::message::{self, COLUMNS, INSERT, NewMessage, StoredMessage};

/// Which messages of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Those the model is to see.
    Active,
    /// Also those that were summarised or taken back.
    All,
}

/// The messages around one.
#[derive(Debug, Clone, PartialEq)]
pub struct Around {
    /// In order, the one in the middle included. Empty if the session has no such message.
    pub messages: Vec<StoredMessage>,
    /// How many of them come before it.
    pub before: usize,
    /// How many of them come after it.
    pub after: usize,
}

impl SessionStore {
    /// Adds a message. When this returns it is kept, whatever happens to the program.
    pub fn append(&mut self, session: &SessionId, new: &NewMessage) -> Result<MessageId, SessionError> {
        self.unindexed = true;
        self.db.transact(|tx| {
            count(tx, session, 1, new.calls())?;
            Ok(insert(tx, session, new).map_err(|source| failed(tx, source))?)
        })
    }

    /// Adds messages, all or none.
    pub fn append_all(
        &mut self,
        session: &SessionId,
        new: &[NewMessage],
    ) -> Result<Vec<MessageId>, SessionError> {
        self.unindexed = true;
        self.db.transact(|tx| {
            count(tx, session, new.len(), new.iter().map(NewMessage::calls).sum())?;
            let ids = new.iter().map(|message| insert(tx, session, message)).collect::<Result<_, _>>();
            Ok(ids.map_err(|source| failed(tx, source))?)
        })
    }

    /// The messages of a session, in order.
    pub fn messages(&mut self, session: &SessionId, view: View) -> Result<Vec<StoredMessage>, SessionError> {
        let sql = messages_sql(view);
        Ok(self.db.read(|tx| {
            let mut statement = tx.prepare_cached(&sql)?;
            let rows = statement.query_map([session.as_str()], message::read)?;
            rows.collect::<Result<_, _>>()
        })?)
    }

    /// Up to `window` messages before and after one. What was taken back is left out, unless it is that one.
    pub fn around(
        &mut self,
        session: &SessionId,
        middle: MessageId,
        window: usize,
    ) -> Result<Around, SessionError> {
        Ok(self.db.read(|tx| around(tx, session, middle, window))?)
    }

    /// Keeps what is sent to the model in place of the last thing the user said. Whether there was such a message.
    pub fn set_api_content(
        &mut self,
        session: &SessionId,
        message: MessageId,
        sent: &str,
    ) -> Result<(), SessionError> {
        let sql = "UPDATE messages SET api_content = ?3 WHERE id = ?2 AND session_id = ?1";
        let changed = self.db.write(|tx| {
            let mut changed = 0;
            indexing::change(tx, &[message.0], |id| {
                changed = tx.prepare_cached(sql)?.execute((session.as_str(), id, sent))?;
                Ok(())
            })?;
            Ok(changed)
        })?;
        if changed == 0 {
            return Err(SessionError::NoMessage { session: session.clone(), message });
        }
        Ok(())
    }
}

/// The statement for the messages of a session. The number of the message, not its time, gives the order: clocks jump.
pub(super) fn messages_sql(view: View) -> String {
    let only = match view {
        View::Active => " AND active = 1",
        View::All => "",
    };
    format!("SELECT {COLUMNS} FROM messages WHERE session_id = ?1{only} ORDER BY id")
}

/// Counts new messages in the session's row. Fails where there is no such session, before anything is added.
fn count(
    tx: &Transaction<'_>,
    session: &SessionId,
    messages: usize,
    calls: usize,
) -> Result<(), SessionError> {
    let sql = "UPDATE sessions SET message_count = ifnull(message_count, 0) + ?2,
                   tool_call_count = ifnull(tool_call_count, 0) + ?3 WHERE id = ?1";
    let changed = tx
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute((session.as_str(), messages as i64, calls as i64)));
    match changed.map_err(|source| failed(tx, source))? {
        0 => Err(SessionError::no_session(session)),
        _ => Ok(()),
    }
}

/// Adds one message, without counting it.
pub(super) fn insert(
    tx: &Transaction<'_>,
    session: &SessionId,
    new: &NewMessage,
) -> rusqlite::Result<MessageId> {
    let mut statement = tx.prepare_cached(INSERT)?;
    new.bind(&mut statement, session)?;
    statement.raw_execute()?;
    let id = tx.last_insert_rowid();
    indexing::added(tx, id)?;
    Ok(MessageId(id))
}

/// Says what an error of SQLite inside a transaction means.
pub(super) fn failed(tx: &Transaction<'_>, source: rusqlite::Error) -> crate::Error {
    crate::Error::explain(std::path::Path::new(tx.path().unwrap_or_default()), "write to", source)
}

fn around(
    tx: &Transaction<'_>,
    session: &SessionId,
    middle: MessageId,
    window: usize,
) -> rusqlite::Result<Around> {
    let there = tx
        .prepare_cached("SELECT 1 FROM messages WHERE id = ?1 AND session_id = ?2")?
        .query_row((middle.0, session.as_str()), |_| Ok(()))
        .optional()?;
    if there.is_none() {
        return Ok(Around { messages: Vec::new(), before: 0, after: 0 });
    }
    let side = |compare: &str, direction: &str, limit: usize| {
        // The plus keeps SQLite from walking the messages of all sessions in order of their numbers.
        let sql = format!(
            "SELECT {COLUMNS} FROM messages WHERE session_id = ?1 AND +id {compare} ?2
                 AND (active = 1 OR compacted = 1 OR id = ?2) ORDER BY +id {direction} LIMIT ?3"
        );
        let mut statement = tx.prepare_cached(&sql)?;
        let rows = statement.query_map((session.as_str(), middle.0, limit as i64), message::read)?;
        rows.collect::<rusqlite::Result<Vec<_>>>()
    };
    let mut messages = side("<=", "DESC", window.saturating_add(1))?;
    messages.reverse();
    let later = side(">", "ASC", window)?;
    let (before, after) = (messages.len().saturating_sub(1), later.len());
    messages.extend(later);
    Ok(Around { messages, before, after })
}
