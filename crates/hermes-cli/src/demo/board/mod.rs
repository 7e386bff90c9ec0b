//! `hermes demo --board`: a small project on the board, from an idea to its end. The dispatcher, the guards, the workers
//! and their commands are real processes in a home of their own; only the models are scripted, and nothing is left.

mod check;
mod script;
mod stage;
mod story;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hermes_agent::Outcome;
use hermes_board::card::WorkspaceKind;
use hermes_board::create::{Beginning, NewCard};
use hermes_board::{Board, CardId, Status};

use self::stage::Stage;
use self::story::Story;
use super::Args;
use crate::app::App;
use crate::talk::ending::Interrupts;
use crate::ui;

/// How long the project may take. It takes a few seconds.
const LIMIT: Duration = Duration::from_secs(90);
/// How often the board is looked at.
const LOOK: Duration = Duration::from_millis(40);

/// Runs the tour.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    let began = Instant::now();
    let interrupts = Interrupts::watch()?;
    let room = tempfile::Builder::new()
        .prefix("hermes-demo-")
        .tempdir()
        .context("no temporary directory can be made")?;
    let stage = Stage::set(app, room.path())?;
    let mut story = Story::new();
    story::say(
        "Three profiles share a board: coder, tester and writer. Their models are built-in scripts; the dispatcher,\n\
         the workers and their commands are real, on this machine, in a directory of their own.\n",
    )?;
    let mut board = stage.board()?;
    let whole = idea(&mut board, &stage)?;
    story::say(&format!("$ hermes kanban create '{}' --triage\n{whole} is an idea.\n", script::TITLE))?;
    story::say(&format!("$ hermes kanban decompose {whole}"))?;
    stage.hermes(&["kanban", "decompose", whole.as_str()])?;
    let parts = Parts::find(&mut board, &whole)?;
    stage.hermes(&["kanban", "edit", parts.code.as_str(), "--reviewer", "tester"])?;
    stage.hermes(&["kanban", "edit", parts.check.as_str(), "--accept", "sh check.sh"])?;
    story.tree(&mut board, &whole)?;
    story::say(&format!(
        "The tester will look at {} before it is done; {} is done only if `sh check.sh` succeeds.\n\n\
         $ hermes kanban resume && hermes kanban daemon",
        parts.code, parts.check
    ))?;
    stage.hermes(&["kanban", "resume"])?;
    let dispatcher = stage.start(&["kanban", "daemon"])?;
    let mut last = board.newest_event()?;
    let deadline = began + LIMIT;
    let finished = loop {
        last = story.tell(&mut board, last)?;
        if board.card(&whole)?.status == Status::Done {
            break true;
        }
        if interrupts.control().is_interrupted() || Instant::now() > deadline {
            break false;
        }
        std::thread::sleep(LOOK);
    };
    // Everything that was started ends before the directory goes.
    let left = stage.end(dispatcher, &mut board);
    if interrupts.control().is_interrupted() {
        ui::note("hermes: interrupted; nothing is left of the demo");
        return Ok(interrupts.exit_code(Outcome::Interrupted));
    }
    let checked = check::project(stage.project());
    story::end(&mut board, &checked, finished, began.elapsed())?;
    if args.keep {
        ui::print(&format!("Kept: {}", room.keep().display()))?;
    } else {
        ui::print("All of it is removed now.")?;
    }
    for process in &left {
        ui::warn(&format!("process {process} did not end"));
    }
    let good = finished && checked.is_ok() && left.is_empty();
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(ui::FAILED) })
}

fn idea(board: &mut Board, stage: &Stage) -> anyhow::Result<CardId> {
    let new = NewCard {
        body: Some(script::BODY.to_owned()),
        created_by: Some("user".to_owned()),
        workspace_kind: WorkspaceKind::Dir,
        workspace_path: Some(stage.project().display().to_string()),
        beginning: Beginning::Triage,
        ..NewCard::new(script::TITLE)
    };
    Ok(board.create(&new, jiff::Timestamp::now().as_second())?.card.id)
}

/// The parts of the project that are looked at before they are done.
struct Parts {
    code: CardId,
    check: CardId,
}

impl Parts {
    fn find(board: &mut Board, root: &CardId) -> anyhow::Result<Self> {
        let mut titled = |title: &str| -> anyhow::Result<CardId> {
            for id in board.details(root)?.parents {
                if board.card(&id)?.title == title {
                    return Ok(id);
                }
            }
            anyhow::bail!("the model did not plan \"{title}\"")
        };
        Ok(Self { code: titled(script::CODE)?, check: titled(script::CHECK)? })
    }
}
