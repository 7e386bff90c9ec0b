//! `hermes logs` as a user runs it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use hermes_testkit::{Hermes, Signal, TestHome};

const SOON: Duration = Duration::from_secs(20);

fn logs(home: &TestHome, args: &[&str]) -> Hermes {
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).arg("logs").args(args)
}

fn line(n: u32, rest: &str) -> String {
    format!("2026-11-15 20:{:02}:{:02},735 {rest}\n", n / 60, n % 60)
}

fn append(home: &TestHome, name: &str, text: &str) {
    let path = home.path().join("logs").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// What the reference writes for an exception.
fn traceback() -> String {
    let head = line(1, "ERROR [20261115_ab] gateway.run: boom");
    head + "Traceback (most recent call last):\n  File \"x.py\"\nKeyError: 1\n"
}

#[test]
fn nothing_logged_yet_is_not_an_error() {
    let home = TestHome::new();
    let before = home.snapshot();
    for log in ["agent", "errors", "gateway", "list"] {
        logs(&home, &[log]).run().success().stdout_is("").stderr_has("nothing has been logged to ");
    }
    logs(&home, &["list", "--json"]).run().success().stdout_is("[]\n");
    assert_eq!(home.snapshot(), before, "looking must not create anything");
}

#[test]
fn the_last_records_come_oldest_first_and_across_rotated_files() {
    let home = TestHome::new();
    for n in 0..30 {
        append(&home, "agent.log.1", &line(n, &format!("INFO x: {n}")));
    }
    for n in 30..60 {
        append(&home, "agent.log", &line(n, &format!("INFO x: {n}")));
    }
    let fifty = logs(&home, &[]).run();
    let lines = fifty.success().lines();
    assert_eq!((lines.len(), lines[0].as_str()), (50, line(10, "INFO x: 10").trim_end()));
    let three = logs(&home, &["-n", "3"]).run();
    three.stdout_is(&(57..60).map(|n| line(n, &format!("INFO x: {n}"))).collect::<Vec<_>>().concat());
    logs(&home, &["-n", "0"]).run().success().stdout_is("").stderr_lacks("nothing");
}

#[test]
fn filters_work_together_and_keep_tracebacks_whole() {
    let home = TestHome::new();
    append(&home, "agent.log", &line(0, "INFO [20261115_ab] tools.x: fine"));
    append(&home, "agent.log", &traceback());
    append(&home, "agent.log", &line(2, "WARNING tools.y: hm"));
    logs(&home, &["--level", "error"]).run().success().stdout_is(&traceback());
    logs(&home, &["--session", "5_ab", "--component", "gateway"]).run().success().stdout_is(&traceback());
    logs(&home, &["--component", "tools", "--level", "WARNING"])
        .run()
        .stdout_is(&line(2, "WARNING tools.y: hm"));
    logs(&home, &["--session", "nobody"]).run().success().stdout_is("").stderr_has("no record in ");
    let json = logs(&home, &["--json", "--level", "error"]).run().success().json();
    assert_eq!(json["time"], "2026-11-15T20:00:01.735");
    assert_eq!((&json["level"], &json["session"]), (&"ERROR".into(), &"20261115_ab".into()));
    assert_eq!(json["logger"], "gateway.run");
    assert_eq!(json["message"], "boom\nTraceback (most recent call last):\n  File \"x.py\"\nKeyError: 1");
}

#[test]
fn since_counts_from_now_and_shows_all_of_it() {
    let home = TestHome::new();
    let now = jiff::Zoned::now();
    let at = |minutes: i64, n: usize| {
        let time = &now - jiff::SignedDuration::from_mins(minutes);
        format!("{},000 INFO x: {n}\n", time.strftime("%Y-%m-%d %H:%M:%S"))
    };
    append(&home, "agent.log.1", &at(300, 0));
    let recent: String = (1..=80).map(|n| at(30, n)).collect::<Vec<_>>().concat();
    append(&home, "agent.log", &recent);
    logs(&home, &["--since", "2h"]).run().success().stdout_is(&recent);
    assert_eq!(logs(&home, &["--since", "1d"]).run().success().lines().len(), 81);
    assert_eq!(logs(&home, &["--since", "1d", "-n", "7"]).run().success().lines().len(), 7);
    logs(&home, &["--since", "10m"]).run().success().stdout_is("");
}

#[test]
fn bad_values_say_what_is_wanted() {
    let home = TestHome::new();
    append(&home, "mcp-stderr.log", "raw line\n");
    let wrong = |args: &[&str], text: &str| {
        logs(&home, args).run().code(2).stdout_is("").stderr_has(text);
    };
    wrong(&["--level", "loud"], "use debug, info, warning");
    wrong(&["--since", "soon"], "like 30s, 10m, 2h or 1d");
    wrong(&["--component", "nope"], "use gateway, agent, tools");
    wrong(&["-n", "-1"], "-1");
    wrong(&["nope"], "use agent, errors, gateway, mcp-stderr or list");
    wrong(&["../../../etc/passwd"], "there is no log");
    logs(&home, &["mcp-stderr"]).run().success().stdout_is("raw line\n");
}

#[test]
fn the_list_has_sizes_and_rotated_files() {
    let home = TestHome::new();
    append(&home, "agent.log", "x\n");
    append(&home, "agent.log.1", "xyz\n");
    append(&home, "errors.log", "");
    logs(&home, &["list"]).run().success().stdout_has("agent").stdout_has("1 (4 B)");
    let json = logs(&home, &["list", "--json"]).run().success().json();
    assert_eq!(
        (&json[0]["name"], &json[0]["bytes"], &json[0]["rotated"]),
        (&"agent".into(), &2.into(), &1.into())
    );
    assert_eq!(json.as_array().unwrap().len(), 2);
}

#[test]
fn a_profile_has_logs_of_its_own() {
    let home = TestHome::new();
    append(&home, "agent.log", &line(0, "INFO x: root"));
    home.write("profiles/work/logs/agent.log", line(0, "INFO x: work"));
    let ours = Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).args(["-p", "work", "logs"]).run();
    ours.success().stdout_is(&line(0, "INFO x: work"));
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let home = TestHome::new();
    append(&home, "agent.log", &line(0, "INFO x: \u{1b}]0;title\u{7} \u{9b}31m"));
    let seen = logs(&home, &[]).run();
    seen.success().stdout_lacks("\u{1b}").stdout_lacks("\u{9b}").stdout_has("\\u{1b}]0;title");
}

#[test]
fn following_goes_on_across_rotation_and_truncation() {
    let home = TestHome::new();
    let path = |name: &str| home.path().join("logs").join(name);
    append(&home, "agent.log", &line(0, "INFO x: before"));
    let mut running = logs(&home, &["-f", "-n", "1", "--level", "info"]).spawn();
    assert_eq!(running.next_line(SOON).unwrap(), line(0, "INFO x: before").trim_end());
    append(&home, "agent.log", &line(1, "INFO x: added"));
    running.line_with("added", SOON);
    append(&home, "agent.log", &(line(2, "DEBUG x: hidden") + &line(3, "INFO x: last of the old file")));
    fs::rename(path("agent.log"), path("agent.log.1")).unwrap();
    append(&home, "agent.log", &line(4, "INFO x: first of the new file"));
    running.line_with("last of the old file", SOON);
    running.line_with("first of the new file", SOON);
    append(&home, "agent.log.1", &line(5, "INFO x: from a slow writer"));
    running.line_with("from a slow writer", SOON);
    fs::write(path("agent.log"), "").unwrap();
    append(&home, "agent.log", &line(6, "INFO x: anew"));
    running.line_with("anew", SOON);
    let seen = running.stdout_so_far();
    assert!(!seen.contains("hidden"), "{seen}");
    assert_eq!(seen.lines().count(), 6, "{seen}");
    running.signal(Signal::INT);
    running.wait(SOON).signal(Signal::INT).stderr_lacks("error");
}

#[test]
fn following_waits_for_a_log_that_does_not_exist_yet() {
    let home = TestHome::new();
    let mut running = logs(&home, &["errors", "-f", "--json"]).spawn();
    running.stderr_with("nothing has been logged", SOON);
    append(&home, "errors.log", &traceback());
    let json: serde_json::Value = serde_json::from_str(&running.next_line(SOON).unwrap()).unwrap();
    assert!(json["message"].as_str().unwrap().ends_with("KeyError: 1"), "{json}");
    running.kill9();
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let home = TestHome::new();
    for n in 0..2000 {
        append(&home, "agent.log", &line(n, &format!("INFO x: {}", "long ".repeat(100))));
    }
    for args in [&["-n", "2000"][..], &["-f", "-n", "2000"], &["-f", "-n", "1"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hermes"))
            .arg("logs")
            .args(args)
            .env("HERMES_HOME", home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{args:?}: {:?}", ended.status);
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{args:?}");
    }
}
