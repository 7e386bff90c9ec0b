//! Attempts: opened when a card is taken, closed once.

use hermes_store::rusqlite::{self, Transaction, params};
use serde_json::Value;

use crate::card::{Card, CardId, Outcome, RunId, Seconds};

/// How an attempt ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct End<'a> {
    pub summary: Option<&'a str>,
    pub error: Option<&'a str>,
    pub metadata: Option<&'a Value>,
}

/// Begins an attempt.
pub(crate) fn open(
    tx: &Transaction<'_>,
    card: &Card,
    lock: &str,
    expires: Seconds,
    now: Seconds,
) -> rusqlite::Result<RunId> {
    // One that was left open belongs to nobody.
    if let Some(old) = card.current_run {
        close(tx, &card.id, old, Outcome::Reclaimed, &End::default(), now)?;
    }
    tx.prepare_cached(
        "INSERT INTO task_runs (task_id, profile, step_key, status, claim_lock, claim_expires, max_runtime_seconds, \
         last_heartbeat_at, started_at) VALUES (?1, ?2, ?3, 'running', ?4, ?5, ?6, NULL, ?7)",
    )?
    .execute(params![
        card.id,
        card.assignee,
        card.current_step_key,
        lock,
        expires,
        card.max_runtime_seconds,
        now
    ])?;
    Ok(RunId(tx.last_insert_rowid()))
}

/// Ends an attempt, once.
pub(crate) fn close(
    tx: &Transaction<'_>,
    card: &CardId,
    run: RunId,
    outcome: Outcome,
    end: &End<'_>,
    now: Seconds,
) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "UPDATE task_runs SET status = ?3, outcome = ?4, summary = ?5, error = ?6, metadata = ?7, ended_at = ?8, \
         claim_lock = NULL, claim_expires = NULL, worker_pid = NULL \
         WHERE id = ?2 AND task_id = ?1 AND ended_at IS NULL",
    )?
    .execute(params![
        card,
        run,
        outcome.run_status(),
        outcome,
        end.summary,
        end.error,
        end.metadata.map(ToString::to_string),
        now
    ])?;
    Ok(())
}

/// Ends the attempt of a card. One that had none gets one of no length when there is something to say about it.
pub(crate) fn finish(
    tx: &Transaction<'_>,
    card: &Card,
    outcome: Outcome,
    end: &End<'_>,
    now: Seconds,
) -> rusqlite::Result<Option<RunId>> {
    if let Some(run) = card.current_run {
        close(tx, &card.id, run, outcome, end, now)?;
        return Ok(Some(run));
    }
    if end.summary.is_none() && end.error.is_none() && end.metadata.is_none() {
        return Ok(None);
    }
    tx.prepare_cached(
        "INSERT INTO task_runs (task_id, profile, step_key, status, started_at, ended_at, outcome, summary, metadata, error) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        card.id,
        card.assignee,
        card.current_step_key,
        outcome.run_status(),
        now,
        outcome,
        end.summary,
        end.metadata.map(ToString::to_string),
        end.error
    ])?;
    Ok(Some(RunId(tx.last_insert_rowid())))
}
