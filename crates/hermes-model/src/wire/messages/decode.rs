//! Reads streamed Anthropic messages.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{add_usage, error_of, finish_of};
use crate::event::{Event, Finish, StreamError};
use crate::json::text;
use crate::message::{Replay, ToolCall};
use crate::usage::Usage;
use crate::wire::call_id;
use crate::wire::decoder::{Ending, Format};

/// No answer has so many content blocks open at once.
const MOST_BLOCKS: usize = 256;

/// The state of one answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct Stream {
    blocks: BTreeMap<u64, Block>,
    calls: usize,
    usage: Usage,
    finish: Option<Finish>,
}

/// A content block that is open.
#[derive(Debug)]
enum Block {
    Text,
    Thinking { signature: String },
    Redacted { data: String },
    Call(Box<OpenCall>),
    Unknown,
}

/// A tool call that is open.
#[derive(Debug)]
struct OpenCall {
    slot: usize,
    call: ToolCall,
    /// The arguments the block started with.
    given: Value,
}

impl Format for Stream {
    fn event(&mut self, event: &Value, out: &mut Vec<Event>) {
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.count(&event["message"]["usage"], out),
            "content_block_start" => self.start(index, &event["content_block"], out),
            "content_block_delta" => self.delta(index, &event["delta"], out),
            "content_block_stop" => self.stop(index, out),
            "message_delta" => {
                self.count(&event["usage"], out);
                if let Some(reason) = text(&event["delta"], "stop_reason") {
                    self.finish = Some(finish_of(reason));
                }
            }
            "message_stop" => self.end(Ending::Said, out),
            "error" => out.push(error_of(event)),
            // Pings, and whatever is added later.
            _ if event["error"].is_object() => out.push(error_of(event)),
            _ => {}
        }
    }

    fn end(&mut self, ending: Ending, out: &mut Vec<Event>) {
        let said = (ending == Ending::Said).then_some(Finish::Stop);
        match self.finish.take().or(said) {
            Some(finish) => {
                let finish =
                    if finish == Finish::Stop && self.calls > 0 { Finish::ToolCalls } else { finish };
                out.push(Event::Finished(finish));
            }
            None => out.push(Event::ProviderError(StreamError::Cut)),
        }
    }

    fn has_ended(&self) -> bool {
        self.finish.is_some()
    }
}

impl Stream {
    fn count(&mut self, usage: &Value, out: &mut Vec<Event>) {
        if add_usage(&mut self.usage, usage) {
            out.push(Event::Usage(self.usage));
        }
    }

    fn start(&mut self, index: u64, content: &Value, out: &mut Vec<Event>) {
        // A server that begins a block again without ending it has ended it.
        self.stop(index, out);
        if self.blocks.len() >= MOST_BLOCKS {
            return;
        }
        let owned = |key: &str| text(content, key).unwrap_or_default().to_owned();
        let block = match content["type"].as_str().unwrap_or_default() {
            "text" => {
                out.extend(text(content, "text").map(|text| Event::TextDelta(text.to_owned())));
                Block::Text
            }
            "thinking" => {
                out.extend(text(content, "thinking").map(|text| Event::ReasoningDelta(text.to_owned())));
                Block::Thinking { signature: owned("signature") }
            }
            "redacted_thinking" => Block::Redacted { data: owned("data") },
            "tool_use" => {
                let slot = self.calls;
                self.calls += 1;
                let call = ToolCall { id: owned("id"), name: owned("name"), ..ToolCall::default() };
                out.push(Event::ToolCallStarted { slot, name: call.name.clone() });
                Block::Call(Box::new(OpenCall { slot, call, given: content["input"].clone() }))
            }
            _ => Block::Unknown,
        };
        self.blocks.insert(index, block);
    }

    fn delta(&mut self, index: u64, delta: &Value, out: &mut Vec<Event>) {
        let piece = |key: &str| text(delta, key).map(str::to_owned);
        match (self.blocks.get_mut(&index), delta["type"].as_str().unwrap_or_default()) {
            (_, "text_delta") => out.extend(piece("text").map(Event::TextDelta)),
            (_, "thinking_delta") => out.extend(piece("thinking").map(Event::ReasoningDelta)),
            (Some(Block::Thinking { signature }), "signature_delta") => {
                signature.push_str(&piece("signature").unwrap_or_default());
            }
            (Some(Block::Call(open)), "input_json_delta") => {
                if let Some(delta) = piece("partial_json") {
                    open.call.arguments.push_str(&delta);
                    out.push(Event::ToolCallArgs { slot: open.slot, delta });
                }
            }
            _ => {}
        }
    }

    fn stop(&mut self, index: u64, out: &mut Vec<Event>) {
        match self.blocks.remove(&index) {
            Some(Block::Thinking { signature }) => {
                let replay = (!signature.is_empty()).then_some(Replay::Signature(signature));
                out.push(Event::ReasoningDone(replay));
            }
            Some(Block::Redacted { data }) => out.push(Event::ReasoningDone(Some(Replay::Redacted(data)))),
            Some(Block::Call(open)) => out.extend(finished_call(*open)),
            Some(Block::Text | Block::Unknown) | None => {}
        }
    }
}

/// A call is complete. Servers that do not stream arguments give them when the block starts.
fn finished_call(OpenCall { slot, mut call, given }: OpenCall) -> Vec<Event> {
    let mut events = Vec::new();
    if call.name.is_empty() {
        return events;
    }
    if call.arguments.is_empty() {
        call.arguments = if given.is_null() { "{}".to_owned() } else { given.to_string() };
        events.push(Event::ToolCallArgs { slot, delta: call.arguments.clone() });
    }
    if call.id.is_empty() {
        call.id = call_id(slot, &call.name, &call.arguments);
    }
    events.push(Event::ToolCallDone { slot, call });
    events
}
