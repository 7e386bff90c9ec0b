//! A board with a dispatcher whose workers exist only here.

use std::collections::BTreeSet;

use hermes_board::claim::{Claim, Claimer};
use hermes_board::create::NewCard;
use hermes_board::dispatch::{
    After, Launcher, Liveness, Plan, Report, Rules, Scope, Signal, Snapshot, World, plan,
};
use hermes_board::ending::{Ending, Verdict};
use hermes_board::state::{Mode, State};
use hermes_board::workers::{Process, Worker};
use hermes_board::{Board, CardId, Overrides, Root, RunId, Seconds, Slug, Status};
use tempfile::TempDir;

/// The moment everything begins at.
pub const NOW: Seconds = 1_800_000_000;

/// Workers that exist only here.
#[derive(Default)]
pub struct Workers {
    pub launched: Vec<Claim>,
    pub stopped: Vec<RunId>,
    pub signals: Vec<(i64, Signal)>,
    /// Why none can be started.
    pub broken: Option<String>,
}

impl Launcher for Workers {
    fn launch(&mut self, _: &Board, claim: &Claim) -> Result<(), String> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        self.launched.push(claim.clone());
        Ok(())
    }

    fn stop(&mut self, worker: &Worker) {
        self.stopped.push(worker.run);
    }

    fn signal_foreign(&mut self, pid: i64, how: Signal) {
        self.signals.push((pid, how));
    }
}

pub struct Bench {
    _dir: TempDir,
    pub root: Root,
    pub board: Board,
    pub rules: Rules,
    pub world: World,
    pub workers: Workers,
}

/// A board that starts cards, with the profiles `alpha`, `beta` and `default`, and no caps.
pub fn bench() -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::new(dir.path(), Overrides::default());
    let mut board = Board::open(&root, &Slug::default_board()).unwrap();
    board.set_state(&State { mode: Mode::Active, ..State::default() }).unwrap();
    let rules = Rules { host_cap: None, ..Rules::default() };
    let profiles: BTreeSet<String> = ["default", "alpha", "beta"].map(String::from).into();
    let world = World { host: "here".into(), profiles, ..World::default() };
    Bench { _dir: dir, root, board, rules, world, workers: Workers::default() }
}

pub fn claimer() -> Claimer {
    Claimer { host: "here".into(), pid: 7 }
}

impl Bench {
    /// A card for a profile.
    pub fn card(&mut self, title: &str, assignee: Option<&str>) -> CardId {
        self.make(title, |card| card.assignee = assignee.map(str::to_owned))
    }

    pub fn make(&mut self, title: &str, change: impl FnOnce(&mut NewCard)) -> CardId {
        let mut card = NewCard::new(title);
        card.assignee = Some("alpha".into());
        change(&mut card);
        self.board.create(&card, NOW).unwrap().card.id
    }

    pub fn snapshot(&mut self, now: Seconds) -> Snapshot {
        self.board.snapshot(Scope::All, &self.rules, now).unwrap()
    }

    pub fn plan(&mut self, now: Seconds) -> Plan {
        let snapshot = self.snapshot(now);
        plan(&snapshot, &self.rules, &self.world, now)
    }

    /// What would be done.
    pub fn dry(&mut self, now: Seconds) -> Report {
        Report::of(&self.plan(now))
    }

    /// One look at the board.
    pub fn tick(&mut self, now: Seconds) -> Report {
        let plan = self.plan(now);
        self.board.apply(&plan, &self.rules, &claimer(), &mut self.workers, now).unwrap()
    }

    /// One look at what changed since an event.
    pub fn tick_since(&mut self, event: i64, now: Seconds) -> (Snapshot, Report) {
        let snapshot = self.board.snapshot(Scope::Since(event), &self.rules, now).unwrap();
        let plan = plan(&snapshot, &self.rules, &self.world, now);
        let report = self.board.apply(&plan, &self.rules, &claimer(), &mut self.workers, now).unwrap();
        (snapshot, report)
    }

    /// Starts the card as a tick would, and its worker begins. Its attempt.
    pub fn run(&mut self, card: &CardId, now: Seconds) -> RunId {
        let report = self.tick(now);
        assert!(
            report.spawned.iter().any(|spawned| spawned.task_id == *card),
            "{card} was not started: {report:?}"
        );
        let run = self.board.card(card).unwrap().current_run.unwrap();
        self.begin(card, run, now);
        run
    }

    /// The worker of an attempt begins.
    pub fn begin(&mut self, card: &CardId, run: RunId, now: Seconds) {
        let process = Process { pid: 4000 + run.0 as u32, started_ticks: 1, boot_id: "boot".into() };
        assert!(self.board.begin(card, run, &process, now).unwrap());
        self.world.alive.insert(run, Liveness::Alive);
    }

    /// The worker of an attempt ended.
    pub fn end(&mut self, card: &CardId, run: RunId, ending: &Ending, now: Seconds) -> After {
        self.world.alive.insert(run, Liveness::Dead);
        let after = self.board.ended(card, run, ending, &self.rules, now).unwrap();
        self.board.worker_ended(run, now).unwrap();
        after
    }

    pub fn verdict(&mut self, run: RunId, verdict: &Verdict) {
        self.board.say_verdict(run, verdict).unwrap();
    }

    pub fn status(&mut self, card: &CardId) -> Status {
        self.board.card(card).unwrap().status
    }

    /// What happened to a card, by name.
    pub fn kinds(&mut self, card: &CardId) -> Vec<String> {
        self.board.details(card).unwrap().events.into_iter().map(|event| event.kind).collect()
    }

    /// What was written down the last time something happened to a card.
    pub fn payload(&mut self, card: &CardId, kind: &str) -> serde_json::Value {
        let events = self.board.details(card).unwrap().events;
        let event = events.into_iter().rev().find(|event| event.kind == kind);
        event.unwrap_or_else(|| panic!("no {kind}")).payload.unwrap_or_default()
    }

    /// The file with everything in it, as it is now.
    pub fn sql(&self, sql: &str) {
        let path = self.root.database(&Slug::default_board());
        hermes_store::rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
    }
}

/// The cards of started workers.
pub fn started(report: &Report) -> Vec<CardId> {
    report.spawned.iter().map(|spawned| spawned.task_id.clone()).collect()
}
