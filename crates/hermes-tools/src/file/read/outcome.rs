//! What the model gets of a read.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;

use super::page::{Ended, Page};
use crate::file::desk::give;
use crate::file::state::Answer;
use crate::tool::ToolOutput;

/// What stands for a content that was given before. No file is ever to hold it.
pub(in crate::file) const UNCHANGED: &str =
    "The file has not changed since you read this part of it: use what you were shown then.";

/// A page with what there is to say about it.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    content: String,
    total_lines: u64,
    file_size: u64,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    is_binary: bool,
    is_image: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(rename = "_hint", skip_serializing_if = "Option::is_none")]
    advice: Option<&'static str>,
    #[serde(rename = "_warning", skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Outcome {
    pub(super) fn new(page: Page, file_size: u64, advice: Option<&'static str>, notes: Vec<String>) -> Self {
        let truncated_by = match page.ended {
            Ended::AtTheEnd => None,
            Ended::Lines => Some("lines"),
            Ended::Bytes => Some("bytes"),
        };
        Self {
            total_lines: page.total,
            file_size,
            truncated: truncated_by.is_some(),
            truncated_by,
            next_offset: truncated_by.map(|_| page.next()),
            is_binary: false,
            is_image: false,
            hint: hint(&page),
            advice: truncated_by.and(advice),
            warning: page.warning,
            content: page.content,
            notes,
        }
    }
}

fn hint(page: &Page) -> Option<String> {
    if page.total == 0 {
        return Some("the file is empty".to_owned());
    }
    if page.first > page.total {
        return Some(format!("the file has only {} lines", page.total));
    }
    let mut hints = Vec::new();
    if page.ended != Ended::AtTheEnd {
        hints.push(format!("lines {}-{} of {}", page.first, page.next() - 1, page.total));
    }
    if page.masked {
        hints.push("«redacted:…» stands for a secret: never write it back".to_owned());
    }
    (!hints.is_empty()).then(|| hints.join("; "))
}

/// Files that are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Image,
    Binary,
}

impl Refusal {
    pub(super) fn output(self) -> ToolOutput {
        let error = match self {
            Self::Image => "an image, not text: look at it with vision_analyze",
            Self::Binary => {
                "a binary file, not text: look into it with a program for its format in the terminal"
            }
        };
        give(&json!({ "error": error, "is_binary": self == Self::Binary, "is_image": self == Self::Image }))
            .failed()
    }
}

/// The answer to a read that was answered before.
pub(super) fn repeated(answer: Answer, path: &str) -> ToolOutput {
    if answer == Answer::Blocked {
        let error = format!(
            "BLOCKED: you were told that this part of \"{path}\" has not changed since you read it. You have its content: \
             go on with what you know"
        );
        return give(&json!({ "error": error, "path": path, "already_read": true })).failed();
    }
    give(&json!({
        "status": "unchanged", "dedup": true, "content_returned": false, "message": UNCHANGED, "path": path,
    }))
}

/// There is no such file.
pub(super) fn not_found<'a>(path: &str, similar: impl Iterator<Item = &'a PathBuf>) -> ToolOutput {
    let similar: Vec<String> = similar.map(|path| path.display().to_string()).collect();
    let mut answer = json!({ "error": format!("there is no file \"{path}\"") });
    if !similar.is_empty() {
        answer["similar_files"] = similar.into();
    }
    give(&answer).failed()
}
