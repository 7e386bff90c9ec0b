//! A board with a dispatcher.

use std::time::Duration;

use hermes_board::query::{Filter, Sort};
use hermes_board::{Board, Card, Overrides, Root, Slug, Status};
use hermes_testkit::{Finished, Hermes, Running, TestHome};

/// The binary under test.
pub const HERMES: &str = env!("CARGO_BIN_EXE_hermes");

/// How long something may take to happen.
pub const LIMIT: Duration = Duration::from_secs(60);

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

/// What a board and its processes say when a test fails.
pub fn picture(home: &TestHome, board: &mut Board) -> String {
    let mut text = String::new();
    // What nobody has touched yet, or what is done, says nothing.
    let quiet = |card: &Card| card.status == Status::Done || card.started_at.is_none();
    for card in cards(board).into_iter().filter(|card| !quiet(card)) {
        let details = board.details(&card.id).unwrap();
        let events: Vec<String> = details
            .events
            .iter()
            .rev()
            .take(8)
            .map(|event| {
                let payload = event.payload.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{} {}", event.kind, payload.chars().take(160).collect::<String>())
            })
            .collect();
        text += &format!(
            "{} {} {:?} {}\n    {}\n",
            card.id,
            card.status,
            card.assignee,
            card.title,
            events.join("\n    ")
        );
        let log = home.path().join(format!("kanban/logs/{}.log", card.id));
        let log = std::fs::read_to_string(log).unwrap_or_default();
        let tail: Vec<&str> = log.lines().rev().take(12).collect();
        text += &format!("  log:\n    {}\n", tail.into_iter().rev().collect::<Vec<_>>().join("\n    "));
    }
    for process in home.processes() {
        text += &format!("process {} {}\n", process.pid, process.command);
    }
    text
}
