//! Reads chat completions that came in one piece.

use serde_json::Value;

use super::decode::Stream;
use crate::event::{Event, StreamError};
use crate::wire::decoder::{Ending, Format as _};
use crate::wire::excerpt;

/// The events a stream would have had: the message is one large delta.
pub(in crate::wire) fn whole(body: &Value) -> Vec<Event> {
    let mut out = Vec::new();
    let mut stream = Stream::default();
    let mut event = body.clone();
    let choice = event.pointer_mut("/choices/0").and_then(Value::as_object_mut);
    let is_answer = choice.is_some_and(|choice| {
        let mut message = choice.remove("message").unwrap_or_default();
        number_calls(&mut message);
        choice.insert("delta".to_owned(), message);
        // An answer in one piece is complete even where the server gives no reason.
        let reason = choice.entry("finish_reason").or_insert_with(|| "stop".into());
        if reason.is_null() {
            *reason = "stop".into();
        }
        true
    });
    stream.event(&event, &mut out);
    if out.iter().any(|event| matches!(event, Event::ProviderError(_))) {
        return out;
    }
    if !is_answer {
        return vec![Event::ProviderError(StreamError::Malformed(excerpt(&body.to_string())))];
    }
    stream.end(Ending::Said, &mut out);
    out
}

/// In one piece the calls are told apart by their place alone.
fn number_calls(message: &mut Value) {
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for (place, call) in calls.into_iter().flatten().enumerate() {
        if let Some(call) = call.as_object_mut() {
            call.insert("index".to_owned(), place.into());
        }
    }
}
