//! The three wire formats: how a request is written and how an answer is read.
//!
//! The decoders are pure state machines: bytes in, events out, no clock and no network. Whatever way the bytes are cut,
//! the events are the same.

mod chat;
mod decoder;
mod messages;
mod responses;

use std::fmt;

use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::event::{Event, StreamError};
use crate::message::Message;
use crate::request::Request;
use crate::tidy::tidy;
pub use decoder::{Decoder, Progress};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wire {
    /// `OpenAI` chat completions, spoken by almost everyone.
    Chat,
    /// Anthropic messages.
    Messages,
    /// `OpenAI` responses.
    Responses,
}

impl Wire {
    /// Reads the word of the setting `api_mode`; also the words people write for it.
    pub fn parse(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().replace('-', "_").as_str() {
            "chat_completions" | "chat" | "openai" | "openai_chat" => Some(Self::Chat),
            "anthropic_messages" | "anthropic" | "messages" => Some(Self::Messages),
            "codex_responses" | "responses" | "openai_responses" => Some(Self::Responses),
            _ => None,
        }
    }

    /// The word of the setting.
    pub fn word(self) -> &'static str {
        match self {
            Self::Chat => "chat_completions",
            Self::Messages => "anthropic_messages",
            Self::Responses => "codex_responses",
        }
    }

    /// Writes a request the way the endpoint wants it.
    pub fn encode(self, endpoint: &Endpoint, request: &Request) -> Outgoing {
        let mut request = endpoint.learned.apply(request.clone());
        request.messages = tidy(&request.messages);
        let mut outgoing = match self {
            Self::Chat => chat::build(endpoint, &request),
            Self::Messages => messages::build(endpoint, &request),
            Self::Responses => responses::build(endpoint, &request),
        };
        if let Value::Object(body) = &mut outgoing.body {
            body.extend(endpoint.extra_body.clone());
        }
        outgoing
    }

    /// A reader for a streamed answer.
    pub fn decoder(self) -> Decoder {
        Decoder::new(match self {
            Self::Chat => Box::<chat::Stream>::default(),
            Self::Messages => Box::<messages::Stream>::default(),
            Self::Responses => Box::<responses::Stream>::default(),
        })
    }

    /// Reads an answer that came in one piece, as the events a stream would have had.
    pub fn decode_whole(self, body: &[u8]) -> Vec<Event> {
        let Ok(body) = serde_json::from_slice::<Value>(body) else {
            return vec![Event::ProviderError(StreamError::Malformed(excerpt(&String::from_utf8_lossy(
                body,
            ))))];
        };
        match self {
            Self::Chat => chat::whole(&body),
            Self::Messages => messages::whole(&body),
            Self::Responses => responses::whole(&body),
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A request as it goes out, without the key.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The path to add to the base address.
    pub path: &'static str,
    /// Headers of the wire format.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Value,
}

/// The beginning of a text, for error messages.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 200;
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// An id for a call that came without one: the same call gives the same id, so that repeated requests stay the same.
pub(crate) fn call_id(slot: usize, name: &str, arguments: &str) -> String {
    use sha2::{Digest, Sha256};
    use std::fmt::Write as _;
    let digest = Sha256::digest(format!("{name}\n{arguments}\n{slot}"));
    let mut id = String::from("call_");
    for byte in digest.iter().take(8) {
        let _ = write!(id, "{byte:02x}");
    }
    id
}

/// Which of the messages carry a cache mark: the last three, because the conversation grows at its end and the provider
/// looks back from each mark for what it knows.
pub(crate) fn marked(messages: &[Message], can_carry: impl Fn(&Message) -> bool) -> Vec<bool> {
    const MARKS: usize = 3;
    let mut left = MARKS;
    let mut marked: Vec<bool> = messages
        .iter()
        .rev()
        .map(|message| {
            let mark = left > 0 && can_carry(message);
            left -= usize::from(mark);
            mark
        })
        .collect();
    marked.reverse();
    marked
}
