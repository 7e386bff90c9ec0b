//! Splitting a card into others.

use hermes_store::rusqlite::{self, Transaction, params};
use serde_json::json;

use super::proposal::Split;
use super::roster::Roster;
use super::{comment, unchanged};
use crate::board::{Board, Trouble};
use crate::card::{Card, CardId, Seconds, WorkspaceKind};
use crate::create::{Beginning, NewCard, create_as};
use crate::error::BoardError;
use crate::event::record;
use crate::{rows, waiting};

/// What came of splitting a card.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposed {
    /// The card that was split, as it is now.
    pub root: Card,
    /// Its parts, in the order they were proposed.
    pub children: Vec<CardId>,
}

/// Whether the parts of a card may begin by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parts {
    /// Each as soon as what it waits for is finished.
    #[default]
    Begin,
    /// Each is blocked until somebody unblocks it. A card that merely waits would be let go by whoever looks at the
    /// board next, the other program included.
    Held,
}

impl Board {
    /// Splits a card in triage. The card itself waits for all its parts and is then the orchestrator's, who puts them
    /// together. Nothing happens if somebody edited the card since it was `seen`.
    pub fn decompose(
        &mut self,
        seen: &Card,
        split: &Split,
        roster: &Roster,
        parts: Parts,
        author: &str,
        now: Seconds,
    ) -> Result<Decomposed, BoardError> {
        self.write(|tx| {
            let root = unchanged(tx, seen)?;
            let before = parents(tx, &root.id)?;
            let mut children: Vec<Option<CardId>> = vec![None; split.parts.len()];
            for at in order(split)? {
                let part = &split.parts[at];
                let mut waits_for: Vec<CardId> =
                    part.waits_for.iter().filter_map(|other| children[*other].clone()).collect();
                if waits_for.is_empty() {
                    // What the card waits for, its first parts wait for.
                    waits_for.clone_from(&before);
                }
                let new = NewCard {
                    body: part.body.clone(),
                    assignee: Some(roster.resolve(part.assignee.as_deref())),
                    parents: waits_for,
                    beginning: if parts == Parts::Held { Beginning::Blocked } else { Beginning::Todo },
                    ..child_of(&root, &part.title, author)
                };
                let more = json!({ "by": author, "from_decompose_of": root.id });
                children[at] = Some(create_as(tx, &new, &more, now)?.card.id);
            }
            let children: Vec<CardId> = children.into_iter().flatten().collect();
            finish(tx, &root, split, &children, &roster.orchestrator, author, now)?;
            let root = rows::find(tx, &root.id)?.ok_or_else(|| BoardError::NoCard(vec![root.id.clone()]))?;
            Ok(Decomposed { root, children })
        })
    }
}

/// The card that was split waits for its parts.
fn finish(
    tx: &Transaction<'_>,
    root: &Card,
    split: &Split,
    children: &[CardId],
    orchestrator: &str,
    author: &str,
    now: Seconds,
) -> Result<(), Trouble> {
    for child in children {
        tx.prepare_cached("INSERT OR IGNORE INTO task_links (parent_id, child_id) VALUES (?1, ?2)")?
            .execute(params![child, root.id])?;
    }
    tx.execute(
        "UPDATE tasks SET status = 'todo', assignee = ?2 WHERE id = ?1",
        params![root.id, orchestrator],
    )?;
    if let Some(rationale) = &split.rationale {
        comment(tx, &root.id, author, &format!("Split this way because: {rationale}"), now)?;
    }
    let payload = json!({ "child_ids": children, "root_assignee": orchestrator });
    record(tx, &root.id, None, "decomposed", &payload, now)?;
    waiting::let_go(tx, now)?;
    Ok(())
}

/// A card that belongs to another: the same tenant, project, importance and place to work in. A branch is not shared,
/// two worktrees cannot have one; nor is a scratch directory.
fn child_of(root: &Card, title: &str, author: &str) -> NewCard {
    let kind = root.workspace_kind;
    NewCard {
        created_by: Some(author.to_owned()),
        tenant: root.tenant.clone(),
        priority: root.priority,
        project_id: root.project_id.clone(),
        session_id: root.session_id.clone(),
        workspace_kind: kind,
        workspace_path: root.workspace_path.clone().filter(|_| kind != WorkspaceKind::Scratch),
        ..NewCard::new(title)
    }
}

/// What a card waits for, one and all.
fn parents(tx: &Transaction<'_>, id: &CardId) -> rusqlite::Result<Vec<CardId>> {
    tx.prepare_cached(
        "SELECT parent_id FROM task_links l WHERE child_id = ?1 AND NOT EXISTS (SELECT 1 FROM hx_links h \
         WHERE h.parent_id = l.parent_id AND h.child_id = l.child_id AND h.kind = 'any') ORDER BY parent_id",
    )?
    .query_map([id], |row| row.get(0))?
    .collect()
}

/// The parts so that each comes after those it waits for.
fn order(split: &Split) -> Result<Vec<usize>, BoardError> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < split.parts.len() {
        let next = (0..split.parts.len()).find(|at| {
            !order.contains(at) && split.parts[*at].waits_for.iter().all(|other| order.contains(other))
        });
        let stuck = || BoardError::Input("the parts wait for each other in a circle".to_owned());
        order.push(next.ok_or_else(stuck)?);
    }
    Ok(order)
}
