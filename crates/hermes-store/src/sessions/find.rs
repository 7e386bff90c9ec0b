//! Which session somebody means.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, Transaction};

use super::SessionStore;
use super::error::SessionError;
use super::ids::SessionId;
use super::marks::{Mark, is_hidden_child};
use super::titles::{by_title, escape_like};

/// How somebody says which session to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// The one something was last said in, of those that came through this door. Never the work of a helper, never a
    /// single question from a script, never one that was put away.
    Latest {
        /// The door.
        source: String,
    },
    /// The one with exactly this id.
    Id(SessionId),
    /// The latest with this title.
    Title(String),
    /// An id, a title, or the beginning of an id, whichever fits first.
    Named(String),
}

/// How far a chain of sessions is followed. Longer ones are loops.
const CHAIN: usize = 100;
/// How far down a session with messages is looked for under one that has none.
const DEPTH: usize = 32;
/// How many of the newest messages are looked at before all sessions are.
const RECENT: usize = 2000;

impl SessionStore {
    /// The session to go on with: of several that an older program made of one conversation, the last. Nothing if there
    /// is none.
    pub fn find(&mut self, which: &Resume) -> Result<Option<SessionId>, SessionError> {
        let found = match which {
            Resume::Latest { source } => self.db.read(|tx| latest(tx, source))?,
            Resume::Id(id) => self.db.read(|tx| exact(tx, id.as_str()))?,
            Resume::Title(title) => self.db.read(|tx| by_title(tx, title))?,
            Resume::Named(name) => match self.resolve(name) {
                Err(SessionError::NoSession { .. }) => None,
                found => Some(found?),
            },
        };
        match found {
            None => Ok(None),
            Some(id) => Ok(Some(self.db.read(|tx| with_messages(tx, tip(tx, id.clone())?))?)),
        }
    }

    /// The session that has exactly this id, or this title, or is the only one whose id begins so.
    pub fn resolve(&mut self, name: &str) -> Result<SessionId, SessionError> {
        let found = self.db.read(|tx| match exact(tx, name)? {
            Some(id) => Ok(Some(id)),
            None => by_title(tx, name),
        })?;
        if let Some(id) = found {
            return Ok(id);
        }
        let mut fitting = self.db.read(|tx| beginning_with(tx, name))?.into_iter();
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Ok(only),
            (Some(first), Some(second)) => {
                Err(SessionError::Ambiguous { name: name.to_owned(), first, second })
            }
            (None, _) => Err(SessionError::NoSession { name: name.to_owned() }),
        }
    }

    /// The first session of the chain or the tree a session belongs to.
    pub fn lineage_root(&mut self, id: &SessionId) -> Result<SessionId, SessionError> {
        Ok(self.db.read(|tx| root(tx, id))?)
    }
}

fn exact(tx: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<SessionId>> {
    let mut statement = tx.prepare_cached("SELECT id FROM sessions WHERE id = ?1")?;
    statement.query_row([id], |row| row.get::<_, String>(0)).optional().map(|id| id.map(SessionId::from))
}

fn beginning_with(tx: &Transaction<'_>, name: &str) -> rusqlite::Result<Vec<SessionId>> {
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = tx.prepare_cached(
        "SELECT id FROM sessions WHERE id LIKE ?1 ESCAPE '\\' ORDER BY started_at DESC LIMIT 2",
    )?;
    let rows = statement.query_map([format!("{}%", escape_like(name))], |row| row.get::<_, String>(0))?;
    rows.map(|id| id.map(SessionId::from)).collect()
}

/// The SQL that is true for the sessions "the last one" can mean.
fn can_be_latest(table: &str) -> String {
    format!(
        "{table}.source = ?1 AND {table}.archived = 0 AND {} IS NULL AND (NOT {} OR ({} IS NULL AND EXISTS (
             SELECT 1 FROM sessions p WHERE p.id = {table}.parent_session_id AND p.end_reason = 'compression')))",
        Mark::OneShot.of(table),
        is_hidden_child(table),
        Mark::Delegated.of(table),
    )
}

fn latest(tx: &Transaction<'_>, source: &str) -> rusqlite::Result<Option<SessionId>> {
    let fits = can_be_latest("s");
    // Nearly always one of the newest messages is in such a session, and the first that is ends the look.
    let near = format!(
        "SELECT s.id FROM (SELECT id, session_id FROM messages WHERE active = 1 ORDER BY id DESC LIMIT {RECENT}) m
         CROSS JOIN sessions s ON s.id = m.session_id WHERE {fits} LIMIT 1"
    );
    let far = format!(
        "SELECT s.id FROM sessions s WHERE {fits} ORDER BY
             ifnull((SELECT max(m.timestamp) FROM messages m WHERE m.session_id = s.id AND m.active = 1), 0) DESC,
             s.started_at DESC LIMIT 1"
    );
    for sql in [near, far] {
        let found = tx.prepare_cached(&sql)?.query_row([source], |row| row.get::<_, String>(0)).optional()?;
        if let Some(id) = found {
            return Ok(Some(SessionId::from(id)));
        }
    }
    Ok(None)
}

/// Children that are neither helpers nor branches.
fn plain_child(table: &str) -> String {
    format!(
        "{} IS NULL AND {} IS NULL AND {table}.source <> 'tool'",
        Mark::Branched.of(table),
        Mark::Delegated.of(table)
    )
}

/// The last session of a chain: where a compression ended one and the next went on. Of several that may be it, one that
/// went on itself, then one that is not ended, then the one something was last said in.
pub(super) fn tip(tx: &Transaction<'_>, id: SessionId) -> rusqlite::Result<SessionId> {
    let sql = format!(
        "SELECT c.id FROM sessions p JOIN sessions c ON c.parent_session_id = p.id
         WHERE p.id = ?1 AND p.end_reason = 'compression' AND {}
         ORDER BY CASE WHEN c.end_reason = 'compression' THEN 0 WHEN c.ended_at IS NULL THEN 1 ELSE 2 END,
             ifnull((SELECT max(m.timestamp) FROM messages m WHERE m.session_id = c.id), c.started_at) DESC,
             c.started_at DESC, c.id DESC LIMIT 1",
        plain_child("c")
    );
    follow(tx, id, CHAIN, &sql, |_, _| Ok(true)).map(|(end, _)| end)
}

/// The deepest session with messages on the way down from one; that one if none has.
fn with_messages(tx: &Transaction<'_>, id: SessionId) -> rusqlite::Result<SessionId> {
    let sql = format!(
        "SELECT c.id FROM sessions c WHERE c.parent_session_id = ?1 AND {} ORDER BY c.started_at DESC, c.id DESC LIMIT 1",
        plain_child("c")
    );
    let has_any = |tx: &Transaction<'_>, id: &SessionId| {
        let mut statement = tx.prepare_cached("SELECT 1 FROM messages WHERE session_id = ?1 LIMIT 1")?;
        statement.query_row([id.as_str()], |_| Ok(())).optional().map(|found| found.is_some())
    };
    if has_any(tx, &id)? {
        return Ok(id);
    }
    let (_, best) = follow(tx, id.clone(), DEPTH, &sql, has_any)?;
    Ok(best.unwrap_or(id))
}

/// Follows sessions from one to the next. The last one, and the last one that counts.
fn follow(
    tx: &Transaction<'_>,
    start: SessionId,
    limit: usize,
    next: &str,
    counts: impl Fn(&Transaction<'_>, &SessionId) -> rusqlite::Result<bool>,
) -> rusqlite::Result<(SessionId, Option<SessionId>)> {
    let mut seen = BTreeSet::from([start.clone()]);
    let (mut current, mut best) = (start, None);
    for _ in 0..limit {
        let found = tx
            .prepare_cached(next)?
            .query_row([current.as_str()], |row| row.get::<_, String>(0))
            .optional()?;
        let Some(id) = found.map(SessionId::from) else { break };
        if !seen.insert(id.clone()) {
            break;
        }
        current = id;
        if counts(tx, &current)? {
            best = Some(current.clone());
        }
    }
    Ok((current, best))
}

/// Follows parents to the top.
pub(super) fn root(tx: &Transaction<'_>, id: &SessionId) -> rusqlite::Result<SessionId> {
    let up = "SELECT parent_session_id FROM sessions WHERE id = ?1 AND parent_session_id IS NOT NULL";
    follow(tx, id.clone(), CHAIN, up, |_, _| Ok(true)).map(|(top, _)| top)
}
