//! Anthropic messages.

mod build;
mod decode;
mod thinking;
mod whole;

pub(super) use build::build;
pub(super) use decode::Stream;
pub(super) use whole::whole;

use serde_json::Value;

use crate::event::{Event, Finish, StreamError};
use crate::json::{count, text};
use crate::usage::Usage;

/// The reason for the end, in our words.
fn finish_of(reason: &str) -> Finish {
    match reason {
        "end_turn" | "stop_sequence" | "stop" => Finish::Stop,
        "tool_use" => Finish::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::ContentFilter,
        other => Finish::Other(other.to_owned()),
    }
}

/// `{"type": "error", "error": {"type": …, "message": …}}`
fn error_of(event: &Value) -> Event {
    let error = &event["error"];
    Event::ProviderError(StreamError::Reported {
        code: text(error, "type").map(str::to_owned),
        status: None,
        message: text(error, "message").map_or_else(|| event.to_string(), str::to_owned),
    })
}

/// Takes counts over: here the cached parts of the prompt are counted apart, and later reports leave out what did not
/// change.
fn add_usage(known: &mut Usage, usage: &Value) -> bool {
    if !usage.is_object() {
        return false;
    }
    let fields = [
        ("input_tokens", &mut known.input),
        ("output_tokens", &mut known.output),
        ("cache_read_input_tokens", &mut known.cache_read),
        ("cache_creation_input_tokens", &mut known.cache_write),
    ];
    for (name, bucket) in fields {
        if usage.get(name).is_some_and(Value::is_number) {
            *bucket = count(usage, &[name]);
        }
    }
    true
}
