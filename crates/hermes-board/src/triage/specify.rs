//! Writing a card out.

use hermes_store::rusqlite::{Transaction, params};
use serde_json::json;

use super::proposal::Draft;
use super::{comment, unchanged};
use crate::board::{Board, Trouble};
use crate::card::{Card, Seconds};
use crate::error::BoardError;
use crate::event::record;
use crate::{rows, waiting};

/// What came of writing a card out.
#[derive(Debug, Clone, PartialEq)]
pub struct Specified {
    /// The card, as it is now.
    pub card: Card,
    /// What is different.
    pub changed: Vec<&'static str>,
}

impl Board {
    /// Puts a draft in the place of what a card in triage said, and lets it go on. What it said before is kept as a
    /// comment. Nothing happens if somebody edited the card since it was `seen`.
    pub fn specify(
        &mut self,
        seen: &Card,
        draft: &Draft,
        author: &str,
        now: Seconds,
    ) -> Result<Specified, BoardError> {
        self.write(|tx| specify(tx, seen, draft, None, author, now))
    }

    /// The same, for a card that a profile should get unless somebody has it already.
    pub fn specify_for(
        &mut self,
        seen: &Card,
        draft: &Draft,
        assignee: &str,
        author: &str,
        now: Seconds,
    ) -> Result<Specified, BoardError> {
        self.write(|tx| specify(tx, seen, draft, Some(assignee), author, now))
    }
}

fn specify(
    tx: &Transaction<'_>,
    seen: &Card,
    draft: &Draft,
    assignee: Option<&str>,
    author: &str,
    now: Seconds,
) -> Result<Specified, Trouble> {
    let card = unchanged(tx, seen)?;
    let title = draft.title.as_deref().filter(|title| *title != card.title);
    let body = draft.body.as_deref().filter(|body| Some(*body) != card.body.as_deref());
    let assignee = assignee.filter(|_| card.assignee.is_none());
    let mut changed = Vec::new();
    for (field, is_new) in
        [("title", title.is_some()), ("body", body.is_some()), ("assignee", assignee.is_some())]
    {
        if is_new {
            changed.push(field);
        }
    }
    tx.execute(
        "UPDATE tasks SET status = 'todo', title = coalesce(?2, title), body = coalesce(?3, body), \
         assignee = coalesce(?4, assignee) WHERE id = ?1",
        params![card.id, title, body, assignee],
    )?;
    if title.is_some() || body.is_some() {
        let before = card.body.as_deref().map(str::trim).filter(|body| !body.is_empty());
        let before = before.map_or_else(String::new, |body| format!("\n\n{body}"));
        let text = format!("Written out. Before, it said:\n\n{}{before}", card.title);
        comment(tx, &card.id, author, &text, now)?;
    }
    let payload =
        if changed.is_empty() { serde_json::Value::Null } else { json!({ "changed_fields": changed }) };
    record(tx, &card.id, None, "specified", &payload, now)?;
    waiting::let_go(tx, now)?;
    let card = rows::find(tx, &card.id)?.ok_or_else(|| BoardError::NoCard(vec![card.id.clone()]))?;
    Ok(Specified { card, changed })
}
