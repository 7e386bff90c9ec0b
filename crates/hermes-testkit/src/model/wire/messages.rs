//! Anthropic messages.

use serde_json::{Value, json};

use super::{Block, Call, Encoder, Events, Facts, argument_pieces, errors};
use crate::model::Api;
use crate::model::script::{Answer, Finish, Usage};

/// What thinking is signed with; clients send it back unchanged.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// The content block that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Text,
    Thinking,
}

/// The events of one answer.
pub(super) struct Stream<'a> {
    facts: &'a Facts,
    usage: Usage,
    index: usize,
    open: Option<Open>,
    pinged: bool,
}

impl<'a> Stream<'a> {
    pub(super) fn new(facts: &'a Facts, usage: Usage) -> Self {
        Self { facts, usage, index: 0, open: None, pinged: false }
    }

    fn start_block(&mut self, block: &Value, events: &mut Events) {
        send(events, "content_block_start", json!({"index": self.index, "content_block": block}));
        if !self.pinged {
            self.pinged = true;
            send(events, "ping", json!({}));
        }
    }

    fn delta(&self, delta: &Value, events: &mut Events) {
        send(events, "content_block_delta", json!({"index": self.index, "delta": delta}));
    }

    /// Makes sure that a block of this kind is open.
    fn enter(&mut self, kind: Open, events: &mut Events) {
        if self.open != Some(kind) {
            self.leave(events);
            let block = match kind {
                Open::Text => json!({"type": "text", "text": ""}),
                Open::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
            };
            self.start_block(&block, events);
            self.open = Some(kind);
        }
    }

    fn leave(&mut self, events: &mut Events) {
        if let Some(kind) = self.open.take() {
            if kind == Open::Thinking {
                self.delta(&json!({"type": "signature_delta", "signature": SIGNATURE}), events);
            }
            self.stop_block(events);
        }
    }

    fn stop_block(&mut self, events: &mut Events) {
        send(events, "content_block_stop", json!({"index": self.index}));
        self.index += 1;
    }
}

impl Encoder for Stream<'_> {
    fn begin(&mut self, events: &mut Events) {
        let mut message = message(self.facts, &json!([]));
        message["stop_reason"] = Value::Null;
        message["usage"] = usage_object(Usage { output: 1, ..self.usage });
        send(events, "message_start", json!({"message": message}));
    }

    fn think(&mut self, piece: &str, events: &mut Events) {
        self.enter(Open::Thinking, events);
        self.delta(&json!({"type": "thinking_delta", "thinking": piece}), events);
    }

    fn say(&mut self, piece: &str, events: &mut Events) {
        self.enter(Open::Text, events);
        self.delta(&json!({"type": "text_delta", "text": piece}), events);
    }

    fn call(&mut self, call: &Call, events: &mut Events) {
        self.leave(events);
        let block = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        self.start_block(&block, events);
        // The first piece is empty, as the provider sends it.
        for piece in std::iter::once(String::new()).chain(argument_pieces(&call.arguments)) {
            self.delta(&json!({"type": "input_json_delta", "partial_json": piece}), events);
        }
        self.stop_block(events);
    }

    fn fail(&mut self, message: &str, kind: Option<&str>, events: &mut Events) {
        events.named("error", &errors::shaped(Api::Messages, message, kind.unwrap_or("api_error"), None));
    }

    fn end(&mut self, finish: Finish, usage: Usage, events: &mut Events) {
        self.leave(events);
        let delta = json!({"stop_reason": stop_reason(finish), "stop_sequence": null});
        send(events, "message_delta", json!({"delta": delta, "usage": {"output_tokens": usage.output}}));
        send(events, "message_stop", json!({}));
    }
}

/// The answer as one body.
pub(super) fn whole(blocks: &[Block], answer: &Answer, facts: &Facts) -> Value {
    let content: Vec<Value> = blocks
        .iter()
        .map(|block| match block {
            Block::Think(text) => json!({"type": "thinking", "thinking": text, "signature": SIGNATURE}),
            Block::Say(text) => json!({"type": "text", "text": text}),
            Block::Call(call) => {
                // Broken arguments cannot be an object; the text shows what was meant.
                let input = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
            }
        })
        .collect();
    let mut message = message(facts, &json!(content));
    message["stop_reason"] = json!(stop_reason(answer.finish_reason()));
    message["usage"] = usage_object(answer.usage);
    message
}

fn send(events: &mut Events, name: &str, mut data: Value) {
    let mut event = json!({"type": name});
    if let (Some(event), Some(data)) = (event.as_object_mut(), data.as_object_mut()) {
        event.append(data);
    }
    events.named(name, &event);
}

fn message(facts: &Facts, content: &Value) -> Value {
    json!({
        "id": format!("msg_{}", facts.order), "type": "message", "role": "assistant", "model": facts.model,
        "content": content, "stop_reason": null, "stop_sequence": null,
    })
}

fn stop_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Tools => "tool_use",
        Finish::Length => "max_tokens",
        Finish::Filter => "refusal",
    }
}

/// Here the cached parts of the prompt are counted apart from the rest.
fn usage_object(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cached + usage.written),
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    })
}
