//! Ctrl-C and other signals while a turn runs: everything it started ends, and what was said is kept.

use hermes_testkit::{Answer, Signal, wait_until};

use super::support::{LIMIT, Talk, runs, session_of};

/// A command that starts a process of its own session, says that it runs, and waits.
const LONG: &str =
    "bash -c '(setsid sleep 7654321 </dev/null >/dev/null 2>&1 &)'; echo begun; touch begun; sleep 7654322";

#[test]
fn a_signal_during_a_tool_ends_its_whole_tree_and_the_session_goes_on() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let talk = Talk::with(&format!("say \"I wait.\"\n{}", runs(LONG)));
        let mut running = talk.command(&["-z", "the question", "--json"]).spawn();
        wait_until(LIMIT, "the command runs", || talk.file("begun").exists());
        running.signal(signal);
        let done = running.wait(LIMIT);
        done.code(code).stderr_has("interrupted");
        talk.nothing_runs_with("765432");
        let id = session_of(&done.out());
        talk.server.add(Answer::new().say("back"));
        talk.run(&["-z", "and now?", "-r", &id]).success().stdout_is("back\n");
        let call = talk.server.last_call();
        let body = String::from_utf8(call.raw.clone()).unwrap();
        assert!(body.contains("the question") && body.contains("I wait."), "{body}");
        let results = call.tool_results();
        assert!(results[0].1.contains("begun"), "what it printed is kept: {results:?}");
        talk.server.assert_no_problems();
    }
}

#[test]
fn a_signal_during_the_answer_keeps_what_came() {
    let talk = Talk::with("say \"the first words \"\nstall");
    let mut running = talk.command(&["-z", "go", "--json"]).spawn();
    running.line_with("words", LIMIT);
    running.signal(Signal::INT);
    let done = running.wait(LIMIT);
    done.code(130);
    talk.server.add(Answer::new().say("back"));
    talk.run(&["-z", "and now?", "-r", &session_of(&done.out())]).success();
    let call = talk.server.last_call();
    let answer = call.messages().iter().find(|message| message["role"] == "assistant").unwrap();
    assert_eq!(answer["content"], "the first words");
}

#[test]
fn a_signal_before_the_answer_ends_at_once() {
    let talk = Talk::with("stall");
    let usage = talk.file("usage.json");
    let mut running = talk.command(&["-z", "go", "--usage-file", usage.to_str().unwrap()]).spawn();
    talk.server.wait_for_calls(1, LIMIT);
    running.signal(Signal::INT);
    running.wait(LIMIT).code(130).stdout_is("");
    let used: serde_json::Value = serde_json::from_slice(&std::fs::read(usage).unwrap()).unwrap();
    assert_eq!((&used["completed"], &used["outcome"]), (&false.into(), &"interrupted".into()));
}

#[test]
fn a_question_with_its_work_in_view_is_interrupted_too() {
    let talk = Talk::with(&format!("say \"I wait.\"\n{}", runs(LONG)));
    let mut running = talk.command(&["chat", "-q", "the question", "--yolo"]).spawn();
    wait_until(LIMIT, "the command runs", || talk.file("begun").exists());
    running.signal(Signal::INT);
    running.wait(LIMIT).code(130).stdout_is("I wait.\n").stderr_has("interrupted").stderr_has("--resume");
    talk.nothing_runs_with("765432");
}
