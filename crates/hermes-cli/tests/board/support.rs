//! A board with a dispatcher.

use std::time::Duration;

use hermes_board::query::{Filter, Sort};
use hermes_board::{Board, Card, Overrides, Root, Slug, Status};
use hermes_testkit::{Finished, Hermes, Running, TestHome};

/// The binary under test.
pub const HERMES: &str = env!("CARGO_BIN_EXE_hermes");

/// How long something may take to happen.
pub const LIMIT: Duration = Duration::from_mins(1);

/// Runs `hermes ARGS`.
pub fn hermes(home: &TestHome, args: &[&str]) -> Finished {
    Hermes::new(HERMES, home).args(args).run()
}

/// The board of a home.
pub fn board(home: &TestHome) -> Board {
    let root = Root::new(home.path(), Overrides::default());
    Board::open(&root, &Slug::default_board()).unwrap()
}

/// All cards.
pub fn cards(board: &mut Board) -> Vec<Card> {
    board.list(&Filter::default(), Sort::default()).unwrap()
}

/// A dispatcher, with these variables.
pub fn dispatcher(home: &TestHome, env: &[(&str, &str)]) -> Running {
    Hermes::new(HERMES, home)
        .args(["kanban", "daemon"])
        .envs(env.iter().copied())
        .limit(Duration::from_hours(2))
        .spawn()
}

/// What a board and its processes say when a test fails. What nobody has touched yet, or what is done, says nothing.
pub fn picture(home: &TestHome, board: &mut Board) -> String {
    let quiet = |card: &Card| card.status == Status::Done || card.started_at.is_none();
    let mut lines = Vec::new();
    for card in cards(board).into_iter().filter(|card| !quiet(card)) {
        lines.push(format!("{} {} {:?} {}", card.id, card.status, card.assignee, card.title));
        for event in board.details(&card.id).unwrap().events.iter().rev().take(8) {
            let payload = event.payload.as_ref().map(ToString::to_string).unwrap_or_default();
            lines.push(format!("    {} {}", event.kind, payload.chars().take(160).collect::<String>()));
        }
        let log = home.path().join(format!("kanban/logs/{}.log", card.id));
        let log = std::fs::read_to_string(log).unwrap_or_default();
        let skipped = log.lines().count().saturating_sub(12);
        lines.extend(log.lines().skip(skipped).map(|line| format!("    | {line}")));
    }
    lines.extend(
        home.processes().iter().map(|process| format!("process {} {}", process.pid, process.command)),
    );
    lines.join("\n")
}
