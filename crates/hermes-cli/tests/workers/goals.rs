//! Cards with a goal: another model says when it is reached.

use hermes_board::Status;
use hermes_board::card::GoalMode;
use hermes_board::create::NewCard;
use hermes_testkit::Finished;
use serde_json::json;

use crate::{Shift, calls, card};

fn goal(turns: i64) -> NewCard {
    let mut new = card("ten tests");
    new.body = Some("All ten pass.".into());
    (new.goal_mode, new.goal_max_turns) = (GoalMode::On, Some(turns));
    new
}

fn run(shift: &Shift) -> Finished {
    shift.worker(&[]).env("HERMES_KANBAN_GOAL_MODE", "1").run()
}

/// What the judge says, whenever it is asked.
fn judge(says: &str) -> String {
    format!("when system \"You judge\"\nsay \"{says}\"")
}

#[test]
fn work_goes_on_in_the_same_conversation_until_the_judge_agrees() {
    let script = [
        "say \"Nine pass.\"".to_owned(),
        judge("MORE: one test fails"),
        calls("kanban_complete", &json!({ "summary": "nine, nearly ten" })),
        judge("MORE: still nine"),
        calls("kanban_complete", &json!({ "summary": "ten pass" })),
        judge("DONE"),
        "say \"Closed.\"".to_owned(),
    ];
    let shift = Shift::on(&script.join("\n---\n"), "", &goal(5));
    run(&shift).success();
    shift.server.assert_done();
    assert_eq!(shift.card().status, Status::Done);
    let calls = shift.server.calls();
    assert!(calls[1].newest_user_text().contains("All ten pass."), "{}", calls[1].newest_user_text());
    assert!(calls[2].newest_user_text().contains("one test fails"));
    let refused = &calls[4].tool_results()[0].1;
    assert!(refused.contains("still nine"), "{refused}");
}

#[test]
fn a_goal_that_is_not_reached_in_its_turns_is_blocked() {
    let script = [
        "say \"One.\"".to_owned(),
        judge("MORE: nine to go"),
        "say \"Two.\"".to_owned(),
        judge("MORE: eight to go"),
    ];
    let shift = Shift::on(&script.join("\n---\n"), "", &goal(2));
    run(&shift).success();
    shift.server.assert_done();
    let details = shift.board().details(&shift.claim.card.id).unwrap();
    assert_eq!(details.card.status, Status::Blocked);
    assert!(details.latest_summary().unwrap().contains("eight to go"), "{:?}", details.latest_summary());
}

#[test]
fn a_reached_goal_that_nobody_closes_is_blocked_for_people() {
    let script = ["say \"Ten.\"".to_owned(), judge("DONE"), "say \"Yes, ten.\"".to_owned(), judge("DONE")];
    let shift = Shift::on(&script.join("\n---\n"), "", &goal(5));
    run(&shift).success();
    shift.server.assert_done();
    assert_eq!(shift.card().status, Status::Blocked);
}

#[test]
fn without_a_judge_the_worker_is_believed() {
    let script = [
        calls("kanban_complete", &json!({ "summary": "ten" })),
        "when system \"You judge\"\nstatus 500\nheader retry-after=0".to_owned(),
        "say \"Closed.\"".to_owned(),
    ];
    let shift = Shift::on(&script.join("\n---\n"), "agent:\n  api_max_retries: 1\n", &goal(5));
    run(&shift).success();
    assert_eq!(shift.card().status, Status::Done);
}
