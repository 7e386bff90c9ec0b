//! Ending workers because somebody wants it: stop, reclaim, reassign.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use hermes_board::claim::Claimer;
use hermes_board::ending::{Stop, Then};
use hermes_board::worker::stop::{self, Gone, Stopped};
use hermes_board::{Board, BoardError, CardId, RunId};
use serde_json::json;

use super::Desk;
use crate::ui;

/// How long it may take until nothing of a worker is left.
const PATIENCE: Duration = Duration::from_mins(1);

/// End the worker of a card and keep the card out until it is unblocked
#[derive(Debug, clap::Args)]
pub struct StopArgs {
    /// The card
    task_id: String,
    /// Why
    reason: Vec<String>,
}

/// Ends a worker and keeps its card out.
pub fn stop(desk: &Desk<'_>, args: &StopArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    let mut board = desk.board()?;
    let stopped = end(desk, &mut board, &id, Then::StayOut, super::act::words(&args.reason))?;
    if stopped == Stopped::Nobody {
        bail!(
            "{id} is not running: `hermes kanban block {id}` keeps it from being started, `hermes kanban show {id}` says how it stands"
        );
    }
    let text = format!("Stopped {id}: it is kept out until `hermes kanban unblock {id}`");
    desk.say(&text, || json!({ "task_id": id, "stopped": true }))
}

/// End the worker of a card and let the card be taken again
#[derive(Debug, clap::Args)]
pub struct ReclaimArgs {
    /// The card
    task_id: String,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

/// Takes a card back.
pub fn reclaim(desk: &Desk<'_>, args: &ReclaimArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    take_back(desk, &mut desk.board()?, &id, args.reason.as_deref())?;
    desk.say(&format!("Reclaimed {id}"), || json!({ "task_id": id, "reclaimed": true }))
}

/// Give a card to another profile
#[derive(Debug, clap::Args)]
pub struct ReassignArgs {
    /// The card
    task_id: String,
    /// The profile; "none" takes it away from everybody
    #[arg(id = "assignee", value_name = "PROFILE")]
    assignee: String,
    /// End the worker that has it first
    #[arg(long)]
    reclaim: bool,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

/// Gives a card to another profile.
pub fn reassign(desk: &Desk<'_>, args: &ReassignArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    if args.reclaim {
        let mut board = desk.board()?;
        let card = board.card(&id)?;
        if card.status == hermes_board::Status::Running || card.claim_lock.is_some() {
            take_back(desk, &mut board, &id, args.reason.as_deref())?;
        }
    }
    super::act::give(desk, &id, &args.assignee)
}

fn take_back(desk: &Desk<'_>, board: &mut Board, id: &CardId, reason: Option<&str>) -> anyhow::Result<()> {
    match end(desk, board, id, Then::GoOn, reason.map(str::to_owned))? {
        // Nobody works on it; somebody may still hold it.
        Stopped::Nobody => board.reclaim(id, reason, &serde_json::Map::new(), desk.now)?,
        _ => board.forgive(id)?,
    }
    Ok(())
}

/// Ends the worker of a card, and shows that it takes a while.
fn end(
    desk: &Desk<'_>,
    board: &mut Board,
    id: &CardId,
    then: Then,
    reason: Option<String>,
) -> anyhow::Result<Stopped> {
    let stop = Stop { then, by: desk.author(None), reason };
    let claimer = Claimer { host: super::act::host(), pid: std::process::id() };
    let mut told = false;
    let mut waiting = |left: Duration| {
        if !told && PATIENCE.saturating_sub(left) > Duration::from_secs(1) {
            told = true;
            if std::io::stderr().is_terminal() {
                ui::note(&format!("waiting for the worker of {id} to end …"));
            }
        }
    };
    let done = stop::stop(board, id, &stop, &claimer, &desk.rules()?, PATIENCE, &mut waiting)?;
    match done {
        Stopped::StillThere => bail!(
            "the worker of {id} was told to end and is still there: `hermes kanban show {id}` says which process it is"
        ),
        Stopped::Elsewhere => bail!("the worker of {id} runs on another machine: end it there"),
        done => Ok(done),
    }
}

/// Ends the worker of an attempt whose card was put away, and waits until it is gone.
pub fn dismiss(desk: &Desk<'_>, board: &mut Board, id: &CardId, run: RunId) -> Result<(), BoardError> {
    let stop =
        Stop { then: Then::Nothing, by: desk.author(None), reason: Some("the card was put away".into()) };
    if stop::dismiss(board, run, &stop, PATIENCE)? == Gone::No {
        ui::warn(&format!("the worker of {id} was told to end and is still there"));
    }
    Ok(())
}
