//! Looking after background commands.

use hermes_tools::gate::ask::{AskGate, Mode};
use hermes_tools::{News, Process, Terminal};
use serde_json::{Value, json};

use crate::fixture::{Closed, Fixture, SECRET, Talk, eventually};

crate::everywhere!(
    a_command_is_followed_to_its_end,
    another_program_finds_it_again,
    killing_ends_the_whole_tree,
    a_terminal_can_be_typed_into,
    the_shell_of_the_conversation_is_carried_over,
);

/// Starts a background command; its id.
async fn start(talk: &Talk, command: &str, more: Value) -> String {
    let mut order = json!({ "command": command, "background": true });
    order.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let started = talk.call(order).await;
    started["session_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned()
}

async fn a_command_is_followed_to_its_end(fixture: &Fixture) {
    let place = fixture.place();
    let (terminal, process) =
        (Talk::new(Terminal::new(place.clone())), Talk::new(Process::new(place.clone())));
    let command =
        format!("seq 1 300; echo {SECRET}; while [ ! -e \"$HOME/go\" ]; do sleep 0.05; done; exit 3");
    let id = start(&terminal, &command, json!({ "notify_on_complete": true })).await;
    let poll = || process.call(json!({ "action": "poll", "session_id": id }));
    while !poll().await["output_preview"].as_str().unwrap().contains("correc") {}
    assert_eq!(poll().await["status"], "running");
    let log = process.call(json!({ "action": "log", "session_id": id, "offset": 10, "limit": 3 })).await;
    assert_eq!((&log["output"], &log["total_lines"]), (&json!("11\n12\n13"), &json!(301)));
    let waited = process.call(json!({ "action": "wait", "session_id": id, "timeout": 1 })).await;
    assert_eq!(waited["status"], "timeout", "{waited}");
    assert!(!waited.to_string().contains(SECRET));
    terminal.call(json!({ "command": "touch \"$HOME/go\"" })).await;
    let ended = process.call(json!({ "action": "wait", "session_id": id })).await;
    assert_eq!((&ended["status"], &ended["exit_code"]), (&json!("exited"), &json!(3)), "{ended}");
    // The model knows, so it is not told again; the watcher may need a moment to say so.
    let quiet = start(&terminal, "true", json!({ "notify_on_complete": true })).await;
    let mut told = Vec::new();
    eventually("the other end is told", || {
        told.extend(place.notifications().drain_all());
        told.iter().any(|note| note.process == quiet)
    })
    .await;
    assert!(told.iter().all(|note| note.process != id), "{told:?}");
}

async fn another_program_finds_it_again(fixture: &Fixture) {
    let command = "echo begun; while [ ! -e \"$HOME/go\" ]; do sleep 0.05; done; echo done";
    let id = {
        let terminal = Talk::new(Terminal::new(fixture.place()));
        start(&terminal, command, json!({ "notify_on_complete": true })).await
    };
    let place = fixture.place();
    let process = Talk::new(Process::new(place.clone()));
    let listed = process.call(json!({ "action": "list" })).await;
    let found = listed["processes"].as_array().unwrap().iter().find(|one| one["session_id"] == id.as_str());
    let found = found.unwrap_or_else(|| panic!("{listed}"));
    assert_eq!((&found["status"], &found["command"]), (&json!("running"), &json!(command)));
    assert!(found.get("other_conversation").is_none());
    let other = Talk::with(Process::new(place.clone()), "another");
    let listed = other.call(json!({ "action": "list" })).await;
    assert_eq!(listed["processes"][0]["other_conversation"], true);
    Talk::new(Terminal::new(place.clone())).call(json!({ "command": "touch \"$HOME/go\"" })).await;
    // It was to be told when it ends, whoever runs by then.
    let mut told = Vec::new();
    eventually("its end is told to the program that runs now", || {
        told.extend(place.notifications().drain("conversation"));
        !told.is_empty()
    })
    .await;
    assert_eq!(told[0].news, News::Ended { exit_code: Some(0), output: "begun\ndone".into() });
}

async fn killing_ends_the_whole_tree(fixture: &Fixture) {
    let place = fixture.place();
    let (terminal, process) = (Talk::new(Terminal::new(place.clone())), Talk::new(Process::new(place)));
    let both =
        json!({ "command": "true", "background": true, "notify_on_complete": true, "watch_patterns": ["x"] });
    let told = terminal.call(both).await;
    assert!(told["watch_patterns_ignored"].is_string() && told["watch_patterns"].is_null(), "{told}");
    let id = start(&terminal, "trap '' TERM; setsid sleep 7140 & echo up; sleep 7141", json!({})).await;
    while process.call(json!({ "action": "poll", "session_id": id })).await["output_preview"] != "up\n" {}
    let killed = process.call(json!({ "action": "kill", "session_id": id })).await;
    assert_eq!(
        (&killed["status"], &killed["completion_reason"]),
        (&json!("killed"), &json!("killed")),
        "{killed}"
    );
    assert_eq!(
        (&killed["exit_code"], &killed["termination_source"]),
        (&json!(-15), &json!("process.kill")),
        "{killed}"
    );
    let look = "for p in /proc/[0-9]*; do { tr '\\0' ' ' < $p/cmdline; } 2>/dev/null | grep -x 'sleep 714[01] '; done; true";
    assert_eq!(terminal.call(json!({ "command": look })).await["output"], "");
    let again = process.call(json!({ "action": "kill", "session_id": id })).await;
    assert_eq!(again["status"], "already_exited");
    let nobody = process.call(json!({ "action": "poll", "session_id": "proc_nope" })).await;
    assert_eq!(nobody["status"], "not_found");
}

async fn a_terminal_can_be_typed_into(fixture: &Fixture) {
    let place = fixture.place();
    let (terminal, mut process) = (Talk::new(Terminal::new(place.clone())), Talk::new(Process::new(place)));
    let id = start(&terminal, "read -r name; echo \"hello $name\"", json!({ "pty": true })).await;
    let typed = process.call(json!({ "action": "submit", "session_id": id, "data": "you" })).await;
    assert_eq!((&typed["status"], &typed["bytes_written"]), (&json!("ok"), &json!(4)));
    let ended = process.call(json!({ "action": "wait", "session_id": id, "timeout": 60 })).await;
    assert!(ended["output"].as_str().unwrap().ends_with("hello you\n"), "{ended}");
    let plain = start(&terminal, "sleep 7142", json!({})).await;
    let refused = process.call(json!({ "action": "write", "session_id": plain, "data": "x" })).await;
    assert!(refused["error"].as_str().unwrap().contains("pty=true"), "{refused}");
    process.gate = Box::new(Closed);
    let blocked = process.call(json!({ "action": "write", "session_id": plain, "data": "x" })).await;
    assert_eq!(blocked["status"], "blocked");
    // The rules that hold for commands hold for what is typed into a shell.
    process.gate = Box::new(AskGate::new(Mode::default(), None));
    let shell = start(&terminal, "bash", json!({ "pty": true })).await;
    let write = |data: &'static str| json!({ "action": "submit", "session_id": shell, "data": data });
    assert_eq!(process.call(write("echo harmless")).await["status"], "ok");
    assert_eq!(process.call(write("git push --force nowhere")).await["status"], "blocked");
    let killed = process.call(json!({ "action": "kill", "session_id": shell })).await;
    assert_eq!(killed["status"], "killed", "{killed}");
}

async fn the_shell_of_the_conversation_is_carried_over(fixture: &Fixture) {
    let place = fixture.place();
    let (terminal, process) = (Talk::new(Terminal::new(place.clone())), Talk::new(Process::new(place)));
    terminal
        .call(json!({ "command": "mkdir -p \"$HOME/here\"; cd \"$HOME/here\"; export MARK='a\nb'" }))
        .await;
    let id = start(&terminal, "basename \"$PWD\"; echo \"$MARK\"", json!({})).await;
    let ended = process.call(json!({ "action": "wait", "session_id": id })).await;
    assert_eq!(ended["output"], "here\na\nb\n", "{ended}");
    let id = start(&terminal, "pwd", json!({ "workdir": "/" })).await;
    assert_eq!(process.call(json!({ "action": "wait", "session_id": id })).await["output"], "/\n");
}

#[tokio::test]
async fn waiting_can_be_interrupted() {
    let fixture = Fixture::local();
    let place = fixture.place();
    let terminal = Talk::new(Terminal::new(place.clone()));
    let id = start(&terminal, "sleep 7143", json!({})).await;
    let process = Talk::new(Process::new(place.clone()));
    let wait = process.call(json!({ "action": "wait", "session_id": id }));
    let interrupt = async {
        // Whenever it comes, before or while it waits, the answer is the same.
        tokio::task::yield_now().await;
        process.cancel.cancel();
    };
    let (ended, ()) = tokio::join!(wait, interrupt);
    assert_eq!(ended["status"], "interrupted");
    let poll = Talk::new(Process::new(place)).call(json!({ "action": "poll", "session_id": id })).await;
    assert_eq!(poll["status"], "running", "waiting is interrupted, the command goes on");
}
