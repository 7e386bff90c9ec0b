//! `hermes kanban dispatch`: one look at the board, with shell scripts as workers.

use std::time::Duration;

use hermes_board::Status;
use hermes_board::state::{Mode, State};
use hermes_testkit::wait_until;
use serde_json::{Value, json};

use super::guard::Bench;
use super::{create, kanban};

const SOON: Duration = Duration::from_secs(30);

fn look(bench: &Bench, args: &[&str]) -> Value {
    let done = bench.hermes(&[&["kanban", "dispatch", "--json"], args].concat()).run();
    done.success();
    serde_json::from_str(&done.out()).unwrap()
}

#[test]
fn a_worker_is_started_and_finishes_its_card() {
    let bench = Bench::new("exec $HERMES kanban complete $HERMES_KANBAN_TASK --result fine");
    let id = bench.card(&[]);
    let done = bench.hermes(&["kanban", "dispatch"]).env("HERMES", env!("CARGO_BIN_EXE_hermes")).run();
    done.success();
    assert!(done.out().contains(&format!("  - {id} -> default @ ")), "{}", done.out());
    wait_until(SOON, "the card to be done", || bench.status(&id) == Status::Done);
    let state = bench.board().state().unwrap();
    assert_eq!(
        (state.mode, state.by.as_deref()),
        (Mode::Active, Some("user")),
        "whoever dispatches starts the board"
    );
    wait_until(SOON, "its guard to end", || bench.programs("attend") == 0);
}

#[test]
fn a_dry_run_says_what_would_be_done_and_leaves_everything_as_it_is() {
    let bench = Bench::new("exit 0");
    bench.home.config("kanban: {default_assignee: ' Default ', max_in_progress_host: 2}");
    let urgent = bench.card(&["--priority", "9"]);
    let nobody = create(&bench.home, &["whose?"]);
    let ghost = create(&bench.home, &["for a ghost", "--assignee", "ghost"]);
    let waits = create(&bench.home, &["too many", "--assignee", "default"]);
    let path = bench.home.path().join("kanban.db");
    let before = std::fs::read(&path).unwrap();
    let report = look(&bench, &["--dry-run"]);
    assert!(std::fs::read(&path).unwrap() == before, "not a byte differs");
    assert_eq!(
        report,
        json!({
            "reclaimed": 0, "crashed": [], "timed_out": [], "stale": [], "auto_blocked": [], "promoted": 0,
            "spawned": [
                { "task_id": urgent, "assignee": "default", "workspace": "" },
                { "task_id": nobody, "assignee": "default", "workspace": "" },
            ],
            "skipped_unassigned": [], "skipped_nonspawnable": [ghost], "skipped_per_profile_capped": [],
            "auto_assigned_default": [nobody], "respawn_guarded": [], "rate_limited": [], "skipped_locked": false,
            "skipped": [], "splitting": [], "waiting_for_cap": { "kanban.max_in_progress_host": 1 }, "wake_at": null,
        })
    );
    let text = kanban(&bench.home, &["dispatch", "--dry-run", "--max", "1"]).out();
    assert!(text.contains(&format!("  - {urgent} -> default @ -  (dry)")), "{text}");
    assert!(text.contains("Waiting for kanban.max_spawn: 2"), "{text}");
    assert!(text.contains(&format!("Skipped, no such profile: {ghost}")), "{text}");
    assert_eq!(bench.board().state().unwrap().mode, Mode::Parked);
    assert_eq!(bench.status(&hermes_board::CardId::new(waits)), Status::Ready);
}

#[test]
fn a_paused_board_stays_paused() {
    let bench = Bench::new("exit 0");
    let id = bench.card(&[]);
    bench.board().set_state(&State { mode: Mode::Paused, ..State::default() }).unwrap();
    let done = bench.hermes(&["kanban", "dispatch"]).run();
    done.success();
    assert!(done.err().contains("hermes kanban resume"), "{}", done.err());
    assert!(done.out().contains("Spawned:      0"), "{}", done.out());
    assert_eq!(bench.status(&id), Status::Ready);
}

#[test]
fn what_makes_no_sense_in_the_settings_is_said_and_does_no_harm() {
    let bench = Bench::new("exit 0");
    bench.home.config("kanban: {max_in_progress_per_profile: abc}");
    bench.card(&[]);
    let done = bench.hermes(&["kanban", "dispatch", "--dry-run"]).run();
    done.success();
    assert!(done.err().contains("kanban.max_in_progress_per_profile"), "{}", done.err());
    assert!(done.out().contains("Spawned:      1"), "{}", done.out());
}

#[test]
fn cards_of_other_boards_count_for_the_machine() {
    let bench = Bench::new("exec sleep 600");
    bench.home.config("kanban: {max_in_progress_host: 1}");
    kanban(&bench.home, &["boards", "create", "other"]).success();
    let id = bench.card(&[]);
    create(&bench.home, &["--board", "other", "elsewhere", "--assignee", "default"]);
    assert_eq!(look(&bench, &[])["spawned"].as_array().unwrap().len(), 1);
    let report = look(&bench, &["--board", "other", "--dry-run"]);
    assert_eq!(report["waiting_for_cap"], json!({ "kanban.max_in_progress_host": 1 }));
    bench.hermes(&["kanban", "stop", id.as_str()]).run().success();
    wait_until(SOON, "its guard to end", || bench.programs("attend") == 0);
}
