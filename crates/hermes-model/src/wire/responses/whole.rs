//! Reads `OpenAI` responses that came in one piece.

use serde_json::{Value, json};

use super::decode::Stream;
use super::error_of;
use crate::event::{Event, StreamError};
use crate::wire::decoder::Format as _;
use crate::wire::excerpt;

/// The events a stream would have had: every item arrives finished.
pub(in crate::wire) fn whole(body: &Value) -> Vec<Event> {
    if body["error"].is_object() {
        return vec![error_of(&body["error"])];
    }
    let Some(items) = body["output"].as_array() else {
        return vec![Event::ProviderError(StreamError::Malformed(excerpt(&body.to_string())))];
    };
    let mut stream = Stream::default();
    let mut out = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let event = json!({"type": "response.output_item.done", "output_index": index, "item": item});
        stream.event(&event, &mut out);
    }
    stream.event(&json!({"type": "response.completed", "response": body}), &mut out);
    out
}
