//! Conversations for the tests of this module.

use hermes_model::{Content, Message, Part, ToolCall, ToolResult, ToolStatus};
use jiff::Timestamp;

use crate::history::{Entry, RowId};

pub(super) fn conversation(messages: Vec<Message>) -> Vec<Entry> {
    let entry = |(place, message)| Entry {
        row: RowId(place as i64 + 1),
        message,
        finish: None,
        at: Timestamp::UNIX_EPOCH,
    };
    messages.into_iter().enumerate().map(entry).collect()
}

pub(super) fn call(id: &str, name: &str, arguments: &str) -> Message {
    Message::Assistant(vec![Part::Call(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        ..ToolCall::default()
    })])
}

pub(super) fn result(id: &str, name: &str, text: &str) -> Message {
    Message::Tool(ToolResult {
        call_id: id.into(),
        name: name.into(),
        content: vec![Content::Text(text.into())],
        status: ToolStatus::Ok,
    })
}

/// A conversation of so many exchanges, each a question, a call with its result, and an answer.
pub(super) fn long_conversation(exchanges: usize) -> Vec<Entry> {
    let exchange = |n: usize| {
        let id = format!("c{n}");
        [
            Message::user(format!("question {n}")),
            call(&id, "terminal", r#"{"command":"make"}"#),
            result(&id, "terminal", &format!("output {n} {}", "x".repeat(4_000))),
            Message::assistant(format!("answer {n}")),
        ]
    };
    conversation((0..exchanges).flat_map(exchange).collect())
}
