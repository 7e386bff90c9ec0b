//! Writes requests as chat completions.

use serde_json::{Map, Value, json};

use crate::adjust::Adjustment;
use crate::endpoint::{EffortStyle, Endpoint, LimitField, ThoughtsBack};
use crate::json::canonical_arguments;
use crate::message::{Content, Image, Message, Part, Reasoning, Replay, ToolCall, ToolResult, text_of};
use crate::request::{CacheMarks, Delivery, Effort, Request, ToolSpec, ToolUse};
use crate::wire::{Outgoing, marked};

/// The request as this endpoint wants it. Nothing is sent that nobody asked for: many servers refuse what they do not
/// know.
pub(in crate::wire) fn build(endpoint: &Endpoint, request: &Request) -> Outgoing {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("messages".to_owned(), Value::Array(messages(endpoint, request)));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        if request.tool_use == ToolUse::Forbidden {
            body.insert("tool_choice".to_owned(), json!("none"));
        }
    }
    limits(endpoint, request, &mut body);
    if let Some(effort) = request.effort {
        body.extend(effort_fields(endpoint.quirks.effort, effort));
    }
    if request.delivery == Delivery::Stream {
        body.insert("stream".to_owned(), json!(true));
        if !endpoint.learned.has(Adjustment::NoStreamOptions) {
            body.insert("stream_options".to_owned(), json!({"include_usage": true}));
        }
    }
    Outgoing { path: "/chat/completions", headers: Vec::new(), body: Value::Object(body) }
}

fn limits(endpoint: &Endpoint, request: &Request, body: &mut Map<String, Value>) {
    let other = endpoint.learned.has(Adjustment::OtherLimitField);
    let field = match (endpoint.quirks.limit, other) {
        (LimitField::Plain, false) | (LimitField::Completion, true) => "max_tokens",
        (LimitField::Completion, false) | (LimitField::Plain, true) => "max_completion_tokens",
    };
    if let Some(limit) = request.max_tokens {
        body.insert(field.to_owned(), json!(limit));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    })
}

/// How this endpoint is told how much to think.
fn effort_fields(style: EffortStyle, effort: Effort) -> Map<String, Value> {
    let word = json!({"reasoning_effort": effort.word()});
    let switch = |state: &str| json!({"thinking": {"type": state}});
    let off = effort == Effort::None;
    let fields = match style {
        EffortStyle::Word => word,
        EffortStyle::Object if off => json!({"reasoning": {"enabled": false}}),
        EffortStyle::Object => json!({"reasoning": {"effort": effort.word()}}),
        EffortStyle::Switch | EffortStyle::SwitchAndWord | EffortStyle::SwitchOrWord if off => {
            switch("disabled")
        }
        EffortStyle::Switch => switch("enabled"),
        EffortStyle::SwitchAndWord => {
            let word = if effort == Effort::XHigh { "max" } else { plain_word(effort) };
            json!({"thinking": {"type": "enabled"}, "reasoning_effort": word})
        }
        EffortStyle::SwitchOrWord => json!({"reasoning_effort": plain_word(effort)}),
    };
    if let Value::Object(fields) = fields { fields } else { Map::new() }
}

/// The three words everyone knows.
fn plain_word(effort: Effort) -> &'static str {
    match effort {
        Effort::None | Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::XHigh => "high",
    }
}

fn messages(endpoint: &Endpoint, request: &Request) -> Vec<Value> {
    let marks = mark_of(endpoint, request);
    let marked = marked(&request.messages, |message| can_carry_mark(message) && marks.is_some());
    let mut written = Vec::new();
    if !request.system.is_empty() {
        let role = system_role(&request.model);
        written.push(match &marks {
            Some(mark) => json!({"role": role, "content": [text_block(&request.system, Some(mark))]}),
            None => json!({"role": role, "content": request.system}),
        });
    }
    // Pictures of tools: this format has no place for them in results, so they follow as words of the user.
    let mut shown: Vec<Image> = Vec::new();
    for (message, is_marked) in request.messages.iter().zip(marked) {
        if !matches!(message, Message::Tool(_)) {
            written.extend(pictures(&mut shown));
        }
        let mark = marks.as_ref().filter(|_| is_marked);
        written.push(match message {
            Message::User(content) => json!({"role": "user", "content": user_content(content, mark)}),
            Message::Assistant(parts) => assistant(endpoint, parts, mark),
            Message::Tool(result) => tool_result(result, &mut shown),
        });
    }
    written.extend(pictures(&mut shown));
    written
}

/// Newer models of `OpenAI` know the system prompt under another name.
fn system_role(model: &str) -> &'static str {
    let model = model.to_lowercase();
    if model.contains("gpt-5") || model.contains("codex") { "developer" } else { "system" }
}

fn mark_of(endpoint: &Endpoint, request: &Request) -> Option<Value> {
    let wanted = endpoint.quirks.chat_marks.apply_to(&request.model);
    match request.cache {
        CacheMarks::Off => None,
        CacheMarks::FiveMinutes => wanted.then(|| json!({"type": "ephemeral"})),
        CacheMarks::OneHour => wanted.then(|| json!({"type": "ephemeral", "ttl": "1h"})),
    }
}

fn can_carry_mark(message: &Message) -> bool {
    !matches!(message, Message::Tool(_)) && !message.text().is_empty()
}

fn text_block(text: &str, mark: Option<&Value>) -> Value {
    let mut block = json!({"type": "text", "text": text});
    if let (Some(mark), Some(block)) = (mark, block.as_object_mut()) {
        block.insert("cache_control".to_owned(), mark.clone());
    }
    block
}

/// Plain text stays a plain string: every server takes that.
fn user_content(content: &[Content], mark: Option<&Value>) -> Value {
    let has_images = content.iter().any(|item| matches!(item, Content::Image(_)));
    if !has_images && mark.is_none() {
        return json!(text_of(content));
    }
    let last_text = content.iter().rposition(|item| matches!(item, Content::Text(_)));
    let block = |(at, item): (usize, &Content)| match item {
        Content::Text(text) => text_block(text, mark.filter(|_| Some(at) == last_text)),
        Content::Image(image) => image_block(image),
    };
    content.iter().enumerate().map(block).collect()
}

fn image_block(image: &Image) -> Value {
    json!({"type": "image_url", "image_url": {"url": image.to_url()}})
}

fn pictures(shown: &mut Vec<Image>) -> Option<Value> {
    if shown.is_empty() {
        return None;
    }
    let mut content = vec![text_block("The pictures from the tool results above, in order:", None)];
    content.extend(shown.drain(..).map(|image| image_block(&image)));
    Some(json!({"role": "user", "content": content}))
}

fn tool_result(result: &ToolResult, shown: &mut Vec<Image>) -> Value {
    let images = result
        .content
        .iter()
        .filter_map(|item| if let Content::Image(image) = item { Some(image) } else { None });
    let before = shown.len();
    shown.extend(images.cloned());
    let mut text = text_of(&result.content);
    if shown.len() > before {
        text.push_str("\n[picture: see below]");
    }
    json!({"role": "tool", "name": result.name, "tool_call_id": result.call_id, "content": text.trim_start()})
}

fn assistant(endpoint: &Endpoint, parts: &[Part], mark: Option<&Value>) -> Value {
    let text = Message::Assistant(parts.to_vec()).text();
    let content = match mark {
        Some(mark) => json!([text_block(&text, Some(mark))]),
        None => json!(text),
    };
    let mut message = json!({"role": "assistant", "content": content});
    let calls: Vec<Value> = parts
        .iter()
        .filter_map(|part| if let Part::Call(call) = part { Some(tool_call(call)) } else { None })
        .collect();
    let thoughts: Vec<&Reasoning> = parts
        .iter()
        .filter_map(|part| if let Part::Reasoning(reasoning) = part { Some(reasoning) } else { None })
        .filter(|reasoning| reasoning.issuer == endpoint.issuer())
        .collect();
    if let Some(message) = message.as_object_mut() {
        message.extend(thoughts_back(endpoint, &thoughts, !calls.is_empty()));
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), Value::Array(calls));
        }
    }
    message
}

/// The thoughts this endpoint wants back, in its field.
fn thoughts_back(endpoint: &Endpoint, thoughts: &[&Reasoning], has_calls: bool) -> Option<(String, Value)> {
    let text: String = thoughts.iter().map(|reasoning| reasoning.text.as_str()).collect();
    let content = |text: String| Some(("reasoning_content".to_owned(), json!(text)));
    match endpoint.quirks.thoughts {
        _ if endpoint.learned.has(Adjustment::ForgetThoughts) => None,
        ThoughtsBack::Never => None,
        ThoughtsBack::Always if text.is_empty() && has_calls => content(" ".to_owned()),
        ThoughtsBack::OwnOnly | ThoughtsBack::Always if text.is_empty() => None,
        ThoughtsBack::OwnOnly | ThoughtsBack::Always => content(text),
        ThoughtsBack::Details => {
            let details = thoughts.iter().filter_map(|reasoning| match &reasoning.replay {
                Some(Replay::Details(details)) => Some(details.clone()),
                _ => None,
            });
            let details: Vec<Value> = details.flatten().collect();
            (!details.is_empty()).then(|| ("reasoning_details".to_owned(), Value::Array(details)))
        }
    }
}

fn tool_call(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "arguments": canonical_arguments(&call.arguments)});
    let mut written = json!({"id": call.id, "type": "function", "function": function});
    if let (Some(extra), Some(written)) = (&call.extra, written.as_object_mut()) {
        written.insert("extra_content".to_owned(), extra.clone());
    }
    written
}
