//! The `terminal` tool: shell commands in the conversation's place.

mod arguments;
mod background;
mod foreground;
mod meaning;
mod outcome;
mod plain;
mod servers;

use hermes_model::ToolSpec;
use serde_json::json;

use crate::gate::{Action, Verdict};
use crate::tool::{Arguments, Run, Running, Tool, ToolOutput};
use crate::workplace::Workplace;
use arguments::{Mode, Order};
use outcome::Outcome;

/// Longest a command may hold up the conversation.
const LONGEST_FOREGROUND: u64 = 600;

/// See the module.
#[derive(Debug, Clone)]
pub struct Terminal {
    place: Workplace,
}

impl Terminal {
    /// The tool for this place. Nothing is opened before the first call.
    pub fn new(place: Workplace) -> Self {
        Self { place }
    }

    async fn work(&self, run: Run<'_>) -> ToolOutput {
        let order = match Order::read(run.arguments, self.place.config().timeout) {
            Ok(order) => order,
            Err(problem) => return ToolOutput::error(problem),
        };
        if let Mode::Foreground { .. } = order.mode
            && let Some(advice) = servers::not_in_the_foreground(&order.command)
        {
            return Outcome::refused("error", advice).output();
        }
        let action = Action::Command {
            line: &order.command,
            workdir: order.workdir.as_deref(),
            reach: self.place.reach(),
        };
        let verdict = tokio::select! {
            verdict = run.gate.decide(&action) => verdict,
            () = run.cancel.cancelled() => return Outcome::interrupted_before().output(),
        };
        if let Verdict::Refused { reason } = verdict {
            return Outcome::refused("blocked", reason).output();
        }
        match order.mode {
            Mode::Foreground { .. } => foreground::run(&self.place, order, run).await,
            Mode::Background { .. } => background::run(&self.place, order, run).await,
        }
        .output()
    }
}

impl Tool for Terminal {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "terminal".to_owned(),
            description: DESCRIPTION.to_owned(),
            parameters: parameters(),
        }
    }

    fn toolset(&self) -> &'static str {
        "terminal"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        let line = arguments.get("command").and_then(|command| command.as_str()).unwrap_or_default();
        line.lines().next().unwrap_or_default().to_owned()
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(self.work(run))
    }
}

const DESCRIPTION: &str = "Run a shell command. Directory, variables and functions carry over to the next call. \
Returns output and exit_code; long output is cut in the middle and kept in a file. For servers, watchers and anything \
longer than the time limit use background=true, then the process tool.";

fn parameters() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {
            "command": { "type": "string", "description": "The command line" },
            "background": { "type": "boolean", "default": false, "description": "Start it and return at once" },
            "timeout": {
                "type": "integer", "minimum": 1,
                "description": "Seconds until it is ended, at most 600"
            },
            "workdir": { "type": "string", "description": "Directory to run it in" },
            "pty": { "type": "boolean", "default": false, "description": "Give it a terminal" },
            "notify_on_complete": {
                "type": "boolean", "default": false,
                "description": "Background: tell me when it ends"
            },
            "watch_patterns": {
                "type": "array", "items": { "type": "string" },
                "description": "Background: tell me when it prints a line with one of these texts (not with notify_on_complete)"
            }
        },
        "required": ["command"]
    })
}
