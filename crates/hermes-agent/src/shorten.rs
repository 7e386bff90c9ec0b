//! Makes a conversation shorter: before it outgrows the window, when a provider refuses it, or when the user wants it. A
//! summary takes the place of older messages; they stay on record, and a summary that fails changes nothing.

use hermes_guard::Redactor;
use hermes_model::budget::{Purpose, Scope};
use hermes_model::{Answered, Ask, CallEvent, Caller, GaveUp, Request};
use hermes_tools::Moment;
use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::compaction::when::{Fill, Reason, decide};
use crate::compaction::{
    self, Decision, Keep, Limits, NothingToDo, Plan, Preview, Replacement, SummaryFailure, SummaryTask,
    Urgency,
};
use crate::control::Control;
use crate::event::{AgentEvent, Level, OnAgentEvent};
use crate::journal::{JournalError, Used};

/// What side work is called in the records.
const TASK: &str = "compression";

/// What the user wants of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// What matters most.
    pub focus: Option<String>,
    /// How much of the end stays.
    pub keep: Keep,
}

impl Default for Wish {
    fn default() -> Self {
        Self { focus: None, keep: Keep::Budget }
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shortened {
    /// It is shorter.
    Done,
    /// There was nothing to do, and why.
    Left(String),
    /// It could not be done, and why; nothing changed.
    Failed(String),
}

impl Agent {
    /// Makes the conversation shorter because the user wants it.
    pub async fn compact(
        &mut self,
        wish: &Wish,
        control: &Control,
        on: &mut OnAgentEvent<'_>,
    ) -> Result<Shortened, JournalError> {
        self.turns += 1;
        let turn = format!("{}/{}/{}", self.session_id(), std::process::id(), self.turns);
        self.shorten(wish, Urgency::Asked, &turn, control.token(), on).await
    }

    /// What making it shorter would do.
    pub fn preview_compaction(&self, wish: &Wish) -> Result<Preview, NothingToDo> {
        Ok(compaction::plan(&self.history.entries, &self.limits(wish))?.preview())
    }

    /// How full the window is with the next request.
    pub fn fill(&self) -> Fill {
        let tools = self.tools.specs();
        let bytes = compaction::request_bytes(&self.system, tools, self.history.messages());
        Fill {
            tokens: self.estimator.tokens(bytes),
            window: self.caller.route().and_then(|route| route.window),
            max_output: self.rules.max_tokens,
        }
    }

    fn limits(&self, wish: &Wish) -> Limits {
        Limits::new(&self.rules.compaction, &self.fill(), self.estimator).keeping(wish.keep)
    }

    /// Decides and does.
    pub(crate) async fn shorten(
        &mut self,
        wish: &Wish,
        urgency: Urgency,
        turn: &str,
        cancel: &CancellationToken,
        on: &mut OnAgentEvent<'_>,
    ) -> Result<Shortened, JournalError> {
        let now = (self.clock)().timestamp();
        let fill = self.fill();
        let decision = decide(&self.rules.compaction, &fill, &self.health, urgency, now);
        if let Decision::Leave(reason) = decision {
            return Ok(Shortened::Left(words_for(reason)));
        }
        let limits = self.limits(wish);
        let history = std::mem::take(&mut self.history);
        let made = match compaction::plan(&history.entries, &limits) {
            Err(nothing) => Err(Shortened::Left(nothing.to_string())),
            Ok(plan) => self.replacement(&plan, decision, wish, &fill, turn, cancel, on).await,
        };
        self.history = history;
        match made {
            Err(shortened) => Ok(shortened),
            Ok(replacement) => self.put_in(&replacement, on).map(|()| Shortened::Done),
        }
    }

    /// What takes the place of what, or why there is nothing.
    #[allow(
        clippy::too_many_arguments,
        reason = "one step of `shorten`, cut out so that the conversation can be lent"
    )]
    async fn replacement(
        &mut self,
        plan: &Plan<'_>,
        decision: Decision,
        wish: &Wish,
        fill: &Fill,
        turn: &str,
        cancel: &CancellationToken,
        on: &mut OnAgentEvent<'_>,
    ) -> Result<Replacement, Shortened> {
        let pruned = || compaction::prune_only(plan);
        if let Decision::PruneOnly { wait } = decision {
            let why = || {
                Shortened::Failed(format!(
                    "the last summary failed; the next is asked for in {} s",
                    wait.as_secs()
                ))
            };
            return pruned().ok_or_else(why);
        }
        on(AgentEvent::Compacting { tokens: fill.tokens });
        match self.summary(plan, wish, fill, turn, cancel, on).await {
            Ok(replacement) => Ok(replacement),
            Err((failure, reason)) => {
                let pause = self.health.failed(failure, (self.clock)().timestamp());
                let text = format!(
                    "no summary could be made, so nothing was changed ({reason}); the next try is in {} s",
                    pause.as_secs()
                );
                on(AgentEvent::Notice { level: Level::Warning, text: text.clone() });
                pruned().ok_or(Shortened::Failed(text))
            }
        }
    }

    /// Asks the model for side work, and the main one should that fail.
    async fn summary(
        &mut self,
        plan: &Plan<'_>,
        wish: &Wish,
        fill: &Fill,
        turn: &str,
        cancel: &CancellationToken,
        on: &mut OnAgentEvent<'_>,
    ) -> Result<Replacement, (SummaryFailure, String)> {
        let scope = self.scope(turn, Purpose::Auxiliary(TASK.to_owned()));
        let redactor = std::sync::Arc::clone(&self.redactor);
        let request = |caller: &Caller| summary_request(caller, plan, wish, fill, &redactor);
        let mut answered = None;
        if let Some(side) = &mut self.side.summaries {
            let request = request(side);
            answered = ask(side, &request, &scope, cancel, on).await.ok();
        }
        let answered = if let Some(answered) = answered {
            answered
        } else {
            let request = request(&self.caller);
            ask(&mut self.caller, &request, &scope, cancel, on).await.map_err(|error| why_not(&error))?
        };
        self.count_side_work(&answered).map_err(|error| (SummaryFailure::Other, error.to_string()))?;
        let answer = &answered.answer;
        let reminders = self.tools.reminders(self.journal.session_id());
        compaction::apply(plan, &answer.text(), &answer.finish, &reminders, &redactor)
            .map_err(|rejected| (rejected.failure(), rejected.to_string()))
    }

    fn count_side_work(&mut self, answered: &Answered) -> Result<(), JournalError> {
        self.journal.add_usage(&Used {
            provider: &answered.provider,
            base_url: "",
            model: &answered.model,
            usage: answered.answer.usage,
            cost: answered.cost,
            side_task: Some(TASK),
        })
    }

    fn put_in(&mut self, replacement: &Replacement, on: &mut OnAgentEvent<'_>) -> Result<(), JournalError> {
        self.history = self.journal.compact(&replacement.hidden, &replacement.inserted)?;
        self.health.succeeded(replacement.before, replacement.after);
        self.newest = None;
        self.compactions += 1;
        self.tools.tell(self.journal.session_id(), Moment::HistoryShortened);
        self.gate.tell(Moment::HistoryShortened);
        on(AgentEvent::Compacted {
            before: replacement.before,
            after: replacement.after,
            messages: replacement.hidden.len(),
        });
        Ok(())
    }
}

fn words_for(reason: Reason) -> String {
    match reason {
        Reason::Room { until } => format!("there is room until {until} tokens"),
        Reason::SwitchedOff => "it is switched off ('compression.enabled')".to_owned(),
        Reason::NotWorthIt => "the last two summaries saved next to nothing".to_owned(),
    }
}

fn summary_request(
    caller: &Caller,
    plan: &Plan<'_>,
    wish: &Wish,
    fill: &Fill,
    redactor: &Redactor,
) -> Request {
    let route = caller.route();
    let task = SummaryTask {
        model: route.map_or("", |route| route.model.as_str()),
        window: route.and_then(|route| route.window).unwrap_or_else(|| fill.window()),
        focus: wish.focus.as_deref(),
        redactor,
    };
    compaction::summary_request(plan, &task)
}

/// One call for side work; what the user sees of it are its troubles.
async fn ask(
    caller: &mut Caller,
    request: &Request,
    scope: &Scope,
    cancel: &CancellationToken,
    on: &mut OnAgentEvent<'_>,
) -> Result<Answered, GaveUp> {
    let mut hear = |event: CallEvent| {
        if let CallEvent::Waiting { failure, after } = event {
            on(AgentEvent::Waiting { reason: failure.to_string(), seconds: after.as_secs_f64() });
        }
    };
    caller.call(Ask { request, scope, shortened: 0 }, cancel, &mut hear).await
}

fn why_not(gave_up: &GaveUp) -> (SummaryFailure, String) {
    let reason = gave_up.to_string();
    match gave_up {
        GaveUp::Cancelled(_) | GaveUp::TooLong(_) => (SummaryFailure::Other, reason),
        GaveUp::Budget(_) | GaveUp::Failed(_) => (SummaryFailure::NoModel, reason),
    }
}
