//! Homes and commands, tried with small programs of the system.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::{Duration, Instant};

use hermes_testkit::home::EntryKind;
use hermes_testkit::{End, Hermes, Signal, TestHome, wait_until};

const SOON: Duration = Duration::from_secs(20);

fn sh(home: &TestHome, script: &str) -> Hermes {
    Hermes::new("/bin/sh", home).args(["-c", script])
}

fn panic_text(work: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(work).unwrap_err();
    payload.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn a_home_is_private_and_goes_away() {
    let home = TestHome::new();
    let root = home.root().to_path_buf();
    home.config("model:\n  default: x\n").env_file("KEY=1\n").write("skills/a/SKILL.md", "text");
    assert_eq!(home.mode(""), 0o700);
    assert_eq!(home.mode(".env"), 0o600);
    assert_eq!(home.mode("skills/a"), 0o700);
    assert_eq!(home.read("config.yaml"), "model:\n  default: x\n");
    drop(home);
    assert!(!root.exists());
}

#[test]
fn a_snapshot_shows_every_change() {
    let home = TestHome::new();
    home.write("a/b", "1");
    let before = home.snapshot();
    assert_eq!(before[std::path::Path::new("a/b")].kind, EntryKind::File(b"1".to_vec()));
    assert_eq!(before, home.snapshot());
    home.write("a/b", "2");
    assert_ne!(before, home.snapshot());
}

#[test]
fn the_environment_is_clean() {
    let home = TestHome::new();
    let seen = Hermes::new("/usr/bin/env", &home).env("EXTRA", "yes").env_remove("TERM").run();
    let mut names: Vec<_> = seen.success().lines();
    for line in &mut names {
        line.truncate(line.find('=').unwrap());
    }
    names.sort();
    assert_eq!(names, ["EXTRA", "HERMES_HOME", "HOME", "LANG", "PATH", "TMPDIR"]);
    seen.stdout_has(&format!("HERMES_HOME={}", home.path().display()));
}

#[test]
fn a_result_has_streams_code_and_json() {
    let home = TestHome::new();
    let result = sh(&home, "cat; echo oops >&2; exit 3").stdin("{\"a\": 1}").run();
    result.code(3).stdout_has("\"a\"").stderr_has("oops").output_lacks("panic");
    assert_eq!(result.json()["a"], 1);
    sh(&home, "kill -TERM $$").run().signal(Signal::TERM);
    sh(&home, "pwd").run().stdout_is(&format!("{}\n", home.work_dir().display()));
}

#[test]
fn a_failed_check_shows_command_streams_and_code() {
    let home = TestHome::new();
    let result = sh(&home, "echo out-text; echo err-text >&2; exit 4").run();
    let report = panic_text(move || {
        result.success();
    });
    for part in ["expected exit code 0", "sh -c", "exit code 4", "out-text", "err-text"] {
        assert!(report.contains(part), "{part:?} is missing in {report}");
    }
}

#[test]
fn the_time_limit_ends_the_whole_group_and_keeps_the_output() {
    let home = TestHome::new();
    let began = Instant::now();
    let result = sh(&home, "echo started; sleep 300 & sleep 300").limit(Duration::from_millis(300)).run();
    assert_eq!(result.end, End::TimedOut);
    result.stdout_has("started");
    assert!(began.elapsed() < Duration::from_secs(100), "the limit did not end it");
    wait_until(SOON, "both sleeps are gone", || home.processes().is_empty());
}

#[test]
fn a_child_that_holds_the_output_is_reported() {
    let home = TestHome::new();
    let result = sh(&home, "sleep 300 & exit 0").limit(Duration::from_millis(500)).run();
    assert_eq!(result.end, End::OutputHeldOpen);
}

#[test]
fn large_input_and_output_do_not_block() {
    let home = TestHome::new();
    let megabytes = vec![b'x'; 3_000_000];
    let result = Hermes::new("/bin/cat", &home).stdin(megabytes.clone()).run();
    assert_eq!(result.success().stdout, megabytes);
    // A program that ignores its input must not break the run.
    sh(&home, "exit 0").stdin(megabytes).run().success();
}

#[test]
fn a_running_command_can_be_talked_to_and_ended() {
    let home = TestHome::new();
    let mut cat = Hermes::new("/bin/cat", &home).spawn();
    cat.write("one\ntwo\nthr");
    assert_eq!(cat.next_line(SOON).as_deref(), Some("one"));
    assert_eq!(cat.line_with("tw", SOON), "two");
    assert_eq!(cat.next_line(Duration::from_millis(20)), None, "half a line is not a line");
    cat.close_stdin();
    assert_eq!(cat.next_line(SOON).as_deref(), Some("thr"));
    assert_eq!(cat.next_line(SOON), None);
    cat.wait(SOON).success().stdout_is("one\ntwo\nthr");
}

#[test]
fn signals_reach_the_program() {
    let home = TestHome::new();
    let mut trapped =
        sh(&home, "trap 'echo got; exit 7' TERM; echo ready; while :; do sleep 0.05; done").spawn();
    trapped.line_with("ready", SOON);
    trapped.signal(Signal::TERM);
    trapped.line_with("got", SOON);
    trapped.wait(SOON).code(7);
}

#[test]
fn kill9_leaves_children_and_the_home_ends_them() {
    let home = TestHome::new();
    let mut shell = sh(&home, "sleep 300 >/dev/null 2>&1 & echo ready; wait").spawn();
    shell.line_with("ready", SOON);
    shell.kill9();
    assert!(!shell.is_running());
    drop(shell);
    wait_until(SOON, "the sleep runs alone", || home.processes().iter().any(|p| p.command == "sleep 300"));
    let left = home.processes()[0].pid;
    drop(home);
    wait_until(SOON, "the sleep is gone", || {
        let status = std::fs::read_to_string(format!("/proc/{left}/stat")).unwrap_or_default();
        // Orphans of a killed shell may stay as zombies where nobody reaps them.
        status.is_empty() || status.contains(") Z ")
    });
}

#[test]
fn a_missing_line_is_reported_with_what_came() {
    let home = TestHome::new();
    let report = panic_text(move || {
        let mut echo = sh(&home, "echo something else").spawn();
        echo.line_with("wanted", SOON);
    });
    assert!(report.contains("wanted") && report.contains("something else"), "{report}");
}
