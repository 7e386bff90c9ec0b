//! `hermes kanban pause`, `resume` and `drain`: whether a board's cards are started.

use std::process::ExitCode;

use hermes_board::query::Archived;
use hermes_board::state::{Mode, State};
use hermes_board::{Board, Slug, boards};
use serde_json::json;

use super::{Desk, screen::line};
use crate::ui;

/// Start no more cards until somebody resumes the board; what runs goes on
#[derive(Debug, clap::Args)]
pub struct PauseArgs {
    #[command(flatten)]
    which: Which,
}

/// Let a board's cards be started; a new board begins with this
#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    which: Which,
}

/// Finish what runs and start nothing new
#[derive(Debug, clap::Args)]
pub struct DrainArgs {
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, clap::Args)]
struct Which {
    /// Why
    reason: Vec<String>,
    /// All boards
    #[arg(long)]
    all: bool,
}

/// Pauses.
pub fn pause(desk: &Desk<'_>, args: &PauseArgs) -> anyhow::Result<ExitCode> {
    set(desk, &args.which, Mode::Paused)
}

/// Resumes.
pub fn resume(desk: &Desk<'_>, args: &ResumeArgs) -> anyhow::Result<ExitCode> {
    set(desk, &args.which, Mode::Active)
}

/// Drains.
pub fn drain(desk: &Desk<'_>, args: &DrainArgs) -> anyhow::Result<ExitCode> {
    set(desk, &args.which, Mode::Draining)
}

fn set(desk: &Desk<'_>, which: &Which, mode: Mode) -> anyhow::Result<ExitCode> {
    let reason = which.reason.join(" ");
    let state = State {
        mode,
        by: Some(desk.author(None)),
        reason: (!reason.trim().is_empty()).then(|| reason.trim().to_owned()),
        since: Some(desk.now),
    };
    let slugs: Vec<Slug> = if which.all {
        boards::list(&desk.root, Archived::Hidden).into_iter().map(|board| board.slug).collect()
    } else {
        vec![desk.slug.clone()]
    };
    let mut answers = Vec::new();
    let mut code = ExitCode::SUCCESS;
    for slug in slugs {
        // A damaged board must not keep the others from being paused.
        match change(desk, &slug, &state) {
            Ok(running) => {
                if !desk.json {
                    ui::print(&said(&slug, mode, running))?;
                }
                answers
                    .push(json!({ "board": slug.as_str(), "mode": mode, "running": running, "error": null }));
            }
            Err(error) => {
                ui::note(&format!("hermes: {error}"));
                code = ExitCode::from(ui::FAILED);
                answers.push(json!({ "board": slug.as_str(), "mode": null, "error": error.to_string() }));
            }
        }
    }
    if desk.json {
        match answers.as_slice() {
            [one] if !which.all => ui::print_json(one)?,
            all => ui::print_json(&all)?,
        }
    }
    Ok(code)
}

fn change(desk: &Desk<'_>, slug: &Slug, state: &State) -> anyhow::Result<i64> {
    let mut board = Board::open(&desk.root, slug)?;
    board.set_state(state)?;
    let counts = board.stats(desk.now)?;
    Ok(counts.by_status.get(&hermes_board::Status::Running).copied().unwrap_or(0))
}

fn said(slug: &Slug, mode: Mode, running: i64) -> String {
    let goes_on = match running {
        0 => String::new(),
        1 => "; the one card that runs is finished".to_owned(),
        running => format!("; the {running} cards that run are finished"),
    };
    match mode {
        Mode::Active => format!("The board \"{slug}\" starts its cards"),
        Mode::Draining => format!("The board \"{slug}\" starts nothing new{goes_on}"),
        Mode::Paused | Mode::Parked => format!("The board \"{slug}\" is paused{goes_on}"),
    }
}
/// A board's mode in words.
pub fn describe(state: &State) -> String {
    let what = match state.mode {
        Mode::Parked => "parked: nothing is started until `hermes kanban resume`",
        Mode::Active => "active",
        Mode::Paused => "paused: `hermes kanban resume` lets it go on",
        Mode::Draining => "draining: what runs is finished, nothing new is started",
    };
    let by = state.by.as_deref().map(|by| format!(" (by {})", line(by, 40))).unwrap_or_default();
    let why = state.reason.as_deref().map(|why| format!(": {}", line(why, 200))).unwrap_or_default();
    format!("{what}{by}{why}")
}
