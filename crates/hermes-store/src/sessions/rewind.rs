//! Taking back what was said: the messages stay in the file, and the model does not see them any more.

use rusqlite::{OptionalExtension, Transaction};

use super::SessionStore;
use super::error::SessionError;
use super::ids::{MessageId, SessionId};
use super::indexing;
use super::message::{self, Body, COLUMNS, Role};
use super::messages::failed;
use super::own::REWINDS;

/// What was taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewound {
    /// The messages that were hidden, in order.
    pub hidden: Vec<MessageId>,
    /// What the user had said there, to be said differently.
    pub prompt: Option<Body>,
}

impl SessionStore {
    /// Takes back a message of the user and everything after it.
    pub fn rewind(&mut self, session: &SessionId, to: MessageId) -> Result<Rewound, SessionError> {
        self.db.transact(|tx| {
            let target = tx
                .prepare_cached(&format!("SELECT {COLUMNS} FROM messages WHERE id = ?1 AND session_id = ?2"))
                .and_then(|mut s| s.query_row((to.0, session.as_str()), message::read).optional())
                .map_err(|source| failed(tx, source))?
                .ok_or_else(|| SessionError::NoMessage { session: session.clone(), message: to })?;
            if target.message.role != Role::User {
                return Err(SessionError::NotUsers { message: to });
            }
            let hidden = hide_from(tx, session, to).map_err(|source| failed(tx, source))?;
            Ok(Rewound { hidden, prompt: target.message.content })
        })
    }

    /// Takes back the last `turns` things the user said and everything after. How far it got: nothing if the user said
    /// nothing.
    pub fn undo(&mut self, session: &SessionId, turns: usize) -> Result<Option<Rewound>, SessionError> {
        let said = self.user_messages(session, turns)?;
        said.last().map(|message| self.rewind(session, *message)).transpose()
    }

    /// Brings back what the last [`SessionStore::rewind`] took, unless the conversation went on.
    pub fn restore(&mut self, session: &SessionId) -> Result<Vec<MessageId>, SessionError> {
        let restored = self.db.write(|tx| bring_back(tx, session))?;
        restored.ok_or_else(|| SessionError::NothingTakenBack { session: session.clone() })
    }

    /// The newest messages of the user that count, newest first.
    pub fn user_messages(
        &mut self,
        session: &SessionId,
        limit: usize,
    ) -> Result<Vec<MessageId>, SessionError> {
        Ok(self.db.read(|tx| {
            let sql = "SELECT id FROM messages WHERE session_id = ?1 AND active = 1 AND role = 'user'
                       ORDER BY +id DESC LIMIT ?2";
            let mut statement = tx.prepare_cached(sql)?;
            let ids =
                statement.query_map((session.as_str(), limit as i64), |row| row.get(0).map(MessageId))?;
            ids.collect::<Result<_, _>>()
        })?)
    }
}

fn hide_from(tx: &Transaction<'_>, session: &SessionId, to: MessageId) -> rusqlite::Result<Vec<MessageId>> {
    let mut statement = tx.prepare_cached(
        "SELECT id FROM messages WHERE session_id = ?1 AND active = 1 AND +id >= ?2 ORDER BY +id",
    )?;
    let ids: Vec<i64> =
        statement.query_map((session.as_str(), to.0), |row| row.get(0))?.collect::<Result<_, _>>()?;
    set_standing(tx, &ids, "active = 0")?;
    tx.prepare_cached("UPDATE sessions SET rewind_count = ifnull(rewind_count, 0) + 1 WHERE id = ?1")?
        .execute([session.as_str()])?;
    if !ids.is_empty() {
        REWINDS.ensure(tx)?;
        tx.prepare_cached("INSERT INTO hermes_rs_rewinds (session_id, hidden) VALUES (?1, ?2)")?
            .execute((session.as_str(), list(&ids)))?;
    }
    Ok(ids.into_iter().map(MessageId).collect())
}

fn bring_back(tx: &Transaction<'_>, session: &SessionId) -> rusqlite::Result<Option<Vec<MessageId>>> {
    if !REWINDS.exists(tx)? {
        return Ok(None);
    }
    let last: Option<(i64, String)> = tx
        .prepare_cached(
            "SELECT id, hidden FROM hermes_rs_rewinds WHERE session_id = ?1 ORDER BY id DESC LIMIT 1",
        )?
        .query_row([session.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((record, hidden)) = last else { return Ok(None) };
    let ids = numbers(&hidden);
    let newest: Option<i64> = tx
        .prepare_cached("SELECT max(+id) FROM messages WHERE session_id = ?1 AND active = 1")?
        .query_row([session.as_str()], |row| row.get(0))?;
    if newest >= ids.iter().max().copied() {
        return Ok(None);
    }
    set_standing(tx, &ids, "active = 1")?;
    tx.prepare_cached("DELETE FROM hermes_rs_rewinds WHERE id = ?1")?.execute([record])?;
    Ok(Some(ids.into_iter().map(MessageId).collect()))
}

/// Changes the flags of messages, one statement each: a list of any length would need a statement of its own.
pub(super) fn set_standing(tx: &Transaction<'_>, ids: &[i64], flags: &str) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached(&format!("UPDATE messages SET {flags} WHERE id = ?1"))?;
    indexing::change(tx, ids, |id| statement.execute([id]).map(drop))
}

/// Numbers of messages as text, for our tables.
pub(super) fn list(ids: &[i64]) -> String {
    serde_json::Value::from(ids.to_vec()).to_string()
}

/// And back. What cannot be read is nothing.
pub(super) fn numbers(text: &str) -> Vec<i64> {
    serde_json::from_str(text).unwrap_or_default()
}
