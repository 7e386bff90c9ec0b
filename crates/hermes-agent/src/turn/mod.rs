//! One turn: from a question to its answer, through as many model calls and tools as it takes.

mod ask;
mod batch;
mod finish;
pub mod guardrails;
mod prepare;
pub mod recover;
mod room;
pub mod schedule;
mod shorten;

use std::time::Instant;

use hermes_model::{Answer, Answered, Content, Finish, GaveUp, Message, ToolUse};
use hermes_tools::Moment;
use hermes_tools::limits::Limits;

use self::guardrails::Guardrails;
use self::recover::{Next, Seen, Stop, Tries};
use self::room::Room;
use crate::agent::Agent;
use crate::control::Control;
use crate::event::{AgentEvent, Level, OnAgentEvent};
use crate::history::Entry;
use crate::journal::{JournalError, Said};
use crate::report::{Cause, Outcome, Spending, TurnReport};

/// What the model is told when its answer was cut off.
const GO_ON: &str =
    "Your last message was cut off. Go on exactly where it stopped, without repeating anything.";
/// What the model is told when it fell silent after its tools had run.
const REMINDER: &str =
    "The results of your tool calls are above. Go on with the task, or answer if it is done.";
/// What the model is told when it may not make further calls.
const WRAP_UP: &str = "The limit of steps for this task is reached and no further tools can be used. \
     Say what was done, what is left, and what you found out.";
/// Rounds of calls that could not even be started before the turn ends.
const MOST_BAD_ROUNDS: u32 = 3;
/// Times a conversation is made shorter for one answer.
const MOST_SHORTENED: u32 = 3;

impl Agent {
    /// Answers. What happens on the way goes to `on`; the last event is [`AgentEvent::TurnEnded`].
    pub async fn turn(
        &mut self,
        input: Vec<Content>,
        control: &Control,
        on: &mut OnAgentEvent<'_>,
    ) -> TurnReport {
        let started = Instant::now();
        self.turns += 1;
        let mut turn = Turn::new(self, control, on);
        let ended = turn.run(input).await.unwrap_or_else(|error| Ended::failed(error.to_string()));
        turn.tell_end().await;
        let report = turn.report(ended, started);
        on(AgentEvent::TurnEnded { report: report.clone() });
        report
    }
}

/// How a turn ended.
struct Ended {
    outcome: Outcome,
    text: String,
    error: Option<String>,
    cause: Option<Cause>,
}

impl Ended {
    fn new(outcome: Outcome, text: String, error: Option<String>) -> Self {
        Self { outcome, text, error, cause: None }
    }

    fn failed(error: String) -> Self {
        Self::new(Outcome::Failed, String::new(), Some(error))
    }
}

/// Whether a turn goes on.
enum Flow {
    GoOn,
    End(Ended),
}

/// The state of one turn.
struct Turn<'a, 'on> {
    agent: &'a mut Agent,
    control: &'a Control,
    on: &'a mut OnAgentEvent<'on>,
    name: String,
    calls: u32,
    tool_calls: u32,
    spending: Spending,
    tries: Tries,
    bad_rounds: u32,
    shortened: u32,
    rails: Guardrails,
    /// Said to the model with the next request only.
    aside: Option<&'static str>,
    /// The beginning of an answer that was cut off.
    begun: String,
    /// Text that came with tool calls, for a model that says nothing after them.
    before_tools: String,
    after_tools: bool,
    /// What the results of the newest message may still take.
    room: Room,
    last: (String, String),
}

impl<'a, 'on> Turn<'a, 'on> {
    fn new(agent: &'a mut Agent, control: &'a Control, on: &'a mut OnAgentEvent<'on>) -> Self {
        let name = format!("{}/{}/{}", agent.session_id(), std::process::id(), agent.turns);
        let last = agent.caller.route().map(hermes_model::Route::names).unwrap_or_default();
        Self {
            agent,
            control,
            on,
            name,
            calls: 0,
            tool_calls: 0,
            spending: Spending::default(),
            tries: Tries::default(),
            bad_rounds: 0,
            shortened: 0,
            rails: Guardrails::default(),
            aside: None,
            begun: String::new(),
            before_tools: String::new(),
            after_tools: false,
            room: Room::new(Limits::default(), 0),
            last,
        }
    }

    async fn run(&mut self, input: Vec<Content>) -> Result<Ended, JournalError> {
        self.agent.caller.begin_turn(Instant::now());
        let (session, effort) = (self.agent.journal.session_id(), self.agent.rules.effort);
        self.agent.family.begin_turn(session, &self.name, &self.agent.caller, effort);
        self.agent.tools.tell(self.agent.journal.session_id(), Moment::TurnBegins);
        self.agent.gate.tell(Moment::TurnBegins);
        let news = self.agent.take_news().map(|news| Content::Text(format!("[{news}]")));
        self.store(Message::User(input.into_iter().chain(news).collect()), None)?;
        self.tell(AgentEvent::TurnStarted { session_id: self.agent.session_id().to_owned() });
        loop {
            if self.control.is_interrupted() {
                return Ok(self.interrupted());
            }
            if let Some(ended) = self.out_of_tokens() {
                return Ok(ended);
            }
            if self.calls >= self.agent.rules.most_calls {
                return self.wrap_up().await;
            }
            self.shorten_if_due().await?;
            if let Flow::End(ended) = self.step().await? {
                return Ok(ended);
            }
        }
    }

    /// One call to the model and what it leads to.
    async fn step(&mut self) -> Result<Flow, JournalError> {
        let answered = match self.ask(ToolUse::Allowed).await? {
            Ok(answered) => answered,
            Err(gave_up) => return self.without_answer(gave_up).await,
        };
        self.count(&answered)?;
        self.shortened = 0;
        let answer = answered.answer;
        match recover::next(Seen::of(&answer, self.after_tools), self.tries) {
            Next::Done => self.done(&answer),
            Next::RunTools => self.run_tools(answer).await,
            Next::Continue => {
                self.begun.push_str(&answer.text());
                self.store_answer(&answer)?;
                self.tries.continued += 1;
                self.aside = Some(GO_ON);
                Ok(Flow::GoOn)
            }
            Next::Again => {
                let cut = answer.calls().next().is_some();
                if cut {
                    self.tries.cut_calls += 1;
                } else {
                    self.tries.empty += 1;
                }
                self.tell(AgentEvent::StartOver);
                Ok(Flow::GoOn)
            }
            Next::Remind => {
                self.tries.reminded = true;
                self.aside = Some(REMINDER);
                self.tell(AgentEvent::StartOver);
                Ok(Flow::GoOn)
            }
            Next::OtherModel => Ok(self.other_model()),
            Next::Stop(stop) => self.stop(stop, &answer),
        }
    }

    fn done(&mut self, answer: &Answer) -> Result<Flow, JournalError> {
        if answer.finish == Finish::ContentFilter {
            self.notice(Level::Warning, "the provider's filter may have cut this answer short");
        }
        self.store_answer(answer)?;
        let text = std::mem::take(&mut self.begun) + &answer.text();
        Ok(Flow::End(Ended::new(Outcome::Completed, text, None)))
    }

    /// The model kept silent: the next one of the chain may do better.
    fn other_model(&mut self) -> Flow {
        let spoke_before_tools = !self.before_tools.trim().is_empty();
        if spoke_before_tools {
            let text = std::mem::take(&mut self.before_tools);
            return Flow::End(Ended::new(Outcome::Completed, text, None));
        }
        self.tries.moved = true;
        match self.agent.caller.move_on() {
            Some((provider, model)) => {
                self.tries.empty = 0;
                let reason = "the model answered with nothing several times".to_owned();
                self.tell(AgentEvent::Switched { reason, provider, model });
                Flow::GoOn
            }
            None => Flow::End(Ended::failed(Stop::Empty.reason().to_owned())),
        }
    }

    fn stop(&mut self, stop: Stop, answer: &Answer) -> Result<Flow, JournalError> {
        let text = std::mem::take(&mut self.begun) + &answer.text();
        if !answer.text().trim().is_empty() {
            self.store(Message::assistant(answer.text()), Some(&answer.finish))?;
        }
        let outcome = if text.trim().is_empty() { Outcome::Failed } else { Outcome::Partial };
        Ok(Flow::End(Ended::new(outcome, text, Some(stop.reason().to_owned()))))
    }

    /// The model could not be asked, or not to the end.
    async fn without_answer(&mut self, gave_up: GaveUp) -> Result<Flow, JournalError> {
        match gave_up {
            GaveUp::Cancelled(partial) => {
                self.keep_partial(&partial)?;
                Ok(Flow::End(self.interrupted()))
            }
            GaveUp::Budget(over) => {
                let text = std::mem::take(&mut self.begun);
                let error = Some(over.to_string());
                Ok(Flow::End(Ended::new(Outcome::OutOfBudget, text, error)))
            }
            GaveUp::TooLong(failure) => {
                if self.shortened < MOST_SHORTENED && self.shorten().await? {
                    self.shortened += 1;
                    return Ok(Flow::GoOn);
                }
                let error = format!(
                    "the conversation is too long for the model and cannot be made shorter: {failure}\n\
                     start a new one, or choose a model with a larger window"
                );
                Ok(Flow::End(Ended::failed(error)))
            }
            GaveUp::Failed(report) => {
                let text = std::mem::take(&mut self.begun);
                let outcome = if text.is_empty() { Outcome::Failed } else { Outcome::Partial };
                let error = Some(self.explain(&report));
                let cause = Some(Cause::of(&report));
                Ok(Flow::End(Ended { outcome, text, error, cause }))
            }
        }
    }

    /// What failed. A server that cannot be reached is named by its address: "custom" tells nobody where to look.
    fn explain(&self, report: &hermes_model::call::Report) -> String {
        let unreachable = |attempt: &hermes_model::retry::Attempt| {
            attempt.failure.observed.transport == Some(hermes_model::failure::Transport::Connect)
        };
        match self.agent.caller.route() {
            Some(route) if report.attempts.last().is_some_and(unreachable) => {
                format!("{report} ({})", route.endpoint.base_url)
            }
            _ => report.to_string(),
        }
    }

    /// The limit of calls is reached: one more without tools, so that the work so far is not lost on the user.
    async fn wrap_up(&mut self) -> Result<Ended, JournalError> {
        let (limit, setting) = (self.agent.rules.most_calls, self.agent.rules.calls_setting);
        self.aside = Some(WRAP_UP);
        let error = Some(format!("the limit of {limit} model calls for one turn is reached ('{setting}')"));
        let text = match self.ask(ToolUse::Forbidden).await? {
            Ok(answered) => {
                self.count(&answered)?;
                let text = answered.answer.text();
                if !text.trim().is_empty() {
                    self.store(Message::assistant(text.clone()), Some(&answered.answer.finish))?;
                }
                text
            }
            Err(GaveUp::Cancelled(partial)) => {
                self.keep_partial(&partial)?;
                return Ok(self.interrupted());
            }
            Err(_) => String::new(),
        };
        Ok(Ended::new(Outcome::OutOfCalls, text, error))
    }

    /// A helper may have a limit of its own.
    fn out_of_tokens(&mut self) -> Option<Ended> {
        let (limit, spent) = (self.agent.rules.most_tokens?, self.spending.tokens());
        let over = || {
            let error =
                format!("{spent} of {limit} tokens for one task are used up ('delegation.max_tokens')");
            Ended::new(Outcome::OutOfBudget, std::mem::take(&mut self.begun), Some(error))
        };
        (spent >= limit).then(over)
    }

    /// The gate may have something to do that takes a moment, such as looking at what was changed.
    async fn tell_end(&mut self) {
        let gate = std::sync::Arc::clone(&self.agent.gate);
        self.agent.tools.tell(self.agent.journal.session_id(), Moment::TurnEnds);
        // One that panicked has nothing more to say.
        let _ = tokio::task::spawn_blocking(move || gate.tell(Moment::TurnEnds)).await;
        self.tell_notices();
    }

    fn tell_notices(&mut self) {
        for text in self.agent.gate.take_notices() {
            self.notice(Level::Warning, text);
        }
    }

    fn interrupted(&mut self) -> Ended {
        Ended::new(Outcome::Interrupted, std::mem::take(&mut self.begun), None)
    }

    /// What was shown of an answer that was interrupted is kept; calls in it are not, they were never run.
    fn keep_partial(&mut self, partial: &Answer) -> Result<(), JournalError> {
        let text = partial.text();
        if !text.trim().is_empty() {
            self.begun.push_str(&text);
            self.store(Message::assistant(text), Some(&Finish::Interrupted))?;
        }
        Ok(())
    }

    fn store_answer(&mut self, answer: &Answer) -> Result<(), JournalError> {
        self.store(answer.message(), Some(&answer.finish))
    }

    /// Writes a message down, then makes it part of the conversation.
    fn store(&mut self, message: Message, finish: Option<&Finish>) -> Result<(), JournalError> {
        let at = (self.agent.clock)().timestamp();
        let row = self.agent.journal.append(&Said { message: &message, finish, at })?;
        self.agent.history.entries.push(Entry { row, message, finish: finish.cloned(), at });
        Ok(())
    }

    fn tell(&mut self, event: AgentEvent) {
        (self.on)(event);
    }

    fn notice(&mut self, level: Level, text: impl Into<String>) {
        self.tell(AgentEvent::Notice { level, text: text.into() });
    }

    /// What helpers took is part of what the turn took.
    fn count_helpers(&mut self) {
        if let Some(spent) = self.agent.family.take_spent() {
            self.spending = self.spending + spent;
            let context = self.agent.newest.map_or(0, |usage| usage.total());
            let window = self.agent.caller.route().and_then(|route| route.window);
            self.tell(AgentEvent::Usage { turn: self.spending, context, window });
        }
    }

    fn report(&mut self, ended: Ended, started: Instant) -> TurnReport {
        self.count_helpers();
        let (provider, model) = std::mem::take(&mut self.last);
        TurnReport {
            session_id: self.agent.session_id().to_owned(),
            outcome: ended.outcome,
            text: ended.text,
            error: ended.error,
            cause: ended.cause,
            provider,
            model,
            spending: self.spending,
            tool_calls: self.tool_calls,
            elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            left_over: self.control.take_guidance(),
        }
    }

    fn count(&mut self, answered: &Answered) -> Result<(), JournalError> {
        let base_url = self.agent.caller.route().map(|route| route.endpoint.base_url.to_string());
        self.agent.journal.add_usage(&crate::journal::Used {
            provider: &answered.provider,
            base_url: base_url.as_deref().unwrap_or_default(),
            model: &answered.model,
            usage: answered.answer.usage,
            cost: answered.cost,
            side_task: None,
        })?;
        self.spending.count(&answered.answer.usage, answered.cost);
        self.last = (answered.provider.clone(), answered.model.clone());
        let usage = answered.answer.usage;
        self.agent.newest = Some(usage);
        let window = self.agent.caller.route().and_then(|route| route.window);
        self.tell(AgentEvent::Usage { turn: self.spending, context: usage.total(), window });
        Ok(())
    }
}
