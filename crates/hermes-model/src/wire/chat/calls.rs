//! Tool calls that come in fragments, several at a time.

use serde_json::Value;

use crate::event::Event;
use crate::json::text;
use crate::message::ToolCall;
use crate::wire::call_id;

/// No model makes so many calls in one answer; more is a broken server.
const MOST_CALLS: usize = 128;

/// The calls of one answer so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    call: ToolCall,
    started: bool,
    /// Arguments that came before the name.
    waiting: String,
}

impl Calls {
    /// Takes one entry of `delta.tool_calls`.
    pub(super) fn add(&mut self, fragment: &Value, out: &mut Vec<Event>) {
        let Some(number) = self.slot_for(fragment) else { return };
        let slot = &mut self.slots[number];
        let function = &fragment["function"];
        if let Some(id) = text(fragment, "id") {
            id.clone_into(&mut slot.call.id);
        }
        if let Some(extra) = fragment.get("extra_content").filter(|extra| !extra.is_null()) {
            slot.call.extra = Some(extra.clone());
        }
        // The name comes whole; servers that repeat it with every fragment must not double it.
        if let Some(name) = text(function, "name") {
            name.clone_into(&mut slot.call.name);
        }
        if let Some(delta) = arguments_of(function) {
            slot.waiting.push_str(&delta);
        }
        slot.announce(number, out);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// All calls are complete.
    pub(super) fn finish(&mut self, out: &mut Vec<Event>) {
        for (number, mut slot) in std::mem::take(&mut self.slots).into_iter().enumerate() {
            if slot.call.name.is_empty() {
                continue;
            }
            slot.announce(number, out);
            if slot.call.id.is_empty() {
                slot.call.id = call_id(number, &slot.call.name, &slot.call.arguments);
            }
            out.push(Event::ToolCallDone { slot: number, call: slot.call });
        }
    }

    /// The slot a fragment belongs to: by its index; but a new id at an index in use is a new call (some servers
    /// number every call 0), and without an index the newest call goes on until it is complete.
    fn slot_for(&mut self, fragment: &Value) -> Option<usize> {
        let index = fragment["index"].as_u64();
        let id = text(fragment, "id");
        let same_index = self.slots.iter().rposition(|slot| index.is_none() || slot.index == index);
        let found = match (same_index, id) {
            (Some(number), Some(id)) => {
                let known = &self.slots[number].call.id;
                (known.is_empty() || known == id).then_some(number)
            }
            (Some(number), None) => {
                let next = index.is_none() && text(&fragment["function"], "name").is_some();
                (!next || !self.slots[number].is_complete()).then_some(number)
            }
            (None, _) => None,
        };
        if found.is_none() {
            if self.slots.len() >= MOST_CALLS {
                return None;
            }
            self.slots.push(Slot { index, ..Slot::default() });
        }
        found.or(Some(self.slots.len() - 1))
    }
}

impl Slot {
    fn is_complete(&self) -> bool {
        !self.call.name.is_empty() && serde_json::from_str::<Value>(&self.call.arguments).is_ok()
    }

    /// Reports what is new, once the name is known.
    fn announce(&mut self, number: usize, out: &mut Vec<Event>) {
        if self.call.name.is_empty() {
            return;
        }
        if !self.started {
            self.started = true;
            out.push(Event::ToolCallStarted { slot: number, name: self.call.name.clone() });
        }
        if !self.waiting.is_empty() {
            let delta = std::mem::take(&mut self.waiting);
            self.call.arguments.push_str(&delta);
            out.push(Event::ToolCallArgs { slot: number, delta });
        }
    }
}

/// The arguments in an entry; some servers send an object instead of its text.
pub(super) fn arguments_of(function: &Value) -> Option<String> {
    match function.get("arguments")? {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}
