//! What a helper really did, taken down from its events and not from its words.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hermes_tools::tool::Access;
use hermes_tools::{Sharing, Toolbox};
use serde_json::{Value, json};

use crate::event::{AgentEvent, CallStatus};
use crate::report::Spending;

/// Steps that are told; of more the newest.
const MOST_STEPS: usize = 50;
/// Commands that are told; of more the newest.
const MOST_COMMANDS: usize = 20;
/// Characters of a command that are told.
const LONGEST_COMMAND: usize = 200;
/// Characters of a line about a helper.
const LONGEST_LINE: usize = 160;

/// One tool call.
#[derive(Debug)]
struct Step {
    id: String,
    tool: String,
    brief: String,
    arguments: usize,
    result: usize,
    status: Option<CallStatus>,
    writes: Vec<PathBuf>,
    /// The exit code of a command that was run to its end.
    exit_code: Option<i64>,
}

/// The record of one helper.
#[derive(Debug)]
pub(super) struct Record {
    tools: Toolbox,
    steps: Vec<Step>,
    /// What it says now.
    words: String,
    /// What it said last.
    said: String,
    spending: Spending,
    model: String,
}

impl Record {
    pub fn new(tools: Toolbox, model: String) -> Self {
        let (steps, words, said) = (Vec::new(), String::new(), String::new());
        Self { tools, steps, words, said, spending: Spending::default(), model }
    }

    /// Takes an event down. Gives a line when there is something a person would like to see.
    pub fn hear(&mut self, event: &AgentEvent) -> Option<String> {
        match event {
            AgentEvent::Asking { model, .. } => {
                self.model.clone_from(model);
                self.end_words();
                None
            }
            AgentEvent::Text { delta } => {
                self.words.push_str(delta);
                None
            }
            AgentEvent::StartOver => {
                self.words.clear();
                None
            }
            AgentEvent::ToolStarted { id, name, brief, arguments } => {
                let said = self.end_words().map(|said| format!("says: {}\n", line(&said)));
                self.started(id, name, brief, arguments);
                Some(format!("{}{name} {}", said.unwrap_or_default(), line(brief)))
            }
            AgentEvent::ToolOutput { id, text } => self.helper_of_helper(id, text),
            AgentEvent::ToolFinished { id, name, status, result, .. } => {
                self.finished(id, *status, result);
                (*status == CallStatus::Failed).then(|| format!("{name} failed"))
            }
            AgentEvent::Switched { model, .. } => Some(format!("now asks {model}")),
            AgentEvent::Usage { turn, .. } => {
                self.spending = *turn;
                None
            }
            AgentEvent::TurnEnded { .. } => {
                self.end_words();
                None
            }
            _ => None,
        }
    }

    fn started(&mut self, id: &str, name: &str, brief: &str, arguments: &Value) {
        let empty = hermes_tools::Arguments::new();
        let given = arguments.as_object().unwrap_or(&empty);
        let writes = match self.tools.get(name).map(|tool| tool.sharing(given)) {
            Some(Sharing::Files { paths, access: Access::Write }) => paths,
            _ => Vec::new(),
        };
        let (id, tool, brief) = (id.to_owned(), name.to_owned(), brief.to_owned());
        let arguments = arguments.to_string().len();
        self.steps.push(Step {
            id,
            tool,
            brief,
            arguments,
            result: 0,
            status: None,
            writes,
            exit_code: None,
        });
    }

    fn finished(&mut self, id: &str, status: CallStatus, result: &str) {
        let Some(step) = self.steps.iter_mut().rfind(|step| step.id == id && step.status.is_none()) else {
            return;
        };
        (step.status, step.result) = (Some(status), result.len());
        if step.tool == "terminal" {
            step.exit_code = exit_code(result);
        }
    }

    /// What helpers of this helper do is shown as theirs; what commands print is not.
    fn helper_of_helper(&self, id: &str, text: &str) -> Option<String> {
        let step = self.steps.iter().rfind(|step| step.id == id)?;
        (step.tool == "delegate_task").then(|| text.trim_end().to_owned())
    }

    /// A message is over; gives what it said.
    fn end_words(&mut self) -> Option<String> {
        let words = std::mem::take(&mut self.words);
        if words.trim().is_empty() {
            return None;
        }
        self.said.clone_from(&words);
        Some(words)
    }

    /// What it said last, complete or not.
    pub fn last_words(&self) -> &str {
        if self.words.trim().is_empty() { self.said.trim() } else { self.words.trim() }
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    pub fn spending(&self) -> Spending {
        self.spending
    }

    /// Files its tools were told to write and did.
    pub fn files_written(&self) -> Vec<&PathBuf> {
        let done = self.steps.iter().filter(|step| step.status == Some(CallStatus::Ok));
        done.flat_map(|step| &step.writes).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Commands it really ran to their end, with their exit codes.
    pub fn commands(&self) -> Value {
        // One that was cut short proves nothing.
        let ended = |step: &&Step| step.status != Some(CallStatus::Cancelled);
        let ran = self.steps.iter().filter(ended).filter_map(|step| Some((&step.brief, step.exit_code?)));
        let mut ran: Vec<Value> = ran
            .map(|(command, code)| json!({"command": cut(command, LONGEST_COMMAND), "exit_code": code}))
            .collect();
        ran.drain(..ran.len().saturating_sub(MOST_COMMANDS));
        Value::Array(ran)
    }

    /// Its tool calls.
    pub fn trace(&self) -> Value {
        let step = |step: &Step| {
            json!({
                "tool": step.tool,
                "args_bytes": step.arguments,
                "result_bytes": step.result,
                "status": match step.status {
                    Some(CallStatus::Ok) => "ok",
                    Some(CallStatus::Failed) => "error",
                    Some(CallStatus::Cancelled) => "cancelled",
                    None => "running",
                },
            })
        };
        let from = self.steps.len().saturating_sub(MOST_STEPS);
        Value::Array(self.steps[from..].iter().map(step).collect())
    }

    pub fn tool_calls(&self) -> usize {
        self.steps.len()
    }

    /// What it does now, in a line.
    pub fn doing(&self) -> String {
        match self.steps.last() {
            Some(step) if step.status.is_none() => line(&format!("{} {}", step.tool, step.brief)),
            _ if !self.last_words().is_empty() => line(self.last_words()),
            Some(step) => line(&format!("after {} {}", step.tool, step.brief)),
            None => "thinking".to_owned(),
        }
    }
}

/// The exit code in a result of the terminal; nothing for what was not run to its end.
fn exit_code(result: &str) -> Option<i64> {
    let value: Value = serde_json::Deserializer::from_str(result).into_iter().next()?.ok()?;
    let was_run = value.get("session_id").is_none() && value.get("status").is_none();
    value.get("exit_code").and_then(Value::as_i64).filter(|_| was_run)
}

/// The first line of a text, cut.
pub(super) fn line(text: &str) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    cut(first, LONGEST_LINE)
}

pub(super) fn cut(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(id: &str, name: &str, brief: &str) -> AgentEvent {
        let (id, name, brief) = (id.to_owned(), name.to_owned(), brief.to_owned());
        AgentEvent::ToolStarted { id, name, brief, arguments: json!({}) }
    }

    fn finished(id: &str, status: CallStatus, result: &str) -> AgentEvent {
        let (id, name, result) = (id.to_owned(), "terminal".to_owned(), result.to_owned());
        AgentEvent::ToolFinished { id, name, status, elapsed_ms: 1, result }
    }

    #[test]
    fn only_commands_that_ran_count_as_run() {
        let mut record = Record::new(Toolbox::default(), String::new());
        for (id, result) in [
            ("1", r#"{"output":"","exit_code":101,"error":null}"#),
            ("2", r#"{"output":"","exit_code":-1,"error":"no","status":"blocked"}"#),
            ("3", r#"{"output":"started","session_id":"p","exit_code":0,"error":null}"#),
            ("4", "{\"output\":\"\",\"exit_code\":0,\"error\":null}\n\n[something else]"),
        ] {
            record.hear(&started(id, "terminal", &format!("cargo {id}")));
            record.hear(&finished(id, CallStatus::Ok, result));
        }
        record.hear(&started("5", "terminal", "still running"));
        assert_eq!(
            record.commands(),
            json!([{"command": "cargo 1", "exit_code": 101}, {"command": "cargo 4", "exit_code": 0}])
        );
        assert_eq!(record.trace()[4]["status"], "running");
    }

    #[test]
    fn the_last_words_are_there_even_if_it_was_cut_off() {
        let mut record = Record::new(Toolbox::default(), String::new());
        let text = |delta: &str| AgentEvent::Text { delta: delta.into() };
        record.hear(&text("First."));
        assert_eq!(
            record.hear(&started("1", "terminal", "ls\n-l")).as_deref(),
            Some("says: First.\nterminal ls")
        );
        assert_eq!(record.last_words(), "First.");
        record.hear(&text("Then I"));
        assert_eq!(record.last_words(), "Then I");
    }
}
