//! `OpenAI` responses.

mod build;
mod decode;
mod whole;

pub(super) use build::build;
pub(super) use decode::Stream;
pub(super) use whole::whole;

use serde_json::Value;

use crate::event::{Event, Finish, StreamError};
use crate::json::{count, text};
use crate::usage::Usage;

/// The counts of a response.
fn usage_of(response: &Value) -> Option<Usage> {
    let usage = response.get("usage").filter(|usage| usage.is_object())?;
    let mut counted = Usage::of_whole_prompt(
        count(usage, &["input_tokens"]),
        count(usage, &["output_tokens"]),
        count(usage, &["input_tokens_details", "cached_tokens"]),
        count(usage, &["input_tokens_details", "cache_write_tokens"]),
    );
    counted.reasoning = count(usage, &["output_tokens_details", "reasoning_tokens"]);
    Some(counted)
}

/// Why a response ended, in our words.
fn finish_of(response: &Value, has_calls: bool) -> Finish {
    let reason = response["incomplete_details"]["reason"].as_str().unwrap_or_default();
    match (response["status"].as_str().unwrap_or("completed"), reason) {
        ("incomplete", "max_output_tokens" | "max_tokens") => Finish::Length,
        ("incomplete", "content_filter") => Finish::ContentFilter,
        ("incomplete", reason) => {
            Finish::Other(if reason.is_empty() { "incomplete" } else { reason }.to_owned())
        }
        _ if has_calls => Finish::ToolCalls,
        _ => Finish::Stop,
    }
}

/// An error, in an event of its own or in a failed response.
fn error_of(error: &Value) -> Event {
    let word = |key: &str| text(error, key).map(str::to_owned);
    Event::ProviderError(StreamError::Reported {
        code: word("code").or_else(|| word("type").filter(|kind| kind != "error")),
        status: None,
        message: word("message").unwrap_or_else(|| error.to_string()),
    })
}
