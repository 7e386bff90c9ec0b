//! Claims that run out, workers that are gone, and those of the other program.

use hermes_board::claim::{Claimed, Claimer};
use hermes_board::dispatch::{Liveness, Signal};
use hermes_board::{CardId, RunId, Seconds, Status};

use crate::fixture::{Bench, NOW, bench, claimer, started};

/// A card with a worker that the other program started.
fn foreign(bench: &mut Bench, runtime: Option<Seconds>) -> (CardId, RunId) {
    let card = bench.make("theirs", |card| card.max_runtime_seconds = runtime);
    let run = take(bench, &card, &claimer());
    bench.sql(&format!("UPDATE tasks SET worker_pid = 99 WHERE id = '{card}'"));
    bench.world.alive.insert(run, Liveness::Alive);
    (card, run)
}

fn take(bench: &mut Bench, card: &CardId, claimer: &Claimer) -> RunId {
    match bench.board.claim(card, claimer, 900, NOW).unwrap() {
        Claimed::Yes(claim) => claim.run,
        Claimed::Waits => panic!(),
    }
}

#[test]
fn a_living_worker_keeps_its_card() {
    let mut bench = bench();
    let (card, run) = foreign(&mut bench, None);
    assert_eq!(bench.tick(NOW + 900).reclaimed, 0);
    assert_eq!(bench.kinds(&card), ["created", "claimed"], "it has not run out yet");
    bench.tick(NOW + 901);
    let payload = bench.payload(&card, "claim_extended");
    assert_eq!(payload["claim_expires_was"], NOW + 900);
    assert_eq!(payload["claim_expires_now"], NOW + 901 + 900);
    assert_eq!(bench.board.card(&card).unwrap().current_run, Some(run));
}

#[test]
fn a_claim_that_nobody_stands_behind_ends() {
    let mut bench = bench();
    let (local, run) = foreign(&mut bench, None);
    bench.world.alive.insert(run, Liveness::Dead);
    let far = bench.card("far", Some("alpha"));
    take(&mut bench, &far, &Claimer { host: "there".into(), pid: 1 });
    assert_eq!(bench.tick(NOW + 20).reclaimed, 0);
    let report = bench.tick(NOW + 1000);
    assert_eq!((report.reclaimed, report.crashed.len()), (2, 0));
    assert_eq!(bench.payload(&far, "reclaimed")["host_local"], false);
    assert_eq!(bench.payload(&local, "reclaimed")["stale_lock"], "here:7");
    let fails = bench.board.card(&local).unwrap().failures;
    assert_eq!(fails, 0);
    assert_eq!(started(&bench.tick(NOW + 1001)).len(), 2);
}

#[test]
fn a_worker_that_is_gone_is_noticed_after_a_grace_of_every_attempt() {
    let mut bench = bench();
    let (card, run) = foreign(&mut bench, None);
    bench.world.alive.insert(run, Liveness::Dead);
    assert!(bench.tick(NOW + 29).crashed.is_empty());
    assert_eq!(bench.tick(NOW + 30).crashed, std::slice::from_ref(&card));
    // Another attempt has its grace too, however long ago the first one was.
    bench.board.reclaim(&card, None, &serde_json::Map::new(), NOW + 100).unwrap_err();
    let plan_later = NOW + 1000;
    let Claimed::Yes(claim) = bench.board.claim(&card, &claimer(), 900, plan_later).unwrap() else {
        panic!()
    };
    bench.sql(&format!("UPDATE tasks SET worker_pid = 99 WHERE id = '{card}'"));
    bench.world.alive.insert(claim.run, Liveness::Dead);
    assert!(bench.tick(plan_later + 29).crashed.is_empty());
}

#[test]
fn our_own_is_noticed_at_once() {
    let mut bench = bench();
    let card = bench.card("ours", Some("alpha"));
    let run = bench.run(&card, NOW);
    bench.world.alive.insert(run, Liveness::Dead);
    let report = bench.tick(NOW + 1);
    assert_eq!((report.crashed, report.auto_blocked), (vec![card.clone()], vec![]));
    assert!(bench.board.workers().unwrap().is_empty());
    assert_eq!(bench.status(&card), Status::Ready);
    assert_eq!(bench.board.card(&card).unwrap().failures, 0, "not the work's fault");
}

#[test]
fn a_dispatcher_that_died_before_the_worker_began_costs_nothing() {
    let mut bench = bench();
    let card = bench.card("never begun", Some("alpha"));
    bench.tick(NOW);
    let run = bench.board.card(&card).unwrap().current_run.unwrap();
    assert!(bench.tick(NOW + 1).reclaimed == 0, "whether it lives is not known: the claim holds");
    bench.world.alive.insert(run, Liveness::Dead);
    let report = bench.tick(NOW + 2);
    assert_eq!((report.reclaimed, report.wake_at), (0, Some(NOW + 5)), "its worker may be about to begin");
    assert_eq!(bench.tick(NOW + 5).reclaimed, 1);
    assert_eq!(bench.status(&card), Status::Ready);
    assert_eq!(started(&bench.tick(NOW + 6)), std::slice::from_ref(&card));
    let process = hermes_board::workers::Process { pid: 1, started_ticks: 1, boot_id: "x".into() };
    assert!(
        !bench.board.begin(&card, run, &process, NOW + 7).unwrap(),
        "a worker that comes too late does not begin"
    );
}

#[test]
fn a_person_who_took_a_card_keeps_it_until_it_runs_out() {
    let mut bench = bench();
    let card = bench.card("by hand", Some("alpha"));
    let run = take(&mut bench, &card, &claimer());
    // The command that took it has long ended.
    bench.world.alive.insert(run, Liveness::Dead);
    assert_eq!(bench.tick(NOW + 800).reclaimed, 0);
    assert_eq!(bench.tick(NOW + 901).reclaimed, 1);
}

#[test]
fn their_worker_is_asked_then_killed_and_nobody_waits_for_it() {
    let mut bench = bench();
    let (card, run) = foreign(&mut bench, Some(60));
    assert!(bench.tick(NOW + 60).timed_out.is_empty());
    bench.tick(NOW + 61);
    bench.tick(NOW + 62);
    assert_eq!(bench.workers.signals, [(99, Signal::Ask)], "once");
    assert_eq!(bench.status(&card), Status::Running, "it is there still");
    bench.tick(NOW + 71);
    assert_eq!(bench.workers.signals[1], (99, Signal::Kill));
    bench.world.alive.insert(run, Liveness::Dead);
    let report = bench.tick(NOW + 73);
    assert_eq!(report.timed_out, std::slice::from_ref(&card));
    let payload = bench.payload(&card, "timed_out");
    assert_eq!((payload["limit_seconds"].as_i64(), payload["sigkill"].as_bool()), (Some(60), Some(true)));
}

#[test]
fn their_silent_worker_is_ended() {
    let mut bench = bench();
    let (card, run) = foreign(&mut bench, None);
    bench.rules.stale_seconds = Some(4000);
    bench.sql(&format!("UPDATE tasks SET claim_expires = {} WHERE id = '{card}'", NOW + 9000));
    bench.tick(NOW + 3999);
    assert!(bench.workers.signals.is_empty());
    bench.tick(NOW + 4000);
    assert_eq!(bench.workers.signals, [(99, Signal::Ask)]);
    bench.world.alive.insert(run, Liveness::Dead);
    assert_eq!(bench.tick(NOW + 4002).stale, std::slice::from_ref(&card));
    assert_eq!(bench.board.card(&card).unwrap().failures, 0);
}

#[test]
fn our_guard_that_hangs_is_asked_to_stop_once() {
    let mut bench = bench();
    let card = bench.card("hangs", Some("alpha"));
    let run = bench.run(&card, NOW);
    bench.tick(NOW + 5000);
    assert_eq!(bench.workers.stopped, [run]);
    assert_eq!(bench.payload(&card, "reclaim_deferred")["claim_expires_now"], NOW + 5120);
    bench.tick(NOW + 5200);
    assert_eq!(bench.workers.stopped, [run]);
    assert_eq!(bench.status(&card), Status::Running);
}

#[test]
fn what_was_put_off_comes_when_its_time_has_come() {
    let mut bench = bench();
    let parent = bench.card("parent", Some("ghost"));
    let free = bench.card("free", Some("alpha"));
    let waits = bench.make("waits", |card| card.parents = vec![parent.clone()]);
    for card in [&free, &waits] {
        bench.board.schedule(card, None, Some(NOW + 100), NOW).unwrap();
    }
    let early = bench.tick(NOW + 99);
    assert_eq!((early.promoted, early.wake_at), (0, Some(NOW + 100)));
    assert_eq!(started(&bench.dry(NOW + 100)), std::slice::from_ref(&free));
    assert_eq!(started(&bench.tick(NOW + 100)), std::slice::from_ref(&free));
    assert_eq!(bench.status(&waits), Status::Todo);
    assert_eq!(bench.tick(NOW + 200).promoted, 0);
}
