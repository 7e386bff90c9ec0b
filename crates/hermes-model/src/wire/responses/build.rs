//! Writes requests as `OpenAI` responses.

use serde_json::{Map, Value, json};

use crate::adjust::Adjustment;
use crate::endpoint::Endpoint;
use crate::json::canonical_arguments;
use crate::message::{Content, Message, Part, Reasoning, Replay, ToolCall, ToolResult, text_of};
use crate::request::{Delivery, Request, ToolSpec, ToolUse};
use crate::wire::Outgoing;

/// The request as this endpoint wants it. Nothing is stored on the other side; the conversation is sent every time.
pub(in crate::wire) fn build(endpoint: &Endpoint, request: &Request) -> Outgoing {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    if !request.system.is_empty() {
        body.insert("instructions".to_owned(), json!(request.system));
    }
    body.insert(
        "input".to_owned(),
        request.messages.iter().flat_map(|message| items(endpoint, message)).collect(),
    );
    body.insert("store".to_owned(), json!(false));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        if !endpoint.learned.has(Adjustment::NoParallelCalls) {
            body.insert("parallel_tool_calls".to_owned(), json!(true));
        }
        if request.tool_use == ToolUse::Forbidden {
            body.insert("tool_choice".to_owned(), json!("none"));
        }
    }
    body.extend(reasoning(endpoint, request));
    if let Some(limit) = request.max_tokens.filter(|_| !endpoint.learned.has(Adjustment::OtherLimitField)) {
        body.insert("max_output_tokens".to_owned(), json!(limit));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(session) = &request.session {
        body.insert("prompt_cache_key".to_owned(), json!(session));
    }
    if request.delivery == Delivery::Stream {
        body.insert("stream".to_owned(), json!(true));
    }
    Outgoing { path: "/responses", headers: headers(endpoint, request), body: Value::Object(body) }
}

/// Pins the conversation to one server, where its prompt is cached.
fn headers(endpoint: &Endpoint, request: &Request) -> Vec<(&'static str, String)> {
    let session = request.session.clone().filter(|_| endpoint.base_url.is_in("x.ai"));
    session.map(|session| ("x-grok-conv-id", session)).into_iter().collect()
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters, "strict": false})
}

/// What is said about thoughts, to models that have some.
fn reasoning(endpoint: &Endpoint, request: &Request) -> Map<String, Value> {
    let mut fields = Map::new();
    if endpoint.learned.has(Adjustment::NoEffort) {
        return fields;
    }
    if request.effort.is_some() || thinks(&request.model) {
        let mut reasoning = json!({"summary": "auto"});
        if let (Some(effort), Some(reasoning)) = (request.effort, reasoning.as_object_mut()) {
            reasoning.insert("effort".to_owned(), json!(effort.word()));
        }
        fields.insert("reasoning".to_owned(), reasoning);
        fields.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    fields
}

/// Models that are known to think; others refuse the field.
fn thinks(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    ["gpt-5", "o1", "o3", "o4", "codex"].iter().any(|start| name.starts_with(start))
        && !name.contains("-chat")
}

fn items(endpoint: &Endpoint, message: &Message) -> Vec<Value> {
    match message {
        Message::User(content) => {
            vec![json!({"role": "user", "content": content.iter().map(input).collect::<Vec<_>>()})]
        }
        Message::Tool(result) => vec![call_output(result)],
        Message::Assistant(parts) => parts.iter().filter_map(|part| output_item(endpoint, part)).collect(),
    }
}

fn input(content: &Content) -> Value {
    match content {
        Content::Text(text) => json!({"type": "input_text", "text": text}),
        Content::Image(image) => {
            json!({"type": "input_image", "image_url": image.to_url(), "detail": "auto"})
        }
    }
}

fn call_output(result: &ToolResult) -> Value {
    let has_images = result.content.iter().any(|item| matches!(item, Content::Image(_)));
    let output =
        if has_images { result.content.iter().map(input).collect() } else { json!(text_of(&result.content)) };
    json!({"type": "function_call_output", "call_id": result.call_id, "output": output})
}

fn output_item(endpoint: &Endpoint, part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({"role": "assistant", "content": text})),
        Part::Call(call) => Some(function_call(call)),
        Part::Reasoning(reasoning) => thoughts_back(endpoint, reasoning),
    }
}

fn function_call(call: &ToolCall) -> Value {
    let arguments = canonical_arguments(&call.arguments);
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
}

/// Only the one who encrypted thoughts can read them.
fn thoughts_back(endpoint: &Endpoint, reasoning: &Reasoning) -> Option<Value> {
    let Some(Replay::Encrypted { id, content }) = &reasoning.replay else { return None };
    if reasoning.issuer != endpoint.issuer() {
        return None;
    }
    let summary: Vec<Value> = match reasoning.text.as_str() {
        "" => Vec::new(),
        text => vec![json!({"type": "summary_text", "text": text})],
    };
    Some(json!({"type": "reasoning", "id": id, "summary": summary, "encrypted_content": content}))
}
