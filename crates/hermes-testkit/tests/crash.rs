//! Kills that hit, with a program that is safe against them and one that is not.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use hermes_testkit::crash::{KillPoint, Rng, kill_at, kill_repeatedly};
use hermes_testkit::{End, Hermes, TestHome};

fn sh(home: &TestHome, script: &str) -> Hermes {
    Hermes::new("/bin/sh", home).args(["-c", script])
}

#[test]
fn a_kill_comes_when_the_output_says_so() {
    let home = TestHome::new();
    let command = sh(&home, "echo one; echo now >&2; sleep 300 >/dev/null 2>&1; echo never");
    let killed = kill_at(&command, &KillPoint::Output("now".into()), &mut Rng::seeded(1));
    assert!(killed.was_hit());
    assert_eq!((killed.stdout.as_str(), killed.stderr.as_str()), ("one\n", "now\n"));
}

#[test]
fn a_kill_comes_when_a_path_is_there() {
    let home = TestHome::new();
    let path = home.work_dir().join("mark");
    let killed = kill_at(
        &sh(&home, "touch mark; sleep 300 >/dev/null 2>&1"),
        &KillPoint::Path(path.clone()),
        &mut Rng::seeded(1),
    );
    assert!(killed.was_hit() && path.exists());
}

#[test]
fn a_program_that_ends_first_is_not_called_killed() {
    let home = TestHome::new();
    let killed = kill_at(&sh(&home, "exit 3"), &KillPoint::Output("never".into()), &mut Rng::seeded(1));
    assert_eq!(killed.end, End::Code(3));
    assert!(!killed.was_hit());
}

/// Two files that must always agree.
const UNSAFE_WRITER: &str = "while :; do i=$((i+1)); echo $i >a; echo $i >b; done";
const SAFE_WRITER: &str = "while :; do i=$((i+1)); echo $i $i >new; mv new both; done";

#[test]
fn kills_find_a_program_that_leaves_half_of_its_work() {
    let home = TestHome::new();
    let read = |name: &str| std::fs::read_to_string(home.work_dir().join(name)).unwrap_or_default();
    let after = KillPoint::After(Duration::from_millis(5)..Duration::from_millis(30));
    let found = catch_unwind(AssertUnwindSafe(|| {
        kill_repeatedly(
            200,
            &mut Rng::seeded(7),
            &after,
            |_| sh(&home, UNSAFE_WRITER),
            |killed| {
                assert!(killed.was_hit());
                assert_eq!(read("a"), read("b"));
            },
        );
    }));
    assert!(found.is_err(), "200 kills hit between the two writes at least once");
}

#[test]
fn kills_leave_a_safe_program_alone() {
    let home = TestHome::new();
    let file = home.work_dir().join("both");
    let after = KillPoint::After(Duration::from_millis(1)..Duration::from_millis(20));
    let tally = kill_repeatedly(
        30,
        &mut Rng::seeded(7),
        &after,
        |_| sh(&home, SAFE_WRITER),
        |_| {
            if let Ok(text) = std::fs::read_to_string(&file) {
                let numbers: Vec<&str> = text.split_whitespace().collect();
                assert!(numbers.len() == 2 && numbers[0] == numbers[1], "{text:?}");
            }
        },
    );
    assert_eq!((tally.hit, tally.missed), (30, 0));
}
