//! `OpenAI` chat completions.

use serde_json::{Map, Value, json};

use super::{Block, CREATED, Call, Encoder, Events, Facts, argument_pieces, errors};
use crate::model::Api;
use crate::model::script::{Answer, Finish, Usage};

/// The events of one answer.
pub(super) struct Stream<'a> {
    facts: &'a Facts,
    calls: usize,
}

impl<'a> Stream<'a> {
    pub(super) fn new(facts: &'a Facts) -> Self {
        Self { facts, calls: 0 }
    }

    fn chunk(&self, choices: &Value) -> Value {
        json!({
            "id": id(self.facts), "object": "chat.completion.chunk", "created": CREATED,
            "model": self.facts.model, "choices": choices,
        })
    }

    fn delta(&self, delta: &Value, events: &mut Events) {
        events.data(&self.chunk(&json!([{"index": 0, "delta": delta, "finish_reason": null}])));
    }
}

impl Encoder for Stream<'_> {
    fn begin(&mut self, events: &mut Events) {
        self.delta(&json!({"role": "assistant", "content": ""}), events);
    }

    fn think(&mut self, piece: &str, events: &mut Events) {
        self.delta(&json!({"reasoning_content": piece}), events);
    }

    fn say(&mut self, piece: &str, events: &mut Events) {
        self.delta(&json!({"content": piece}), events);
    }

    fn call(&mut self, call: &Call, events: &mut Events) {
        let index = self.calls;
        self.calls += 1;
        let opening = json!({
            "index": index, "id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": ""},
        });
        self.delta(&json!({"tool_calls": [opening]}), events);
        for piece in argument_pieces(&call.arguments) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            self.delta(&json!({"tool_calls": [more]}), events);
        }
    }

    fn fail(&mut self, message: &str, kind: Option<&str>, events: &mut Events) {
        events.data(&errors::shaped(Api::Chat, message, kind.unwrap_or("server_error"), None));
    }

    fn end(&mut self, finish: Finish, usage: Usage, events: &mut Events) {
        let last = json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(finish)}]);
        events.data(&self.chunk(&last));
        if self.facts.stream_usage {
            let mut chunk = self.chunk(&json!([]));
            chunk["usage"] = usage_object(usage);
            events.data(&chunk);
        }
        events.raw("data: [DONE]\n\n");
    }
}

/// The answer as one body.
pub(super) fn whole(blocks: &[Block], answer: &Answer, facts: &Facts) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let said = joined(blocks, |block| if let Block::Say(text) = block { Some(text) } else { None });
    message.insert("content".to_owned(), json!(said));
    let thought = joined(blocks, |block| if let Block::Think(text) = block { Some(text) } else { None });
    if let Some(thought) = thought {
        message.insert("reasoning_content".to_owned(), json!(thought));
    }
    let calls: Vec<Value> = blocks.iter().filter_map(call_object).collect();
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), json!(calls));
    }
    json!({
        "id": id(facts), "object": "chat.completion", "created": CREATED, "model": facts.model,
        "choices": [{
            "index": 0, "message": message, "logprobs": null,
            "finish_reason": finish_reason(answer.finish_reason()),
        }],
        "usage": usage_object(answer.usage),
    })
}

fn joined<'a>(blocks: &'a [Block], text: impl Fn(&'a Block) -> Option<&'a String>) -> Option<String> {
    let texts: Vec<&str> = blocks.iter().filter_map(text).map(String::as_str).collect();
    if texts.is_empty() { None } else { Some(texts.concat()) }
}

fn call_object(block: &Block) -> Option<Value> {
    let Block::Call(call) = block else { return None };
    let function = json!({"name": call.name, "arguments": call.arguments});
    Some(json!({"id": call.id, "type": "function", "function": function}))
}

fn id(facts: &Facts) -> String {
    format!("chatcmpl-{}", facts.order)
}

fn finish_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Tools => "tool_calls",
        Finish::Length => "length",
        Finish::Filter => "content_filter",
    }
}

fn usage_object(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}
