//! What a card waits for.

use hermes_store::rusqlite::{self, Connection, Transaction, params};
use serde_json::json;

use crate::board::{Board, Trouble};
use crate::card::{CardId, Seconds};
use crate::create::missing;
use crate::error::BoardError;
use crate::event::record;
use crate::transition::{Held, Parents, Step};
use crate::{act, waiting};

/// How one card depends on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkKind {
    /// It cannot begin before the other is finished.
    #[default]
    Hard,
    /// It only belongs to the other; nothing waits.
    Soft,
    /// It can begin when one of those linked this way is finished.
    Any,
}

impl LinkKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hard => "hard",
            Self::Soft => "soft",
            Self::Any => "any",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Hard, Self::Soft, Self::Any].into_iter().find(|kind| kind.as_str() == word)
    }
}

impl Board {
    /// Makes `child` depend on `parent`.
    pub fn link(
        &mut self,
        parent: &CardId,
        child: &CardId,
        kind: LinkKind,
        now: Seconds,
    ) -> Result<(), BoardError> {
        if parent == child {
            return Err(BoardError::Input(format!("{child} cannot wait for itself")));
        }
        self.write(|tx| {
            let missing = missing(tx, &[parent.clone(), child.clone()])?;
            if !missing.is_empty() {
                return Err(BoardError::NoCard(missing).into());
            }
            if reaches(tx, child, parent)? {
                return Err(BoardError::Circle { child: child.clone(), parent: parent.clone() }.into());
            }
            insert(tx, parent, child, kind)?;
            let payload = match kind {
                LinkKind::Hard => json!({ "parent": parent, "child": child }),
                kind => json!({ "parent": parent, "child": child, "kind": kind.as_str() }),
            };
            record(tx, child, None, "linked", &payload, now)?;
            wait_if_need_be(tx, child)
        })
    }

    /// Takes a dependency away; whether there was one.
    pub fn unlink(&mut self, parent: &CardId, child: &CardId, now: Seconds) -> Result<bool, BoardError> {
        self.write(|tx| {
            let mut gone = 0;
            for table in ["task_links", "hx_links"] {
                let sql = format!("DELETE FROM {table} WHERE parent_id = ?1 AND child_id = ?2");
                gone += tx.execute(&sql, params![parent, child])?;
            }
            if gone > 0 {
                record(tx, child, None, "unlinked", &json!({ "parent": parent, "child": child }), now)?;
                waiting::let_go(tx, now)?;
            }
            Ok(gone > 0)
        })
    }
}

/// A link of which one of several is enough counts as one that is needed for the other program, which then waits longer
/// than we would; one that nothing waits for is not shown to it.
fn insert(tx: &Transaction<'_>, parent: &CardId, child: &CardId, kind: LinkKind) -> rusqlite::Result<()> {
    let both = params![parent, child];
    if kind == LinkKind::Soft {
        tx.execute("DELETE FROM task_links WHERE parent_id = ?1 AND child_id = ?2", both)?;
    } else {
        tx.execute("INSERT OR IGNORE INTO task_links (parent_id, child_id) VALUES (?1, ?2)", both)?;
    }
    if kind == LinkKind::Hard {
        tx.execute("DELETE FROM hx_links WHERE parent_id = ?1 AND child_id = ?2", both)?;
    } else {
        tx.execute(
            "INSERT INTO hx_links (parent_id, child_id, kind) VALUES (?1, ?2, ?3) \
             ON CONFLICT (parent_id, child_id) DO UPDATE SET kind = excluded.kind",
            params![parent, child, kind.as_str()],
        )?;
    }
    Ok(())
}

/// A card that was ready and has something to wait for now waits.
fn wait_if_need_be(tx: &Transaction<'_>, child: &CardId) -> Result<(), Trouble> {
    let card = act::card(tx, child)?;
    let facts = act::facts(tx, &card)?;
    if facts.parents == Parents::Open
        && facts.held == Held::Free
        && crate::transition::decide(Step::Wait, &facts).is_ok()
    {
        tx.execute("UPDATE tasks SET status = 'todo' WHERE id = ?1", [child])?;
    }
    Ok(())
}

/// Whether one card is found by going from parent to child from another.
fn reaches(db: &Connection, from: &CardId, to: &CardId) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "WITH RECURSIVE below(id) AS (SELECT ?1 UNION SELECT l.child_id FROM below JOIN task_links l ON l.parent_id = below.id) \
         SELECT EXISTS (SELECT 1 FROM below WHERE id = ?2)",
    )?
    .query_row(params![from, to], |row| row.get(0))
}
