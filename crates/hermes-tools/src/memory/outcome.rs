//! What the model is told about a change of its notes.

use hermes_skills::memory::{Changed, Done, MemoryError, MemoryFile, Refusal, length};
use serde_json::{Value, json};

use super::order::Order;
use crate::tool::ToolOutput;

/// It is done.
pub(super) fn changed(order: &Order, changed: &Changed, file: &MemoryFile) -> ToolOutput {
    let message = match (order.batch, changed.done.as_slice()) {
        (true, done) => format!("{} operations done.", done.len()),
        (false, [Done::Added]) => "Added.".to_owned(),
        (false, [Done::AlreadyThere]) => "It was there already.".to_owned(),
        (false, [Done::Replaced]) => "Replaced.".to_owned(),
        (false, _) => "Removed.".to_owned(),
    };
    let (used, limit) = (length(&changed.entries), file.limit());
    ToolOutput::json(&json!({
        "success": true,
        "target": order.about.as_str(),
        "usage": format!("{}% — {used}/{limit} chars", file.percent(&changed.entries)),
        "entry_count": changed.entries.len(),
        "message": message,
    }))
}

/// It is not, and nothing was changed. `enough` after too many tries of one turn.
pub(super) fn refused(order: &Order, error: &MemoryError, file: &MemoryFile, enough: bool) -> Value {
    let mut result = json!({ "success": false, "error": error.to_string() });
    match error {
        MemoryError::Refused { operation, refusal, entries } => {
            if order.batch && !matches!(refusal, Refusal::Full { .. }) {
                let text = format!("operation {}: {error}. None of them was done", operation + 1);
                result["error"] = Value::from(text);
            }
            if enough {
                let stop = ". Leave the notes as they are in this turn, go on with the task, and tell the user at the \
                            end what could not be kept";
                result["error"] =
                    Value::from(format!("{}{stop}", result["error"].as_str().unwrap_or_default()));
                return result;
            }
            match refusal {
                Refusal::Ambiguous { matches, .. } => result["matches"] = Value::from(matches.clone()),
                Refusal::Full { .. } | Refusal::NoMatch { .. } => {
                    result["current_entries"] = Value::from(entries.clone());
                }
                Refusal::Missing(_) | Refusal::Separator | Refusal::Suspicious(_) => {}
            }
            result["usage"] = Value::from(format!("{}/{}", length(entries), file.limit()));
        }
        MemoryError::Drifted { backup, .. } => {
            result["drift_backup"] = Value::from(backup.display().to_string());
        }
        MemoryError::File(_) => {}
    }
    result
}

/// The call makes no sense, or must not be done.
pub(super) fn wrong(problem: &str) -> ToolOutput {
    ToolOutput::json(&json!({ "success": false, "error": problem })).failed()
}
