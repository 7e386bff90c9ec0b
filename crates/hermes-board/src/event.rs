//! Writing down what happens to cards.

use hermes_store::rusqlite::{self, Transaction, params};
use serde_json::Value;

use crate::card::{CardId, RunId, Seconds};

/// Writes down that something happened. `Value::Null` is nothing more to say.
pub(crate) fn record(
    tx: &Transaction<'_>,
    card: &CardId,
    run: Option<RunId>,
    kind: &str,
    payload: &Value,
    now: Seconds,
) -> rusqlite::Result<i64> {
    let payload = match payload {
        Value::Null => None,
        Value::Object(map) if map.is_empty() => None,
        payload => Some(payload.to_string()),
    };
    tx.prepare_cached(
        "INSERT INTO task_events (task_id, run_id, kind, payload, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![card, run, kind, payload, now])?;
    Ok(tx.last_insert_rowid())
}
