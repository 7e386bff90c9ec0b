//! Sessions go: one, or all that a filter names.

use std::collections::BTreeSet;

use rusqlite::{Transaction, params_from_iter};

use super::SessionStore;
use super::error::SessionError;
use super::ids::SessionId;
use super::indexing;
use super::list::{Children, Clauses, Joined, ListFilter};
use super::marks::Mark;
use super::messages::failed;
use super::own::{COMPACTIONS, REWINDS};
use super::row::{self, SessionRow};

/// What went.
#[derive(Debug, Clone, PartialEq)]
pub struct Pruned {
    /// The sessions, and the helpers' sessions that went with them.
    pub sessions: Vec<SessionId>,
    /// How many messages went with them.
    pub messages: u64,
}

impl SessionStore {
    /// Removes a session, its messages, and the sessions of its helpers. Its branches stay.
    pub fn delete(&mut self, id: &SessionId) -> Result<Pruned, SessionError> {
        self.db.transact(|tx| {
            let explain = |source| failed(tx, source);
            if row::fetch(tx, id).map_err(explain)?.is_none() {
                return Err(SessionError::no_session(id));
            }
            Ok(remove(tx, vec![id.clone()]).map_err(explain)?)
        })
    }

    /// Removes a session nobody said anything in, unless it has a title or sessions under it. Whether it went.
    pub fn delete_if_empty(&mut self, id: &SessionId) -> Result<bool, SessionError> {
        let sql = "DELETE FROM sessions WHERE id = ?1 AND title IS NULL
                     AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = sessions.id)
                     AND NOT EXISTS (SELECT 1 FROM sessions c WHERE c.parent_session_id = sessions.id)";
        Ok(self.db.write(|tx| tx.execute(sql, [id.as_str()]))? > 0)
    }

    /// The sessions that [`SessionStore::prune`] would remove, oldest first: those of a filter that ended, wherever they are.
    pub fn prunable(&mut self, filter: &ListFilter) -> Result<Vec<SessionRow>, SessionError> {
        Ok(self.db.read(|tx| candidates(tx, filter))?)
    }

    /// Removes all sessions of a filter, with the sessions of their helpers.
    pub fn prune(&mut self, filter: &ListFilter) -> Result<Pruned, SessionError> {
        Ok(self.db.write(|tx| {
            let ids = candidates(tx, filter)?.into_iter().map(|row| row.id).collect();
            remove(tx, ids)
        })?)
    }

    /// Puts a session away, with the other parts of its conversation, or takes it out again.
    pub fn set_archived(&mut self, id: &SessionId, archived: bool) -> Result<(), SessionError> {
        let sql = "WITH RECURSIVE
                earlier(id) AS (VALUES (?1) UNION SELECT p.id FROM earlier e JOIN sessions s ON s.id = e.id
                    JOIN sessions p ON p.id = s.parent_session_id WHERE p.end_reason = 'compression'),
                later(id) AS (VALUES (?1) UNION SELECT c.id FROM later l JOIN sessions s ON s.id = l.id
                    JOIN sessions c ON c.parent_session_id = s.id WHERE s.end_reason = 'compression')
            UPDATE sessions SET archived = ?2 WHERE id IN (SELECT id FROM earlier UNION SELECT id FROM later)";
        self.update(id, sql, &[&archived])
    }
}

fn candidates(tx: &Transaction<'_>, filter: &ListFilter) -> rusqlite::Result<Vec<SessionRow>> {
    let filter = ListFilter { children: Children::Show, ..filter.clone() };
    let Joined { sql, values } = Clauses::of(&filter);
    let sql = format!(
        "SELECT {} FROM sessions s WHERE s.ended_at IS NOT NULL AND {sql} ORDER BY s.started_at",
        row::columns()
    );
    let mut statement = tx.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values.iter()), row::read)?;
    rows.collect()
}

/// Removes sessions with their helpers'. What else was under them stands alone afterwards.
fn remove(tx: &Transaction<'_>, ids: Vec<SessionId>) -> rusqlite::Result<Pruned> {
    let all = with_helpers(tx, ids)?;
    let mut messages = 0;
    for id in &all {
        indexing::forget(tx, id.as_str())?;
        tx.prepare_cached("UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?1")?
            .execute([id.as_str()])?;
        messages +=
            tx.prepare_cached("DELETE FROM messages WHERE session_id = ?1")?.execute([id.as_str()])?;
        tx.prepare_cached("DELETE FROM session_model_usage WHERE session_id = ?1")?.execute([id.as_str()])?;
        tx.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([id.as_str()])?;
        COMPACTIONS.forget(tx, id.as_str())?;
        REWINDS.forget(tx, id.as_str())?;
    }
    Ok(Pruned { sessions: all, messages: messages as u64 })
}

fn with_helpers(tx: &Transaction<'_>, ids: Vec<SessionId>) -> rusqlite::Result<Vec<SessionId>> {
    let sql = format!(
        "SELECT s.id FROM sessions s WHERE s.parent_session_id = ?1 AND {} IS NOT NULL",
        Mark::Delegated.of("s")
    );
    let mut seen: BTreeSet<SessionId> = ids.iter().cloned().collect();
    let mut all = ids;
    let mut next = 0;
    while next < all.len() {
        let mut statement = tx.prepare_cached(&sql)?;
        let found = statement.query_map([all[next].as_str()], |row| row.get::<_, String>(0))?;
        for id in found {
            let id = SessionId::from(id?);
            if seen.insert(id.clone()) {
                all.push(id);
            }
        }
        next += 1;
    }
    Ok(all)
}
