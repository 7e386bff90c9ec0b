//! Cards as JSON, in the shapes other programs know. What only this program knows comes after.

use hermes_board::Card;
use hermes_board::extras::Extras;
use hermes_board::query::Details;
use hermes_board::rows::{Attempt, Comment, Happened};
use hermes_board::workers::Usage;
use serde_json::{Value, json};

/// A card; `fallback` is who gets cards that nobody was named for.
pub fn card(card: &Card, fallback: Option<&str>) -> Value {
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
        "goes_to": card.assignee.as_deref().or(fallback),
    })
}

/// What only this program knows of a card.
pub fn extras(card: &Card, extras: &Extras) -> Value {
    json!({
        "model": card.model,
        "provider": extras.provider,
        "toolsets": extras.toolsets,
        "max_runtime_seconds": card.max_runtime_seconds,
        "max_tokens": extras.max_tokens,
        "max_cost_usd": extras.max_cost,
        "deadline": extras.deadline,
        "run_at": extras.run_at,
        "not_before": extras.not_before,
        "reviewer": extras.reviewer,
        "acceptance": extras.acceptance,
        "editing_until": extras.editing_until,
        "skip_reason": extras.skip_reason,
        "idempotency_key": card.idempotency_key,
        "goal_mode": card.goal_mode == hermes_board::card::GoalMode::On,
        "goal_max_turns": card.goal_max_turns,
        "block_kind": card.block_kind,
        "consecutive_failures": card.failures,
        "last_failure_error": card.last_error,
    })
}

/// What was used up.
pub fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cost_usd": usage.cost_usd,
    })
}

/// A card with all that belongs to it.
pub fn details(details: &Details, attempts: &[&Attempt], fallback: Option<&str>) -> Value {
    let links: Vec<Value> = details
        .parent_links
        .iter()
        .map(|(id, kind, status)| json!({ "id": id, "kind": kind.as_str(), "status": status }))
        .collect();
    json!({
        "task": card(&details.card, fallback),
        "latest_summary": details.latest_summary(),
        "parents": details.parents,
        "children": details.children,
        "comments": details.comments.iter().map(comment).collect::<Vec<_>>(),
        "events": details.events.iter().map(event).collect::<Vec<_>>(),
        "runs": attempts.iter().map(|attempt| run(attempt)).collect::<Vec<_>>(),
        "parent_links": links,
        "extras": extras(&details.card, &details.extras),
        "usage": usage(&details.usage),
    })
}

fn comment(comment: &Comment) -> Value {
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
