//! Reads Anthropic messages that came in one piece.

use serde_json::{Value, json};

use super::decode::Stream;
use super::error_of;
use crate::event::{Event, StreamError};
use crate::wire::decoder::Format as _;
use crate::wire::excerpt;

/// The events a stream would have had: every block starts complete and stops.
pub(in crate::wire) fn whole(body: &Value) -> Vec<Event> {
    if body["type"] == "error" || body["error"].is_object() {
        return vec![error_of(body)];
    }
    let Some(content) = body["content"].as_array() else {
        return vec![Event::ProviderError(StreamError::Malformed(excerpt(&body.to_string())))];
    };
    let mut stream = Stream::default();
    let mut out = Vec::new();
    for (index, block) in content.iter().enumerate() {
        stream
            .event(&json!({"type": "content_block_start", "index": index, "content_block": block}), &mut out);
        stream.event(&json!({"type": "content_block_stop", "index": index}), &mut out);
    }
    let delta = json!({"stop_reason": body["stop_reason"]});
    stream.event(&json!({"type": "message_delta", "delta": delta, "usage": body["usage"]}), &mut out);
    stream.event(&json!({"type": "message_stop"}), &mut out);
    out
}
