//! What becomes of a card, for every way an attempt can end.

use hermes_board::act::{By, Report as Done};
use hermes_board::card::Outcome;
use hermes_board::dispatch::After;
use hermes_board::ending::{Ending, Killed, Stop, Then, Verdict};
use hermes_board::{BoardError, CardId, RunId, Status};
use serde_json::json;

use crate::fixture::{Bench, NOW, bench, started};

fn running() -> (Bench, CardId, RunId) {
    let mut bench = bench();
    let card = bench.card("work", Some("alpha"));
    let run = bench.run(&card, NOW);
    (bench, card, run)
}

fn outcome(bench: &mut Bench, card: &CardId) -> (Option<Outcome>, Option<String>) {
    let attempt = bench.board.details(card).unwrap().attempts.pop().unwrap();
    (attempt.outcome, attempt.error)
}

#[test]
fn a_card_that_was_closed_stays_closed() {
    let (mut bench, card, run) = running();
    bench.board.complete(&card, &Done::default(), By::Attempt(run), NOW + 1).unwrap();
    assert_eq!(bench.end(&card, run, &Ending::Exited { code: 3 }, NOW + 2), After::Nothing);
    assert_eq!(bench.status(&card), Status::Done);
}

#[test]
fn an_old_attempt_changes_nothing() {
    let (mut bench, card, old) = running();
    bench.board.reclaim(&card, None, &serde_json::Map::new(), NOW + 1).unwrap();
    let new = bench.run(&card, NOW + 2);
    assert_eq!(bench.end(&card, old, &Ending::Exited { code: 1 }, NOW + 3), After::Nothing);
    assert_eq!(bench.board.card(&card).unwrap().current_run, Some(new));
    let late = bench.board.complete(&card, &Done::default(), By::Attempt(old), NOW + 4);
    assert!(matches!(late, Err(BoardError::Superseded(_))));
}

#[test]
fn crashes_are_told_apart() {
    let (mut bench, card, run) = running();
    assert!(matches!(bench.end(&card, run, &Ending::Exited { code: 3 }, NOW + 5), After::Again { .. }));
    let pid = 4000 + run.0;
    assert_eq!(
        bench.payload(&card, "crashed"),
        json!({ "pid": pid, "claimer": "here:7", "exit_kind": "nonzero_exit", "exit_code": 3 })
    );
    assert_eq!(outcome(&mut bench, &card).0, Some(Outcome::Crashed));
    let run = bench.run(&card, NOW + 60);
    bench.end(&card, run, &Ending::Signaled { signal: 11 }, NOW + 61);
    let payload = bench.payload(&card, "crashed");
    assert_eq!((&payload["exit_kind"], &payload["exit_code"]), (&json!("signaled"), &json!(11)));
}

#[test]
fn without_a_word_a_person_looks_at_it() {
    for verdict in [None, Some(Verdict::None { text: "I think so".into() })] {
        let (mut bench, card, run) = running();
        let said = verdict.is_some();
        if let Some(verdict) = verdict {
            bench.verdict(run, &verdict);
        }
        assert_eq!(bench.end(&card, run, &Ending::Exited { code: 0 }, NOW + 5), After::Review);
        assert_eq!(bench.status(&card), Status::Review);
        let kinds = bench.kinds(&card);
        assert_eq!(kinds[kinds.len() - 2..], ["protocol_violation", "status"]);
        assert_eq!(bench.payload(&card, "status")["status"], "review");
        let attempt = bench.board.details(&card).unwrap().attempts.pop().unwrap();
        assert_eq!(attempt.summary.as_deref(), said.then_some("I think so"));
        // Nobody takes it by himself, however often one looks; a person finishes it.
        for n in 0..3 {
            let report = bench.tick(NOW + 3600 * n);
            assert_eq!((started(&report), report.skipped.len()), (vec![], 1));
        }
        bench.board.complete(&card, &Done::default(), By::Anybody, NOW + 9).unwrap();
        assert_eq!(bench.status(&card), Status::Done);
    }
}

#[test]
fn a_quota_is_waited_for_longer_each_time_and_not_for_ever() {
    let (mut bench, card, mut run) = running();
    bench.rules.quota_limit = 3;
    let mut now = NOW + 5;
    for wait in [300, 600] {
        let After::Again { not_before: Some(at) } = bench.end(&card, run, &Ending::Exited { code: 75 }, now)
        else {
            panic!()
        };
        assert_eq!(at - now, wait);
        assert_eq!(bench.payload(&card, "rate_limited")["exit_code"], 75);
        let report = bench.tick(at - 1);
        assert_eq!(started(&report), []);
        now = at;
        run = bench.run(&card, now);
    }
    assert_eq!(bench.board.card(&card).unwrap().failures, 0, "no failure of the work");
    bench.verdict(run, &Verdict::Quota { until: Some(now + 50), error: "enough".into() });
    assert_eq!(bench.end(&card, run, &Ending::Exited { code: 75 }, now), After::Blocked);
    assert_eq!(bench.payload(&card, "gave_up")["class"], "quota");
}

#[test]
fn the_providers_word_counts() {
    let (mut bench, card, run) = running();
    bench.verdict(run, &Verdict::Quota { until: Some(NOW + 5000), error: "enough".into() });
    let after = bench.end(&card, run, &Ending::Exited { code: 75 }, NOW);
    assert_eq!(after, After::Again { not_before: Some(NOW + 5000) });
    assert_eq!(bench.dry(NOW + 4999).spawned.len(), 0);
    assert_eq!(bench.dry(NOW + 5000).spawned.len(), 1);
    assert_eq!(bench.dry(NOW + 400).wake_at, Some(NOW + 5000));
}

#[test]
fn what_is_spent_is_for_an_operator() {
    let (mut bench, card, run) = running();
    bench.verdict(run, &Verdict::OutOfBudget { what: "9 of 9 rounds".into() });
    assert_eq!(bench.end(&card, run, &Ending::Exited { code: 1 }, NOW), After::Blocked);
    assert_eq!(bench.payload(&card, "blocked")["reason"], "its budget is used up: 9 of 9 rounds");
    bench.rules.fingerprint = "other".into();
    assert_eq!(bench.tick(NOW + 99).promoted, 0);
    bench.board.unblock(&card, None, NOW).unwrap();
    assert_eq!(bench.status(&card), Status::Ready);
}

#[test]
fn too_long_and_too_silent() {
    let (mut bench, card, run) = running();
    let ending = Ending::TimedOut { elapsed: 70, limit: 60, killed: Killed::Forced };
    assert!(matches!(bench.end(&card, run, &ending, NOW + 70), After::Again { .. }));
    let payload = bench.payload(&card, "timed_out");
    assert_eq!(
        payload,
        json!({ "pid": 4000 + run.0, "elapsed_seconds": 70, "limit_seconds": 60, "sigkill": true })
    );
    assert_eq!(bench.board.card(&card).unwrap().failures, 1);
    let run = bench.run(&card, NOW + 100);
    bench.end(&card, run, &Ending::Stale { silent: 50, limit: 40 }, NOW + 150);
    let payload = bench.payload(&card, "stale");
    assert_eq!((&payload["elapsed_seconds"], &payload["timeout_seconds"]), (&json!(50), &json!(40)));
    assert_eq!(bench.board.card(&card).unwrap().failures, 1, "silence is no failure of the work");
    assert_eq!(outcome(&mut bench, &card).0, Some(Outcome::Stale));
}

#[test]
fn whoever_stops_it_says_what_comes_then() {
    let stop = |then| Ending::Stopped(Stop { then, by: "ann".into(), reason: Some("lunch".into()) });
    let (mut bench, card, run) = running();
    assert_eq!(bench.end(&card, run, &stop(Then::GoOn), NOW), After::Again { not_before: None });
    assert_eq!(bench.board.card(&card).unwrap().failures, 0);
    assert_eq!(bench.payload(&card, "reclaimed")["reason"], "stopped by ann: lunch");
    let run = bench.run(&card, NOW + 1);
    assert_eq!(bench.end(&card, run, &stop(Then::StayOut), NOW + 2), After::Blocked);
    for n in 0..3 {
        assert_eq!(started(&bench.tick(NOW + n)), []);
    }
    assert_eq!(bench.status(&card), Status::Blocked);
}
