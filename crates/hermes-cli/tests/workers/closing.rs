//! How workers close their cards, and what happens when they do not.

use hermes_board::card::Outcome;
use hermes_board::ending::Verdict;
use hermes_board::{CardId, Status};
use serde_json::json;

use crate::{Shift, calls, card, take};

#[test]
fn a_worker_looks_works_and_completes() {
    let script = [
        calls("kanban_show", &json!({})),
        "---".into(),
        calls("terminal", &json!({ "command": "echo white > paint.txt" })),
        "usage in=900 out=100".into(),
        "---".into(),
        calls("kanban_complete", &json!({ "summary": "painted white", "metadata": { "coats": 2 } })),
        "---".into(),
        "say \"All done.\"".into(),
    ];
    let shift = Shift::new(&script.join("\n"));
    shift.run().success().stdout_is("All done.\n").stderr_has("kanban_complete");
    shift.server.assert_done();
    let details = shift.board().details(&shift.claim.card.id).unwrap();
    assert_eq!((details.card.status, details.latest_summary()), (Status::Done, Some("painted white")));
    let worker = shift.row();
    assert_eq!((worker.verdict, worker.last_line.as_deref()), (None, Some("All done.")));
    assert!(worker.usage.input_tokens >= 900 && worker.usage.output_tokens >= 100, "{:?}", worker.usage);
    let session = worker.session_id.unwrap();
    assert_eq!(details.attempts[0].metadata.as_ref().unwrap()["worker_session_id"], json!(session));
    let first = &shift.server.calls()[0];
    assert!(first.system().contains("# Your card"), "{}", first.system());
    assert!(first.tool_names().contains(&"kanban_complete") && !first.tool_names().contains(&"kanban_list"));
    assert!(!first.tool_names().contains(&"clarify"), "nobody is there to ask");
}

#[test]
fn a_worker_that_needs_somebody_blocks() {
    let block = calls("kanban_block", &json!({ "reason": "which white?", "kind": "needs_input" }));
    let shift = Shift::new(&format!("{block}\n---\nsay \"I wait.\""));
    shift.run().success();
    assert_eq!(shift.card().status, Status::Blocked);
    assert_eq!(shift.row().verdict, None);
}

#[test]
fn a_worker_that_stops_is_asked_once_to_close_its_card() {
    let complete = calls("kanban_complete", &json!({ "summary": "done" }));
    let shift = Shift::new(&format!("say \"I think it is done.\"\n---\n{complete}\n---\nsay \"Closed.\""));
    shift.run().success();
    assert_eq!(shift.card().status, Status::Done);
    let asked = shift.server.calls()[1].newest_user_text();
    assert!(asked.contains("still open"), "{asked}");
}

#[test]
fn a_card_that_nobody_closes_is_left_to_people() {
    let shift = Shift::new("say \"I think it is done.\"\n---\nsay \"As I said.\"\n---\nsay \"never\"");
    shift.run().success();
    assert_eq!(shift.server.calls().len(), 2, "asked once more and no further");
    assert_eq!(
        shift.card().status,
        Status::Running,
        "what becomes of it is decided by whoever looks after the worker"
    );
    assert_eq!(shift.row().verdict, Some(Verdict::None { text: "As I said.".into() }));
    let off = Shift::new("say \"done\"\n---\nsay \"never\"");
    off.worker(&[]).env("HERMES_KANBAN_STOP_NUDGE", "0").run().success();
    assert_eq!(off.server.calls().len(), 1);
    assert_eq!(off.row().verdict, Some(Verdict::None { text: "done".into() }));
}

#[test]
fn an_attempt_that_was_superseded_does_not_begin_and_cannot_write() {
    let shift = Shift::new("say \"never\"");
    shift.board().reclaim(&shift.claim.card.id, None, &serde_json::Map::new(), crate::now()).unwrap();
    let second = take(&shift.home, &shift.claim.card.id);
    shift.run().code(1).stderr_has("another attempt");
    assert!(shift.server.requests().is_empty(), "nothing is asked for an attempt that is over");
    assert_eq!(shift.card().current_run, Some(second.run));
}

#[test]
fn a_worker_that_loses_its_card_while_it_works_is_refused() {
    let complete = calls("kanban_complete", &json!({ "summary": "late" }));
    let shift = Shift::new(&format!("late 1s\n{complete}\n---\nalways\nsay \"Oh.\""));
    let running = shift.worker(&[]).spawn();
    shift.server.wait_for_calls(1, crate::LIMIT);
    shift.board().reclaim(&shift.claim.card.id, None, &serde_json::Map::new(), crate::now()).unwrap();
    let second = take(&shift.home, &shift.claim.card.id);
    let done = running.wait(crate::LIMIT);
    // The tool refuses, unless the program noticed first and ended the turn.
    let results = shift.server.last_call().tool_results();
    let refused = results.iter().any(|(_, text)| text.contains("another attempt"));
    assert!(refused || done.err().contains("another attempt"), "{results:?}\n{}", done.err());
    let card = shift.card();
    assert_eq!((card.status, card.current_run), (Status::Running, Some(second.run)));
    let runs = shift.board().details(&card.id).unwrap().attempts;
    assert_eq!(runs[0].outcome, Some(Outcome::Reclaimed));
}

#[test]
fn a_worker_keeps_to_its_own_card() {
    let new = card("mine");
    let shift = Shift::on("say \"placeholder\"", "", &new);
    let other = shift.board().create(&card("other"), crate::now()).unwrap().card.id;
    let script = [
        calls("kanban_complete", &json!({ "task_id": other, "summary": "x" })),
        calls("kanban_comment", &json!({ "task_id": other, "body": "see mine", "author": "boss" })),
        calls("kanban_create", &json!({ "title": "follow up", "assignee": "default" })),
        calls("kanban_attach", &json!({ "filename": "n.txt", "content_base64": "aGk=" })),
    ];
    let server =
        hermes_testkit::ModelServer::scripted(&format!("{}\n---\nalways\nsay \"ok\"", script.join("\n")));
    shift.home.config_for(&server);
    shift.run().success();
    let results: Vec<serde_json::Value> = server.calls()[1]
        .tool_results()
        .iter()
        .map(|(_, text)| serde_json::from_str(text).unwrap())
        .collect();
    assert!(results[0]["error"].as_str().unwrap().contains("not your card"), "{results:?}");
    assert_eq!(
        (&results[1]["ok"], &results[2]["ok"], &results[3]["ok"]),
        (&json!(true), &json!(true), &json!(true))
    );
    let mut board = shift.board();
    let details = board.details(&other).unwrap();
    assert_eq!((details.card.status, details.comments[0].author.as_str()), (Status::Ready, "default"));
    let child = board.card(&CardId::new(results[2]["task_id"].as_str().unwrap())).unwrap();
    assert_eq!(child.created_by.as_deref(), Some("default"));
    assert_eq!(board.attachments(&shift.claim.card.id).unwrap().len(), 1);
}

#[test]
fn finished_work_that_waits_for_a_check_is_not_asked_for_again() {
    let mut new = card("checked");
    new.extras.acceptance = Some("test -f paint.txt".into());
    let complete = calls("kanban_complete", &json!({ "summary": "done" }));
    let shift = Shift::on(&format!("{complete}\n---\nsay \"Closed.\"\n---\nsay \"never\""), "", &new);
    shift.run().success();
    assert_eq!(shift.server.calls().len(), 2);
    assert_eq!((shift.card().status, shift.row().verdict), (Status::Running, None));
    assert!(shift.board().pending_check(shift.claim.run).unwrap().is_some(), "the guard runs it");
}
