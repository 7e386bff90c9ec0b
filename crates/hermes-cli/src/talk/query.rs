//! `hermes chat -q`: one question with its work in view.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hermes_agent::assembly::{self, Consent, Opened};
use hermes_agent::{AgentEvent, TurnReport};
use hermes_guard::{Policy, Redactor};
use hermes_model::Content;
use hermes_tools::Answerer;

use super::args::TalkArgs;
use super::ending::{self, Interrupts};
use super::plain::{self, Detail, Paint, Plain};
use super::{picture, skills, worker};
use crate::app::App;
use crate::logging;
use crate::ui;

/// How long somebody who has the answer waits for a title.
const TITLE_PATIENCE: Duration = Duration::from_secs(5);

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The answer alone.
    Answer,
    /// A line for each call, too.
    Work,
    /// What commands print, too.
    Output,
}

/// Asks one question.
pub fn run(
    app: &App,
    talk: &TalkArgs,
    query: &str,
    images: &[PathBuf],
    shown: Shown,
) -> anyhow::Result<ExitCode> {
    if query.trim().is_empty() {
        return Err(ui::WrongUsage("there is no question: give it after -q".to_owned()).into());
    }
    if worker::is_worker(app) {
        return worker::run(app, talk, query, shown);
    }
    let mut opening = super::opening(app, talk)?;
    let mut question = skills::load(&opening, &talk.skills)?;
    question.push(Content::Text(query.to_owned()));
    for path in images {
        question.push(picture::read(path)?);
    }
    if std::io::stdin().is_terminal() {
        let person: Arc<dyn Answerer> = Arc::new(super::ask::LineAnswerer);
        if !matches!(opening.consent, Consent::Yolo) {
            opening.consent = Consent::Ask(Arc::clone(&person));
        }
        opening.person = Some(person);
    }
    let interrupts = Interrupts::watch()?;
    let worktree = super::worktree_for(talk, &mut opening)?;
    let Opened { mut agent, store, workplace, notices, .. } = super::open(opening)?;
    for notice in &notices {
        ui::warn(notice);
    }
    let mut screen = Screen::new(app, shown);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut show = |event| screen.event(&event);
    let report = runtime.block_on(agent.turn(question, interrupts.control(), &mut show));
    if report.outcome.is_success() && shown != Shown::Answer {
        let title = agent.suggest_title(interrupts.control().token());
        let title =
            runtime.block_on(async { tokio::time::timeout(TITLE_PATIENCE, title).await.ok().flatten() });
        let id = hermes_store::sessions::SessionId::from(report.session_id.as_str());
        // A title is never worth an error.
        let _ = title.map(|title| store.lock().suggest_title(&id, &title));
    }
    runtime.block_on(agent.close());
    runtime.shutdown_background();
    drop(agent);
    assembly::let_go(&workplace);
    drop(worktree);
    screen.finish(&report)?;
    Ok(interrupts.exit_code(report.outcome))
}

/// What is shown of the work.
pub struct Screen {
    plain: Plain<'static>,
    redactor: Redactor,
    shown: Shown,
}

impl Screen {
    /// On standard output and standard error.
    pub fn new(app: &App, shown: Shown) -> Self {
        let colours = std::io::stderr().is_terminal() && app.var("NO_COLOR").is_none_or(str::is_empty);
        let paint = if colours { Paint::Colours } else { Paint::Plain };
        let detail = if shown == Shown::Output { Detail::Output } else { Detail::Brief };
        let redactor = logging::redactor(app);
        let plain =
            Plain::new(std::io::stderr(), std::io::stdout(), paint, detail).masking(logging::redactor(app));
        Self { plain, redactor, shown }
    }

    /// Shows one event.
    pub fn event(&mut self, event: &AgentEvent) {
        if self.shown != Shown::Answer {
            self.plain.event(event);
        }
    }

    /// Shows what came of it.
    pub fn finish(self, report: &TurnReport) -> anyhow::Result<()> {
        let text = self.redactor.redact(report.text.trim_end(), Policy::Log);
        let printed = match self.shown {
            Shown::Answer if text.is_empty() => Ok(()),
            Shown::Answer => ui::print(&plain::for_stdout(&text)),
            Shown::Work | Shown::Output => self.plain.said(),
        };
        ending::say(report);
        match self.shown {
            Shown::Answer => ui::note(&format!("session_id: {}", report.session_id)),
            Shown::Work | Shown::Output => {
                ui::note(&format!("\nContinue with: hermes --resume {}", report.session_id));
            }
        }
        ending::unless_reader_left(printed).context("the answer cannot be written")
    }
}
