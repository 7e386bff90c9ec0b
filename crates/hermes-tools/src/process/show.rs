//! Background commands as the model sees them.

use hermes_box::client::Client;
use hermes_box::proto::exec::Ending;
use hermes_box::proto::job::{JobInfo, JobState};
use hermes_guard::Redactor;
use serde_json::{Map, Value, json};

use crate::line::policy;
use crate::text;

/// How much of a command line is repeated.
const LONGEST_COMMAND: usize = 200;

/// Why a command is over that was ended on request, and its code: that of the signal it got first.
const KILLED: &str = "killed";
const CODE_OF_KILLED: i32 = -15;

/// Whether it runs: `running` or `exited`.
pub(super) fn status(info: &JobInfo) -> &'static str {
    if info.state == JobState::Running { "running" } else { "exited" }
}

/// How it came to its end.
fn completion(info: &JobInfo) -> Option<&'static str> {
    match &info.state {
        JobState::Running => None,
        JobState::Lost => Some("lost"),
        JobState::Ended { ending: Ending::Cancelled, .. } => Some(KILLED),
        JobState::Ended { ending: Ending::NoDirectory { .. } | Ending::NotStarted { .. }, .. } => {
            Some("failed_start")
        }
        JobState::Ended { .. } => Some("exited"),
    }
}

/// Code and reason, once it is over.
pub(super) fn add_ending(value: &mut Map<String, Value>, info: &JobInfo) {
    let Some(reason) = completion(info) else { return };
    let killed = reason == KILLED;
    let code = if killed { Some(CODE_OF_KILLED) } else { info.exit_code() };
    value.insert("exit_code".to_owned(), json!(code));
    value.insert("completion_reason".to_owned(), json!(reason));
    if killed {
        value.insert("termination_source".to_owned(), json!("process.kill"));
    }
}

pub(super) fn command(info: &JobInfo, redactor: &Redactor) -> String {
    let line = String::from_utf8_lossy(&info.command);
    let line = redactor.redact(&line, policy(&line)).into_owned();
    let short = text::head(&line, LONGEST_COMMAND);
    if short.len() < line.len() { format!("{short}…") } else { line }
}

/// Seconds it has run.
pub(super) fn seconds(info: &JobInfo, now_ms: i64) -> i64 {
    (info.ended_ms.unwrap_or(now_ms) - info.started_ms).max(0) / 1000
}

/// The newest output, at most so many bytes of clean text.
pub(super) fn newest(client: &Client, info: &JobInfo, most: usize, redactor: &Redactor) -> String {
    // More than is shown, so that what is masked or stripped does not shorten it, and no secret is cut at its beginning.
    let wanted = u32::try_from(most * 4 + 4096).unwrap_or(u32::MAX);
    let bytes = client.jobs().tail(&info.id, wanted).map(|piece| piece.bytes).unwrap_or_default();
    let line = String::from_utf8_lossy(&info.command);
    let clean = text::clean(&bytes, redactor, policy(&line));
    text::tail(&clean, most).to_owned()
}

/// The head of every answer about one command.
pub(super) fn about(info: &JobInfo, redactor: &Redactor) -> Map<String, Value> {
    let mut value = Map::new();
    value.insert("session_id".to_owned(), json!(info.id));
    value.insert("command".to_owned(), json!(command(info, redactor)));
    value.insert("status".to_owned(), json!(status(info)));
    value
}
