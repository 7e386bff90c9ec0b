//! `OpenAI` responses.

use serde_json::{Value, json};

use super::{Block, CREATED, Call, Encoder, Events, Facts, argument_pieces};
use crate::model::script::{Answer, Finish, Usage};

/// The output item that is open, with its text so far.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    Reasoning(String),
    Message(String),
}

/// The events of one answer.
pub(super) struct Stream<'a> {
    facts: &'a Facts,
    sequence: usize,
    open: Option<Open>,
    output: Vec<Value>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(facts: &'a Facts) -> Self {
        Self { facts, sequence: 0, open: None, output: Vec::new() }
    }

    fn send(&mut self, name: &str, mut data: Value, events: &mut Events) {
        let mut event = json!({"type": name, "sequence_number": self.sequence});
        self.sequence += 1;
        if let (Some(event), Some(data)) = (event.as_object_mut(), data.as_object_mut()) {
            event.append(data);
        }
        events.named(name, &event);
    }

    /// The place of the open item: every event about it names both.
    fn place(&self, prefix: &str) -> Value {
        json!({"item_id": item_id(prefix, self.facts, self.output.len()), "output_index": self.output.len()})
    }

    fn send_at(&mut self, name: &str, prefix: &str, more: Value, events: &mut Events) {
        let mut data = self.place(prefix);
        if let (Some(data), Value::Object(mut more)) = (data.as_object_mut(), more) {
            data.append(&mut more);
        }
        self.send(name, data, events);
    }

    fn add_item(&mut self, item: &Value, events: &mut Events) {
        let index = self.output.len();
        self.send("response.output_item.added", json!({"output_index": index, "item": item}), events);
    }

    fn finish_item(&mut self, item: Value, events: &mut Events) {
        let index = self.output.len();
        self.send("response.output_item.done", json!({"output_index": index, "item": item}), events);
        self.output.push(item);
    }

    /// Closes the open item with the events that repeat its whole text.
    fn leave(&mut self, events: &mut Events) {
        let index = self.output.len();
        match self.open.take() {
            None => {}
            Some(Open::Reasoning(text)) => {
                let part = json!({"type": "summary_text", "text": text});
                let done = json!({"summary_index": 0, "text": text});
                self.send_at("response.reasoning_summary_text.done", "rs", done, events);
                let done = json!({"summary_index": 0, "part": part});
                self.send_at("response.reasoning_summary_part.done", "rs", done, events);
                self.finish_item(reasoning_item(self.facts, index, &text), events);
            }
            Some(Open::Message(text)) => {
                let part = json!({"type": "output_text", "text": text, "annotations": []});
                let done = json!({"content_index": 0, "text": text});
                self.send_at("response.output_text.done", "msg", done, events);
                let done = json!({"content_index": 0, "part": part});
                self.send_at("response.content_part.done", "msg", done, events);
                self.finish_item(message_item(self.facts, index, &text), events);
            }
        }
    }

    fn enter_reasoning(&mut self, events: &mut Events) {
        if !matches!(self.open, Some(Open::Reasoning(_))) {
            self.leave(events);
            let id = item_id("rs", self.facts, self.output.len());
            self.add_item(&json!({"id": id, "type": "reasoning", "summary": []}), events);
            let part = json!({"summary_index": 0, "part": {"type": "summary_text", "text": ""}});
            self.send_at("response.reasoning_summary_part.added", "rs", part, events);
            self.open = Some(Open::Reasoning(String::new()));
        }
    }

    fn enter_message(&mut self, events: &mut Events) {
        if !matches!(self.open, Some(Open::Message(_))) {
            self.leave(events);
            let id = item_id("msg", self.facts, self.output.len());
            let item = json!({
                "id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": [],
            });
            self.add_item(&item, events);
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            let added = json!({"content_index": 0, "part": part});
            self.send_at("response.content_part.added", "msg", added, events);
            self.open = Some(Open::Message(String::new()));
        }
    }
}

impl Encoder for Stream<'_> {
    fn begin(&mut self, events: &mut Events) {
        for name in ["response.created", "response.in_progress"] {
            let response = response(self.facts, "in_progress", &[], None);
            self.send(name, json!({"response": response}), events);
        }
    }

    fn think(&mut self, piece: &str, events: &mut Events) {
        self.enter_reasoning(events);
        if let Some(Open::Reasoning(text)) = &mut self.open {
            text.push_str(piece);
        }
        let delta = json!({"summary_index": 0, "delta": piece});
        self.send_at("response.reasoning_summary_text.delta", "rs", delta, events);
    }

    fn say(&mut self, piece: &str, events: &mut Events) {
        self.enter_message(events);
        if let Some(Open::Message(text)) = &mut self.open {
            text.push_str(piece);
        }
        let delta = json!({"content_index": 0, "delta": piece});
        self.send_at("response.output_text.delta", "msg", delta, events);
    }

    fn call(&mut self, call: &Call, events: &mut Events) {
        self.leave(events);
        let index = self.output.len();
        let mut opening = call_item(self.facts, index, call);
        opening["status"] = json!("in_progress");
        opening["arguments"] = json!("");
        self.add_item(&opening, events);
        for piece in argument_pieces(&call.arguments) {
            self.send_at("response.function_call_arguments.delta", "fc", json!({"delta": piece}), events);
        }
        let done = json!({"arguments": call.arguments});
        self.send_at("response.function_call_arguments.done", "fc", done, events);
        self.finish_item(call_item(self.facts, index, call), events);
    }

    fn fail(&mut self, message: &str, kind: Option<&str>, events: &mut Events) {
        let mut failed = response(self.facts, "failed", &self.output, None);
        failed["error"] = json!({"code": kind.unwrap_or("server_error"), "message": message});
        self.send("response.failed", json!({"response": failed}), events);
    }

    fn end(&mut self, finish: Finish, usage: Usage, events: &mut Events) {
        self.leave(events);
        let last = ended(self.facts, finish, &self.output, usage);
        let name = if last["status"] == "completed" { "response.completed" } else { "response.incomplete" };
        self.send(name, json!({"response": last}), events);
    }
}

/// The answer as one body.
pub(super) fn whole(blocks: &[Block], answer: &Answer, facts: &Facts) -> Value {
    let output: Vec<Value> = blocks
        .iter()
        .enumerate()
        .map(|(index, block)| match block {
            Block::Think(text) => reasoning_item(facts, index, text),
            Block::Say(text) => message_item(facts, index, text),
            Block::Call(call) => call_item(facts, index, call),
        })
        .collect();
    ended(facts, answer.finish_reason(), &output, answer.usage)
}

fn ended(facts: &Facts, finish: Finish, output: &[Value], usage: Usage) -> Value {
    let reason = match finish {
        Finish::Stop | Finish::Tools => return response(facts, "completed", output, Some(usage)),
        Finish::Length => "max_output_tokens",
        Finish::Filter => "content_filter",
    };
    let mut response = response(facts, "incomplete", output, Some(usage));
    response["incomplete_details"] = json!({"reason": reason});
    response
}

fn response(facts: &Facts, status: &str, output: &[Value], usage: Option<Usage>) -> Value {
    json!({
        "id": format!("resp_{}", facts.order), "object": "response", "created_at": CREATED, "status": status,
        "error": null, "incomplete_details": null, "model": facts.model, "output": output,
        "usage": usage.map(usage_object),
    })
}

fn reasoning_item(facts: &Facts, index: usize, text: &str) -> Value {
    let summary = json!([{"type": "summary_text", "text": text}]);
    json!({
        "id": item_id("rs", facts, index), "type": "reasoning", "summary": summary,
        "encrypted_content": "c2NyaXB0ZWQ=",
    })
}

fn message_item(facts: &Facts, index: usize, text: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    json!({
        "id": item_id("msg", facts, index), "type": "message", "status": "completed", "role": "assistant",
        "content": content,
    })
}

fn call_item(facts: &Facts, index: usize, call: &Call) -> Value {
    json!({
        "id": item_id("fc", facts, index), "type": "function_call", "status": "completed",
        "call_id": call.id, "name": call.name, "arguments": call.arguments,
    })
}

fn item_id(prefix: &str, facts: &Facts, index: usize) -> String {
    format!("{prefix}_{}_{index}", facts.order)
}

fn usage_object(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    })
}
