//! What cards wait for, and letting go of those that need not wait any more. Set by set, never card by card.

use hermes_store::rusqlite::{self, Connection, Transaction, params};
use serde_json::Value;

use crate::board::{Board, Trouble};
use crate::card::{CardId, Seconds};
use crate::dispatch::ended::forget_failures;
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
/// wait for was finished. One that somebody blocked stays blocked, whatever is finished; and nothing else lets a card go
/// that was given up.
const FREE: &str = "tasks.status = 'todo' AND NOT EXISTS (SELECT 1 FROM hx_cards h WHERE h.task_id = tasks.id AND h.sticky != 0)";
const GIVEN_UP: &str = "tasks.status = 'blocked' AND EXISTS (SELECT 1 FROM \
     (SELECT max(e.id) AS id FROM task_events e WHERE e.task_id = tasks.id AND e.kind = 'gave_up') g \
     WHERE g.id > coalesce((SELECT max(u.id) FROM task_events u WHERE u.task_id = tasks.id AND u.kind = 'unblocked'), 0) \
       AND EXISTS (SELECT 1 FROM task_links l JOIN task_events c ON c.task_id = l.parent_id \
         WHERE l.child_id = tasks.id AND c.kind = 'completed' AND c.id > g.id) \
       AND NOT EXISTS (SELECT 1 FROM task_events b WHERE b.task_id = tasks.id AND b.kind = 'blocked' AND b.id > g.id \
         AND (b.payload IS NULL OR NOT json_valid(b.payload) OR json_extract(b.payload, '$.by') IS NULL)))";

/// Which cards are looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Among<'a> {
    /// All.
    Board,
    /// Those that wait for this one.
    Below(&'a CardId),
    /// Those that something happened to since this event, and those that wait for them.
    Since(i64),
}

impl Among<'_> {
    /// Where such cards are found, by `?1`.
    fn sql(self) -> &'static str {
        match self {
            Self::Board => "?1 IS NULL",
            Self::Below(_) => "tasks.id IN (SELECT child_id FROM task_links WHERE parent_id = ?1)",
            // In this order, and not by way of all cards that wait.
            Self::Since(_) => {
                "tasks.id IN (SELECT task_id FROM task_events NOT INDEXED WHERE id > ?1 UNION \
                 SELECT l.child_id FROM task_events e NOT INDEXED CROSS JOIN task_links l ON l.parent_id = e.task_id \
                 WHERE e.id > ?1)"
            }
        }
    }

    /// Keeps SQLite from going through all cards of a status when those that count are known.
    fn hint(self) -> &'static str {
        match self {
            Self::Board => "",
            Self::Below(_) | Self::Since(_) => "+",
        }
    }
}

/// Holds for cards `tasks` that would go on.
pub(crate) fn conditions(among: Among<'_>) -> [String; 2] {
    [FREE, GIVEN_UP].map(|kind| format!("{} AND {}{kind} AND NOT {WAITS}", among.sql(), among.hint()))
}

/// The cards that would go on.
pub(crate) fn free(db: &Connection, among: Among<'_>) -> rusqlite::Result<Vec<CardId>> {
    let mut cards = Vec::new();
    for condition in conditions(among) {
        let mut statement =
            db.prepare_cached(&format!("SELECT tasks.id FROM tasks WHERE {condition} ORDER BY tasks.id"))?;
        let mut rows = match among {
            Among::Board => statement.query([rusqlite::types::Null])?,
            Among::Below(id) => statement.query([id])?,
            Among::Since(event) => statement.query([event])?,
        };
        while let Some(row) = rows.next()? {
            cards.push(row.get(0)?);
        }
    }
    Ok(cards)
}

/// Lets a card go on that waits for nothing any more. What went wrong before something it waits for was finished does not
/// count any more.
pub(crate) fn promote(tx: &Transaction<'_>, id: &CardId, now: Seconds) -> rusqlite::Result<bool> {
    let sql = "UPDATE tasks SET status = 'ready' WHERE id = ?1 AND status IN ('todo', 'blocked')";
    if tx.prepare_cached(sql)?.execute(params![id])? == 0 {
        return Ok(false);
    }
    let tripped = "SELECT 1 FROM hx_cards WHERE task_id = ?1 AND tripped IS NOT NULL";
    if tx.prepare_cached(tripped)?.exists([id])? {
        forget_failures(tx, id)?;
    }
    record(tx, id, None, "promoted", &Value::Null, now)?;
    Ok(true)
}

fn let_go_among(tx: &Transaction<'_>, among: Among<'_>, now: Seconds) -> rusqlite::Result<Vec<CardId>> {
    let cards = free(tx, among)?;
    for id in &cards {
        promote(tx, id, now)?;
    }
    Ok(cards)
}

/// Lets every card go on that can.
pub(crate) fn let_go(tx: &Transaction<'_>, now: Seconds) -> rusqlite::Result<Vec<CardId>> {
    let_go_among(tx, Among::Board, now)
}

/// Lets those go on that waited for a card.
pub(crate) fn let_go_below(tx: &Transaction<'_>, id: &CardId, now: Seconds) -> rusqlite::Result<Vec<CardId>> {
    let_go_among(tx, Among::Below(id), now)
}

impl Board {
    /// Lets every card go on that waits for nothing any more.
    pub fn let_go(&mut self, now: Seconds) -> Result<Vec<CardId>, BoardError> {
        // Looking takes no lock; mostly there is nothing to do.
        if self.read(|tx| free(tx, Among::Board))?.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|tx| let_go(tx, now).map_err(Trouble::from))
    }
}
