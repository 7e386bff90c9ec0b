//! Cards as JSON, in the shapes other programs know.

use serde_json::{Value, json};

use crate::card::Card;
use crate::query::Details;
use crate::rows::{Attempt, Comment, Happened};

/// A card.
pub fn card(card: &Card) -> Value {
    json!({
        "id": card.id,
        "title": card.title,
        "body": card.body,
        "assignee": card.assignee,
        "status": card.status,
        "priority": card.priority,
        "tenant": card.tenant,
        "workspace_kind": card.workspace_kind,
        "workspace_path": card.workspace_path,
        "branch_name": card.branch_name,
        "project_id": card.project_id,
        "created_by": card.created_by,
        "created_at": card.created_at,
        "started_at": card.started_at,
        "completed_at": card.completed_at,
        "result": card.result,
        "skills": card.skills,
        "max_retries": card.max_retries,
        "session_id": card.session_id,
        "workflow_template_id": card.workflow_template_id,
        "current_step_key": card.current_step_key,
    })
}

/// A card with all that belongs to it.
pub fn details(details: &Details, attempts: &[&Attempt]) -> Value {
    json!({
        "task": card(&details.card),
        "latest_summary": details.latest_summary(),
        "parents": details.parents,
        "children": details.children,
        "comments": details.comments.iter().map(comment).collect::<Vec<_>>(),
        "events": details.events.iter().map(event).collect::<Vec<_>>(),
        "runs": attempts.iter().map(|attempt| run(attempt)).collect::<Vec<_>>(),
    })
}

/// Something somebody said.
pub fn comment(comment: &Comment) -> Value {
    json!({ "author": comment.author, "body": comment.body, "created_at": comment.created_at })
}

/// Something that happened.
pub fn event(event: &Happened) -> Value {
    json!({
        "kind": event.kind, "payload": event.payload, "created_at": event.created_at, "run_id": event.run_id,
    })
}

/// An attempt.
pub fn run(run: &Attempt) -> Value {
    json!({
        "id": run.id,
        "profile": run.profile,
        "step_key": run.step_key,
        "status": run.status,
        "outcome": run.outcome,
        "summary": run.summary,
        "error": run.error,
        "metadata": run.metadata,
        "worker_pid": run.worker_pid,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
    })
}
