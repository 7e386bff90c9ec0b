//! Looking at cards.

use hermes_board::query::{Archived, Details, Filter, Sort};
use hermes_board::rows::Attempt;
use hermes_board::{Card, Status, json as shapes};
use serde_json::{Value, json};

use super::Call;
use super::desk::{now, said};
use crate::fields;

/// Newest events that are shown.
const EVENTS: usize = 50;
/// Cards of a list that asks for no number.
const USUAL: i64 = 50;
/// Most cards of a list.
const MOST: i64 = 200;

/// One card with all that belongs to it.
pub(super) fn show(call: &Call) -> Result<Value, String> {
    let mut board = call.desk.board(&call.arguments)?;
    let id = call.desk.card(&call.arguments)?;
    let Details { card, parents, children, comments, events, attempts, .. } =
        board.details(&id).map_err(said)?;
    let context = board.context(&id, call.desk.terminal_timeout(), now()).map_err(said)?;
    let newest = events.len().saturating_sub(EVENTS);
    Ok(json!({
        "task": task(&card),
        "parents": parents,
        "children": children,
        "comments": comments.iter().map(shapes::comment).collect::<Vec<_>>(),
        "events": events[newest..].iter().map(shapes::event).collect::<Vec<_>>(),
        "runs": attempts.iter().map(run).collect::<Vec<_>>(),
        "worker_context": context,
    }))
}

fn task(card: &Card) -> Value {
    json!({
        "id": card.id,
        "title": card.title,
        "body": card.body,
        "assignee": card.assignee,
        "status": card.status,
        "tenant": card.tenant,
        "priority": card.priority,
        "workspace_kind": card.workspace_kind,
        "workspace_path": card.workspace_path,
        "created_by": card.created_by,
        "created_at": card.created_at,
        "started_at": card.started_at,
        "completed_at": card.completed_at,
        "result": card.result,
        "current_run_id": card.current_run,
        "model_override": card.model,
    })
}

fn run(attempt: &Attempt) -> Value {
    json!({
        "id": attempt.id,
        "profile": attempt.profile,
        "status": attempt.status,
        "outcome": attempt.outcome,
        "summary": attempt.summary,
        "error": attempt.error,
        "metadata": attempt.metadata,
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
    })
}

/// Cards. Those that wait for nothing any more are let go first, as everywhere.
pub(super) fn list(call: &Call) -> Result<Value, String> {
    let arguments = &call.arguments;
    let status = match fields::text(arguments, "status")? {
        None => None,
        Some(word) => Some(Status::parse(&word).ok_or_else(|| {
            let all: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
            format!("there is no status \"{word}\": it is one of {}", all.join(", "))
        })?),
    };
    let limit = fields::whole(arguments, "limit")?.unwrap_or(USUAL).clamp(1, MOST);
    let most = usize::try_from(limit).unwrap_or_default();
    let archived = fields::flag(arguments, "include_archived")?.unwrap_or(false);
    let filter = Filter {
        assignee: fields::text(arguments, "assignee")?.and_then(|name| hermes_board::card::assignee(&name)),
        status,
        tenant: fields::text(arguments, "tenant")?,
        archived: if archived { Archived::Shown } else { Archived::Hidden },
        limit: Some(most + 1),
        ..Filter::default()
    };
    let mut board = call.desk.board(arguments)?;
    let promoted = board.let_go(now()).map_err(said)?.len();
    let mut cards = board.list(&filter, Sort::default()).map_err(said)?;
    let truncated = cards.len() > most;
    cards.truncate(most);
    let links = board.links().map_err(said)?;
    let rows: Vec<Value> = cards.iter().map(|card| row(card, &links)).collect();
    let next = (truncated && limit < MOST).then(|| (limit * 2).min(MOST));
    Ok(json!({
        "tasks": rows,
        "count": rows.len(),
        "limit": limit,
        "truncated": truncated,
        "next_limit": next,
        "promoted": promoted,
    }))
}

fn row(card: &Card, links: &[(hermes_board::CardId, hermes_board::CardId)]) -> Value {
    let parents: Vec<_> = links.iter().filter(|(_, child)| *child == card.id).map(|(id, _)| id).collect();
    let children: Vec<_> = links.iter().filter(|(parent, _)| *parent == card.id).map(|(_, id)| id).collect();
    json!({
        "id": card.id,
        "title": card.title,
        "assignee": card.assignee,
        "status": card.status,
        "priority": card.priority,
        "tenant": card.tenant,
        "workspace_kind": card.workspace_kind,
        "workspace_path": card.workspace_path,
        "project_id": card.project_id,
        "created_by": card.created_by,
        "created_at": card.created_at,
        "started_at": card.started_at,
        "completed_at": card.completed_at,
        "current_run_id": card.current_run,
        "model_override": card.model,
        "parent_count": parents.len(),
        "child_count": children.len(),
        "parents": parents,
        "children": children,
    })
}
