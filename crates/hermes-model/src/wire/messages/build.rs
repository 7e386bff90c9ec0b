//! Writes requests as Anthropic messages.

use serde_json::{Map, Value, json};

use super::thinking::{Thinking, limit_and_fields, takes_temperature, thinking_for};
use crate::endpoint::Endpoint;
use crate::json::canonical_object;
use crate::message::{Content, Image, Message, Part, Reasoning, Replay, ToolCall, ToolResult, ToolStatus};
use crate::request::{CacheMarks, Delivery, Request, ToolSpec, ToolUse};
use crate::wire::{Outgoing, marked};

/// The request as this endpoint wants it.
pub(in crate::wire) fn build(endpoint: &Endpoint, request: &Request) -> Outgoing {
    let thinking = thinking_for(request, endpoint.issuer());
    let (limit, fields) = limit_and_fields(request, thinking);
    let mark = mark_of(request.cache);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("max_tokens".to_owned(), json!(limit));
    if !request.system.is_empty() {
        let mut block = json!({"type": "text", "text": request.system});
        put_mark(&mut block, mark.as_ref());
        body.insert("system".to_owned(), json!([block]));
    }
    body.insert("messages".to_owned(), Value::Array(messages(endpoint, request, thinking, mark.as_ref())));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        if request.tool_use == ToolUse::Forbidden {
            body.insert("tool_choice".to_owned(), json!({"type": "none"}));
        }
    }
    if let Some(temperature) =
        request.temperature.filter(|_| thinking == Thinking::Off && takes_temperature(&request.model))
    {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    body.extend(fields);
    if request.delivery == Delivery::Stream {
        body.insert("stream".to_owned(), json!(true));
    }
    Outgoing { path: path(endpoint), headers: headers(endpoint, thinking), body: Value::Object(body) }
}

/// The version belongs to the path, but many addresses hold it already.
fn path(endpoint: &Endpoint) -> &'static str {
    if endpoint.base_url.path().ends_with("/v1") { "/messages" } else { "/v1/messages" }
}

fn headers(endpoint: &Endpoint, thinking: Thinking) -> Vec<(&'static str, String)> {
    let mut headers = vec![("anthropic-version", "2023-06-01".to_owned())];
    if matches!(thinking, Thinking::Budget(_)) && endpoint.base_url.is_in("anthropic.com") {
        headers.push(("anthropic-beta", "interleaved-thinking-2025-05-14".to_owned()));
    }
    headers
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
}

fn mark_of(cache: CacheMarks) -> Option<Value> {
    match cache {
        CacheMarks::Off => None,
        CacheMarks::FiveMinutes => Some(json!({"type": "ephemeral"})),
        CacheMarks::OneHour => Some(json!({"type": "ephemeral", "ttl": "1h"})),
    }
}

fn put_mark(block: &mut Value, mark: Option<&Value>) {
    if let (Some(mark), Some(block)) = (mark, block.as_object_mut()) {
        block.insert("cache_control".to_owned(), mark.clone());
    }
}

/// Users and assistants must take turns; results of tools are words of the user here.
fn messages(endpoint: &Endpoint, request: &Request, thinking: Thinking, mark: Option<&Value>) -> Vec<Value> {
    let marked = marked(&request.messages, |_| mark.is_some());
    let mut turns: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for (message, is_marked) in request.messages.iter().zip(marked) {
        let (role, mut blocks) = match message {
            Message::User(content) => ("user", content.iter().map(content_block).collect()),
            Message::Tool(result) => ("user", vec![tool_result(result)]),
            Message::Assistant(parts) => ("assistant", assistant(endpoint, parts, thinking)),
        };
        // Thoughts cannot carry a mark.
        let carrier =
            blocks.iter_mut().rev().find(|block| block["signature"].is_null() && block["data"].is_null());
        if let (Some(block), true) = (carrier, is_marked) {
            put_mark(block, mark);
        }
        match turns.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn content_block(content: &Content) -> Value {
    match content {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Image(Image::Inline { media_type, base64 }) => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": base64}})
        }
        Content::Image(Image::Url(url)) => json!({"type": "image", "source": {"type": "url", "url": url}}),
    }
}

fn tool_result(result: &ToolResult) -> Value {
    let has_words = |item: &&Content| !matches!(item, Content::Text(text) if text.trim().is_empty());
    let content: Vec<Value> = result.content.iter().filter(has_words).map(content_block).collect();
    let mut block =
        json!({"type": "tool_result", "tool_use_id": safe_id(&result.call_id), "content": content});
    if let (ToolStatus::Failed, Some(block)) = (result.status, block.as_object_mut()) {
        block.insert("is_error".to_owned(), json!(true));
    }
    block
}

fn assistant(endpoint: &Endpoint, parts: &[Part], thinking: Thinking) -> Vec<Value> {
    let block = |part: &Part| match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Call(call) => Some(tool_use(call)),
        Part::Reasoning(reasoning) if thinking != Thinking::Off => thoughts_back(endpoint, reasoning),
        Part::Reasoning(_) => None,
    };
    parts.iter().filter_map(block).collect()
}

/// Signatures are worth something only to the one who made them.
fn thoughts_back(endpoint: &Endpoint, reasoning: &Reasoning) -> Option<Value> {
    if reasoning.issuer != endpoint.issuer() {
        return None;
    }
    match reasoning.replay.as_ref()? {
        Replay::Signature(signature) => {
            Some(json!({"type": "thinking", "thinking": reasoning.text, "signature": signature}))
        }
        Replay::Redacted(data) => Some(json!({"type": "redacted_thinking", "data": data})),
        Replay::Encrypted { .. } | Replay::Details(_) => None,
    }
}

fn tool_use(call: &ToolCall) -> Value {
    json!({
        "type": "tool_use", "id": safe_id(&call.id), "name": call.name, "input": canonical_object(&call.arguments),
    })
}

/// Ids made elsewhere may hold characters that are refused here.
fn safe_id(id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    if id.is_empty() { "call".to_owned() } else { id.chars().map(safe).collect() }
}
