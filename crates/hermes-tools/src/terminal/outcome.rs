//! What the model gets: one JSON object, always with `output`, `exit_code` and `error`.

use serde::Serialize;

use crate::orders;
use crate::tool::ToolOutput;

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(super) struct Outcome {
    pub(super) output: String,
    /// The id of a background command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pid: Option<u32>,
    pub(super) exit_code: i32,
    pub(super) error: Option<String>,
    /// `error` or `blocked`, when nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code_meaning: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notify_on_complete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) watch_patterns: Option<Vec<String>>,
    /// Why patterns that were given are not watched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) watch_patterns_ignored: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<&'static str>,
    /// What the model has to know besides: lost state, a directory that is gone, processes left behind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

/// A result, and what to say about orders in what was printed.
#[derive(Serialize)]
struct Warned<'a> {
    #[serde(flatten)]
    outcome: &'a Outcome,
    #[serde(rename = "_warning", skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

impl Outcome {
    /// Nothing was run.
    pub(super) fn refused(status: &'static str, reason: impl Into<String>) -> Self {
        Self { exit_code: -1, error: Some(reason.into()), status: Some(status), ..Self::default() }
    }

    /// Nothing was run, as the user did not want to wait.
    pub(super) fn interrupted_before() -> Self {
        let error = Some("interrupted by the user before it was run".to_owned());
        Self { exit_code: 130, error, ..Self::default() }
    }

    pub(super) fn output(&self) -> ToolOutput {
        let warning = orders::warning(&self.output, |line| format!("line {line}"));
        let text =
            serde_json::to_string(&Warned { outcome: self, warning }).unwrap_or_else(|_| String::from("{}"));
        let failed = self.error.is_some() || (self.exit_code != 0 && self.exit_code_meaning.is_none());
        let output = ToolOutput::text(text);
        if failed { output.failed() } else { output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_model::{Content, ToolStatus};

    fn text(output: &ToolOutput) -> &str {
        match output.content.as_slice() {
            [Content::Text(text)] => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_plain_result_has_three_fields_in_this_order() {
        let output = Outcome { output: "hi".into(), exit_code: 3, ..Outcome::default() }.output();
        assert_eq!(text(&output), r#"{"output":"hi","exit_code":3,"error":null}"#);
        assert_eq!(output.status, ToolStatus::Failed);
    }

    #[test]
    fn an_expected_code_is_no_failure() {
        let outcome =
            Outcome { exit_code: 1, exit_code_meaning: Some("nothing found"), ..Outcome::default() };
        assert_eq!(outcome.output().status, ToolStatus::Ok);
    }
}
