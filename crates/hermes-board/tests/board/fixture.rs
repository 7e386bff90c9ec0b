//! Throw-away boards.

use hermes_board::claim::{Claim, Claimed, Claimer};
use hermes_board::create::NewCard;
use hermes_board::{Board, CardId, Overrides, Root, Slug, Status};
use tempfile::TempDir;

/// The moment everything happens at, unless a test says otherwise.
pub const NOW: i64 = 1_800_000_000;

pub struct Fixture {
    pub dir: TempDir,
    pub root: Root,
}

impl Fixture {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path(), Overrides::default());
        Self { dir, root }
    }

    pub fn board(&self) -> Board {
        Board::open(&self.root, &Slug::default_board()).unwrap()
    }
}

pub fn claimer() -> Claimer {
    Claimer { host: "here".into(), pid: 7 }
}

pub fn make(board: &mut Board, title: &str, parents: &[&CardId]) -> CardId {
    let mut card = NewCard::new(title);
    card.assignee = Some("alpha".into());
    card.parents = parents.iter().map(|id| (*id).clone()).collect();
    board.create(&card, NOW).unwrap().card.id
}

pub fn take(board: &mut Board, id: &CardId) -> Claim {
    match board.claim(id, &claimer(), 900, NOW).unwrap() {
        Claimed::Yes(claim) => *claim,
        Claimed::Waits => panic!("{id} waits"),
    }
}

pub fn status(board: &mut Board, id: &CardId) -> Status {
    board.card(id).unwrap().status
}

/// What happened to a card, by name.
pub fn kinds(board: &mut Board, id: &CardId) -> Vec<String> {
    board.details(id).unwrap().events.into_iter().map(|event| event.kind).collect()
}
