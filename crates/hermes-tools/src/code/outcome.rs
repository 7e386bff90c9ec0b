//! What the model gets of a script: one JSON object.

use std::time::Duration;

use hermes_guard::{Policy, Redactor};
use serde::Serialize;

use crate::orders;
use crate::text::{AROUND, Cleaning, Kept, Shortened, head};
use crate::tool::ToolOutput;

/// Bytes of what a script prints that the model sees; the middle goes first.
const MOST_OUTPUT: usize = 50_000;
/// Bytes of its standard error; the end goes first.
const MOST_COMPLAINTS: usize = 10_000;

/// How a script went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Success,
    Error,
    Timeout,
    Interrupted,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Outcome {
    pub(super) status: Status,
    pub(super) output: String,
    pub(super) tool_calls_made: u64,
    pub(super) duration_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) cut: Option<Cut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) warning: Option<String>,
    /// What to say about orders in what was printed.
    #[serde(rename = "_warning", skip_serializing_if = "Option::is_none")]
    pub(super) orders: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

/// What is missing of the output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Cut {
    #[serde(rename = "stdout_truncated")]
    truncated: bool,
    #[serde(rename = "stdout_bytes_captured")]
    bytes_captured: usize,
    #[serde(rename = "stdout_bytes_total")]
    bytes_total: usize,
    #[serde(rename = "stdout_bytes_omitted")]
    bytes_omitted: usize,
}

impl Outcome {
    /// Nothing was run, or nothing came back.
    pub(super) fn of(status: Status, error: impl Into<String>) -> Self {
        Self {
            status,
            output: String::new(),
            tool_calls_made: 0,
            duration_seconds: 0.0,
            exit_code: None,
            error: Some(error.into()),
            cut: None,
            warning: None,
            orders: None,
            notes: Vec::new(),
        }
    }

    pub(super) fn output(&self) -> ToolOutput {
        let output = ToolOutput::text(serde_json::to_string(self).unwrap_or_else(|_| String::from("{}")));
        if self.status == Status::Success { output } else { output.failed() }
    }
}

/// What a script prints, as it comes.
pub(super) struct Printed<'r> {
    output: Cleaning<'r>,
    complaints: Cleaning<'r>,
    kept: Kept,
    kept_complaints: String,
    most_complaints: usize,
    redactor: &'r Redactor,
    /// Bytes that were left out on the way here.
    dropped: usize,
}

impl<'r> Printed<'r> {
    /// For a result of at most this many characters.
    pub(super) fn new(redactor: &'r Redactor, most_chars: usize) -> Self {
        let most_complaints = MOST_COMPLAINTS.min(most_chars / 8);
        // JSON may write each of their characters as two.
        let most_written = most_chars.saturating_sub(AROUND + 2 * most_complaints);
        Self {
            output: Cleaning::new(redactor, Policy::Code),
            complaints: Cleaning::new(redactor, Policy::Code),
            kept: Kept::new(MOST_OUTPUT).within(most_written),
            kept_complaints: String::new(),
            most_complaints,
            redactor,
            dropped: 0,
        }
    }

    /// Takes output; the text that can be shown now.
    pub(super) fn take(&mut self, bytes: &[u8]) -> String {
        let text = self.output.push(bytes);
        self.kept.push(&text);
        // What follows a gap may begin in the middle of a secret. Only its end, far from there, is shown.
        if self.dropped > 0 { String::new() } else { text }
    }

    /// Bytes that never came; the text that can be shown now.
    pub(super) fn skip(&mut self, bytes: u64) -> String {
        let before = std::mem::replace(&mut self.output, Cleaning::new(self.redactor, Policy::Code));
        let text = before.finish();
        self.kept.push(&text);
        self.dropped += usize::try_from(bytes).unwrap_or(usize::MAX);
        text
    }

    /// Takes standard error.
    pub(super) fn take_complaint(&mut self, bytes: &[u8]) -> String {
        let text = self.complaints.push(bytes);
        add(&mut self.kept_complaints, &text, self.most_complaints);
        text
    }

    /// Puts what was printed into a result. Standard error matters where something went wrong.
    pub(super) fn finish(self, outcome: &mut Outcome, elapsed: Duration) {
        let Self { output, complaints, mut kept, mut kept_complaints, most_complaints, dropped, .. } = self;
        add(&mut kept_complaints, &complaints.finish(), most_complaints);
        kept.push(&output.finish());
        outcome.duration_seconds = (elapsed.as_secs_f64() * 1000.0).round() / 1000.0;
        match kept.finish() {
            Shortened::Whole(text) => outcome.output = text,
            Shortened::Cut { beginning, end, omitted, total, .. } => {
                let (omitted, total) = (omitted.saturating_add(dropped), total.saturating_add(dropped));
                outcome.cut = Some(Cut {
                    truncated: true,
                    bytes_captured: total - omitted,
                    bytes_total: total,
                    bytes_omitted: omitted,
                });
                outcome.output =
                    format!("{beginning}\n\n[{omitted} of {total} bytes are left out here]\n\n{end}");
                outcome.warning = Some("the output was cut: print less, or write it to a file".to_owned());
            }
        }
        if outcome.status != Status::Success && !kept_complaints.trim().is_empty() {
            outcome.output.push_str("\n--- stderr ---\n");
            outcome.output.push_str(kept_complaints.trim_end());
        }
        outcome.orders = orders::warning(&outcome.output, |line| format!("line {line}"));
    }
}

/// Adds as much as there is room for.
fn add(complaints: &mut String, text: &str, most: usize) {
    let room = most.saturating_sub(complaints.len());
    complaints.push_str(head(text, room));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_counted_and_what_follows_it_is_not_shown_as_it_comes() {
        let redactor = Redactor::new([]);
        let mut printed = Printed::new(&redactor, 200_000);
        let mut live = printed.take(&b"begun\n".repeat(20_000));
        live += &printed.take(b"half a line");
        live += &printed.skip(1_000_000);
        live += &printed.take(&b"later\n".repeat(20_000));
        assert!(live.ends_with("begun\nhalf a line"));
        let mut outcome = Outcome::of(Status::Timeout, "");
        printed.finish(&mut outcome, Duration::ZERO);
        let cut = outcome.cut.unwrap();
        assert_eq!(cut.bytes_total, 240_011 + 1_000_000);
        assert_eq!(cut.bytes_captured + cut.bytes_omitted, cut.bytes_total);
        assert!(outcome.output.starts_with("begun\n") && outcome.output.ends_with("later\n"));
    }
}
