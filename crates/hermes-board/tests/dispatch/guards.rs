//! Cards that should not be started again so soon, and how they get out of it.

use hermes_board::act::{By, Report as Done};
use hermes_board::transition::Force;
use hermes_board::{CardId, Seconds};

use crate::fixture::{Bench, NOW, bench, started};

fn guarded(bench: &mut Bench, card: &CardId, now: Seconds) -> Option<String> {
    let report = bench.tick(now);
    report.respawn_guarded.into_iter().find(|passed| passed.task_id == *card).map(|passed| passed.reason)
}

fn events(bench: &mut Bench, card: &CardId) -> usize {
    bench.kinds(card).iter().filter(|kind| *kind == "respawn_guarded").count()
}

#[test]
fn what_was_done_a_short_time_ago() {
    let mut bench = bench();
    let card = bench.card("done", Some("alpha"));
    let run = bench.run(&card, NOW);
    bench
        .board
        .complete(&card, &Done { summary: Some("ok".into()), ..Done::default() }, By::Attempt(run), NOW)
        .unwrap();
    bench.sql(&format!("UPDATE tasks SET status = 'ready' WHERE id = '{card}'"));
    for n in 1..5 {
        assert_eq!(guarded(&mut bench, &card, NOW + n).as_deref(), Some("recent_success"));
    }
    assert_eq!(events(&mut bench, &card), 1, "one event, not one for every look");
    assert_eq!(started(&bench.dry(NOW + 3601)), std::slice::from_ref(&card), "it ends by itself");
    bench.board.promote(&card, "me", None, Force::Yes, NOW + 10).unwrap();
    assert_eq!(started(&bench.tick(NOW + 11)), [card], "and when somebody insists");
}

#[test]
fn a_pull_request() {
    let mut bench = bench();
    let card = bench.card("has one", Some("alpha"));
    bench.board.comment(&card, "alpha", "see https://github.com/a/b/pull/7", NOW).unwrap();
    assert_eq!(guarded(&mut bench, &card, NOW + 1).as_deref(), Some("active_pr"));
    assert_eq!(bench.dry(NOW + 1).wake_at, Some(NOW + 86_400));
    assert_eq!(started(&bench.dry(NOW + 86_401)), std::slice::from_ref(&card));
    bench.board.promote(&card, "me", None, Force::Yes, NOW + 2).unwrap();
    assert_eq!(started(&bench.tick(NOW + 3)), [card]);
}

#[test]
fn a_refused_key_is_waited_for_but_not_for_ever() {
    let mut bench = bench();
    let card = bench.card("refused", Some("alpha"));
    bench.workers.broken = Some("HTTP 429: quota exceeded".into());
    bench.tick(NOW);
    let mut tries = 0;
    for n in 0..10_000 {
        let now = NOW + n * 10;
        bench.tick(now);
        tries = bench.board.details(&card).unwrap().attempts.len();
        if bench.status(&card) == hermes_board::Status::Blocked {
            break;
        }
    }
    assert_eq!(bench.status(&card), hermes_board::Status::Blocked, "after so many it is given up");
    assert_eq!(tries, 5);
    assert!(events(&mut bench, &card) <= tries);
}

#[test]
fn the_other_programs_refusal_ends_too() {
    let mut bench = bench();
    let card = bench.card("refused", Some("alpha"));
    bench.sql(&format!(
        "UPDATE tasks SET last_failure_error = 'authentication failed', consecutive_failures = 1 WHERE id = '{card}'; \
         INSERT INTO task_runs (task_id, status, outcome, started_at, ended_at) \
         VALUES ('{card}', 'spawn_failed', 'spawn_failed', {NOW}, {NOW})"
    ));
    assert_eq!(guarded(&mut bench, &card, NOW + 299).as_deref(), Some("blocker_auth"));
    assert_eq!(started(&bench.tick(NOW + 300)), [card]);
}

#[test]
fn after_a_quota_nothing_of_before_counts() {
    let mut bench = bench();
    let card = bench.card("quota", Some("alpha"));
    bench.board.comment(&card, "alpha", "https://github.com/a/b/pull/7", NOW).unwrap();
    bench.sql(&format!(
        "UPDATE tasks SET last_failure_error = 'quota', started_at = {NOW} WHERE id = '{card}'; \
         INSERT INTO task_runs (task_id, status, outcome, started_at, ended_at) \
         VALUES ('{card}', 'rate_limited', 'rate_limited', {NOW}, {NOW})"
    ));
    assert_eq!(guarded(&mut bench, &card, NOW + 299).as_deref(), Some("rate_limit_cooldown"));
    assert_eq!(started(&bench.tick(NOW + 300)), [card]);
}

#[test]
fn a_card_that_is_edited_or_has_spent_everything_waits() {
    let mut bench = bench();
    let edited = bench.make("edited", |card| card.extras.editing_until = Some(NOW + 10));
    let spent = bench.make("spent", |card| card.extras.max_tokens = Some(100));
    bench.sql(&format!(
        "INSERT INTO hx_workers (run_id, task_id, pid, started_ticks, boot_id, input_tokens, output_tokens, ended_at) \
         VALUES (900, '{spent}', 1, 1, 'x', 60, 40, 1)"
    ));
    let report = bench.tick(NOW);
    assert_eq!((started(&report), report.skipped.len(), report.wake_at), (vec![], 2, Some(NOW + 10)));
    assert!(report.skipped.iter().any(|passed| passed.reason == "its budget is used up: 100 of 100 tokens"));
    assert_eq!(started(&bench.tick(NOW + 10)), [edited]);
}
