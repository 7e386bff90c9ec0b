//! What a board answers: why, status, top, reviews, logs, columns, colours.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use hermes_store::rusqlite::Connection;
use hermes_testkit::{Hermes, TestHome};

use crate::{create, kanban};

const LIMIT: Duration = Duration::from_secs(30);

fn sql(home: &TestHome, sql: &str) {
    Connection::open(home.path().join("kanban.db")).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn why_tells_every_gate_and_what_opens_it() {
    let home = TestHome::new();
    let id = create(&home, &["x"]);
    let before = home.snapshot();
    let told = kanban(&home, &["why", &id]);
    told.success()
        .stdout_has("It is not started: no dispatcher runs on this machine")
        .stdout_has("✓ parents");
    told.stdout_has("✗ board").stdout_has("→ hermes kanban resume").stdout_has("✗ assignee");
    assert_eq!(before, home.snapshot(), "asking changes nothing");
    kanban(&home, &["resume"]).success();
    kanban(&home, &["assign", &id, "default"]).success();
    let answer = kanban(&home, &["why", &id, "--json"]).json();
    let closed: Vec<&str> = answer["gates"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|gate| gate["passed"] == false)
        .map(|gate| gate["gate"].as_str().unwrap())
        .collect();
    assert_eq!(closed, ["dispatcher"]);
    assert_eq!(answer["starts"]["profile"], "default");
    kanban(&home, &["complete", &id]).success();
    kanban(&home, &["why", &id]).success().stdout_has("It is done.");
    kanban(&home, &["why", "t_00000000"]).code(1).stderr_has("there is no card");
}

#[test]
fn status_says_in_a_line_why_nothing_happens() {
    let home = TestHome::new();
    kanban(&home, &["status"]).success().stdout_has("no cards yet");
    assert!(!home.path().join("kanban.db").exists());
    let id = create(&home, &["x", "--assignee", "default"]);
    kanban(&home, &["status"]).success().stdout_has("Nothing new is started: the board has not been started");
    kanban(&home, &["resume"]).success();
    let told = kanban(&home, &["status"]);
    told.success().stdout_has("no dispatcher runs").stdout_has(&format!("{id} → default"));
    told.stdout_has("kanban.max_in_progress_host");
    create(&home, &["y", "--assignee", "stranger"]);
    let status = kanban(&home, &["status", "--json"]).json();
    assert_eq!((&status["would_start"], &status["mode"]), (&1.into(), &"active".into()));
    assert_eq!(status["dispatcher"]["alive"], false);
    assert_eq!(status["held_back"][0]["count"], 1);
    // Another program's dispatcher holds the lock and says nothing of itself.
    let path = home.write("kanban/.dispatcher.lock", "");
    let held = std::fs::File::open(&path).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let status = kanban(&home, &["status", "--json"]).json();
    assert_eq!(status["dispatcher"]["alive"], true, "{status}");
    kanban(&home, &["status"]).success().stdout_has("holds the lock");
}

#[test]
fn top_shows_who_works() {
    let home = TestHome::new();
    kanban(&home, &["top"]).success().stdout_has("Nothing runs");
    let id = create(&home, &["Paint it", "--assignee", "alpha"]);
    kanban(&home, &["claim", &id]).success();
    sql(
        &home,
        "INSERT INTO hx_workers (run_id, task_id, pid, started_ticks, boot_id, last_output_at, input_tokens, output_tokens, \
         cost_usd, last_line) SELECT current_run_id, id, 1, 1, 'b', unixepoch(), 12000, 345, 0.5, 'a\u{1b}[31m line' FROM tasks",
    );
    let top = kanban(&home, &["top", "--once"]);
    top.success().stdout_has("1 running card").stdout_has("12.3k").stdout_has("$0.50").stdout_has("a line");
    top.stdout_lacks("\u{1b}");
    let value = kanban(&home, &["top", "--all", "--json"]).json();
    assert_eq!(
        (&value[0]["task_id"], &value[0]["usage"]["input_tokens"]),
        (&id.as_str().into(), &12000.into())
    );
    let page = kanban(&home, &["show", &id]);
    page.success().stdout_has("12.3k tokens, $0.50");
}

#[test]
fn people_look_at_work() {
    let home = TestHome::new();
    let id = create(&home, &["x", "--assignee", "alpha", "--reviewer", "human"]);
    kanban(&home, &["approve", &id]).code(1).stderr_has("only review cards can be approved");
    kanban(&home, &["reject", &id]).code(2);
    let review = |id: &str| sql(&home, &format!("UPDATE tasks SET status = 'review' WHERE id = '{id}'"));
    review(&id);
    kanban(&home, &["list"]).success().stdout_has("(review: human)");
    kanban(&home, &["why", &id]).success().stdout_has("a person has to look at it").stdout_has("approve");
    let back = kanban(&home, &["reject", &id, "too", "green"]);
    back.success().stdout_is(&format!("Rejected {id}: it goes back to alpha (ready)\n"));
    let shown = kanban(&home, &["show", &id, "--json"]).json();
    assert_eq!(shown["comments"][0]["body"], "too green");
    review(&id);
    kanban(&home, &["approve", &id, "well", "done", "--author", "me"]).success().stdout_has("(done)");
    let shown = kanban(&home, &["show", &id, "--json"]).json();
    assert_eq!((&shown["task"]["status"], &shown["comments"][1]["author"]), (&"done".into(), &"me".into()));
}

#[test]
fn a_log_is_followed_over_its_rotation() {
    let home = TestHome::new();
    let id = create(&home, &["x"]);
    kanban(&home, &["log", &id]).success().stderr_has("no worker has written");
    let path = home.write(format!("kanban/logs/{id}.log"), "one\n\u{1b}[31mtwo\u{1b}[0m\n");
    kanban(&home, &["log", &id]).success().stdout_has("\u{1b}[31mtwo");
    kanban(&home, &["log", &id, "--plain"]).success().stdout_is("one\ntwo\n");
    kanban(&home, &["log", &id, "--tail", "4", "--json"]).success().stdout_has("\"log\"");
    let hermes = Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home);
    let mut following = hermes.args(["kanban", "log", &id, "-f", "--plain"]).spawn();
    following.line_with("two", LIMIT);
    let mut old = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::fs::rename(&path, path.with_extension("log.1")).unwrap();
    std::io::Write::write_all(&mut old, b"three, written late\n").unwrap();
    std::fs::write(&path, "four, in the new file\n").unwrap();
    following.line_with("three", LIMIT);
    following.line_with("four", LIMIT);
    // Cut and written anew.
    std::fs::write(&path, "five\n").unwrap();
    following.line_with("five", LIMIT);
    following.kill9();
}

#[test]
fn columns_stand_side_by_side() {
    let home = TestHome::new();
    kanban(&home, &["board"]).success().stdout_has("No cards yet");
    let ready =
        create(&home, &["日本語のカード with a rather long title that is folded", "--assignee", "alpha"]);
    let todo = create(&home, &["waits", "--parent", &ready]);
    let text = kanban(&home, &["board", "--width", "60"]);
    text.success();
    let lines = text.lines();
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["◻", "TODO", "(1)", "▶", "READY", "(1)"]);
    assert!(lines[2].contains(&format!("{todo} (nobody)")) && lines[2].contains(&format!("{ready} alpha")));
    assert!(lines.iter().all(|line| unicode_width::UnicodeWidthStr::width(line.as_str()) <= 60), "{lines:?}");
    let narrow = kanban(&home, &["board", "--width", "30"]).lines();
    assert!(narrow[0].contains("TODO") && !narrow[0].contains("READY"), "one below the other");
    let value = kanban(&home, &["board", "--json"]).json();
    assert_eq!(value["columns"].as_array().unwrap().len(), 8);
    assert_eq!(value["columns"][3]["tasks"][0]["id"], ready.as_str());
}

/// What the program shows on a terminal of its own.
fn on_a_terminal(home: &TestHome, args: &[&str], no_color: &str) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let slave: OwnedFd = rustix::fs::open(name.as_c_str(), flags, rustix::fs::Mode::empty()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_hermes"))
        .arg("kanban")
        .args(args)
        .env_clear()
        .env("HOME", home.user_home())
        .env("HERMES_HOME", home.path())
        .env("TERM", "xterm")
        .env("NO_COLOR", no_color)
        .stdin(Stdio::null())
        .stdout(Stdio::from(slave))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut bytes = Vec::new();
    // A terminal whose other side is gone ends with an error, not with an end of file.
    let _ = std::fs::File::from(master).read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success());
    String::from_utf8(bytes).unwrap()
}

#[test]
fn there_are_colours_on_a_terminal_only() {
    let home = TestHome::new();
    let id = create(&home, &["a\u{1b}]0;evil\u{7}b"]);
    assert!(!kanban(&home, &["list"]).out().contains('\u{1b}'));
    for args in [&["list"][..], &["show", &id], &["board"], &["why", &id], &["status"], &["tree"]] {
        let coloured = on_a_terminal(&home, args, "");
        assert!(coloured.contains("\u{1b}[") && !coloured.contains("\u{1b}]"), "{args:?}: {coloured:?}");
        let plain = on_a_terminal(&home, args, "1");
        assert!(!plain.contains('\u{1b}'), "{args:?}: {plain:?}");
    }
    home.write(format!("kanban/logs/{id}.log"), "\u{1b}]0;evil\u{7}plain\n");
    assert_eq!(on_a_terminal(&home, &["log", &id], ""), "plain\r\n");
}

#[test]
fn every_command_answers_programs() {
    let home = TestHome::new();
    let (one, two) = (create(&home, &["one"]), create(&home, &["two"]));
    for args in [
        &["init"][..],
        &["boards"],
        &["boards", "show"],
        &["list"],
        &["board"],
        &["show", &one],
        &["runs", &one],
        &["stats"],
        &["assignees"],
        &["tree"],
        &["search", "one"],
        &["context", &one],
        &["status"],
        &["why", &one],
        &["top"],
        &["diagnostics"],
        &["assign", &one, "alpha"],
        &["link", &one, &two],
        &["unlink", &one, &two],
        &["comment", &one, "hello"],
        &["attachments", &one],
        &["edit", &one, "--title", "uno"],
        &["block", &one, "x"],
        &["unblock", &one],
        &["schedule", &one],
        &["unblock", &one],
        &["claim", &one],
        &["heartbeat", &one],
        &["complete", &one],
        &["archive", &one],
        &["log", &two],
        &["notify-list"],
        &["gc"],
        &["pause"],
        &["resume"],
        &["drain"],
    ] {
        let answer = kanban(&home, &[args, &["--json"]].concat());
        answer.success();
        assert!(!answer.json().is_null(), "{args:?}");
    }
    let both = kanban(&home, &["complete", &two, "t_ffffffff", "--json"]);
    both.code(1);
    assert_eq!((&both.json()[0]["ok"], &both.json()[1]["ok"]), (&true.into(), &false.into()));
}
