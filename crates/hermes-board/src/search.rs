//! Finding cards by their words. The index is ours alone and is brought up to date when somebody searches: whatever is
//! done to a card leaves an event, whoever did it, so only cards with new events are read.

use hermes_store::rusqlite::{self, OptionalExtension, Transaction, params};

use crate::board::{Board, Trouble};
use crate::card::Card;
use crate::error::BoardError;
use crate::rows;

/// A card that was found, and where its words are.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The card.
    pub card: Card,
    /// The words around, with `>>>` and `<<<` about those that were looked for.
    pub snippet: String,
}

const INDEX: &str = "CREATE VIRTUAL TABLE IF NOT EXISTS hx_words USING fts5 \
     (task_id UNINDEXED, title, body, result, comments, summaries, tokenize = 'unicode61')";

impl Board {
    /// Cards with these words, those that fit best first.
    pub fn search(&mut self, words: &str, most: usize) -> Result<Vec<Found>, BoardError> {
        let Some(query) = query(words) else { return Ok(Vec::new()) };
        self.write(|tx| {
            tx.execute_batch(INDEX)?;
            bring_up_to_date(tx)?;
            find(tx, &query, most).map_err(Trouble::from)
        })
    }
}

/// Words as the index takes them: all of them must be there, the last may go on.
fn query(words: &str) -> Option<String> {
    let words: Vec<String> = words
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(|word| format!("\"{word}\""))
        .collect();
    (!words.is_empty()).then(|| words.join(" ") + "*")
}

fn bring_up_to_date(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let seen: i64 = tx
        .query_row("SELECT value FROM hx_board WHERE key = 'indexed_event'", [], |row| {
            row.get::<_, String>(0)
        })
        .optional()?
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let newest: i64 = tx.query_row("SELECT coalesce(max(id), 0) FROM task_events", [], |row| row.get(0))?;
    if newest == seen {
        return Ok(());
    }
    // Events are sometimes thrown away; then their numbers are no guide and all is read again.
    let from = if newest < seen { 0 } else { seen };
    let mut changed = tx.prepare("SELECT DISTINCT task_id FROM task_events WHERE id > ?1")?;
    let ids: Vec<String> = changed.query_map([from], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut remove =
        tx.prepare("DELETE FROM hx_words WHERE rowid = (SELECT rowid FROM tasks WHERE id = ?1)")?;
    let mut add = tx.prepare(
        "INSERT INTO hx_words (rowid, task_id, title, body, result, comments, summaries) SELECT rowid, id, title, \
         coalesce(body, ''), coalesce(result, ''), \
         coalesce((SELECT group_concat(body, char(10)) FROM task_comments WHERE task_id = tasks.id), ''), \
         coalesce((SELECT group_concat(summary, char(10)) FROM task_runs WHERE task_id = tasks.id), '') \
         FROM tasks WHERE id = ?1",
    )?;
    for id in ids {
        remove.execute([&id])?;
        add.execute([&id])?;
    }
    tx.execute(
        "INSERT INTO hx_board (key, value) VALUES ('indexed_event', ?1) \
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        [newest.to_string()],
    )?;
    Ok(())
}

fn find(tx: &Transaction<'_>, query: &str, most: usize) -> rusqlite::Result<Vec<Found>> {
    let mut statement = tx.prepare(
        "SELECT task_id, snippet(hx_words, -1, '>>>', '<<<', '…', 16) FROM hx_words WHERE hx_words MATCH ?1 \
         ORDER BY rank LIMIT ?2",
    )?;
    let hits: Vec<(crate::card::CardId, String)> = statement
        .query_map(params![query, i64::try_from(most).unwrap_or(i64::MAX)], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<Result<_, _>>()?;
    let mut found = Vec::new();
    for (id, snippet) in hits {
        // One that was removed by another program is still in the index.
        if let Some(card) = rows::find(tx, &id)? {
            found.push(Found { card, snippet });
        }
    }
    Ok(found)
}
