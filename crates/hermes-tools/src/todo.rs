//! The `todo` tool: the task list of one conversation. It lives in the conversation itself: every result holds the whole
//! list, so a conversation that goes on elsewhere finds it there.

mod items;

use std::collections::HashMap;
use std::sync::Mutex;

use hermes_model::{Message, ToolSpec};
use serde_json::{Value, json};

use crate::fields;
use crate::tool::{Arguments, Moment, Run, Running, Tool, ToolOutput};
use crate::workplace::lock;
use items::{Items, Way};

/// See the module.
#[derive(Debug, Default)]
pub struct Todo {
    lists: Mutex<HashMap<String, Items>>,
}

impl Todo {
    /// The tool, with no list yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn work(&self, run: &Run<'_>) -> Result<Value, String> {
        let way =
            if fields::flag(run.arguments, "merge")?.unwrap_or(false) { Way::Merge } else { Way::Replace };
        let given = match run.arguments.get("todos") {
            None | Some(Value::Null) => None,
            Some(Value::Array(items)) => Some(Items::read(items)?),
            Some(_) => return Err("\"todos\" must be a list of objects".to_owned()),
        };
        let mut lists = lock(&self.lists);
        let list = lists.entry(run.session.to_owned()).or_default();
        if let Some(given) = given {
            list.take(given, way)?;
        }
        Ok(list.result())
    }
}

/// The newest list in a conversation.
fn newest(messages: &[Message]) -> Option<Items> {
    messages.iter().rev().find_map(|message| match message {
        Message::Tool(result) if result.name == "todo" => Items::from_result(&message.text()),
        _ => None,
    })
}

impl Tool for Todo {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "todo".to_owned(), description: DESCRIPTION.to_owned(), parameters: parameters() }
    }

    fn toolset(&self) -> &'static str {
        "todo"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        match arguments.get("todos").and_then(Value::as_array) {
            None => "look".to_owned(),
            Some(items) => items::brief(items),
        }
    }

    fn tell(&self, session: &str, moment: Moment<'_>) {
        if let Moment::Resumed(messages) = moment
            && let Some(items) = newest(messages)
        {
            lock(&self.lists).insert(session.to_owned(), items);
        }
    }

    fn remind(&self, session: &str) -> Option<String> {
        lock(&self.lists).get(session).and_then(Items::open)
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        let result = match self.work(&run) {
            Ok(value) => ToolOutput::json(&value),
            Err(problem) => ToolOutput::error(problem),
        };
        Box::pin(std::future::ready(result))
    }
}

const DESCRIPTION: &str = "The task list of this conversation, most important first; without todos it is shown. Keep \
exactly one item in_progress, and mark items completed as soon as they are. merge=true changes the given items by id and \
adds new ones; otherwise the list is replaced.";

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "todos": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "id": { "type": "string" },
                    "content": { "type": "string" },
                    "status": { "type": "string", "enum": items::STATES }
                },
                "required": ["id"]
            } },
            "merge": { "type": "boolean" }
        }
    })
}
