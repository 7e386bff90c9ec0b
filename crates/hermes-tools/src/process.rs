//! The `process` tool: background commands of this place, also those that earlier programs started.

mod act;
mod log;
mod show;

use hermes_model::ToolSpec;
use serde_json::{Value, json};

use crate::fields;
use crate::gate::{Action, Verdict};
use crate::thread::{self, Link};
use crate::tool::{Arguments, Run, Running, Tool, ToolOutput};
use crate::workplace::Workplace;

/// See the module.
#[derive(Debug, Clone)]
pub struct Process {
    place: Workplace,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Order {
    List,
    Poll(String),
    Log { id: String, offset: usize, limit: usize },
    Wait { id: String, seconds: Option<u64> },
    Kill(String),
    Write { id: String, text: String },
    Close(String),
}

const ACTIONS: [&str; 8] = ["list", "poll", "log", "wait", "kill", "write", "submit", "close"];
/// Lines `log` shows when nobody says how many.
const USUAL_LINES: usize = 200;

impl Process {
    /// The tool for this place. Nothing is opened before the first call.
    pub fn new(place: Workplace) -> Self {
        Self { place }
    }

    async fn work(&self, run: Run<'_>) -> ToolOutput {
        let order = match Order::read(run.arguments) {
            Ok(order) => order,
            Err(problem) => return ToolOutput::error(problem),
        };
        if let Order::Write { id, text } = &order
            && let Some(refused) = self.ask(id, text, &run).await
        {
            return refused;
        }
        let (place, session, progress) = (self.place.clone(), run.session.to_owned(), run.progress.clone());
        let work = move |link: &Link| match place.enter_jobs(&session, &progress) {
            Ok(reached) => act::Acting { place: &place, session: &session, reached, link }.act(&order),
            Err(error) => json!({ "status": "error", "error": error.to_string() }),
        };
        match thread::run(run.cancel, work).await {
            thread::Outcome::Done(value) if value["error"].is_string() => ToolOutput::json(&value).failed(),
            thread::Outcome::Done(value) => ToolOutput::json(&value),
            thread::Outcome::Abandoned => ToolOutput::json(&json!({ "status": "interrupted" })),
            thread::Outcome::Broken => ToolOutput::error("the tool itself failed: see the log"),
        }
    }

    /// What is typed into a shell is a command too.
    async fn ask(&self, id: &str, text: &str, run: &Run<'_>) -> Option<ToolOutput> {
        let (place, session, progress) = (self.place.clone(), run.session.to_owned(), run.progress.clone());
        let process = id.to_owned();
        let look = move |_: &Link| {
            let client = place.enter_jobs(&session, &progress).ok()?.client;
            client.jobs().get(&process).ok()
        };
        let thread::Outcome::Done(Some(info)) = thread::run(run.cancel, look).await else { return None };
        let command = String::from_utf8_lossy(&info.command);
        let action = Action::Input { command: &command, text, reach: self.place.reach() };
        let verdict = tokio::select! {
            verdict = run.gate.decide(&action) => verdict,
            () = run.cancel.cancelled() => return Some(ToolOutput::json(&json!({ "status": "interrupted" }))),
        };
        match verdict {
            Verdict::Allowed => None,
            Verdict::Refused { reason } => {
                Some(ToolOutput::json(&json!({ "status": "blocked", "error": reason })).failed())
            }
        }
    }
}

impl Order {
    fn read(arguments: &Arguments) -> Result<Self, String> {
        let action = fields::needed(arguments, "action", &format!("use one of {}", ACTIONS.join(", ")))?;
        let action = action.trim();
        let id =
            || fields::needed(arguments, "session_id", &format!("{action} needs the id that terminal gave"));
        // Models count from the end with numbers below 0; there is nothing there.
        let number = |name: &str| -> Result<Option<u64>, String> {
            Ok(fields::whole(arguments, name)?.map(|number| u64::try_from(number).unwrap_or_default()))
        };
        let size = |value: Option<u64>, usual: usize| {
            value.map_or(usual, |value| usize::try_from(value).unwrap_or(usize::MAX))
        };
        let data = || match arguments.get("data") {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(data)) => Ok(data.clone()),
            Some(_) => Err("\"data\" must be a string".to_owned()),
        };
        Ok(match action {
            "list" => Self::List,
            "poll" => Self::Poll(id()?),
            "log" => Self::Log {
                id: id()?,
                offset: size(number("offset")?, 0),
                limit: size(number("limit")?.filter(|limit| *limit > 0), USUAL_LINES),
            },
            "wait" => Self::Wait { id: id()?, seconds: number("timeout")?.filter(|seconds| *seconds > 0) },
            "kill" => Self::Kill(id()?),
            "write" => Self::Write { id: id()?, text: data()? },
            "submit" => Self::Write { id: id()?, text: data()? + "\n" },
            "close" => Self::Close(id()?),
            _ => return Err(format!("there is no action \"{action}\": use one of {}", ACTIONS.join(", "))),
        })
    }
}

impl Tool for Process {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "process".to_owned(), description: DESCRIPTION.to_owned(), parameters: parameters() }
    }

    fn toolset(&self) -> &'static str {
        "terminal"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        let word = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        format!("{} {}", word("action"), word("session_id")).trim().to_owned()
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(self.work(run))
    }
}

const DESCRIPTION: &str = "Look after background commands started with terminal(background=true). poll: status and \
newest output; log: output by lines; wait: until it ends or the timeout passes; write: type into a command that has \
a terminal (pty=true), submit: the same with Enter; close: end its input; kill: end it and all it started.";

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "action": { "type": "string", "enum": ACTIONS },
            "session_id": { "type": "string", "description": "The id terminal gave; not for list" },
            "data": { "type": "string", "description": "Text for write and submit" },
            "timeout": { "type": "integer", "minimum": 1, "description": "Most seconds to wait" },
            "offset": { "type": "integer", "description": "log: lines to skip; 0 shows the last ones" },
            "limit": { "type": "integer", "minimum": 1, "description": "log: most lines, default 200" }
        },
        "required": ["action"]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Result<Order, String> {
        let Value::Object(arguments) = value else { panic!("an object is needed") };
        Order::read(&arguments)
    }

    #[test]
    fn orders_are_read() {
        let log = Order::Log { id: "p".into(), offset: 0, limit: USUAL_LINES };
        assert_eq!(read(json!({ "action": "log", "session_id": "p", "limit": 0 })), Ok(log));
        let submit = Order::Write { id: "p".into(), text: "y\n".into() };
        assert_eq!(read(json!({ "action": "submit", "session_id": "p", "data": "y" })), Ok(submit));
        assert_eq!(read(json!({ "action": "list" })), Ok(Order::List));
    }

    #[test]
    fn mistakes_are_named() {
        for (arguments, word) in [
            (json!({}), "list, poll"),
            (json!({ "action": "restart" }), "restart"),
            (json!({ "action": "poll" }), "session_id"),
            (json!({ "action": "log", "session_id": "p", "limit": "x" }), "limit"),
            (json!({ "action": "write", "session_id": "p", "data": 1 }), "data"),
        ] {
            let error = read(arguments.clone()).unwrap_err();
            assert!(error.contains(word), "{arguments}: {error}");
        }
    }
}
