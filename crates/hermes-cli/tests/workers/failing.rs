//! What is not the card's fault is told from what is, by a verdict and an exit code.

use hermes_board::Status;
use hermes_board::ending::Verdict;
use hermes_testkit::wait_until;
use rustix::process::Signal;
use serde_json::json;

use crate::{LIMIT, Shift, calls, card};

const ONE_TRY: &str = "agent:\n  api_max_retries: 1\n";

#[test]
fn a_provider_that_had_enough_is_a_quota() {
    let shift = Shift::on("status 429\nheader retry-after=600\nalways", ONE_TRY, &card("x"));
    let before = crate::now();
    shift.run().code(75).stderr_has("429");
    let Some(Verdict::Quota { until: Some(until), error }) = shift.row().verdict else {
        panic!("{:?}", shift.row())
    };
    assert!(until >= before + 600 && error.contains("429"), "{until} {error}");
    assert_eq!(shift.card().status, Status::Running, "the guard says what becomes of it");
    let broke = Shift::on("status 402\nalways", ONE_TRY, &card("x"));
    broke.run().code(75);
    assert!(matches!(broke.row().verdict, Some(Verdict::Quota { until: None, .. })), "{:?}", broke.row());
}

#[test]
fn a_refused_key_or_a_missing_model_is_the_surroundings() {
    let shift = Shift::on("status 401\nalways", ONE_TRY, &card("x"));
    shift.run().code(69);
    let Some(Verdict::Infrastructure { error }) = shift.row().verdict else { panic!("{:?}", shift.row()) };
    assert!(error.contains("key") && !error.contains(hermes_testkit::home::API_KEY), "{error}");
    let without = Shift::new("say \"never\"");
    without.home.config("agent:\n  max_turns: 5\n");
    without.run().code(69).stderr_has("hermes model");
    assert!(matches!(without.row().verdict, Some(Verdict::Infrastructure { .. })));
    let wrong = without.worker(&["--skills", "no-such-skill"]);
    wrong.run().code(69);
}

#[test]
fn a_place_that_is_not_there_is_the_surroundings() {
    let shift = Shift::on(
        "say \"never\"",
        "terminal:\n  backend: docker\n  docker_binary: /nowhere/docker\n",
        &card("x"),
    );
    shift.run().code(69);
    assert!(matches!(shift.row().verdict, Some(Verdict::Infrastructure { .. })), "{:?}", shift.row());
    assert!(shift.server.requests().is_empty(), "no model is asked in vain");
}

#[test]
fn too_many_rounds_are_a_budget() {
    let work = calls("terminal", &json!({ "command": "true" }));
    let script = format!("{work}\n---\n{work}\n---\nsay \"I got this far.\"");
    let shift = Shift::on(&script, "agent:\n  max_turns: 2\n", &card("x"));
    shift.run().code(1);
    let Some(Verdict::OutOfBudget { what }) = shift.row().verdict else { panic!("{:?}", shift.row()) };
    assert!(what.contains("2 model calls"), "{what}");
}

#[test]
fn a_worker_that_is_told_to_end_keeps_what_it_did() {
    let work = calls("terminal", &json!({ "command": "echo begun > begun.txt; sleep 600" }));
    let shift = Shift::new(&format!("say \"Working.\"\n{work}\n---\nsay \"never\""));
    let mut running = shift.worker(&["--yolo"]).spawn();
    let begun = shift.home.work_dir().join("begun.txt");
    wait_until(LIMIT, "the command runs", || begun.exists());
    running.signal(Signal::TERM);
    let done = running.wait(LIMIT);
    done.code(143);
    let worker = shift.row();
    assert_eq!(worker.verdict, None, "whoever told it knows why");
    assert!(worker.session_id.is_some() && shift.card().status == Status::Running);
}

#[test]
fn dangerous_commands_are_refused_as_nobody_can_agree() {
    let work = calls("terminal", &json!({ "command": "rm -rf ~/thing" }));
    let block = calls("kanban_block", &json!({ "reason": "I may not" }));
    let shift = Shift::new(&format!("{work}\n---\n{block}\n---\nsay \"ok\""));
    let thing = shift.home.user_home().join("thing");
    std::fs::create_dir(&thing).unwrap();
    shift.run().success();
    assert!(thing.exists(), "{:?}", shift.server.calls()[1].tool_results());
    assert_eq!(shift.card().status, Status::Blocked);
}
