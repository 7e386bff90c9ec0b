//! Why a card is not started: the same reasons as the plan's, and all of them.

use hermes_board::CardId;
use hermes_board::dispatch::why::Why;
use hermes_board::dispatch::{Elsewhere, plan};
use hermes_board::edit::{Change, Others, Set};
use hermes_board::links::LinkKind;
use hermes_board::state::{Mode, State};
use hermes_board::why::{Answer, Dispatcher, Seen};
use hermes_board::workers::{Progress, Usage};

use crate::fixture::{Bench, NOW, bench};

fn why(bench: &mut Bench, card: &CardId, dispatcher: Dispatcher) -> Answer {
    let snapshot = bench.snapshot(NOW);
    let (rules, world) = (bench.rules.clone(), bench.world.clone());
    let seen = Seen { snapshot: &snapshot, rules: &rules, world: &world, dispatcher, now: NOW };
    let answer = bench.board.why(card, &seen).unwrap();
    // What the plan says of the card is among what the answer says.
    let plan = plan(&snapshot, &rules, &world, NOW);
    if let Some(skip) = plan.skip.iter().find(|skip| skip.card == *card) {
        let said = skip.why.to_string();
        let cap = matches!(skip.why, Why::Cap(_) | Why::ProfileCap { .. });
        let agrees = answer.gates.iter().any(|gate| {
            !gate.passed && (gate.says.starts_with(&said) || (cap && gate.gate.ends_with("cap")))
        });
        assert!(agrees, "the plan says {said:?}, the answer {:?}", answer.gates);
    }
    let starts = plan.start.iter().any(|start| start.card == *card);
    assert_eq!(answer.starts.is_some(), starts);
    answer
}

fn closed(bench: &mut Bench, card: &CardId) -> Vec<&'static str> {
    let answer = why(bench, card, Dispatcher::There);
    for gate in answer.gates.iter().filter(|gate| !gate.passed) {
        assert!(gate.opens.as_deref().is_some_and(|opens| !opens.is_empty()), "{gate:?}");
    }
    answer.gates.iter().filter(|gate| !gate.passed).map(|gate| gate.gate).collect()
}

#[test]
fn an_open_card_is_started_and_says_for_whom() {
    let mut bench = bench();
    let (first, second) = (bench.card("first", Some("alpha")), bench.card("second", Some("beta")));
    assert_eq!(closed(&mut bench, &first), [""; 0]);
    assert_eq!(why(&mut bench, &second, Dispatcher::There).starts, Some(("beta".to_owned(), 1)));
    let nobody = why(&mut bench, &first, Dispatcher::Nobody);
    assert_eq!(nobody.closed().unwrap().gate, "dispatcher");
}

#[test]
fn every_gate_is_told() {
    let mut bench = bench();
    let id = bench.card("x", None);
    assert_eq!(closed(&mut bench, &id), ["assignee"]);
    bench.rules.default_assignee = Some("stranger".into());
    assert_eq!(closed(&mut bench, &id), ["assignee"]);
    bench.rules.default_assignee = Some("alpha".into());
    assert_eq!(closed(&mut bench, &id), [""; 0]);
    bench.board.set_state(&State { mode: Mode::Paused, ..State::default() }).unwrap();
    assert_eq!(closed(&mut bench, &id), ["board"]);
    bench.board.hold_for_edit(&id, NOW + 60, Others::Respected, NOW).unwrap();
    assert_eq!(closed(&mut bench, &id), ["board", "editing"], "one closed gate hides no other");
    bench.board.set_state(&State { mode: Mode::Active, ..State::default() }).unwrap();
    assert_eq!(closed(&mut bench, &id), ["editing"]);
    bench.board.release_edit(&id, NOW).unwrap();
    bench.rules.host_cap = Some(2);
    bench.world.elsewhere = Elsewhere { total: 2, ..Elsewhere::default() };
    assert_eq!(closed(&mut bench, &id), ["host cap"]);
    bench.rules.host_cap = Some(3);
    let before = bench.make("before it", |card| card.priority = 5);
    assert_eq!(closed(&mut bench, &before), [""; 0]);
    let behind = why(&mut bench, &id, Dispatcher::There);
    assert!(behind.closed().unwrap().says.contains("others come first"), "{:?}", behind.gates);
}

#[test]
fn what_it_waits_for_is_told_apart() {
    let mut bench = bench();
    let (needed, one, other) = (bench.card("n", None), bench.card("a", None), bench.card("b", None));
    let id = bench.make("x", |card| card.parents = vec![needed.clone()]);
    bench.board.link(&one, &id, LinkKind::Any, NOW).unwrap();
    bench.board.link(&other, &id, LinkKind::Any, NOW).unwrap();
    let answer = why(&mut bench, &id, Dispatcher::There);
    let says = &answer.closed().unwrap().says;
    assert!(says.contains(&format!("all of {needed} (ready)")), "{says}");
    assert!(says.contains("waits for one of"), "{says}");
    let (by, done) = (hermes_board::act::By::Anybody, hermes_board::act::Report::default());
    bench.board.complete(&one, &done, by, NOW).unwrap();
    let answer = why(&mut bench, &id, Dispatcher::There);
    assert!(!answer.closed().unwrap().says.contains("one of"), "one is enough");
}

#[test]
fn used_budgets_blocks_and_times_are_told() {
    let mut bench = bench();
    let id = bench.make("x", |card| card.extras.max_tokens = Some(100));
    let run = bench.run(&id, NOW);
    let usage = Usage { input_tokens: 90, output_tokens: 20, cost_usd: 0.0 };
    bench.board.progress(run, &Progress { usage: Some(usage), ..Progress::default() }, NOW).unwrap();
    assert_eq!(why(&mut bench, &id, Dispatcher::There).gates.len(), 1, "it runs: nothing else matters");
    bench.board.block(&id, Some("which colour?"), None, hermes_board::act::By::Anybody, NOW).unwrap();
    let answer = why(&mut bench, &id, Dispatcher::There);
    assert!(answer.closed().unwrap().says.contains("which colour?"));
    bench.board.unblock(&id, None, NOW).unwrap();
    assert!(closed(&mut bench, &id).contains(&"budget"));
    bench.board.change(&id, &Change { max_tokens: Set::To(1000), ..Change::default() }, NOW).unwrap();
    assert!(!closed(&mut bench, &id).contains(&"budget"));
    bench.board.schedule(&id, None, Some(NOW + 3600), NOW).unwrap();
    assert!(closed(&mut bench, &id).contains(&"time"));
}
