//! `hermes chat -q`: one question with its work in view.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use hermes_agent::assembly::{self, Consent, Opened};
use hermes_agent::{Control, Outcome, TurnReport};
use hermes_model::Content;

use super::args::TalkArgs;
use super::picture;
use super::plain::{Detail, Paint, Plain};
use crate::app::App;
use crate::ui;

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
    let mut question = vec![Content::Text(query.to_owned())];
    for path in images {
        question.push(picture::read(path)?);
    }
    let mut opening = super::opening(app, talk)?;
    if !matches!(opening.consent, Consent::Yolo) && std::io::stdin().is_terminal() {
        opening.consent = Consent::Ask(std::sync::Arc::new(super::ask::LineAnswerer));
    }
    let worktree = super::worktree_for(talk, &mut opening)?;
    let Opened { mut agent, store, workplace, notices, .. } = assembly::open(opening)?;
    for notice in &notices {
        ui::warn(notice);
    }
    let colours = std::io::stderr().is_terminal() && app.var("NO_COLOR").is_none_or(str::is_empty);
    let paint = if colours { Paint::Colours } else { Paint::Plain };
    let detail = if shown == Shown::Output { Detail::Output } else { Detail::Brief };
    let mut plain = Plain::new(std::io::stderr(), std::io::stdout(), paint, detail);
    let control = Control::new();
    super::interrupt_on_signals(&control)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut show = |event| {
        if shown != Shown::Answer {
            plain.event(&event);
        }
    };
    let report = runtime.block_on(agent.turn(question, &control, &mut show));
    if report.outcome.is_success() && shown != Shown::Answer {
        let title = runtime.block_on(agent.suggest_title(control.token()));
        let id = hermes_store::sessions::SessionId::from(report.session_id.as_str());
        // A title is never worth an error.
        let _ = title.map(|title| store.lock().suggest_title(&id, &title));
    }
    runtime.shutdown_background();
    drop(agent);
    assembly::let_go(&workplace);
    super::end_worktree(worktree);
    finish(&report, shown)
}

fn finish(report: &TurnReport, shown: Shown) -> anyhow::Result<ExitCode> {
    if shown == Shown::Answer && !report.text.trim().is_empty() {
        ui::print(report.text.trim_end())?;
    }
    if let Some(error) = &report.error {
        ui::note(&format!("hermes: {error}"));
    }
    match shown {
        Shown::Answer => ui::note(&format!("session_id: {}", report.session_id)),
        Shown::Work | Shown::Output => {
            ui::note(&format!("\nContinue with: hermes --resume {}", report.session_id));
        }
    }
    Ok(match report.outcome {
        Outcome::Completed => ExitCode::SUCCESS,
        Outcome::Interrupted => ExitCode::from(130),
        Outcome::Partial | Outcome::OutOfCalls | Outcome::OutOfBudget | Outcome::Failed => {
            ExitCode::from(ui::FAILED)
        }
    })
}
