//! One board, two programs, and a dispatcher on each side.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_testkit::{Finished, Hermes, Running, TestHome, wait_until};
use serde_json::Value;

use super::support::{self, reference, their_script};

/// Long enough for dozens of starts of the Python program on a busy machine.
const LONG: Duration = Duration::from_mins(3);

/// A home with two profiles and a worker that finishes its card, by our program or by theirs in turn. It complains when its
/// card is worked on by another at the same time.
struct Desk {
    home: TestHome,
    theirs: PathBuf,
    worker: PathBuf,
}

impl Desk {
    fn new(theirs: &Path, worker: &str) -> Self {
        let home = TestHome::new();
        for profile in ["alpha", "beta"] {
            std::fs::create_dir_all(home.path().join("profiles").join(profile)).unwrap();
        }
        home.config("kanban:\n  max_in_progress_host: 6\n  dispatch_interval_seconds: 1\n");
        let path = home.root().join("worker");
        let script = worker
            .replace("MARKS", home.work_dir().to_str().unwrap())
            .replace("OURS", env!("CARGO_BIN_EXE_hermes"))
            .replace("THEIRS", theirs.to_str().unwrap());
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { home, theirs: theirs.to_owned(), worker: path }
    }

    fn ours(&self, args: &[&str]) -> Finished {
        support::ours(&self.home, &[&["kanban"], args].concat())
    }

    fn their_dispatch(&self) -> Value {
        let finished = Hermes::new(&self.theirs, &self.home)
            .args(["kanban", "dispatch", "--max", "3", "--json"])
            .env("HERMES_BIN", &self.worker)
            .limit(LONG)
            .run();
        finished.success();
        finished.json()
    }

    fn our_daemon(&self) -> Running {
        Hermes::new(env!("CARGO_BIN_EXE_hermes"), &self.home)
            .args(["kanban", "daemon", "--force"])
            .env("HERMES_BIN", &self.worker)
            .spawn()
    }

    fn make(&self, title: &str, assignee: &str) -> String {
        let made = self.ours(&["create", title, "--assignee", assignee, "--json"]);
        made.success();
        made.json()["id"].as_str().unwrap().to_owned()
    }

    fn card(&self, id: &str) -> Value {
        self.ours(&["show", id, "--json"]).json()
    }

    fn status(&self, id: &str) -> String {
        self.card(id)["task"]["status"].as_str().unwrap_or_default().to_owned()
    }

    fn marks(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.work_dir().join(name)).unwrap_or_default()
    }

    /// The database as SQLite itself sees it.
    fn check_file(&self) {
        let script = "
import sqlite3, sys
from hermes_cli import kanban_db as kb
print(sqlite3.connect(kb.kanban_db_path()).execute('PRAGMA integrity_check').fetchone()[0])
";
        their_script(&self.theirs, &self.home, script).run().success().stdout_has("ok");
    }
}

const FINISHES: &str = r#"#!/bin/sh
mkdir "MARKS/$HERMES_KANBAN_TASK.now" || echo "$HERMES_KANBAN_TASK twice at once" >> MARKS/trouble
echo "$HERMES_KANBAN_TASK" >> MARKS/started
case $HERMES_KANBAN_TASK in
  *[02468ace]) THEIRS kanban complete "$HERMES_KANBAN_TASK" --summary "by theirs" ;;
  *) OURS kanban complete "$HERMES_KANBAN_TASK" --summary "by ours" ;;
esac
rmdir "MARKS/$HERMES_KANBAN_TASK.now"
"#;

#[test]
fn dispatchers_of_both_kinds_race_and_every_card_is_done_once() {
    let Some(theirs) = reference() else { return };
    let desk = Desk::new(&theirs, FINISHES);
    let ids: Vec<String> =
        (0..24).map(|n| desk.make(&format!("card {n}"), if n % 2 == 0 { "alpha" } else { "beta" })).collect();
    desk.ours(&["resume"]).success();
    let mut daemon = desk.our_daemon();
    let all_done = || {
        let cards = desk.ours(&["list", "--json"]).json();
        cards.as_array().unwrap().iter().all(|card| card["status"] == "done")
    };
    for _ in 0..6 {
        desk.their_dispatch();
    }
    wait_until(LONG, "every card is done", all_done);
    daemon.signal(hermes_testkit::Signal::TERM);
    daemon.wait(Duration::from_secs(30)).success();
    assert_eq!(desk.marks("trouble"), "");
    let mut started: Vec<String> = desk.marks("started").lines().map(str::to_owned).collect();
    started.sort();
    let mut expected = ids.clone();
    expected.sort();
    assert_eq!(started, expected, "each card was started once");
    for id in &ids {
        let card = desk.card(id);
        let runs = card["runs"].as_array().unwrap();
        assert_eq!((runs.len(), &runs[0]["outcome"]), (1, &"completed".into()), "{card:#}");
    }
    desk.check_file();
}

#[test]
fn a_card_we_gave_up_is_not_tried_again_by_theirs() {
    let Some(theirs) = reference() else { return };
    let desk = Desk::new(&theirs, "#!/bin/sh\necho x >> MARKS/started\nexit 3\n");
    desk.home.config("kanban:\n  failure_limit: 1\n  dispatch_interval_seconds: 1\n");
    let id = desk.make("hopeless", "alpha");
    desk.ours(&["resume"]).success();
    let mut daemon = desk.our_daemon();
    wait_until(LONG, "the card is blocked", || desk.status(&id) == "blocked");
    daemon.signal(hermes_testkit::Signal::TERM);
    daemon.wait(Duration::from_secs(30)).success();
    let kinds = |card: &Value| -> Vec<String> {
        card["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["kind"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(kinds(&desk.card(&id)).contains(&"gave_up".to_owned()));
    for _ in 0..3 {
        let report = desk.their_dispatch();
        assert_eq!(report["spawned"].as_array().unwrap().len(), 0, "{report:#}");
    }
    assert_eq!(desk.status(&id), "blocked");
    assert_eq!(desk.marks("started").lines().count(), 1);
}

#[test]
fn their_dispatcher_leaves_our_worker_alone_and_ours_ends_theirs() {
    let Some(theirs) = reference() else { return };
    let desk = Desk::new(
        &theirs,
        "#!/bin/sh\necho $$ >> MARKS/pids\nwhile [ ! -e MARKS/go ]; do sleep 0.05; done\nexit 4\n",
    );
    let ours = desk.make("ours", "alpha");
    desk.ours(&["resume"]).success();
    let mut daemon = desk.our_daemon();
    wait_until(LONG, "our worker runs", || desk.marks("pids").lines().count() == 1);
    // The claim of a worker that lives holds, whatever the other one thinks of the time.
    let report = desk.their_dispatch();
    assert_eq!(report["reclaimed"], 0, "{report:#}");
    assert_eq!(report["crashed"].as_array().unwrap().len(), 0, "{report:#}");
    assert_eq!(desk.status(&ours), "running");
    daemon.signal(hermes_testkit::Signal::TERM);
    daemon.wait(Duration::from_secs(30)).success();
    let other = desk.make("theirs", "beta");
    let report = desk.their_dispatch();
    assert_eq!(report["spawned"][0]["task_id"], other.as_str(), "{report:#}");
    wait_until(LONG, "their worker runs", || desk.marks("pids").lines().count() == 2);
    desk.ours(&["stop", &other, "not now"]).success();
    assert_eq!(desk.status(&other), "blocked");
    let pid = desk.marks("pids").lines().nth(1).unwrap().to_owned();
    let gone = || !Path::new(&format!("/proc/{pid}")).exists();
    wait_until(Duration::from_secs(30), "their worker is gone", gone);
    desk.ours(&["stop", &ours]).success();
    assert_eq!(desk.status(&ours), "blocked");
    desk.check_file();
}
