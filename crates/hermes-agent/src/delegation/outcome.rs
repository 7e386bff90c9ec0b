//! How a helper's work ended, and what its agent is told about it.

use std::time::Duration;

use serde_json::{Value, json};

use super::family::Family;
use super::limits::Limits;
use super::record::{Record, cut};
use crate::report::{Outcome, TurnReport};

/// Why a helper was told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its time was up.
    TimedOut,
    /// Somebody wanted it to end.
    Cancelled,
}

/// How a helper's work ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// What its turn reported; nothing when it did not end in time, or broke.
    pub report: Option<TurnReport>,
    /// Why it was told to end, if it was.
    pub stop: Option<Stop>,
    /// How long it took.
    pub elapsed: Duration,
    /// Background commands it left, which were ended.
    pub left_running: usize,
}

impl Ended {
    /// The status and the reason, as the model knows them.
    pub fn status(&self) -> (&'static str, &'static str) {
        match (self.stop, self.report.as_ref().map(|report| report.outcome)) {
            // It was done before the word to end reached it.
            (_, Some(Outcome::Completed)) => ("completed", "completed"),
            (Some(Stop::TimedOut), _) => ("timeout", "timeout"),
            (Some(Stop::Cancelled), _) | (None, Some(Outcome::Interrupted)) => ("interrupted", "interrupted"),
            (None, Some(Outcome::OutOfCalls)) => ("failed", "max_iterations"),
            (None, Some(Outcome::OutOfBudget)) => ("failed", "budget"),
            (None, Some(Outcome::Partial)) => ("failed", "partial"),
            (None, Some(Outcome::Failed)) => ("failed", "error"),
            (None, None) => ("error", "crashed"),
        }
    }
}

/// Who worked on what.
#[derive(Debug, Clone)]
pub(super) struct Who {
    pub place: usize,
    pub session: String,
    /// What its agent should know about how it was set up.
    pub notes: Vec<String>,
}

/// What the agent is told about one helper.
pub(super) fn describe(who: &Who, ended: &Ended, record: &Record, limits: &Limits, family: &Family) -> Value {
    let (status, reason) = ended.status();
    let report = ended.report.as_ref();
    let said = report.map(|report| report.text.trim()).filter(|text| !text.is_empty());
    let summary = said.unwrap_or_else(|| record.last_words());
    let spending = record.spending();
    let files = record.files_written();
    let stale: Vec<_> = files.iter().filter(|path| family.has_read(path)).collect();
    let mut notes = who.notes.clone();
    if !stale.is_empty() {
        let names: Vec<String> = stale.iter().map(|path| path.display().to_string()).collect();
        notes.push(format!("it changed files you have read; read them again: {}", names.join(", ")));
    }
    if ended.left_running > 0 {
        notes.push(format!("{} of its background commands were ended", ended.left_running));
    }
    if status != "completed" {
        notes.push(format!("everything it did: `hermes sessions show {}`", who.session));
    }
    let mut result = json!({
        "task_index": who.place,
        "status": status,
        "summary": cut(summary, limits.report),
        "api_calls": spending.calls,
        "duration_seconds": seconds(ended.elapsed),
        "model": record.model(),
        "exit_reason": reason,
        "tokens": {"input": spending.input + spending.cache_read + spending.cache_write, "output": spending.output},
        "cost_usd": (spending.unpriced == 0).then(|| spending.micro_dollars as f64 / 1e6),
        "verified": record.commands(),
        "files_written": files,
        "tool_calls": record.tool_calls(),
        "tool_trace": record.trace(),
        "session_id": who.session,
    });
    if let Some(error) = report.and_then(|report| report.error.as_ref()) {
        result["error"] = json!(error);
    } else if report.is_none() && ended.stop.is_none() {
        result["error"] = json!("the helper broke; this is a bug in the program, not in the task");
    }
    if !notes.is_empty() {
        result["notes"] = json!(notes);
    }
    result
}

/// Seconds with two digits.
pub(super) fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 100.0).round() / 100.0
}
