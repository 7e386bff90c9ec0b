//! A card that fails too often is given up, and stays so.

use hermes_board::act::{By, Report as Done};
use hermes_board::dispatch::After;
use hermes_board::ending::{Ending, Verdict};
use hermes_board::links::LinkKind;
use hermes_board::transition::Force;
use hermes_board::{CardId, Seconds, Status};

use crate::fixture::{Bench, NOW, bench, started};

const CRASH: Ending = Ending::Exited { code: 1 };

/// Fails as often as it may; when that was.
fn fail_for_good(bench: &mut Bench, card: &CardId) -> Seconds {
    let mut now = NOW;
    for _ in 0..20 {
        let run = bench.run(card, now);
        match bench.end(card, run, &CRASH, now) {
            After::Blocked => return now,
            After::Again { not_before } => now = not_before.unwrap_or(now),
            after => panic!("{after:?}"),
        }
    }
    panic!("it is never given up");
}

#[test]
fn it_holds_over_ten_looks() {
    let mut bench = bench();
    let card = bench.card("fails", Some("alpha"));
    let now = fail_for_good(&mut bench, &card);
    for n in 0..10 {
        let report = bench.tick(now + n * 3600);
        assert_eq!((started(&report), report.promoted), (vec![], 0));
        assert_eq!(bench.status(&card), Status::Blocked);
    }
    let kinds = bench.kinds(&card);
    assert_eq!(kinds[kinds.len() - 3..], ["crashed", "gave_up", "blocked"]);
    let payload = bench.payload(&card, "gave_up");
    assert_eq!((payload["failures"].as_i64(), payload["effective_limit"].as_i64()), (Some(2), Some(2)));
    assert_eq!(
        (payload["limit_source"].as_str(), payload["trigger_outcome"].as_str()),
        (Some("dispatcher"), Some("crashed"))
    );
    assert_eq!(bench.payload(&card, "blocked")["by"], "breaker", "what the other program respects");
}

#[test]
fn the_settings_and_the_card_say_how_often() {
    let mut bench = bench();
    bench.rules.failure_limit = 3;
    let usual = bench.card("usual", Some("alpha"));
    fail_for_good(&mut bench, &usual);
    assert_eq!(bench.payload(&usual, "gave_up")["failures"], 3);
    let own = bench.make("own", |card| card.max_retries = Some(1));
    fail_for_good(&mut bench, &own);
    assert_eq!(bench.payload(&own, "gave_up")["limit_source"], "task");
}

#[test]
fn an_operator_lets_it_go_on() {
    let ways: [fn(&mut Bench, &CardId, Seconds); 3] = [
        |bench, card, now| assert_eq!(bench.board.unblock(card, None, now).unwrap(), Status::Ready),
        |bench, card, now| bench.board.promote(card, "me", None, Force::No, now).unwrap(),
        |bench, card, now| {
            bench.board.assign(card, Some("beta"), now).unwrap();
            bench.board.unblock(card, None, now).unwrap();
        },
    ];
    for way in ways {
        let mut bench = bench();
        let card = bench.card("fails", Some("alpha"));
        let now = fail_for_good(&mut bench, &card) + 1;
        way(&mut bench, &card, now);
        let run = bench.run(&card, now);
        let after = bench.end(&card, run, &CRASH, now);
        assert!(matches!(after, After::Again { .. }), "it begins anew: {after:?}");
    }
}

#[test]
fn other_settings_let_it_go_on_once() {
    let mut bench = bench();
    let card = bench.card("fails", Some("alpha"));
    let now = fail_for_good(&mut bench, &card);
    bench.rules.fingerprint = "other".into();
    assert_eq!(bench.tick(now).promoted, 1);
    assert_eq!(bench.payload(&card, "unblocked")["reason"], "settings_changed");
    // It fails again under them: now that is final.
    for n in 0..2 {
        let run = bench.run(&card, now + 100 + n * 100);
        bench.end(&card, run, &CRASH, now + 100 + n * 100);
    }
    assert_eq!(bench.status(&card), Status::Blocked);
    assert_eq!(bench.tick(now + 1000).promoted, 0);
}

#[test]
fn a_finished_parent_lets_it_go_on_once() {
    let mut bench = bench();
    let card = bench.card("fails", Some("alpha"));
    let now = fail_for_good(&mut bench, &card);
    let parent = bench.card("fixes it", Some("ghost"));
    bench.board.link(&parent, &card, LinkKind::Hard, now).unwrap();
    assert_eq!(bench.tick(now).promoted, 0);
    bench.board.complete(&parent, &Done::default(), By::Anybody, now + 1).unwrap();
    assert_eq!(bench.status(&card), Status::Ready);
    // That it was finished then says nothing about failures after it.
    for n in 1..3 {
        let run = bench.run(&card, now + n * 100);
        bench.end(&card, run, &CRASH, now + n * 100);
    }
    assert_eq!(bench.status(&card), Status::Blocked);
    assert_eq!(bench.tick(now + 1000).promoted, 0);
}

#[test]
fn what_a_person_blocked_stays_blocked() {
    let mut bench = bench();
    let card = bench.card("fails", Some("alpha"));
    let now = fail_for_good(&mut bench, &card);
    bench.board.promote(&card, "me", None, Force::No, now).unwrap();
    bench.board.block(&card, Some("not now"), None, By::Anybody, now).unwrap();
    let parent = bench.card("parent", Some("ghost"));
    bench.board.link(&parent, &card, LinkKind::Hard, now).unwrap();
    bench.board.complete(&parent, &Done::default(), By::Anybody, now + 1).unwrap();
    bench.rules.fingerprint = "other".into();
    bench.tick(now + 2);
    assert_eq!(bench.status(&card), Status::Blocked);
}

#[test]
fn every_kind_of_failure_has_a_budget_of_its_own_and_waits_longer_each_time() {
    let mut bench = bench();
    bench.rules.infra_limit = 4;
    let card = bench.card("bad luck", Some("alpha"));
    let mut now = NOW;
    let mut waits = Vec::new();
    // Two of each do not add up to what gives a card up.
    for ending in [Ending::Vanished, CRASH, Ending::Vanished] {
        let run = bench.run(&card, now);
        let After::Again { not_before: Some(at) } = bench.end(&card, run, &ending, now) else { panic!() };
        assert_eq!(started(&bench.tick(at - 1)), [], "it waits");
        waits.push(at - now);
        now = at;
    }
    assert_eq!(waits, [15, 15, 30]);
    let run = bench.run(&card, now);
    bench.verdict(run, &Verdict::Infrastructure { error: "no key".into() });
    let After::Again { not_before: Some(at) } = bench.end(&card, run, &CRASH, now) else { panic!() };
    assert_eq!(at - now, 60);
    // The guard for refused keys ends by itself too.
    let run = bench.run(&card, at);
    assert_eq!(
        bench.end(&card, run, &Ending::NotStarted { step: "workspace", error: "no disk".into() }, at),
        After::Blocked
    );
    assert_eq!(bench.payload(&card, "spawn_failed")["error"], "workspace: no disk");
    assert_eq!(bench.payload(&card, "gave_up")["class"], "infrastructure");
}

#[test]
fn a_worker_that_cannot_be_started_is_an_infrastructure_failure() {
    let mut bench = bench();
    bench.rules.infra_limit = 2;
    let card = bench.card("x", Some("alpha"));
    bench.workers.broken = Some("no such program".into());
    let report = bench.tick(NOW);
    assert_eq!((report.spawned.len(), report.auto_blocked.len()), (0, 0));
    assert_eq!(bench.payload(&card, "spawn_failed")["failures"], 1);
    let report = bench.tick(NOW + 60);
    assert_eq!(report.auto_blocked, [card]);
}
