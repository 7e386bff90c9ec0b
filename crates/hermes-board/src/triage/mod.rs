//! From an idea to work: cards that are written out, split into others, or handed to several at once. What somebody
//! proposes, a model mostly, is checked here before anything changes; a change is made whole or not at all.

mod auto;
pub mod proposal;
pub mod roster;
mod specify;
mod split;
pub mod swarm;

use hermes_store::rusqlite::{Transaction, params};

use crate::act;
use crate::board::Trouble;
use crate::card::{Card, CardId};
use crate::error::BoardError;
use crate::event::record;
use crate::transition::{Step, decide};

pub use auto::AutoSplit;
pub(crate) use auto::{make as make_job, waiting as waiting_for_job};
pub use specify::Specified;
pub use split::{Decomposed, Parts};

/// A card in triage, still as it was when somebody began to think about it.
fn unchanged(tx: &Transaction<'_>, seen: &Card) -> Result<Card, Trouble> {
    let card = act::card(tx, &seen.id)?;
    let refuse = |refusal| BoardError::Refused { id: card.id.clone(), refusal };
    decide(Step::Specify, &act::facts(tx, &card)?).map_err(refuse)?;
    if card.title != seen.title || card.body != seen.body {
        let id = &card.id;
        let text = format!("{id} was edited meanwhile and was left as it is: try again");
        return Err(BoardError::Input(text).into());
    }
    Ok(card)
}

/// Says something about a card.
fn comment(tx: &Transaction<'_>, id: &CardId, author: &str, body: &str, now: i64) -> Result<(), Trouble> {
    tx.prepare_cached(
        "INSERT INTO task_comments (task_id, author, body, created_at) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![id, author, body, now])?;
    let payload = serde_json::json!({ "author": author, "len": body.chars().count() });
    record(tx, id, None, "commented", &payload, now)?;
    Ok(())
}
