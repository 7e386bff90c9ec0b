//! What cards wait for, and letting go of those that need not wait any more. Set by set, never card by card.

use hermes_store::rusqlite::{self, Connection, Transaction, params};
use serde_json::Value;

use crate::board::{Board, Trouble};
use crate::card::{CardId, Seconds};
use crate::error::BoardError;
use crate::event::record;
use crate::transition::Parents;

/// Holds while something that card `tasks.id` waits for is not finished: a card it needs, or all of those of which it
/// needs one.
pub(crate) const WAITS: &str = "(EXISTS (SELECT 1 FROM task_links l JOIN tasks p ON p.id = l.parent_id \
     WHERE l.child_id = tasks.id AND p.status NOT IN ('done', 'archived') AND NOT EXISTS \
       (SELECT 1 FROM hx_links h WHERE h.parent_id = l.parent_id AND h.child_id = l.child_id AND h.kind = 'any')) \
   OR (EXISTS (SELECT 1 FROM hx_links h WHERE h.child_id = tasks.id AND h.kind = 'any') AND NOT EXISTS \
       (SELECT 1 FROM hx_links h JOIN tasks p ON p.id = h.parent_id \
        WHERE h.child_id = tasks.id AND h.kind = 'any' AND p.status IN ('done', 'archived'))))";

/// Whether all that a card waits for is finished.
pub(crate) fn parents(db: &Connection, id: &CardId) -> rusqlite::Result<Parents> {
    let waits: bool = db
        .prepare_cached(&format!("SELECT {WAITS} FROM tasks WHERE id = ?1"))?
        .query_row([id], |row| row.get(0))?;
    Ok(if waits { Parents::Open } else { Parents::Finished })
}

/// Cards that could go on now: those in `todo` that wait for nothing, and those that were given up before something they
/// wait for was finished. One that a person blocked stays blocked, whatever is finished.
const FREE: &str = "SELECT id FROM tasks WHERE status = 'todo' AND NOT ";
const GIVEN_UP: &str = "SELECT tasks.id FROM tasks WHERE status = 'blocked' AND EXISTS (SELECT 1 FROM task_events g \
     WHERE g.task_id = tasks.id AND g.kind = 'gave_up' \
       AND g.id > coalesce((SELECT max(u.id) FROM task_events u WHERE u.task_id = tasks.id AND u.kind = 'unblocked'), 0) \
       AND EXISTS (SELECT 1 FROM task_links l JOIN task_events c ON c.task_id = l.parent_id \
         WHERE l.child_id = tasks.id AND c.kind = 'completed' AND c.id > g.id)) \
     AND NOT EXISTS (SELECT 1 FROM task_events b WHERE b.task_id = tasks.id AND b.kind = 'blocked' \
       AND b.payload IS NOT NULL AND json_valid(b.payload) AND json_extract(b.payload, '$.by') IS NULL \
       AND b.id > coalesce((SELECT max(u.id) FROM task_events u WHERE u.task_id = tasks.id AND u.kind = 'unblocked'), 0)) \
     AND NOT ";

/// The cards that would go on.
pub(crate) fn free(db: &Connection) -> rusqlite::Result<Vec<CardId>> {
    let mut cards = Vec::new();
    for sql in [FREE, GIVEN_UP] {
        let mut statement = db.prepare_cached(&format!("{sql}{WAITS} ORDER BY id"))?;
        for id in statement.query_map([], |row| row.get(0))? {
            cards.push(id?);
        }
    }
    Ok(cards)
}

/// Lets every card go on that can.
pub(crate) fn let_go(tx: &Transaction<'_>, now: Seconds) -> rusqlite::Result<Vec<CardId>> {
    let cards = free(tx)?;
    for id in &cards {
        tx.prepare_cached("UPDATE tasks SET status = 'ready' WHERE id = ?1")?.execute(params![id])?;
        record(tx, id, None, "promoted", &Value::Null, now)?;
    }
    Ok(cards)
}

impl Board {
    /// Lets every card go on that waits for nothing any more.
    pub fn let_go(&mut self, now: Seconds) -> Result<Vec<CardId>, BoardError> {
        // Looking takes no lock; mostly there is nothing to do.
        if self.read(|tx| free(tx))?.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|tx| let_go(tx, now).map_err(Trouble::from))
    }
}
