//! One call to the model: the request, and what is passed on while the answer comes.

use hermes_model::budget::{Purpose, Scope};
use hermes_model::{Answered, Ask, CallEvent, Event, GaveUp, Message, Request, ToolUse, tidy};

use super::Turn;
use crate::event::{AgentEvent, Level, OnAgentEvent};
use crate::journal::{Journal, JournalError};

impl Turn<'_, '_> {
    /// Asks the model. The outer error means that the conversation could not be kept.
    pub(super) async fn ask(&mut self, tool_use: ToolUse) -> Result<Result<Answered, GaveUp>, JournalError> {
        self.calls += 1;
        let request = self.request(tool_use);
        let scope = self.scope();
        let (call, of) = (self.calls, self.agent.rules.most_calls);
        let agent = &mut *self.agent;
        let mut listener = Listener::new(&mut *self.on, agent.journal.as_mut(), call, of);
        let ask = Ask { request: &request, scope: &scope, shortened: self.shortened };
        let answered = agent.caller.call(ask, self.control.token(), &mut |event| listener.hear(event)).await;
        listener.finish()?;
        if let Ok(answered) = &answered {
            let bytes = crate::compaction::request_bytes(&request.system, &request.tools, &request.messages);
            self.agent.estimator.observe(bytes, answered.answer.usage.prompt());
        }
        Ok(answered)
    }

    fn request(&mut self, tool_use: ToolUse) -> Request {
        let agent = &*self.agent;
        let mut messages: Vec<Message> = agent.history.messages().cloned().collect();
        messages.extend(self.aside.take().map(Message::user));
        let mut request = Request::new(String::new());
        request.system.clone_from(&agent.system);
        request.messages = tidy(&messages);
        request.tools = agent.tools.specs().to_vec();
        request.tool_use = tool_use;
        request.effort = agent.rules.effort;
        request.max_tokens = self.output_limit();
        request.cache = agent.rules.cache;
        request.session = Some(agent.session_id().to_owned());
        request
    }

    /// An answer that was cut off gets more room, where the room is ours to give.
    fn output_limit(&self) -> Option<u64> {
        const MOST: u64 = 32_768;
        let set = self.agent.rules.max_tokens?;
        let times = u64::from(self.tries.continued.min(2)) + 1;
        Some(set.saturating_mul(times).min(MOST.max(set)))
    }

    pub(super) fn scope(&self) -> Scope {
        self.agent.scope(&self.name, Purpose::Main)
    }
}

/// Turns what happens in a call into events of the agent, and keeps what has come of the answer on record.
struct Listener<'a, 'on> {
    on: &'a mut OnAgentEvent<'on>,
    journal: &'a mut dyn Journal,
    call: u32,
    of: u32,
    draft: String,
    failed: Option<JournalError>,
}

impl<'a, 'on> Listener<'a, 'on> {
    fn new(on: &'a mut OnAgentEvent<'on>, journal: &'a mut dyn Journal, call: u32, of: u32) -> Self {
        Self { on, journal, call, of, draft: String::new(), failed: None }
    }

    fn hear(&mut self, event: CallEvent) {
        match event {
            CallEvent::Asking { provider, model } => {
                (self.on)(AgentEvent::Asking { provider, model, call: self.call, of: self.of });
            }
            CallEvent::Model(event) => self.model(event),
            CallEvent::StartOver => {
                self.draft.clear();
                (self.on)(AgentEvent::StartOver);
            }
            CallEvent::Waiting { failure, after } => {
                let (reason, seconds) = (failure.to_string(), after.as_secs_f64());
                (self.on)(AgentEvent::Waiting { reason, seconds });
            }
            CallEvent::Changed { failure, .. } => {
                self.notice(Level::Info, format!("asked again in another way: {failure}"));
            }
            CallEvent::NextKey { failure, origin } => {
                self.notice(
                    Level::Warning,
                    format!("the key of {origin} was refused, the next one is used: {failure}"),
                );
            }
            CallEvent::NextRoute { failure, to: (provider, model) } => {
                (self.on)(AgentEvent::Switched { reason: failure.to_string(), provider, model });
            }
            CallEvent::NotRecorded { reason } => {
                self.notice(Level::Warning, format!("what this call cost could not be recorded: {reason}"));
            }
        }
    }

    fn model(&mut self, event: Event) {
        match event {
            Event::TextDelta(delta) => {
                self.draft.push_str(&delta);
                self.keep_draft();
                (self.on)(AgentEvent::Text { delta });
            }
            Event::ReasoningDelta(delta) => (self.on)(AgentEvent::Reasoning { delta }),
            Event::ToolCallStarted { name, .. } => (self.on)(AgentEvent::WritingCall { name }),
            Event::ReasoningDone(_)
            | Event::ToolCallArgs { .. }
            | Event::ToolCallDone { .. }
            | Event::Usage(_)
            | Event::Finished(_)
            | Event::ProviderError(_) => {}
        }
    }

    /// On record before it is shown: whoever is killed in the middle of an answer loses nothing of what was seen.
    fn keep_draft(&mut self) {
        self.failed = self.journal.keep_draft(Some(&self.draft)).err().or(self.failed.take());
    }

    fn notice(&mut self, level: Level, text: String) {
        (self.on)(AgentEvent::Notice { level, text });
    }

    fn finish(self) -> Result<(), JournalError> {
        self.failed.map_or(Ok(()), Err)
    }
}
