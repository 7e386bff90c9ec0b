//! Messages as rows of `state.db` and back. The shape of a row is shared with another program; ours is richer in places,
//! and what it does not hold is left out.

use hermes_model::message::text_of;
use hermes_model::{
    Content, Finish, Image, Message, Part, Reasoning, Replay, ToolCall, ToolResult, ToolStatus,
};
use hermes_store::sessions::{Body, NewMessage, Role, StoredMessage};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::history::{Entry, RowId};

/// Pictures larger than this are not kept: the file would grow without bound.
const LARGEST_IMAGE: usize = 1 << 20;

/// A message as a row.
pub fn to_row(message: &Message, finish: Option<&Finish>, at: Timestamp) -> NewMessage {
    match message {
        Message::User(content) => {
            NewMessage { content: Some(body(content)), ..NewMessage::empty(Role::User, at) }
        }
        Message::Assistant(parts) => assistant_row(parts, finish, at),
        Message::Tool(result) => NewMessage {
            content: Some(body(&result.content)),
            tool_call_id: Some(result.call_id.clone()),
            tool_name: Some(result.name.clone()),
            ..NewMessage::empty(Role::Tool, at)
        },
    }
}

/// A row as a message. `issuer` is the host whose thoughts the row may hold. Rows of roles we do not know are left out.
pub fn from_row(row: StoredMessage, issuer: &str) -> Option<Entry> {
    let stored = row.message;
    let content = content_of(stored.content.as_ref());
    let finish = stored.finish_reason.as_deref().map(finish_of);
    let message = match stored.role {
        Role::User => Message::User(content),
        Role::Assistant => Message::Assistant(parts_of(&stored, &content, issuer)),
        Role::Tool => {
            let status = status_of(&text_of(&content));
            let (call_id, name) =
                (stored.tool_call_id.unwrap_or_default(), stored.tool_name.unwrap_or_default());
            Message::Tool(ToolResult { call_id, name, content, status })
        }
        Role::System | Role::Other(_) => return None,
    };
    Some(Entry { row: RowId(row.id.0), message, finish, at: stored.timestamp })
}

fn body(content: &[Content]) -> Body {
    if content.iter().all(|item| matches!(item, Content::Text(_))) {
        return Body::Text(text_of(content));
    }
    let part = |item: &Content| match item {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Image(image) if image.size() > LARGEST_IMAGE => {
            json!({"type": "text", "text": "[a picture that was too large to keep]"})
        }
        Content::Image(image) => json!({"type": "image_url", "image_url": {"url": image.to_url()}}),
    };
    Body::Parts(content.iter().map(part).collect())
}

fn content_of(body: Option<&Body>) -> Vec<Content> {
    match body {
        None => Vec::new(),
        Some(Body::Text(text)) => vec![Content::Text(text.clone())],
        Some(Body::Parts(Value::Array(parts))) => parts.iter().filter_map(content_part).collect(),
        Some(Body::Parts(other)) => vec![Content::Text(other.to_string())],
    }
}

fn content_part(part: &Value) -> Option<Content> {
    if let Some(text) = part.as_str().or(part["text"].as_str()) {
        return Some(Content::Text(text.to_owned()));
    }
    let url = part["image_url"]["url"].as_str().or(part["image_url"].as_str())?;
    Some(Content::Image(Image::from_url(url)))
}

fn assistant_row(parts: &[Part], finish: Option<&Finish>, at: Timestamp) -> NewMessage {
    let mut row = NewMessage::new(Role::Assistant, Message::Assistant(parts.to_vec()).text(), at);
    row.finish_reason = finish.map(|finish| word_of(finish).to_owned());
    let calls: Vec<Value> = parts.iter().filter_map(call_row).collect();
    row.tool_calls = (!calls.is_empty()).then_some(Value::Array(calls));
    let thoughts: Vec<&Reasoning> = parts.iter().filter_map(thoughts_of).collect();
    let texts: Vec<&str> = thoughts.iter().map(|t| t.text.as_str()).filter(|text| !text.is_empty()).collect();
    row.reasoning = (!texts.is_empty()).then(|| texts.join("\n"));
    let (mut details, mut items) = (Vec::new(), Vec::new());
    for thought in thoughts {
        match &thought.replay {
            None => {}
            Some(Replay::Details(list)) => details.extend(list.iter().cloned()),
            Some(Replay::Signature(signature)) => {
                details.push(json!({"type": "thinking", "thinking": thought.text, "signature": signature}));
            }
            Some(Replay::Redacted(data)) => details.push(json!({"type": "redacted_thinking", "data": data})),
            Some(Replay::Encrypted { id, content }) => items.push(encrypted_row(thought, id, content)),
        }
    }
    row.reasoning_details = (!details.is_empty()).then_some(Value::Array(details));
    row.codex_reasoning_items = (!items.is_empty()).then_some(Value::Array(items));
    row
}

fn encrypted_row(thought: &Reasoning, id: &str, content: &str) -> Value {
    let summary = if thought.text.is_empty() {
        json!([])
    } else {
        json!([{"type": "summary_text", "text": thought.text}])
    };
    json!({"type": "reasoning", "id": id, "encrypted_content": content, "summary": summary})
}

fn thoughts_of(part: &Part) -> Option<&Reasoning> {
    if let Part::Reasoning(reasoning) = part { Some(reasoning) } else { None }
}

fn call_row(part: &Part) -> Option<Value> {
    let Part::Call(call) = part else { return None };
    let mut row = json!({
        "id": call.id, "call_id": call.id, "response_item_id": call.item_id, "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    });
    if let Some(extra) = &call.extra {
        row["extra_content"] = extra.clone();
    }
    Some(row)
}

fn parts_of(stored: &NewMessage, content: &[Content], issuer: &str) -> Vec<Part> {
    let mut parts = replayed(stored, issuer);
    let text = text_of(content);
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    let calls = stored.tool_calls.iter().flat_map(|calls| calls.as_array().into_iter().flatten());
    parts.extend(calls.enumerate().map(|(place, call)| Part::Call(call_of(call, place))));
    parts
}

/// The thoughts of a row: what the provider wants back if there is any, else the text alone.
fn replayed(stored: &NewMessage, issuer: &str) -> Vec<Part> {
    let thought = |text: &str, replay| Reasoning { text: text.to_owned(), issuer: issuer.to_owned(), replay };
    let list = |value: &Option<Value>| value.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut thoughts = Vec::new();
    for item in list(&stored.codex_reasoning_items) {
        let replay = Replay::Encrypted { id: text(&item, "id"), content: text(&item, "encrypted_content") };
        let summary: Vec<String> =
            item["summary"].as_array().into_iter().flatten().map(|part| text(part, "text")).collect();
        thoughts.push(thought(&summary.join("\n"), Some(replay)));
    }
    let mut others = Vec::new();
    for item in list(&stored.reasoning_details) {
        match item["type"].as_str() {
            Some("thinking") if item["signature"].is_string() => {
                let replay = Replay::Signature(text(&item, "signature"));
                thoughts.push(thought(&text(&item, "thinking"), Some(replay)));
            }
            Some("redacted_thinking") => {
                thoughts.push(thought("", Some(Replay::Redacted(text(&item, "data")))));
            }
            _ => others.push(item),
        }
    }
    let words = stored.reasoning.as_deref().or(stored.reasoning_content.as_deref()).unwrap_or_default();
    if !others.is_empty() {
        thoughts.push(thought(words, Some(Replay::Details(others))));
    } else if thoughts.is_empty() && !words.trim().is_empty() {
        thoughts.push(thought(words, None));
    }
    thoughts.into_iter().map(Part::Reasoning).collect()
}

fn call_of(call: &Value, place: usize) -> ToolCall {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let function = &call["function"];
    let arguments = match &function["arguments"] {
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    };
    ToolCall {
        id: text(&call["id"]).or(text(&call["call_id"])).unwrap_or_else(|| format!("call_{place}")),
        name: text(&function["name"]).unwrap_or_default(),
        arguments,
        item_id: text(&call["response_item_id"]),
        extra: call.get("extra_content").filter(|extra| !extra.is_null()).cloned(),
    }
}

/// The table does not say how a call went; results that are errors say so themselves.
fn status_of(text: &str) -> ToolStatus {
    let value: Value =
        if text.starts_with('{') { serde_json::from_str(text).unwrap_or_default() } else { Value::Null };
    let failed = value.get("error").is_some_and(|error| !error.is_null()) && value.get("exit_code").is_none();
    if failed { ToolStatus::Failed } else { ToolStatus::Ok }
}

fn word_of(finish: &Finish) -> &str {
    match finish {
        Finish::Stop => "stop",
        Finish::ToolCalls => "tool_calls",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
        Finish::Interrupted => "interrupted",
        Finish::Other(word) => word,
    }
}

fn finish_of(word: &str) -> Finish {
    match word {
        "stop" => Finish::Stop,
        "tool_calls" => Finish::ToolCalls,
        "length" => Finish::Length,
        "content_filter" => Finish::ContentFilter,
        "interrupted" => Finish::Interrupted,
        other => Finish::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use hermes_store::sessions::{MessageId, SessionId, Standing};

    fn there_and_back(message: &Message, finish: Option<&Finish>) -> Entry {
        let row = StoredMessage {
            id: MessageId(7),
            session: SessionId::from("s"),
            standing: Standing::Active,
            message: to_row(message, finish, Timestamp::UNIX_EPOCH),
        };
        from_row(row, "api.test").unwrap()
    }

    #[test]
    fn messages_survive_the_way_through_a_row() {
        let call = ToolCall {
            id: "c1".into(),
            name: "terminal".into(),
            arguments: "{\"command\":\"ls\"}".into(),
            item_id: Some("fc_1".into()),
            extra: Some(json!({"google": {"thought_signature": "x"}})),
        };
        let thought = |text: &str, replay| {
            Part::Reasoning(Reasoning { text: text.into(), issuer: "api.test".into(), replay })
        };
        let messages = [
            Message::user("hi"),
            Message::User(vec![
                Content::Text("look".into()),
                Content::Image(Image::Inline { media_type: "image/png".into(), base64: "AAAA".into() }),
            ]),
            Message::Assistant(vec![
                thought("hm", Some(Replay::Signature("sig".into()))),
                thought("", Some(Replay::Redacted("data".into()))),
                Part::Text("I look.".into()),
                Part::Call(call.clone()),
            ]),
            Message::Assistant(vec![
                thought("so", Some(Replay::Encrypted { id: "rs_1".into(), content: "blob".into() })),
                Part::Text("x".into()),
            ]),
            Message::Assistant(vec![
                thought("so", Some(Replay::Details(vec![json!({"type": "reasoning.text", "text": "so"})]))),
                Part::Text("x".into()),
            ]),
            Message::Assistant(vec![thought("plain", None), Part::Text("x".into())]),
            Message::Tool(ToolResult::ok(&call, "{\"output\": \"a\", \"exit_code\": 1, \"error\": null}")),
            Message::Tool(ToolResult {
                status: ToolStatus::Failed,
                ..ToolResult::ok(&call, "{\"error\":\"no\"}")
            }),
        ];
        for message in messages {
            let entry = there_and_back(&message, Some(&Finish::Stop));
            assert_eq!(entry.message, message);
            let answers = matches!(message, Message::Assistant(_));
            assert_eq!((entry.row, entry.finish), (RowId(7), answers.then_some(Finish::Stop)));
        }
    }

    #[test]
    fn rows_of_the_other_program_are_read() {
        let mut row = NewMessage::new(Role::Assistant, "", Timestamp::UNIX_EPOCH);
        row.tool_calls = Some(json!([{"function": {"name": "terminal", "arguments": {"command": "ls"}}}]));
        row.finish_reason = Some("tool_calls".into());
        let stored = StoredMessage {
            id: MessageId(1),
            session: SessionId::from("s"),
            standing: Standing::Active,
            message: row,
        };
        let entry = from_row(stored, "").unwrap();
        let call = entry.message.calls().next().unwrap().clone();
        assert_eq!((call.id.as_str(), call.arguments.as_str()), ("call_0", "{\"command\":\"ls\"}"));
    }

    #[test]
    fn a_picture_without_end_is_not_kept() {
        let base64 = "A".repeat(LARGEST_IMAGE + 1);
        let image = Content::Image(Image::Inline { media_type: "image/png".into(), base64 });
        let entry = there_and_back(&Message::User(vec![image]), None);
        assert!(entry.message.text().contains("too large"));
    }
}
