//! Cards as JSON, in the shapes other programs know; what only this program knows comes after.

use hermes_board::Card;
use hermes_board::card::GoalMode;
use hermes_board::extras::Extras;
pub use hermes_board::json::{event, run};
use hermes_board::query::Details;
use hermes_board::rows::Attempt;
use hermes_board::workers::Usage;
use serde_json::{Value, json};

/// A card; `fallback` is who gets cards that nobody was named for.
pub fn card(card: &Card, fallback: Option<&str>) -> Value {
    let mut value = hermes_board::json::card(card);
    value["goes_to"] = json!(card.assignee.as_deref().or(fallback));
    value
}

/// What only this program knows of a card, and what else it says.
fn extras(card: &Card, extras: &Extras) -> Value {
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
        "goal_mode": card.goal_mode == GoalMode::On,
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
    let mut value = hermes_board::json::details(details, attempts);
    value["task"] = card(&details.card, fallback);
    value["parent_links"] = links.into();
    value["extras"] = extras(&details.card, &details.extras);
    value["usage"] = usage(&details.usage);
    value
}
