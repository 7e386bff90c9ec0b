//! Workers of the board as their guards start them: the real binary, a scripted model server, a real board.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod budgets;
mod closing;
mod failing;
mod goals;
mod surroundings;

use std::time::Duration;

use hermes_board::claim::{Claim, Claimed, Claimer};
use hermes_board::create::NewCard;
use hermes_board::workers::{Process, Worker};
use hermes_board::{Board, Card, Overrides, Root, RunId, Slug};
use hermes_testkit::{Finished, Hermes, ModelServer, TestHome};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(30);

/// A home with a board, a scripted model, and a card somebody has taken.
struct Shift {
    home: TestHome,
    server: ModelServer,
    claim: Claim,
}

/// A card for the default profile.
fn card(title: &str) -> NewCard {
    let mut new = NewCard::new(title);
    new.assignee = Some("default".into());
    new
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

fn open(home: &TestHome) -> Board {
    Board::open(&Root::new(home.path(), Overrides::default()), &Slug::default_board()).unwrap()
}

impl Shift {
    /// A model that answers by this script, and a card called "paint it".
    fn new(script: &str) -> Self {
        Self::on(script, "", &card("paint it"))
    }

    /// The same with these settings and this card.
    fn on(script: &str, settings: &str, new: &NewCard) -> Self {
        let (home, server) = (TestHome::new(), ModelServer::scripted(script));
        home.config_for(&server);
        let config = home.read("config.yaml");
        home.config(format!("{config}{settings}"));
        let id = open(&home).create(new, now()).unwrap().card.id;
        let claim = take(&home, &id);
        Self { home, server, claim }
    }

    fn board(&self) -> Board {
        open(&self.home)
    }

    /// The worker's command, with what a guard puts into its environment.
    fn worker(&self, flags: &[&str]) -> Hermes {
        let id = self.claim.card.id.to_string();
        Hermes::new(env!("CARGO_BIN_EXE_hermes"), &self.home)
            .args(["-p", "default", "--cli", "--accept-hooks"])
            .args(flags)
            .args(["chat", "-q", &format!("work kanban task {id}")])
            .env("HERMES_KANBAN_TASK", &id)
            .env("HERMES_KANBAN_RUN_ID", self.claim.run.to_string())
            .env("HERMES_KANBAN_CLAIM_LOCK", &self.claim.lock)
            .env("HERMES_PROFILE", "default")
    }

    fn run(&self) -> Finished {
        self.worker(&[]).run()
    }

    fn card(&self) -> Card {
        self.board().card(&self.claim.card.id).unwrap()
    }

    fn row(&self) -> Worker {
        self.board().worker(self.claim.run).unwrap().unwrap()
    }

    /// The results of the newest request's calls.
    fn results(&self) -> Vec<Value> {
        let results = self.server.last_call().tool_results();
        results.iter().map(|(_, text)| serde_json::from_str(text).unwrap()).collect()
    }
}

/// Takes a card as a guard does: the worker's row is there before the worker.
fn take(home: &TestHome, id: &hermes_board::CardId) -> Claim {
    let mut board = open(home);
    let claimer = Claimer { host: "here".into(), pid: std::process::id() };
    let claim = match board.claim(id, &claimer, 900, now()).unwrap() {
        Claimed::Yes(claim) => *claim,
        Claimed::Waits => panic!("{id} waits"),
    };
    assert!(begin(&mut board, &claim, claim.run));
    claim
}

fn begin(board: &mut Board, claim: &Claim, run: RunId) -> bool {
    let process = Process { pid: std::process::id(), started_ticks: 1, boot_id: "boot".into() };
    board.begin(&claim.card.id, run, &process, now()).unwrap()
}

/// A call of a tool, as a line of a script.
fn calls(tool: &str, arguments: &Value) -> String {
    format!("call {tool} {arguments}")
}
