//! Mistakes of the other program that this one must not make.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};

use hermes_board::act::{By, Report as Done};
use hermes_board::card::BlockKind;
use hermes_board::claim::Claimer;
use hermes_board::create::{Beginning, NewCard};
use hermes_board::dispatch::{Scope, plan};
use hermes_board::{Board, CardId, Slug, Status};

use crate::fixture::{NOW, Workers, bench, started};

#[test]
fn a_card_made_blocked_stays_blocked() {
    let mut bench = bench();
    let card = bench.make("later", |card| card.beginning = Beginning::Blocked);
    for n in 0..5 {
        assert_eq!((started(&bench.tick(NOW + n)), bench.status(&card)), (vec![], Status::Blocked));
    }
}

#[test]
fn waiting_for_nothing_is_no_reason_without_end() {
    let mut bench = bench();
    let card = bench.card("circles", Some("alpha"));
    let mut rounds = 0;
    for n in 0..10 {
        let report = bench.tick(NOW + n);
        let Some(spawned) = report.spawned.first() else { break };
        assert_eq!(spawned.task_id, card);
        let run = bench.board.card(&card).unwrap().current_run.unwrap();
        bench.begin(&card, run, NOW + n);
        bench
            .board
            .block(&card, Some("waits"), Some(BlockKind::Dependency), By::Attempt(run), NOW + n)
            .unwrap();
        rounds += 1;
    }
    assert_eq!((rounds, bench.status(&card)), (1, Status::Blocked));
}

#[test]
fn two_dispatchers_start_every_card_once() {
    let mut bench = bench();
    let cards: BTreeSet<CardId> = (0..40).map(|n| bench.card(&format!("{n}"), Some("alpha"))).collect();
    let start = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4_u32)
        .map(|pid| {
            let (root, rules, world, start) =
                (bench.root.clone(), bench.rules.clone(), bench.world.clone(), Arc::clone(&start));
            std::thread::spawn(move || {
                let mut board = Board::open(&root, &Slug::default_board()).unwrap();
                let mut workers = Workers::default();
                let snapshot = board.snapshot(Scope::All, &rules, NOW).unwrap();
                let plan = plan(&snapshot, &rules, &world, NOW);
                start.wait();
                let claimer = Claimer { host: "here".into(), pid };
                board.apply(&plan, &rules, &claimer, &mut workers, NOW).unwrap();
                workers.launched.into_iter().map(|claim| claim.card.id).collect::<Vec<_>>()
            })
        })
        .collect();
    let launched: Vec<CardId> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert_eq!(launched.len(), 40, "each once");
    assert_eq!(launched.into_iter().collect::<BTreeSet<_>>(), cards);
}

#[test]
fn a_card_that_changed_since_it_was_seen_is_left_alone() {
    let mut bench = bench();
    let (given, waits) = (bench.card("given away", Some("alpha")), bench.card("waits", Some("alpha")));
    let plan = bench.plan(NOW);
    bench.board.assign(&given, Some("beta"), NOW).unwrap();
    let parent = bench.card("parent", Some("alpha"));
    bench.board.link(&parent, &waits, hermes_board::links::LinkKind::Hard, NOW).unwrap();
    let report =
        bench.board.apply(&plan, &bench.rules, &crate::fixture::claimer(), &mut bench.workers, NOW).unwrap();
    assert_eq!(started(&report), []);
    assert_eq!(bench.status(&given), Status::Ready);
}

#[test]
fn a_card_below_an_archived_one_does_not_wait() {
    let mut bench = bench();
    let parent = bench.card("put away", Some("alpha"));
    bench.board.archive(&parent, NOW).unwrap();
    let mut card = NewCard::new("below");
    card.parents = vec![parent];
    assert_eq!(bench.board.create(&card, NOW).unwrap().card.status, Status::Ready);
}

#[test]
fn what_waits_goes_on_and_is_started_in_the_same_look() {
    let mut bench = bench();
    let parent = bench.card("first", Some("ghost"));
    let child = bench.make("second", |card| card.parents = vec![parent.clone()]);
    // As the other program leaves it.
    bench.sql(&format!("UPDATE tasks SET status = 'done' WHERE id = '{parent}'"));
    let report = bench.tick(NOW);
    assert_eq!((report.promoted, started(&report)), (1, vec![child.clone()]));
    bench.board.complete(&child, &Done::default(), By::Anybody, NOW).unwrap();
}
