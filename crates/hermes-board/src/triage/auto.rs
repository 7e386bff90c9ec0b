//! Cards in triage that are split by themselves. Each gets a card of its own for that, which a worker takes like any
//! other: asking a model never happens while the dispatcher looks at a board.

use hermes_store::rusqlite::{self, Connection, OptionalExtension, Transaction, params};
use serde_json::json;

use crate::board::{Board, Trouble};
use crate::card::{CardId, Seconds, Status};
use crate::create::{Made, NewCard, create_as};
use crate::error::BoardError;

/// How cards in triage are split by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoSplit {
    /// How many at once.
    pub at_once: u32,
    /// Whose model does it.
    pub profile: String,
}

/// Who made such a card.
const AUTHOR: &str = "dispatcher";

/// Cards in triage that nobody has made a card for yet, as many as may be split now. One that came back because its
/// workers were blocked in circles is for a person; so is one that somebody edits.
pub(crate) fn waiting(
    db: &Connection,
    rules: Option<&AutoSplit>,
    now: Seconds,
) -> rusqlite::Result<Vec<CardId>> {
    let Some(rules) = rules else { return Ok(Vec::new()) };
    let open: i64 = db
        .prepare_cached(
            "SELECT count(*) FROM hx_jobs j JOIN tasks t ON t.id = j.task_id \
             WHERE t.status IN ('todo', 'scheduled', 'ready', 'running', 'review')",
        )?
        .query_row([], |row| row.get(0))?;
    let room = i64::from(rules.at_once) - open;
    if room <= 0 {
        return Ok(Vec::new());
    }
    db.prepare_cached(
        "SELECT t.id FROM tasks t WHERE t.status = 'triage' \
         AND NOT EXISTS (SELECT 1 FROM task_events e WHERE e.task_id = t.id AND e.kind = 'block_loop_detected') \
         AND NOT EXISTS (SELECT 1 FROM hx_cards h WHERE h.task_id = t.id AND h.editing_until > ?1) \
         AND NOT EXISTS (SELECT 1 FROM hx_jobs j JOIN tasks own ON own.id = j.task_id \
           WHERE j.splits = t.id AND own.status != 'archived') \
         ORDER BY t.priority DESC, t.created_at, t.rowid LIMIT ?2",
    )?
    .query_map(params![now, room], |row| row.get(0))?
    .collect()
}

/// Makes the card that splits another, if that is in triage still; what was made.
pub(crate) fn make(
    tx: &Transaction<'_>,
    splits: &CardId,
    rules: &AutoSplit,
    now: Seconds,
) -> Result<Option<CardId>, Trouble> {
    let Some(card) = crate::rows::find(tx, splits)?.filter(|card| card.status == Status::Triage) else {
        return Ok(None);
    };
    let new = NewCard {
        body: Some(format!(
            "A model looks at {splits} (\"{}\") and writes it out or splits it. This card is done when that is; it needs \
             no other work.",
            card.title
        )),
        assignee: Some(rules.profile.clone()),
        created_by: Some(AUTHOR.to_owned()),
        tenant: card.tenant.clone(),
        priority: card.priority,
        // One for a card, however many dispatchers look at it.
        idempotency_key: Some(format!("auto-decompose:{splits}")),
        ..NewCard::new(format!("Decompose {splits}"))
    };
    let created = create_as(tx, &new, &json!({ "by": AUTHOR }), now)?;
    if created.made == Made::Before {
        return Ok(None);
    }
    tx.prepare_cached("INSERT INTO hx_jobs (task_id, splits) VALUES (?1, ?2)")?
        .execute(params![created.card.id, splits])?;
    Ok(Some(created.card.id))
}

impl Board {
    /// The card that a card's work is to split, if it was made for that.
    pub fn splits(&mut self, card: &CardId) -> Result<Option<CardId>, BoardError> {
        self.read(|tx| {
            tx.prepare_cached("SELECT splits FROM hx_jobs WHERE task_id = ?1")?
                .query_row([card], |row| row.get(0))
                .optional()
        })
    }
}
