//! Reads streamed chat completions.

use serde_json::Value;

use super::calls::Calls;
use super::usage::usage_of;
use super::{error_of, finish_of};
use crate::event::{Event, Finish, StreamError};
use crate::json::text;
use crate::message::Replay;
use crate::think::{Piece, ThinkFilter};
use crate::wire::decoder::{Ending, Format};

/// The state of one answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct Stream {
    filter: ThinkFilter,
    calls: Calls,
    details: Vec<Value>,
    reason: Option<String>,
    has_text: bool,
}

impl Format for Stream {
    fn event(&mut self, event: &Value, out: &mut Vec<Event>) {
        if let Some(error) = error_of(event) {
            out.push(error);
            return;
        }
        if let Some(usage) = event.get("usage").and_then(usage_of) {
            out.push(Event::Usage(usage));
        }
        // Only one answer is asked for.
        let Some(choice) = event["choices"].get(0) else { return };
        self.delta(&choice["delta"], out);
        if let Some(reason) = text(choice, "finish_reason") {
            self.reason = Some(reason.to_owned());
        }
    }

    fn end(&mut self, ending: Ending, out: &mut Vec<Event>) {
        let rest = self.filter.finish();
        self.pieces(rest, out);
        let Some(finish) = self.finish(ending) else {
            out.push(Event::ProviderError(StreamError::Cut));
            return;
        };
        if !self.details.is_empty() {
            out.push(Event::ReasoningDone(Some(Replay::Details(std::mem::take(&mut self.details)))));
        }
        self.calls.finish(out);
        out.push(Event::Finished(finish));
    }

    fn has_ended(&self) -> bool {
        self.reason.is_some()
    }
}

impl Stream {
    fn delta(&mut self, delta: &Value, out: &mut Vec<Event>) {
        self.reasoning(delta, out);
        match &delta["content"] {
            Value::Array(items) => items.iter().for_each(|item| self.item(item, out)),
            _ => self.words(text(delta, "content").or_else(|| text(delta, "refusal")), out),
        }
        for fragment in delta["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default() {
            self.calls.add(fragment, out);
        }
    }

    /// Some servers send content as a list of typed items.
    fn item(&mut self, item: &Value, out: &mut Vec<Event>) {
        match &item["thinking"] {
            Value::Array(thoughts) => {
                let thoughts = thoughts.iter().filter_map(|thought| text(thought, "text"));
                out.extend(thoughts.map(|thought| Event::ReasoningDelta(thought.to_owned())));
            }
            _ => self.words(text(item, "text"), out),
        }
    }

    fn words(&mut self, words: Option<&str>, out: &mut Vec<Event>) {
        if let Some(words) = words {
            let pieces = self.filter.push(words);
            self.pieces(pieces, out);
        }
    }

    /// Servers name thoughts differently, and some send the same thoughts under two names.
    fn reasoning(&mut self, delta: &Value, out: &mut Vec<Event>) {
        let details = delta["reasoning_details"].as_array().map(Vec::as_slice).unwrap_or_default();
        let named = ["reasoning_content", "reasoning"].into_iter().find_map(|key| text(delta, key));
        let thought = named.map(str::to_owned).or_else(|| {
            let of_detail =
                |detail: &Value| text(detail, "text").or_else(|| text(detail, "summary")).map(str::to_owned);
            Some(details.iter().filter_map(of_detail).collect::<String>())
                .filter(|thought| !thought.is_empty())
        });
        if let Some(thought) = thought {
            out.push(Event::ReasoningDelta(thought));
        }
        for detail in details {
            add_detail(&mut self.details, detail);
        }
    }

    fn pieces(&mut self, pieces: Vec<Piece>, out: &mut Vec<Event>) {
        for piece in pieces {
            out.push(match piece {
                Piece::Text(text) => {
                    self.has_text = true;
                    Event::TextDelta(text)
                }
                Piece::Thought(text) => Event::ReasoningDelta(text),
            });
        }
    }

    /// The reason for the end; none when the stream broke off. Some servers say that they are done, but not why.
    fn finish(&self, ending: Ending) -> Option<Finish> {
        let silent = ending == Ending::Said && (self.has_text || !self.calls.is_empty());
        let reason = self.reason.as_deref().or(silent.then_some("stop"))?;
        Some(finish_of(reason, !self.calls.is_empty()))
    }
}

/// Fragments of one detail are joined: the same kind at the same index.
fn add_detail(details: &mut Vec<Value>, fragment: &Value) {
    const MOST_DETAILS: usize = 1000;
    let same = |detail: &Value| {
        fragment["index"].is_number()
            && detail["index"] == fragment["index"]
            && detail["type"] == fragment["type"]
    };
    if let Some(known) = details.last_mut().filter(|detail| same(detail)) {
        join_detail(known, fragment);
    } else if fragment.is_object() && details.len() < MOST_DETAILS {
        details.push(fragment.clone());
    }
}

fn join_detail(known: &mut Value, fragment: &Value) {
    let (Some(known), Some(fragment)) = (known.as_object_mut(), fragment.as_object()) else { return };
    for (key, value) in fragment.iter().filter(|(_, value)| !value.is_null()) {
        let growing = matches!(key.as_str(), "text" | "summary" | "data");
        match (known.get_mut(key), value) {
            (Some(Value::String(before)), Value::String(more)) if growing => before.push_str(more),
            _ => {
                known.insert(key.clone(), value.clone());
            }
        }
    }
}
