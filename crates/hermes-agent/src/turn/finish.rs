//! What becomes of a tool's result: brought within its limits, marked, completed with what the model should know, and
//! written down.

use std::time::Duration;

use hermes_model::message::text_of;
use hermes_model::{Content, Message, ToolCall, ToolResult, ToolStatus};
use hermes_tools::limits::{self, Batched, Limits};
use hermes_tools::tool::Access;
use hermes_tools::{Arguments, Sharing, ToolOutput, Trust};

use super::Turn;
use super::guardrails::{Advice, Effect, Ran, Went};
use crate::event::{AgentEvent, CallStatus, Level};
use crate::journal::JournalError;

/// A call that is over.
pub(super) struct Done<'a> {
    /// The call.
    pub call: &'a ToolCall,
    /// What was run, if it was.
    pub ran: Option<(&'a Arguments, &'a Sharing)>,
    /// Whether the gate let it through.
    pub passed: Passed,
    /// What it gave.
    pub output: ToolOutput,
    /// How it went.
    pub status: CallStatus,
    /// How long it took.
    pub elapsed: Duration,
}

/// Whether the gate let a call through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    Yes,
    No,
}

impl<'a> Done<'a> {
    /// A call that was not run.
    pub fn not_run(call: &'a ToolCall, output: ToolOutput, status: CallStatus) -> Self {
        Self { call, ran: None, passed: Passed::Yes, output, status, elapsed: Duration::ZERO }
    }
}

impl Turn<'_, '_> {
    /// Writes a result down and says so; `last` of its message gets what waits for the model. Gives the reason when the
    /// turn must end.
    pub(super) async fn finish_call(
        &mut self,
        done: Done<'_>,
        last: bool,
    ) -> Result<Option<String>, JournalError> {
        let Done { call, ran, passed, mut output, status, elapsed } = done;
        self.count_helpers();
        if let (Some((_, sharing)), CallStatus::Ok) = (ran, status) {
            self.agent.family.saw(sharing);
        }
        self.bound(call, &mut output).await;
        if output.trust == Trust::Outside {
            mark_outside(&mut output, &call.name);
        }
        let went = match (output.status, passed) {
            (ToolStatus::Ok, _) => Went::Well,
            (ToolStatus::Failed, Passed::Yes) => Went::Badly,
            (ToolStatus::Failed, Passed::No) => Went::Refused,
        };
        let stopped = ran.and_then(|ran| self.advise(call, ran, went, &mut output));
        if let Some((arguments, _)) = ran {
            self.add_hint(arguments, &mut output);
        }
        if last {
            self.add_what_waits(&mut output);
        }
        let result = ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: output.content,
            status: output.status,
        };
        let text = text_of(&result.content);
        self.store(Message::Tool(result), None)?;
        self.tell(AgentEvent::ToolFinished {
            id: call.id.clone(),
            name: call.name.clone(),
            status,
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            result: text,
        });
        Ok(stopped)
    }

    /// How long results may be for this model.
    pub(super) fn limits(&self) -> Limits {
        Limits::for_window(self.agent.caller.route().and_then(|route| route.window))
    }

    /// Results are written down as they end, so each one is held to what is not promised to others of its message.
    async fn bound(&mut self, call: &ToolCall, output: &mut ToolOutput) {
        if let Some(shelf) = self.agent.shelf.clone() {
            let allowed = self.room.allowed();
            let limits = Limits { result: allowed, batch: allowed };
            let session = self.agent.session_id().to_owned();
            let mut one = [Batched { call_id: &call.id, output }];
            limits::bound(limits, shelf.as_ref(), &session, &mut one).await;
        }
        self.room.take(text_of(&output.content).chars().count());
    }

    /// Looks for circles; a warning goes to the model with the result.
    fn advise(
        &mut self,
        call: &ToolCall,
        (arguments, sharing): (&Arguments, &Sharing),
        went: Went,
        output: &mut ToolOutput,
    ) -> Option<String> {
        let looks = matches!(sharing, Sharing::Freely | Sharing::Files { access: Access::Read, .. });
        let text = text_of(&output.content);
        let ran = Ran {
            tool: &call.name,
            arguments: &serde_json::Value::Object(arguments.clone()).to_string(),
            went,
            result: &text,
            effect: if looks { Effect::Looks } else { Effect::Acts },
        };
        match self.rails.count(&ran, &self.agent.rules.guardrails) {
            Advice::Fine => None,
            Advice::Warn(words) => {
                add_text(output, &format!("\n\n[{words}]"));
                None
            }
            Advice::Stop(reason) => Some(format!("stopped because the model ran in circles: {reason}")),
        }
    }

    /// What a directory says to agents comes with the first result from there.
    fn add_hint(&mut self, arguments: &Arguments, output: &mut ToolOutput) {
        let Some(hint) = self.agent.hints.as_mut().and_then(|hints| hints.after_call(arguments)) else {
            return;
        };
        if !hint.text.is_empty() {
            add_text(output, &format!("\n\n{}", hint.text));
        }
        for notice in hint.notices {
            self.notice(Level::Warning, notice);
        }
    }

    /// Guidance of the user, and what background commands have to say.
    fn add_what_waits(&mut self, output: &mut ToolOutput) {
        if let Some(news) = self.agent.take_news() {
            add_text(output, &format!("\n\n[{news}]"));
        }
        if let Some(guidance) = self.control.take_guidance() {
            add_text(output, &format!("\n\n[Guidance from the user while you work: {guidance}]"));
            self.tell(AgentEvent::Steered { text: guidance });
        }
    }
}

fn add_text(output: &mut ToolOutput, more: &str) {
    let text =
        |item: &mut Content| if let Content::Text(text) = item { Some(std::mem::take(text)) } else { None };
    match output.content.iter_mut().rev().find(|item| matches!(item, Content::Text(_))) {
        Some(item) => *item = Content::Text(text(item).unwrap_or_default() + more),
        None => output.content.push(Content::Text(more.trim_start().to_owned())),
    }
}

/// Shortest text worth a mark.
const WORTH_MARKING: usize = 32;

/// What somebody on the network wrote is fenced, so that the model takes it for what it is.
fn mark_outside(output: &mut ToolOutput, tool: &str) {
    for item in &mut output.content {
        if let Content::Text(text) = item
            && text.len() >= WORTH_MARKING
        {
            let inner = text.replace("</untrusted", "<\u{2215}untrusted");
            *text = format!("<untrusted source=\"{tool}\">\n{inner}\n</untrusted>");
        }
    }
}
