//! `OpenAI` chat completions.

mod build;
mod calls;
mod decode;
mod usage;
mod whole;

pub(super) use build::build;
pub(super) use decode::Stream;
pub(super) use whole::whole;

use serde_json::Value;

use crate::event::{Event, Finish, StreamError};
use crate::json::text;

/// The reason for the end, in our words. Some servers say `stop` although they want tools to run.
fn finish_of(reason: &str, has_calls: bool) -> Finish {
    match reason {
        "stop" | "eos" | "end_turn" if !has_calls => Finish::Stop,
        "stop" | "eos" | "end_turn" | "tool_calls" | "function_call" => Finish::ToolCalls,
        "length" | "max_tokens" => Finish::Length,
        "content_filter" | "refusal" => Finish::ContentFilter,
        other => Finish::Other(other.to_owned()),
    }
}

/// An error object, wherever a server puts it: `{"error": {…}}`, `{"error": "text"}`.
fn error_of(body: &Value) -> Option<Event> {
    let error = body.get("error").filter(|error| !error.is_null())?;
    let word = |key: &str| text(error, key).map(str::to_owned);
    let number = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let message =
        error.as_str().map(str::to_owned).or_else(|| word("message")).unwrap_or_else(|| error.to_string());
    Some(Event::ProviderError(StreamError::Reported {
        code: word("code").or_else(|| word("type")),
        status: number.filter(|code| (400..600).contains(code)),
        message,
    }))
}
