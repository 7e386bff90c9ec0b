//! The dispatcher that stays: `hermes kanban daemon`, with shell scripts as workers.

use std::time::Duration;

use hermes_board::state::{Mode, State};
use hermes_board::{CardId, Status};
use hermes_testkit::{End, Running, Signal, wait_until};

use super::guard::Bench;
use super::kanban;

const SOON: Duration = Duration::from_secs(30);

/// A bench whose board may be dispatched.
fn active(script: &str) -> Bench {
    let bench = Bench::new(script);
    activate(&bench);
    bench
}

fn activate(bench: &Bench) {
    bench.board().set_state(&State { mode: Mode::Active, ..State::default() }).unwrap();
}

/// A dispatcher at work. It looks at everything only once an hour: what it does sooner it does because it noticed.
fn daemon(bench: &Bench) -> Running {
    let mut daemon = bench.hermes(&["kanban", "daemon", "--interval", "3600", "-v"]).spawn();
    daemon.stderr_with("dispatching", SOON);
    daemon
}

fn wait_for(bench: &Bench, id: &CardId, status: Status) {
    wait_until(SOON, &format!("{id} to be {status}"), || bench.status(id) == status);
}

/// Whether a worker of a card is at work.
fn works(bench: &Bench, id: &CardId) {
    bench.wait_for_log(id, "begun");
}

fn end(mut daemon: Running) {
    daemon.signal(Signal::TERM);
    daemon.wait(SOON).success();
}

#[test]
fn a_card_is_started_as_soon_as_it_is_there() {
    let bench = active("exec $HERMES kanban complete $HERMES_KANBAN_TASK --result fine");
    let daemon = {
        let mut daemon = bench
            .hermes(&["kanban", "daemon", "--interval", "3600"])
            .env("HERMES", env!("CARGO_BIN_EXE_hermes"))
            .spawn();
        daemon.stderr_with("dispatching", SOON);
        daemon
    };
    let id = bench.card(&[]);
    wait_for(&bench, &id, Status::Done);
    assert_eq!(bench.board().card(&id).unwrap().result, Some("fine".to_owned()));
    end(daemon);
}

#[test]
fn a_board_nobody_let_begin_is_left_alone_until_somebody_does() {
    let bench = Bench::new("echo begun; exec sleep 6101");
    let id = bench.card(&[]);
    let daemon = daemon(&bench);
    let other = kanban(&bench.home, &["boards", "create", "other"]);
    other.success();
    wait_until(SOON, "the dispatcher to have looked at both boards", || {
        let said =
            std::fs::read_to_string(bench.home.path().join("kanban/.dispatcher.json")).unwrap_or_default();
        said.contains("default")
    });
    assert_eq!(bench.status(&id), Status::Ready);
    activate(&bench);
    works(&bench, &id);
    end(daemon);
}

#[test]
fn its_workers_go_on_when_it_ends_and_the_next_one_knows_them() {
    let bench = active("echo begun; while ! test -e $HERMES_HOME/go; do sleep 0.05; done; exit 1");
    let id = bench.card(&["--max-retries", "1"]);
    let first = daemon(&bench);
    works(&bench, &id);
    end(first);
    let second = daemon(&bench);
    assert_eq!(bench.status(&id), Status::Running);
    bench.home.write("go", "");
    wait_for(&bench, &id, Status::Blocked);
    assert_eq!(bench.event(&id, "crashed")["exit_code"], 1, "its guard saw it");
    end(second);
}

#[test]
fn a_second_dispatcher_waits_and_takes_over_when_the_first_is_killed() {
    let bench = active("echo begun; exec sleep 6102");
    let mut first = daemon(&bench);
    let mut second = bench.hermes(&["kanban", "daemon", "--interval", "3600"]).spawn();
    second.stderr_with("takes over when it is gone", SOON);
    assert!(matches!(first.kill9(), End::Signal(9)));
    second.stderr_with("dispatching", SOON);
    let id = bench.card(&[]);
    works(&bench, &id);
    end(second);
}

#[test]
fn a_guard_that_was_killed_is_noticed_and_costs_the_card_no_failure() {
    let bench = active("echo begun $$; exec sleep 6103");
    bench.home.config("kanban:\n  retry_backoff_seconds: 3600\n");
    let id = bench.card(&[]);
    let daemon = daemon(&bench);
    works(&bench, &id);
    let guard = bench.board().card(&id).unwrap().worker_pid.unwrap();
    let guard = rustix::process::Pid::from_raw(guard as i32).unwrap();
    rustix::process::kill_process(guard, rustix::process::Signal::KILL).unwrap();
    wait_for(&bench, &id, Status::Ready);
    let card = bench.board().card(&id).unwrap();
    assert_eq!(card.failures, 0, "{:?}", card.last_error);
    end(daemon);
}

#[test]
fn a_card_is_not_begun_again_while_its_last_worker_is_there() {
    // One whose card was closed has time for its last words.
    let bench = active("echo begun; while ! test -e $HERMES_HOME/go; do sleep 0.05; done");
    let id = bench.card(&[]);
    let daemon = daemon(&bench);
    works(&bench, &id);
    kanban(&bench.home, &["block", id.as_str(), "wait"]).success();
    kanban(&bench.home, &["unblock", id.as_str()]).success();
    // The other one is started, so the board was looked at since.
    let other = bench.card(&[]);
    works(&bench, &other);
    let attempts = || bench.board().details(&id).unwrap().attempts.len();
    assert_eq!((bench.status(&id), attempts()), (Status::Ready, 1));
    kanban(&bench.home, &["why", id.as_str()]).stdout_has("still ending");
    bench.home.write("go", "");
    wait_until(SOON, "the card to be begun again", || attempts() == 2);
    end(daemon);
}

#[test]
fn what_a_worker_does_in_its_shell_it_does_as_its_attempt() {
    let bench = active("exec $HERMES kanban complete $HERMES_KANBAN_TASK --result fine");
    let id = bench.card(&["--accept", "echo no; exit 7", "--max-retries", "1"]);
    let mut daemon = bench
        .hermes(&["kanban", "daemon", "--interval", "3600", "-v"])
        .env("HERMES", env!("CARGO_BIN_EXE_hermes"))
        .spawn();
    daemon.stderr_with("dispatching", SOON);
    let checked =
        || bench.board().details(&id).unwrap().comments.iter().any(|comment| comment.body.contains("no"));
    wait_until(SOON, "the acceptance command to fail", checked);
    assert_ne!(bench.status(&id), Status::Done);
    end(daemon);
    // An attempt that was replaced writes nothing.
    bench
        .hermes(&["kanban", "complete", id.as_str()])
        .env("HERMES_KANBAN_TASK", id.as_str())
        .env("HERMES_KANBAN_RUN_ID", "1")
        .run()
        .code(1)
        .stderr_has("another attempt");
}

#[test]
fn a_board_is_not_removed_under_its_workers() {
    let bench = Bench::new("echo begun; exec sleep 6107");
    kanban(&bench.home, &["boards", "create", "web"]).success();
    kanban(&bench.home, &["--board", "web", "resume"]).success();
    let made = kanban(&bench.home, &["--board", "web", "create", "x", "--assignee", "default", "--json"]);
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let daemon = daemon(&bench);
    let log = bench.home.path().join("kanban/boards/web/logs").join(format!("{id}.log"));
    let begun = || std::fs::read_to_string(&log).is_ok_and(|text| text.contains("begun"));
    wait_until(SOON, "the worker to begin", begun);
    kanban(&bench.home, &["boards", "rm", "web"]).code(1).stderr_has(&id);
    kanban(&bench.home, &["--board", "web", "stop", &id]).success();
    kanban(&bench.home, &["boards", "rm", "web"]).success();
    end(daemon);
}

#[test]
fn stubborn_workers_do_not_hold_up_the_others() {
    let bench = active(
        "if test $HERMES_KANBAN_TASK = $(cat $HERMES_HOME/stubborn); then trap '' TERM; fi; echo begun; \
         while :; do sleep 0.05; done",
    );
    bench.home.config("kanban:\n  max_in_progress_host: 9\n");
    let stubborn = bench.card(&["--max-runtime", "3s", "--max-retries", "1"]);
    bench.home.write("stubborn", stubborn.as_str());
    let daemon = daemon(&bench);
    works(&bench, &stubborn);
    // The guard is busy ending it for five seconds; others are started meanwhile.
    wait_until(SOON, "its time to be up", || {
        bench.programs("attend") == 1 && bench.board().card(&stubborn).unwrap().started_at.is_some()
    });
    let other = bench.card(&[]);
    works(&bench, &other);
    wait_for(&bench, &stubborn, Status::Blocked);
    assert_eq!(bench.event(&stubborn, "timed_out")["sigkill"], true);
    assert_eq!(bench.status(&other), Status::Running);
    end(daemon);
}

#[test]
fn a_damaged_board_is_no_other_boards_trouble() {
    let bench = active("echo begun; exec sleep 6104");
    kanban(&bench.home, &["boards", "create", "broken"]).success();
    std::fs::write(bench.home.path().join("kanban/boards/broken/kanban.db"), "this is no database at all")
        .unwrap();
    let id = bench.card(&[]);
    let mut daemon = daemon(&bench);
    works(&bench, &id);
    daemon.stderr_with("broken", SOON);
    let next = bench.card(&[]);
    works(&bench, &next);
    end(daemon);
}

#[test]
fn broken_settings_change_nothing_and_are_told() {
    let bench = active("echo begun; exec sleep 6105");
    let mut daemon = daemon(&bench);
    bench.home.config("kanban:\n  failure_limit: many\n");
    let id = bench.card(&[]);
    works(&bench, &id);
    daemon.stderr_with("the settings of before are used", SOON);
    bench.home.config("{}\n");
    end(daemon);
}

#[test]
fn the_cap_of_the_machine_counts_all_boards() {
    let bench = active("echo begun; exec sleep 6106");
    bench.home.config("kanban:\n  max_in_progress_host: 2\n");
    kanban(&bench.home, &["boards", "create", "other"]).success();
    let slug = hermes_board::Slug::parse("other").unwrap();
    let open = || hermes_board::Board::open(&bench.root(), &slug).unwrap();
    open().set_state(&State { mode: Mode::Active, ..State::default() }).unwrap();
    for _ in 0..3 {
        bench.card(&[]);
        kanban(&bench.home, &["--board", "other", "create", "x", "--assignee", "default"]).success();
    }
    let daemon = daemon(&bench);
    let running = |board: &mut hermes_board::Board| {
        board.stats(0).unwrap().by_status.get(&Status::Running).copied().unwrap_or(0)
    };
    wait_until(SOON, "two workers", || bench.programs("sleep 6106") == 2);
    bench.card(&[]);
    wait_until(SOON, "it to be looked at", || bench.programs("sleep 6106") == 2);
    assert_eq!(running(&mut bench.board()) + running(&mut open()), 2);
    end(daemon);
}
