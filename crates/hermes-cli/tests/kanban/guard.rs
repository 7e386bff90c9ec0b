//! The guard of a worker: `hermes kanban attend`, with shell scripts as workers.

use std::path::PathBuf;
use std::time::Duration;

use hermes_board::act::{By, Report};
use hermes_board::claim::{Claim, Claimed, Claimer};
use hermes_board::create::NewCard;
use hermes_board::{Board, CardId, Overrides, Root, Slug, Status};
use hermes_testkit::{End, Hermes, Running, Signal, TestHome, wait_until};
use serde_json::Value;

use super::{create, kanban};

pub const SOON: Duration = Duration::from_secs(30);

/// A home with a board, and a script that stands for the worker's program.
pub struct Bench {
    pub home: TestHome,
    script: PathBuf,
}

impl Bench {
    pub fn new(script: &str) -> Self {
        let home = TestHome::new();
        let path = home.write("worker.sh", format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        Self { home, script: path }
    }

    pub fn root(&self) -> Root {
        Root::new(self.home.path(), Overrides::default())
    }

    pub fn board(&self) -> Board {
        Board::open(&self.root(), &Slug::default_board()).unwrap()
    }

    pub fn card(&self, more: &[&str]) -> CardId {
        CardId::new(create(&self.home, &[&["something", "--assignee", "default"], more].concat()))
    }

    pub fn hermes(&self, args: &[&str]) -> Hermes {
        Hermes::new(env!("CARGO_BIN_EXE_hermes"), &self.home).env("HERMES_BIN", &self.script).args(args)
    }

    /// Takes a card as a dispatcher does.
    pub fn take(&self, id: &CardId) -> Claim {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let claimer = Claimer { host, pid: std::process::id() };
        let now = jiff::Timestamp::now().as_second();
        match self.board().claim(id, &claimer, 900, now).unwrap() {
            Claimed::Yes(claim) => *claim,
            Claimed::Waits => panic!("{id} waits"),
        }
    }

    pub fn guard(&self, claim: &Claim) -> Hermes {
        let run = claim.run.to_string();
        self.hermes(&["-p", "default", "kanban", "attend", "--run", &run, "--lock", &claim.lock])
            .arg(claim.card.id.as_str())
    }

    /// Takes a card and looks after its worker to the end.
    fn attend(&self, id: &CardId) {
        self.guard(&self.take(id)).run().success();
    }

    pub fn status(&self, id: &CardId) -> Status {
        self.board().card(id).unwrap().status
    }

    /// What an event of this kind says.
    pub fn event(&self, id: &CardId, kind: &str) -> Value {
        let events = self.board().details(id).unwrap().events;
        let found = events.iter().rev().find(|event| event.kind == kind);
        let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
        found.unwrap_or_else(|| panic!("no {kind} among {kinds:?}")).payload.clone().unwrap_or_default()
    }

    pub fn log(&self, id: &CardId) -> String {
        std::fs::read_to_string(self.home.path().join(format!("kanban/logs/{id}.log"))).unwrap_or_default()
    }

    pub fn wait_for_log(&self, id: &CardId, text: &str) {
        wait_until(SOON, &format!("\"{text}\" in the log"), || self.log(id).contains(text));
    }

    /// Programs of this home that go on, by a word of their command.
    pub fn programs(&self, word: &str) -> usize {
        self.home.processes().iter().filter(|process| process.command.contains(word)).count()
    }
}

/// A guard that looks after a worker which said this.
fn at_work(bench: &Bench, id: &CardId, said: &str) -> Running {
    let guard = bench.guard(&bench.take(id)).spawn();
    bench.wait_for_log(id, said);
    guard
}

#[test]
fn a_worker_is_told_all_about_its_card_and_what_it_says_is_kept() {
    let bench = Bench::new("echo \"args: $*\"; env | sort; pwd; echo oops >&2");
    let id = bench.card(&[]);
    let claim = bench.take(&id);
    bench.guard(&claim).run().success();
    let log = bench.log(&id);
    let workspace = bench.home.path().join("kanban/workspaces").join(id.as_str());
    for line in [
        format!("args: -p default --cli --accept-hooks chat -q work kanban task {id}"),
        format!("HERMES_KANBAN_TASK={id}"),
        format!("HERMES_KANBAN_RUN_ID={}", claim.run),
        format!("HERMES_KANBAN_CLAIM_LOCK={}", claim.lock),
        format!("HERMES_KANBAN_WORKSPACE={}", workspace.display()),
        format!("TERMINAL_CWD={}", workspace.display()),
        format!("HERMES_HOME={}", bench.home.path().display()),
        workspace.display().to_string(),
        "oops".to_owned(),
    ] {
        assert!(log.lines().any(|said| said == line), "no {line:?} in {log}");
    }
    assert_eq!(bench.board().card(&id).unwrap().workspace_path, Some(workspace.display().to_string()));
}

#[test]
fn the_true_exit_code_decides() {
    let bench = Bench::new("exit $(cat code)");
    for (code, event, status) in [("1", "crashed", Status::Ready), ("75", "rate_limited", Status::Ready)] {
        let id = bench.card(&["--max-retries", "9"]);
        let claim = bench.take(&id);
        let workspace = bench.home.path().join("kanban/workspaces").join(id.as_str());
        std::fs::create_dir_all(&workspace).unwrap();
        std::fs::write(workspace.join("code"), code).unwrap();
        bench.guard(&claim).run().success();
        assert_eq!(bench.event(&id, event)["exit_code"].to_string(), code);
        assert_eq!(bench.status(&id), status);
    }
}

#[test]
fn one_that_ends_without_a_word_is_for_a_person_to_look_at() {
    let bench = Bench::new("echo hello; exit 0");
    let id = bench.card(&[]);
    bench.attend(&id);
    assert_eq!(bench.status(&id), Status::Review);
    assert_eq!(bench.event(&id, "protocol_violation")["exit_code"], 0);
}

#[test]
fn a_signal_is_told_as_such() {
    let bench = Bench::new("kill -9 $$");
    let id = bench.card(&["--max-retries", "9"]);
    bench.attend(&id);
    let crashed = bench.event(&id, "crashed");
    assert_eq!((&crashed["exit_kind"], &crashed["exit_code"]), (&"signaled".into(), &9.into()));
}

#[test]
fn a_program_that_is_not_there_is_nobodys_work_that_failed() {
    let bench = Bench::new("");
    let id = bench.card(&[]);
    let claim = bench.take(&id);
    bench.guard(&claim).env("HERMES_BIN", "/nowhere/hermes").run().success();
    assert!(bench.event(&id, "spawn_failed")["error"].as_str().unwrap().contains("/nowhere/hermes"));
    let card = bench.board().card(&id).unwrap();
    assert_eq!((card.status, card.failures), (Status::Ready, 0));
}

#[test]
fn what_a_worker_leaves_running_ends_with_it() {
    let bench = Bench::new(
        "setsid sh -c 'trap \"\" TERM HUP; sleep 6001' >/dev/null 2>&1 &\n\
         (setsid sleep 6002 &) >/dev/null 2>&1\n\
         while ! pgrep -f 'sleep 6002' >/dev/null || ! pgrep -f 'sleep 6001' >/dev/null; do :; done; exit 3",
    );
    let id = bench.card(&["--max-retries", "9"]);
    bench.attend(&id);
    assert_eq!(bench.event(&id, "crashed")["exit_code"], 3);
    assert_eq!(bench.programs("sleep 600"), 0, "{:?}", bench.home.processes());
}

#[test]
fn time_that_is_up_ends_even_a_stubborn_one() {
    let bench = Bench::new("trap '' TERM; echo begun; while :; do sleep 6003; done");
    let id = bench.card(&["--max-runtime", "3s", "--max-retries", "9"]);
    bench.attend(&id);
    let event = bench.event(&id, "timed_out");
    assert_eq!((&event["limit_seconds"], &event["sigkill"]), (&3.into(), &true.into()));
    assert_eq!((bench.status(&id), bench.programs("sleep 6003")), (Status::Ready, 0));
}

#[test]
fn a_signal_to_the_guard_ends_the_worker_and_the_card_can_be_taken_again() {
    let bench = Bench::new("echo begun; exec sleep 6004");
    let id = bench.card(&[]);
    let mut guard = at_work(&bench, &id, "begun");
    guard.signal(Signal::TERM);
    guard.wait(SOON).success();
    assert_eq!((bench.status(&id), bench.programs("sleep 6004")), (Status::Ready, 0));
    assert_eq!(bench.board().card(&id).unwrap().failures, 0);
}

#[test]
fn stop_ends_the_worker_and_keeps_the_card_out() {
    let bench = Bench::new("echo begun; exec sleep 6005");
    let id = bench.card(&[]);
    let guard = at_work(&bench, &id, "begun");
    let stopped = kanban(&bench.home, &["stop", id.as_str(), "it", "spends", "too", "much"]);
    stopped.success();
    assert!(stopped.out().contains("Stopped"), "{}", stopped.out());
    assert_eq!((bench.status(&id), bench.programs("sleep 6005")), (Status::Blocked, 0));
    guard.wait(SOON).success();
    assert!(bench.event(&id, "blocked")["reason"].as_str().unwrap().contains("it spends too much"));
    let again = kanban(&bench.home, &["stop", id.as_str()]);
    again.code(1);
    assert!(again.err().contains("is not running"), "{}", again.err());
}

#[test]
fn reclaim_ends_the_worker_before_anybody_can_take_the_card() {
    let bench = Bench::new("echo begun; exec sleep 6006");
    let id = bench.card(&[]);
    let guard = at_work(&bench, &id, "begun");
    kanban(&bench.home, &["reclaim", id.as_str(), "--reason", "wrong branch"]).success();
    assert_eq!((bench.status(&id), bench.programs("sleep 6006")), (Status::Ready, 0));
    guard.wait(SOON).success();
    assert_eq!(bench.event(&id, "reclaimed")["manual"], true);
    let guard = at_work(&bench, &id, "begun");
    kanban(&bench.home, &["reassign", id.as_str(), "other", "--reclaim"]).success();
    guard.wait(SOON).success();
    assert_eq!(bench.board().card(&id).unwrap().assignee, Some("other".to_owned()));
}

#[test]
fn putting_a_card_away_ends_its_worker() {
    let bench = Bench::new("echo begun; exec sleep 6007");
    let id = bench.card(&[]);
    let guard = at_work(&bench, &id, "begun");
    kanban(&bench.home, &["archive", id.as_str()]).success();
    assert_eq!((bench.status(&id), bench.programs("sleep 6007")), (Status::Archived, 0));
    guard.wait(SOON).success();
    assert!(!bench.home.path().join("kanban/workspaces").join(id.as_str()).exists());
}

#[test]
fn a_worker_of_another_program_is_stopped_too() {
    let bench = Bench::new("");
    let id = bench.card(&[]);
    let claim = bench.take(&id);
    let worker =
        Hermes::new("/bin/sh", &bench.home).args(["-c", "trap '' TERM; echo on; while :; do sleep 1; done"]);
    let mut worker = worker.spawn();
    worker.line_with("on", SOON);
    let db = rusqlite(&bench);
    let pid = worker.pid().to_string();
    db.execute("UPDATE tasks SET worker_pid = ?2 WHERE id = ?1", [id.as_str(), &pid]).unwrap();
    db.execute("UPDATE task_runs SET worker_pid = ?2 WHERE id = ?1", [claim.run.to_string(), pid]).unwrap();
    drop(db);
    let waits = std::thread::spawn(move || worker.wait(SOON));
    kanban(&bench.home, &["stop", id.as_str()]).success();
    assert_eq!(bench.status(&id), Status::Blocked);
    assert_eq!(waits.join().unwrap().end, End::Signal(9), "it did not want to hear");
}

fn rusqlite(bench: &Bench) -> hermes_store::rusqlite::Connection {
    hermes_store::rusqlite::Connection::open(bench.home.path().join("kanban.db")).unwrap()
}

#[test]
fn a_late_guard_of_an_attempt_that_was_overtaken_does_nothing() {
    let bench = Bench::new("echo begun");
    let id = bench.card(&[]);
    let old = bench.take(&id);
    kanban(&bench.home, &["reclaim", id.as_str()]).success();
    let new = bench.take(&id);
    bench.guard(&old).run().success();
    assert_eq!(bench.log(&id), "");
    let card = bench.board().card(&id).unwrap();
    assert_eq!((card.status, card.current_run), (Status::Running, Some(new.run)));
    assert_eq!(bench.board().worker(old.run).unwrap(), None);
}

#[test]
fn a_worker_that_was_overtaken_is_ended() {
    let bench = Bench::new("echo begun; exec sleep 6008");
    let id = bench.card(&[]);
    let guard = at_work(&bench, &id, "begun");
    // As the other program would take it.
    let db = rusqlite(&bench);
    db.execute(
        "UPDATE tasks SET status = 'ready', claim_lock = NULL, worker_pid = NULL, current_run_id = NULL",
        [],
    )
    .unwrap();
    db.execute("UPDATE task_runs SET status = 'reclaimed', outcome = 'reclaimed', ended_at = 1", []).unwrap();
    drop(db);
    guard.wait(SOON).success();
    assert_eq!((bench.status(&id), bench.programs("sleep 6008")), (Status::Ready, 0));
}

#[test]
fn acceptance_must_pass_before_a_card_is_done() {
    let bench = Bench::new("echo begun; while ! test -e asked; do sleep 0.02; done");
    for (command, status) in [("test -e asked", Status::Done), ("echo not yet; exit 4", Status::Ready)] {
        let mut card = NewCard::new("something");
        (card.assignee, card.extras.acceptance) = (Some("default".into()), Some(command.to_owned()));
        card.max_retries = Some(9);
        let id = bench.board().create(&card, 1).unwrap().card.id;
        let claim = bench.take(&id);
        let guard = bench.guard(&claim).spawn();
        bench.wait_for_log(&id, "begun");
        let report = Report { summary: Some("did it".into()), ..Report::default() };
        bench.board().complete(&id, &report, By::Attempt(claim.run), 1).unwrap();
        assert_eq!(bench.status(&id), Status::Running, "nobody looked yet");
        let workspace = bench.home.path().join("kanban/workspaces").join(id.as_str());
        std::fs::write(workspace.join("asked"), "").unwrap();
        guard.wait(SOON).success();
        assert_eq!(bench.status(&id), status, "{}", bench.log(&id));
        if status == Status::Ready {
            let comments = bench.board().details(&id).unwrap().comments;
            assert!(comments.iter().any(|comment| comment.body.contains("not yet")), "{comments:?}");
        } else {
            assert!(!workspace.exists(), "a finished card needs no place");
        }
    }
}

#[test]
fn a_log_stays_within_bounds_while_the_worker_talks() {
    let bench = Bench::new("yes | head -c 3000000");
    bench.home.config("kanban:\n  worker_log_rotate_bytes: 65536\n  worker_log_backup_count: 1\n");
    let id = bench.card(&[]);
    bench.attend(&id);
    let dir = bench.home.path().join("kanban/logs");
    let total: u64 =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert!(total < 200_000, "{total}");
}

#[test]
fn a_board_that_is_locked_when_the_worker_ends_hears_of_it_later() {
    let bench = Bench::new("echo begun; while ! test -e $HERMES_HOME/go; do sleep 0.02; done; exit 7");
    let id = bench.card(&["--max-retries", "9"]);
    let guard = at_work(&bench, &id, "begun");
    let db = rusqlite(&bench);
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    bench.home.write("go", "");
    wait_until(SOON, "the worker to have ended", || bench.programs("worker.sh") == 0);
    assert_eq!(bench.status(&id), Status::Running, "nobody can write it down yet");
    db.execute_batch("ROLLBACK").unwrap();
    drop(db);
    guard.wait(SOON).success();
    assert_eq!(bench.event(&id, "crashed")["exit_code"], 7);
}

#[test]
fn a_worker_of_this_program_ends_with_its_guard() {
    // It waits for a model that never answers.
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let bench = Bench::new("exec $HERMES \"$@\"");
    let url = format!("http://{}", server.local_addr().unwrap());
    bench.home.config(format!(
        "model:\n  default: m\n  provider: custom\n  base_url: {url}/v1\n  api_key: k\n  context_length: 200000\n"
    ));
    let id = bench.card(&[]);
    let guard = bench.guard(&bench.take(&id)).env("HERMES", env!("CARGO_BIN_EXE_hermes"));
    let mut guard = guard.spawn();
    let (_asked, _) = server.accept().unwrap();
    assert_eq!(bench.programs("work kanban task"), 1);
    guard.kill9();
    wait_until(SOON, "the worker to be gone", || bench.programs("work kanban task") == 0);
}
