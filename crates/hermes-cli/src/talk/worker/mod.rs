//! `hermes chat -q` as a worker of the board: the same question and answer, and besides the board is told how it goes, the
//! card's limits hold, and an attempt that ends without a word of the model's gets one of ours.

mod attempt;
mod budget;
mod next;
mod pictures;
mod report;

use std::process::ExitCode;
use std::sync::Arc;

use hermes_agent::assembly::{self, Consent, Judge, Opened, Opening};
use hermes_agent::{Agent, AgentEvent, Outcome, TurnReport};
use hermes_board::Seconds;
use hermes_board::dispatch::ended::QUOTA_EXIT;
use hermes_board::ending::Verdict;
use hermes_guard::Redactor;
use hermes_home::settings::table::agent::GOAL_MAX_TURNS;
use hermes_model::Content;
use hermes_store::sessions::SessionId;
use hermes_tools::kanban::{Goal, GoalJudge, Judgement};
use tokio::runtime::Runtime;

use self::attempt::Attempt;
pub use self::attempt::is_worker;
use self::budget::Left;
use self::next::{End, Next, Reminder, Seen};
use self::report::Reporter;
use super::args::TalkArgs;
use super::ending::Interrupts;
use super::query::{Screen, Shown};
use super::skills;
use crate::app::App;
use crate::ui;

/// What something around the work being broken exits with, as other programs do.
const UNAVAILABLE: u8 = 69;

/// Works on the card.
pub fn run(app: &App, talk: &TalkArgs, query: &str, shown: Shown) -> anyhow::Result<ExitCode> {
    let attempt = Attempt::find(app)?;
    let interrupts = Interrupts::watch()?;
    match begin(app, talk, &attempt) {
        Ok(Begun::Ready(opened, first)) => {
            let mut work = Work::new(app, &attempt, &interrupts, *opened, shown)?;
            let end = work.until_the_end(query, *first);
            work.close()?;
            finish(&attempt, &interrupts, &end?)
        }
        Ok(Begun::Over(verdict)) => finish(&attempt, &interrupts, &End::Verdict(verdict)),
        // Whatever keeps the work from beginning is not the card's fault.
        Err(error) => {
            ui::note(&format!("hermes: {error:#}"));
            let verdict = Verdict::Infrastructure { error: format!("{error:#}") };
            finish(&attempt, &interrupts, &End::Verdict(verdict))
        }
    }
}

/// What came of beginning.
enum Begun {
    /// The agent, and what it is told besides the question.
    Ready(Box<Opened>, Box<First>),
    /// There is nothing left to begin with.
    Over(Verdict),
}

/// What an agent is told with its first question.
struct First {
    skills: Vec<Content>,
    opening: Opening,
}

fn begin(app: &App, talk: &TalkArgs, attempt: &Attempt) -> anyhow::Result<Begun> {
    let mut opening = super::opening(app, talk)?;
    let limits = match budget::left(&attempt.card.id, &attempt.extras, &attempt.used) {
        Left::Some(limits) => limits,
        Left::Nothing(verdict) => return Ok(Begun::Over(verdict)),
    };
    opening.settings = limits.on(opening.settings)?;
    // Nobody is there to ask, even if somebody started it by hand.
    if !matches!(opening.consent, Consent::Yolo) {
        opening.consent = Consent::Nobody;
    }
    let skills = skills::load(&opening, &talk.skills)?;
    let opened = super::open(opening.clone())?;
    for notice in &opened.notices {
        ui::warn(notice);
    }
    if opened.agent.tools().names().any(|name| name == "terminal") {
        opened.workplace.prepare(opened.agent.session_id())?;
    }
    Ok(Begun::Ready(Box::new(opened), Box::new(First { skills, opening })))
}

/// Says how it ended, and exits with what tells the guard.
fn finish(attempt: &Attempt, interrupts: &Interrupts, end: &End) -> anyhow::Result<ExitCode> {
    let code = match end {
        End::Closed => ExitCode::SUCCESS,
        End::Interrupted => interrupts.exit_code(Outcome::Interrupted),
        End::Failed => ExitCode::from(ui::FAILED),
        End::Block(reason) => {
            attempt.block(reason, now())?;
            ExitCode::SUCCESS
        }
        End::Verdict(verdict) => {
            attempt.say(verdict)?;
            match verdict {
                Verdict::None { .. } => ExitCode::SUCCESS,
                Verdict::OutOfBudget { what } => {
                    ui::note(&format!("hermes: {what}"));
                    ExitCode::from(ui::FAILED)
                }
                Verdict::Quota { .. } => ExitCode::from(u8::try_from(QUOTA_EXIT).unwrap_or(ui::FAILED)),
                Verdict::Infrastructure { .. } => ExitCode::from(UNAVAILABLE),
            }
        }
    };
    Ok(code)
}

/// An attempt under way.
struct Work<'a> {
    app: &'a App,
    attempt: &'a Attempt,
    interrupts: &'a Interrupts,
    agent: Option<Agent>,
    store: hermes_agent::SharedStore,
    workplace: hermes_tools::Workplace,
    judge: Option<Arc<Judge>>,
    reporter: Option<Reporter>,
    screen: Screen,
    runtime: Runtime,
    last: Option<TurnReport>,
}

impl<'a> Work<'a> {
    fn new(
        app: &'a App,
        attempt: &'a Attempt,
        interrupts: &'a Interrupts,
        opened: Opened,
        shown: Shown,
    ) -> anyhow::Result<Self> {
        let Opened { agent, store, workplace, judge, .. } = opened;
        let reporter = match attempt.run {
            Some(run) => {
                let redactor = Redactor::new(app.settings()?.secret_values());
                let (board, control) = (attempt.board()?, interrupts.control().clone());
                Some(Reporter::start(board, attempt.card.id.clone(), run, control, redactor))
            }
            None => None,
        };
        let screen = Screen::new(app, shown);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (agent, last) = (Some(agent), None);
        Ok(Self { app, attempt, interrupts, agent, store, workplace, judge, reporter, screen, runtime, last })
    }

    /// Turns until the card is closed, or it is clear that it will not be.
    fn until_the_end(&mut self, query: &str, first: First) -> anyhow::Result<End> {
        let usual = first.opening.settings.get(&GOAL_MAX_TURNS)?;
        let goal_turns = self.attempt.goal_turns(self.app, usual);
        let nudges = self.app.var("HERMES_KANBAN_STOP_NUDGE").is_none_or(|word| word != "0");
        let mut reminder = if nudges { Reminder::Left } else { Reminder::Used };
        let mut input = self.question(query, first);
        let mut turns = 0;
        loop {
            turns += 1;
            let Some(report) = self.turn(input) else { return Ok(End::Failed) };
            self.last = Some(report.clone());
            if turns == 1 {
                self.name(&report);
            }
            let card = self.attempt.standing()?;
            let goal = match goal_turns {
                Some(_) if report.outcome == Outcome::Completed && card == next::Standing::Open => {
                    Some(self.judged(&report.text))
                }
                _ => None,
            };
            let seen = Seen {
                outcome: report.outcome,
                cause: report.cause,
                error: report.error.as_deref(),
                text: &report.text,
                card,
                goal: goal.as_ref(),
                turns,
                most_turns: goal_turns.unwrap_or_default(),
                reminder,
                now: now(),
            };
            match next::next(&seen) {
                Next::End(end) => return Ok(self.explained(end, &report)),
                Next::Turn { text, reminder: left } => {
                    reminder = left;
                    input = vec![Content::Text(text)];
                }
            }
        }
    }

    /// The first question: what was asked, the skills, and the pictures of the card.
    fn question(&mut self, query: &str, first: First) -> Vec<Content> {
        let body = self.attempt.card.body.as_deref().unwrap_or_default();
        let cancel = self.interrupts.control().token();
        let pictures = self.runtime.block_on(pictures::of(body, &first.opening, cancel));
        let mut question = first.skills;
        question.push(Content::Text(query.to_owned()));
        question.extend(pictures);
        question
    }

    fn turn(&mut self, input: Vec<Content>) -> Option<TurnReport> {
        let Self { agent, reporter, screen, runtime, interrupts, .. } = self;
        let mut hear = |event: AgentEvent| {
            if let Some(reporter) = reporter {
                reporter.event(&event);
            }
            screen.event(&event);
        };
        let report = runtime.block_on(agent.as_mut()?.turn(input, interrupts.control(), &mut hear));
        Some(report)
    }

    /// Whether the card's goal is reached.
    fn judged(&mut self, text: &str) -> Judgement {
        let Some(judge) = self.judge.clone() else { return Judgement::Unknown };
        let goal = Goal::of(&self.attempt.card);
        self.runtime.block_on(judge.judge(&goal, text))
    }

    /// The conversation is called after the card.
    fn name(&self, report: &TurnReport) {
        let title = format!("{}: {}", self.attempt.card.id, self.attempt.card.title);
        let id = SessionId::from(report.session_id.as_str());
        // A title is never worth an error.
        let _ = self.store.lock().suggest_title(&id, &title);
    }

    /// What went wrong, said; a budget that is the card's own is named as such.
    fn explained(&self, end: End, report: &TurnReport) -> End {
        if self.reporter.as_ref().is_some_and(Reporter::is_lost) {
            ui::note(&format!(
                "hermes: {} belongs to another attempt now: this one ends",
                self.attempt.card.id
            ));
            return End::Failed;
        }
        let extras = &self.attempt.extras;
        let own_budget = extras.max_tokens.is_some() || extras.max_cost.is_some();
        match end {
            End::Verdict(Verdict::OutOfBudget { .. })
                if own_budget && report.outcome == Outcome::OutOfBudget =>
            {
                let mut used = self.attempt.used;
                if let Some(reporter) = &self.reporter {
                    let here = reporter.usage();
                    used.input_tokens += here.input_tokens;
                    used.output_tokens += here.output_tokens;
                    used.cost_usd += here.cost_usd;
                }
                let why = report.error.as_deref().unwrap_or_default();
                End::Verdict(budget::used_up(&self.attempt.card.id, extras, &used, why))
            }
            end => end,
        }
    }

    /// Everything ends with the attempt, and the board hears the last of it.
    fn close(mut self) -> anyhow::Result<()> {
        if let Some(agent) = self.agent.take() {
            self.runtime.block_on(agent.close());
        }
        if let Some(reporter) = &mut self.reporter {
            if let Some(judge) = &self.judge {
                reporter.side(self.runtime.block_on(judge.spent()));
            }
            reporter.finish();
        }
        self.runtime.shutdown_background();
        assembly::let_go(&self.workplace);
        match &self.last {
            Some(report) => self.screen.finish(report),
            None => Ok(()),
        }
    }
}

fn now() -> Seconds {
    jiff::Timestamp::now().as_second()
}
