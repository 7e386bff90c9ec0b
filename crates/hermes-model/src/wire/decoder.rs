//! Drives the decoder of a wire format: finds events in the bytes, keeps bounds, and settles how the stream ended.

use serde_json::Value;

use super::excerpt;
use crate::event::{Event, StreamError};
use crate::sse::{SseEvent, SseParser};

/// No answer comes near this; what is larger is an attack or a broken server.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// What a wire format knows about its events.
pub(super) trait Format: Send {
    /// Takes the next event.
    fn event(&mut self, event: &Value, out: &mut Vec<Event>);
    /// The stream is over: hands out what was held back, or the error that it ended too early.
    fn end(&mut self, ending: Ending, out: &mut Vec<Event>);
    /// Whether the reason for the end is known and only counts can follow.
    fn has_ended(&self) -> bool;
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The server said so.
    Said,
    /// The connection closed.
    Closed,
}

/// How far a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More is to come.
    Open,
    /// The answer is complete; only token counts can follow.
    Ending,
    /// Nothing follows any more.
    Done,
}

/// Reads one streamed answer.
pub struct Decoder {
    sse: SseParser,
    format: Box<dyn Format>,
    found: Vec<SseEvent>,
    received: usize,
    seen: u64,
    done: bool,
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").field("progress", &self.progress()).finish_non_exhaustive()
    }
}

impl Decoder {
    pub(super) fn new(format: Box<dyn Format>) -> Self {
        Self { sse: SseParser::default(), format, found: Vec::new(), received: 0, seen: 0, done: false }
    }

    /// Takes the next bytes and returns what they complete. After the last event it ignores everything.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut out = Vec::new();
        if self.done {
            return out;
        }
        self.received = self.received.saturating_add(bytes.len());
        let too_large = self.sse.push(bytes, &mut self.found).is_err() || self.received > LARGEST_ANSWER;
        self.take_found(&mut out, AtEnd::No);
        if too_large && !self.done {
            self.fail(StreamError::TooLarge, &mut out);
        }
        out
    }

    /// The connection has ended.
    pub fn finish(&mut self) -> Vec<Event> {
        let mut out = Vec::new();
        if self.done {
            return out;
        }
        self.sse.finish(&mut self.found);
        self.take_found(&mut out, AtEnd::Yes);
        if !self.done {
            self.end(Ending::Closed, &mut out);
        }
        out
    }

    /// How many events of the protocol have come, also those that say nothing; keep-alive comments do not count.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// How far the stream is.
    pub fn progress(&self) -> Progress {
        match (self.done, self.format.has_ended()) {
            (true, _) => Progress::Done,
            (false, true) => Progress::Ending,
            (false, false) => Progress::Open,
        }
    }

    fn take_found(&mut self, out: &mut Vec<Event>, at_end: AtEnd) {
        for event in std::mem::take(&mut self.found) {
            if self.done {
                return;
            }
            self.take(&event, out, at_end);
        }
    }

    fn take(&mut self, event: &SseEvent, out: &mut Vec<Event>, at_end: AtEnd) {
        match event.data.trim() {
            "" => {}
            "[DONE]" => self.end(Ending::Said, out),
            data => match serde_json::from_str::<Value>(data) {
                Ok(value) => self.take_value(&value, out),
                // The last event of a connection that broke is cut somewhere in its middle.
                Err(_) if at_end == AtEnd::Yes => {}
                // A piece of a tool call may be lost with it: nothing after this can be trusted.
                Err(_) => self.fail(StreamError::Malformed(excerpt(data)), out),
            },
        }
    }

    fn take_value(&mut self, value: &Value, out: &mut Vec<Event>) {
        self.seen += 1;
        let before = out.len();
        self.format.event(value, out);
        let last =
            out[before..].iter().position(|e| matches!(e, Event::Finished(_) | Event::ProviderError(_)));
        if let Some(last) = last {
            out.truncate(before + last + 1);
            self.done = true;
        }
    }

    fn end(&mut self, ending: Ending, out: &mut Vec<Event>) {
        self.format.end(ending, out);
        self.done = true;
    }

    fn fail(&mut self, error: StreamError, out: &mut Vec<Event>) {
        // An answer that is already complete does not become wrong by what follows it.
        if self.format.has_ended() {
            self.end(Ending::Closed, out);
        } else {
            out.push(Event::ProviderError(error));
            self.done = true;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AtEnd {
    Yes,
    No,
}
