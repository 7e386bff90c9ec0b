//! From an answer to what goes over the wire: which bytes, in which frames, for which provider.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::script::{Answer, Finish, Kind, Part, Usage};

mod chat;
mod errors;
mod messages;
mod responses;

/// The protocols the server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `OpenAI` chat completions.
    Chat,
    /// Anthropic messages.
    Messages,
    /// `OpenAI` responses.
    Responses,
}

impl Api {
    /// The protocol of a path, whatever it starts with.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let ends = [
            ("/chat/completions", Self::Chat),
            ("/messages", Self::Messages),
            ("/responses", Self::Responses),
        ];
        ends.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, api)| api)
    }
}

/// What of a request shapes the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    /// The number of the request, for ids.
    pub(super) order: usize,
    pub(super) model: String,
    pub(super) delivery: Delivery,
    /// Chat completions report usage in a stream only when asked to.
    pub(super) stream_usage: bool,
}

/// Whether the client wants events or one body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    Stream,
    Whole,
}

/// A response, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) delivery: Delivery,
    pub(super) frames: Vec<Frame>,
}

/// A step in sending a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Frame {
    Send(Vec<u8>),
    /// Wait until the client leaves.
    Stall,
    /// Close the connection.
    Cut,
}

/// A tool call with its id settled.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

/// A run of content of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Block {
    Think(String),
    Say(String),
    Call(Call),
}

/// Writes one provider's stream of events. Text comes in pieces.
trait Encoder {
    fn begin(&mut self, events: &mut Events);
    fn think(&mut self, piece: &str, events: &mut Events);
    fn say(&mut self, piece: &str, events: &mut Events);
    fn call(&mut self, call: &Call, events: &mut Events);
    fn fail(&mut self, message: &str, kind: Option<&str>, events: &mut Events);
    fn end(&mut self, finish: Finish, usage: Usage, events: &mut Events);
}

/// Server-sent events, one frame each.
#[derive(Debug, Default)]
struct Events {
    frames: Vec<Frame>,
}

impl Events {
    fn data(&mut self, data: &Value) {
        self.raw(&format!("data: {data}\n\n"));
    }

    fn named(&mut self, name: &str, data: &Value) {
        self.raw(&format!("event: {name}\ndata: {data}\n\n"));
    }

    fn raw(&mut self, text: &str) {
        self.frames.push(Frame::Send(text.as_bytes().to_vec()));
    }
}

/// Decides everything about the response to a request.
pub(super) fn plan(api: Api, answer: &Answer, facts: &Facts) -> Plan {
    let mut plan = match &answer.kind {
        Kind::Status { code, body: Some(body) } => whole(*code, body.clone().into_bytes()),
        Kind::Status { code, body: None } => error_plan(*code, &errors::status(api, *code)),
        Kind::Overflow => error_plan(400, &errors::overflow(api)),
        Kind::Model if facts.delivery == Delivery::Stream => stream(api, answer, facts),
        Kind::Model => single(api, answer, facts),
    };
    let id_header = if api == Api::Messages { "request-id" } else { "x-request-id" };
    plan.headers.push((id_header.to_owned(), format!("req_{}", facts.order)));
    plan.headers.extend(answer.headers.iter().cloned());
    plan
}

/// The answer to a request that no answer of the script is for.
pub(super) fn no_answer(api: Api, message: &str) -> Plan {
    error_plan(500, &errors::shaped(api, message, "script_error", None))
}

/// A JSON body of any status.
pub(super) fn json_plan(status: u16, body: &Value) -> Plan {
    whole(status, body.to_string().into_bytes())
}

fn error_plan(status: u16, body: &Value) -> Plan {
    json_plan(status, body)
}

fn whole(status: u16, body: Vec<u8>) -> Plan {
    Plan {
        status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        delivery: Delivery::Whole,
        frames: vec![Frame::Send(body)],
    }
}

fn stream(api: Api, answer: &Answer, facts: &Facts) -> Plan {
    let mut encoder: Box<dyn Encoder> = match api {
        Api::Chat => Box::new(chat::Stream::new(facts)),
        Api::Messages => Box::new(messages::Stream::new(facts, answer.usage)),
        Api::Responses => Box::new(responses::Stream::new(facts)),
    };
    let headers = [("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache")];
    Plan {
        status: 200,
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        delivery: Delivery::Stream,
        frames: stream_frames(encoder.as_mut(), api, answer, facts),
    }
}

fn stream_frames(encoder: &mut dyn Encoder, api: Api, answer: &Answer, facts: &Facts) -> Vec<Frame> {
    let mut events = Events::default();
    let mut calls = 0;
    encoder.begin(&mut events);
    for part in &answer.parts {
        match part {
            Part::Say(text) => pieces(text).for_each(|piece| encoder.say(piece, &mut events)),
            Part::Think(text) => pieces(text).for_each(|piece| encoder.think(piece, &mut events)),
            Part::Call { id, name, arguments } => {
                calls += 1;
                encoder.call(&settled(api, facts, calls, id.as_deref(), name, arguments), &mut events);
            }
            Part::Keepalive => events.raw(": keep-alive\n\n"),
            Part::Garbage(bytes) => events.raw(bytes),
            Part::Error { message, kind } => {
                encoder.fail(message, kind.as_deref(), &mut events);
                return events.frames;
            }
            Part::Stall => {
                events.frames.push(Frame::Stall);
                return events.frames;
            }
            Part::Cut => {
                events.frames.push(Frame::Cut);
                return events.frames;
            }
        }
    }
    encoder.end(answer.finish_reason(), answer.usage, &mut events);
    events.frames
}

/// The answer as one body. What would break a stream breaks the body in its middle.
fn single(api: Api, answer: &Answer, facts: &Facts) -> Plan {
    for part in &answer.parts {
        match part {
            Part::Garbage(bytes) => return whole(200, bytes.clone().into_bytes()),
            Part::Error { message, kind } => {
                return error_plan(
                    500,
                    &errors::shaped(api, message, kind.as_deref().unwrap_or("server_error"), None),
                );
            }
            _ => {}
        }
    }
    let blocks = blocks(api, answer, facts);
    let body = match api {
        Api::Chat => chat::whole(&blocks, answer, facts),
        Api::Messages => messages::whole(&blocks, answer, facts),
        Api::Responses => responses::whole(&blocks, answer, facts),
    };
    let mut plan = json_plan(200, &body);
    let broken = answer.parts.iter().find_map(|part| match part {
        Part::Stall => Some(Frame::Stall),
        Part::Cut => Some(Frame::Cut),
        _ => None,
    });
    if let (Some(end), [Frame::Send(bytes)]) = (broken, plan.frames.as_slice()) {
        let (first, second) = bytes.split_at(bytes.len() / 2);
        plan.frames = vec![Frame::Send(first.to_vec()), end, Frame::Send(second.to_vec())];
    }
    plan
}

/// The content in order, with neighbours of one kind joined.
fn blocks(api: Api, answer: &Answer, facts: &Facts) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut calls = 0;
    for part in &answer.parts {
        match (part, blocks.last_mut()) {
            (Part::Say(text), Some(Block::Say(before))) | (Part::Think(text), Some(Block::Think(before))) => {
                before.push_str(text);
            }
            (Part::Say(text), _) => blocks.push(Block::Say(text.clone())),
            (Part::Think(text), _) => blocks.push(Block::Think(text.clone())),
            (Part::Call { id, name, arguments }, _) => {
                calls += 1;
                blocks.push(Block::Call(settled(api, facts, calls, id.as_deref(), name, arguments)));
            }
            _ => {}
        }
    }
    blocks
}

fn settled(api: Api, facts: &Facts, number: usize, id: Option<&str>, name: &str, arguments: &str) -> Call {
    let prefix = if api == Api::Messages { "toolu" } else { "call" };
    let id = id.map_or_else(|| format!("{prefix}_{}_{number}", facts.order), str::to_owned);
    Call { id, name: name.to_owned(), arguments: arguments.to_owned() }
}

/// A text in pieces as a model streams them: a word with the space behind it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}

/// Arguments in pieces of a few characters, which fall anywhere in the JSON.
fn argument_pieces(arguments: &str) -> Vec<String> {
    let characters: Vec<char> = arguments.chars().collect();
    characters.chunks(8).map(|piece| piece.iter().collect()).collect()
}

/// The list of models, in a shape that serves both families of clients.
pub(super) fn models(names: &[String], windows: &HashMap<String, u64>) -> Value {
    let entry = |name: &String| {
        let mut entry = json!({
            "id": name, "object": "model", "created": CREATED, "owned_by": "test",
            "type": "model", "display_name": name, "created_at": "2024-01-01T00:00:00Z",
        });
        if let Some(window) = windows.get(name) {
            entry["context_length"] = json!(window);
        }
        entry
    };
    json!({
        "object": "list",
        "data": names.iter().map(entry).collect::<Vec<_>>(),
        "has_more": false, "first_id": names.first(), "last_id": names.last(),
    })
}

/// When every answer was made: a fixed time, so that answers can be compared.
const CREATED: u64 = 1_700_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_the_protocol_whatever_they_start_with() {
        assert_eq!(Api::of_path("/v1/chat/completions"), Some(Api::Chat));
        assert_eq!(Api::of_path("/proxy/v1/messages"), Some(Api::Messages));
        assert_eq!(Api::of_path("/v1/responses"), Some(Api::Responses));
        assert_eq!(Api::of_path("/v1/models"), None);
    }

    #[test]
    fn pieces_make_up_the_text() {
        let text = "Grüße,  an alle\nda";
        assert_eq!(pieces(text).collect::<String>(), text);
        assert_eq!(argument_pieces("{\"a\":\"äöü ßßß\"}").concat(), "{\"a\":\"äöü ßßß\"}");
        assert!(argument_pieces("").is_empty());
    }
}
