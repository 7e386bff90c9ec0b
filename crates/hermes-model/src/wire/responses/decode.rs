//! Reads streamed `OpenAI` responses.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{error_of, finish_of, usage_of};
use crate::event::{Event, Finish, StreamError};
use crate::json::text;
use crate::message::{Replay, ToolCall};
use crate::wire::call_id;
use crate::wire::decoder::{Ending, Format};

/// No answer has so many output items open at once.
const MOST_ITEMS: usize = 256;

/// The state of one answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct Stream {
    items: BTreeMap<u64, Item>,
    calls: usize,
    finish: Option<Finish>,
}

/// An output item that is open.
#[derive(Debug, Default)]
struct Item {
    call: Option<(usize, ToolCall)>,
    /// Whether anything of it was streamed; if not, the finished item brings it all.
    streamed: bool,
    /// The paragraph of the summary that was streamed last.
    paragraph: Option<u64>,
}

impl Format for Stream {
    fn event(&mut self, event: &Value, out: &mut Vec<Event>) {
        let index = event["output_index"].as_u64().unwrap_or(0);
        match event["type"].as_str().unwrap_or_default() {
            "response.output_item.added" => self.added(index, &event["item"], out),
            "response.output_text.delta" | "response.refusal.delta" => self.text(index, event, out),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.reasoning(index, event, out);
            }
            "response.function_call_arguments.delta" => self.arguments(index, text(event, "delta"), out),
            "response.output_item.done" => self.item_done(index, &event["item"], out),
            "response.completed" | "response.incomplete" | "response.done" => {
                self.ended(&event["response"], out);
            }
            "response.failed" | "response.cancelled" => out.push(error_of(&event["response"]["error"])),
            "error" if event["error"].is_object() => out.push(error_of(&event["error"])),
            "error" => out.push(error_of(event)),
            // Progress notes, parts that repeat what was streamed, and whatever is added later.
            _ => {}
        }
    }

    fn end(&mut self, _ending: Ending, out: &mut Vec<Event>) {
        out.push(match self.finish.take() {
            Some(finish) => Event::Finished(finish),
            None => Event::ProviderError(StreamError::Cut),
        });
    }

    fn has_ended(&self) -> bool {
        self.finish.is_some()
    }
}

impl Stream {
    fn added(&mut self, index: u64, item: &Value, out: &mut Vec<Event>) {
        if self.items.len() >= MOST_ITEMS {
            return;
        }
        let mut open = Item::default();
        if item["type"] == "function_call" {
            let call = call_of(item);
            out.push(Event::ToolCallStarted { slot: self.calls, name: call.name.clone() });
            open.call = Some((self.calls, ToolCall { arguments: String::new(), ..call }));
            self.calls += 1;
        }
        self.items.insert(index, open);
    }

    fn open(&mut self, index: u64) -> Option<&mut Item> {
        if self.items.len() >= MOST_ITEMS && !self.items.contains_key(&index) {
            return None;
        }
        Some(self.items.entry(index).or_default())
    }

    fn text(&mut self, index: u64, event: &Value, out: &mut Vec<Event>) {
        if let (Some(delta), Some(item)) = (text(event, "delta"), self.open(index)) {
            item.streamed = true;
            out.push(Event::TextDelta(delta.to_owned()));
        }
    }

    fn reasoning(&mut self, index: u64, event: &Value, out: &mut Vec<Event>) {
        let (Some(delta), Some(item)) = (text(event, "delta"), self.open(index)) else { return };
        let paragraph = event["summary_index"].as_u64();
        if item.streamed && paragraph != item.paragraph {
            out.push(Event::ReasoningDelta("\n\n".to_owned()));
        }
        item.streamed = true;
        item.paragraph = paragraph;
        out.push(Event::ReasoningDelta(delta.to_owned()));
    }

    fn arguments(&mut self, index: u64, delta: Option<&str>, out: &mut Vec<Event>) {
        let open = self.items.get_mut(&index).and_then(|item| item.call.as_mut());
        if let (Some(delta), Some((slot, call))) = (delta, open) {
            call.arguments.push_str(delta);
            out.push(Event::ToolCallArgs { slot: *slot, delta: delta.to_owned() });
        }
    }

    fn item_done(&mut self, index: u64, item: &Value, out: &mut Vec<Event>) {
        let open = self.items.remove(&index).unwrap_or_default();
        match item["type"].as_str().unwrap_or_default() {
            "function_call" => self.call_done(open, item, out),
            "reasoning" => {
                if !open.streamed {
                    out.extend(summary_of(item).map(Event::ReasoningDelta));
                }
                let replay = text(item, "encrypted_content").map(|content| Replay::Encrypted {
                    id: text(item, "id").unwrap_or_default().to_owned(),
                    content: content.to_owned(),
                });
                out.push(Event::ReasoningDone(replay));
            }
            "message" if !open.streamed => {
                let parts = item["content"].as_array().map(Vec::as_slice).unwrap_or_default();
                let words =
                    parts.iter().filter_map(|part| text(part, "text").or_else(|| text(part, "refusal")));
                out.extend(words.map(|words| Event::TextDelta(words.to_owned())));
            }
            _ => {}
        }
    }

    /// The finished item is the truth; what was streamed only fills what it leaves out.
    fn call_done(&mut self, open: Item, item: &Value, out: &mut Vec<Event>) {
        let mut call = call_of(item);
        let slot = if let Some((slot, streamed)) = open.call {
            if call.arguments.is_empty() {
                call.arguments = streamed.arguments;
            } else if streamed.arguments.is_empty() {
                out.push(Event::ToolCallArgs { slot, delta: call.arguments.clone() });
            }
            slot
        } else {
            let slot = self.calls;
            self.calls += 1;
            out.push(Event::ToolCallStarted { slot, name: call.name.clone() });
            out.push(Event::ToolCallArgs { slot, delta: call.arguments.clone() });
            slot
        };
        if call.id.is_empty() {
            call.id = call_id(slot, &call.name, &call.arguments);
        }
        out.push(Event::ToolCallDone { slot, call });
    }

    fn ended(&mut self, response: &Value, out: &mut Vec<Event>) {
        out.extend(usage_of(response).map(Event::Usage));
        self.finish = Some(finish_of(response, self.calls > 0));
        self.end(Ending::Said, out);
    }
}

fn call_of(item: &Value) -> ToolCall {
    let owned = |key: &str| text(item, key).unwrap_or_default().to_owned();
    ToolCall {
        id: owned("call_id"),
        name: owned("name"),
        arguments: owned("arguments"),
        item_id: text(item, "id").map(str::to_owned),
        extra: None,
    }
}

fn summary_of(item: &Value) -> Option<String> {
    let paragraphs = item["summary"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = paragraphs.iter().filter_map(|paragraph| text(paragraph, "text")).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}
