//! A card's own budget holds over all its attempts.

use hermes_board::ending::Verdict;
use hermes_board::workers::{Progress, Usage};
use hermes_board::{CardId, Status};
use serde_json::json;

use crate::{Shift, calls, card, take};

#[test]
fn a_card_takes_no_more_tokens_than_it_may() {
    let mut new = card("thrifty");
    new.extras.max_tokens = Some(60_000);
    let work = calls("terminal", &json!({ "command": "true" }));
    let script =
        format!("{work}\nusage in=50000 out=2000\n---\n{work}\nusage in=9000 out=100\n---\nsay \"never\"");
    let shift = Shift::on(&script, "", &new);
    shift.run().code(1).stderr_has("--max-tokens");
    let worker = shift.row();
    let Some(Verdict::OutOfBudget { what }) = worker.verdict else { panic!("{worker:?}") };
    assert!(what.contains("of 60000 tokens") && what.contains("kanban edit"), "{what}");
    assert!(worker.usage.tokens() >= 52_000, "{:?}", worker.usage);
}

#[test]
fn what_earlier_attempts_used_is_gone() {
    let mut new = card("thrifty");
    new.extras.max_tokens = Some(1_000);
    let shift = Shift::on("say \"never\"", "", &new);
    let usage = Usage { input_tokens: 900, output_tokens: 200, cost_usd: 0.0 };
    let progress = Progress { usage: Some(usage), ..Progress::default() };
    let mut board = shift.board();
    let id: CardId = shift.claim.card.id.clone();
    board.progress(shift.claim.run, &progress, crate::now()).unwrap();
    board.reclaim(&id, None, &serde_json::Map::new(), crate::now()).unwrap();
    drop(board);
    let claim = take(&shift.home, &id);
    let second = Shift { claim, ..shift };
    second.run().code(1).stderr_has("1100 of 1000 tokens");
    assert!(second.server.requests().is_empty());
    assert!(matches!(second.row().verdict, Some(Verdict::OutOfBudget { .. })));
    assert_eq!(second.card().status, Status::Running);
}
