//! Between "I am done" and done.

use hermes_board::act::{By, Report as Done};
use hermes_board::claim::Lane;
use hermes_board::complete::Completed;
use hermes_board::dispatch::After;
use hermes_board::ending::Ending;
use hermes_board::review::{CheckKind, Checked, MOST_ROUNDS};
use hermes_board::{CardId, Status};

use crate::fixture::{Bench, NOW, bench, started};

fn done(text: &str) -> Done {
    Done { summary: Some(text.into()), result: Some(text.into()), ..Done::default() }
}

fn reviewed_by(bench: &mut Bench, reviewer: &str) -> CardId {
    bench.make("looked at", |card| card.extras.reviewer = Some(reviewer.into()))
}

#[test]
fn another_profile_looks_at_it_and_finishes_it() {
    let mut bench = bench();
    let card = reviewed_by(&mut bench, "Beta");
    let child = bench.make("next", |new| new.parents = vec![card.clone()]);
    let run = bench.run(&card, NOW);
    let completion = bench.board.finish(&card, &done("work"), By::Attempt(run), NOW + 1).unwrap();
    assert_eq!(completion.then, Completed::Review);
    assert_eq!((bench.status(&card), bench.status(&child)), (Status::Review, Status::Todo));
    assert_eq!(bench.end(&card, run, &Ending::Exited { code: 0 }, NOW + 2), After::Nothing);
    let look = bench.run(&card, NOW + 3);
    let claim = bench.workers.launched.last().unwrap().clone();
    assert_eq!((claim.lane, claim.profile.as_deref()), (Lane::Review, Some("beta")));
    assert_eq!(bench.board.details(&card).unwrap().attempts[1].profile.as_deref(), Some("beta"));
    assert_eq!(bench.board.card(&card).unwrap().assignee.as_deref(), Some("alpha"), "it stays the author's");
    bench.board.complete(&card, &done("looks good"), By::Attempt(look), NOW + 4).unwrap();
    assert_eq!((bench.status(&card), bench.status(&child)), (Status::Done, Status::Ready));
    assert_eq!(
        bench.board.card(&card).unwrap().result.as_deref(),
        Some("work"),
        "the work's result, not the look's"
    );
}

#[test]
fn work_goes_back_with_what_was_said() {
    let mut bench = bench();
    let card = reviewed_by(&mut bench, "beta");
    let mut now = NOW;
    for round in 1..=MOST_ROUNDS {
        let run = bench.run(&card, now);
        bench.board.complete(&card, &done("work"), By::Attempt(run), now).unwrap();
        let look = bench.run(&card, now + 1);
        let status = bench
            .board
            .block(&card, Some("the tests are missing"), None, By::Attempt(look), now + 2)
            .unwrap();
        let comment = bench.board.details(&card).unwrap().comments.pop().unwrap();
        assert_eq!((comment.author.as_str(), comment.body.as_str()), ("beta", "the tests are missing"));
        let expected = if round < MOST_ROUNDS { Status::Ready } else { Status::Blocked };
        assert_eq!(status, expected, "round {round}");
        now += 10;
    }
    assert_eq!(started(&bench.tick(now + 9999)), [], "somebody has to decide");
}

#[test]
fn nobody_looks_at_his_own_work() {
    let mut bench = bench();
    let card = reviewed_by(&mut bench, "beta");
    bench.sql(&format!("UPDATE tasks SET assignee = 'beta' WHERE id = '{card}'"));
    let run = bench.run(&card, NOW);
    bench.board.complete(&card, &done("work"), By::Attempt(run), NOW).unwrap();
    let report = bench.tick(NOW + 1);
    assert_eq!(started(&report), []);
    assert!(report.skipped[0].reason.contains("did the work"), "{}", report.skipped[0].reason);
    bench.board.complete(&card, &Done::default(), By::Anybody, NOW + 2).unwrap();
    assert_eq!(bench.status(&card), Status::Done);
}

#[test]
fn a_person_looks_at_it() {
    let mut bench = bench();
    let card = reviewed_by(&mut bench, "human");
    let run = bench.run(&card, NOW);
    bench.board.complete(&card, &done("work"), By::Attempt(run), NOW).unwrap();
    assert_eq!(started(&bench.tick(NOW + 1)), []);
    assert_eq!(bench.board.send_back(&card, "ann", "shorter", By::Anybody, NOW + 2).unwrap(), Status::Ready);
    let run = bench.run(&card, NOW + 3);
    bench.board.complete(&card, &done("shorter"), By::Attempt(run), NOW + 4).unwrap();
    assert_eq!(bench.board.block(&card, Some("no"), None, By::Anybody, NOW + 5).unwrap(), Status::Ready);
}

#[test]
fn a_look_that_fails_leaves_the_work_to_be_looked_at() {
    let mut bench = bench();
    let card = reviewed_by(&mut bench, "beta");
    let run = bench.run(&card, NOW);
    bench.board.complete(&card, &done("work"), By::Attempt(run), NOW).unwrap();
    let look = bench.run(&card, NOW + 1);
    bench.end(&card, look, &Ending::Exited { code: 1 }, NOW + 2);
    assert_eq!(bench.status(&card), Status::Review);
    assert_eq!(started(&bench.tick(NOW + 3)), [], "it waits");
    bench.run(&card, NOW + 60);
    assert_eq!(bench.workers.launched.last().unwrap().profile.as_deref(), Some("beta"));
}

#[test]
fn a_command_must_succeed_first() {
    let mut bench = bench();
    let card = bench.make("checked", |card| {
        card.extras.acceptance = Some("make test".into());
        card.extras.reviewer = Some("command: make lint".into());
    });
    let run = bench.run(&card, NOW);
    assert_eq!(bench.board.pending_check(run).unwrap(), None, "nobody has asked for it");
    let completion = bench.board.finish(&card, &done("work"), By::Attempt(run), NOW + 1).unwrap();
    let Completed::Checking(check) = completion.then else { panic!() };
    assert_eq!((check.kind, check.command.as_str()), (CheckKind::Acceptance, "make test"));
    assert_eq!(bench.status(&card), Status::Running);
    assert_eq!(bench.board.pending_check(run).unwrap(), Some(check));
    let rules = bench.rules.clone();
    let mut came = |kind, came: Checked| bench.board.check_ended(run, kind, &came, &rules, NOW + 2).unwrap();
    assert_eq!(came(CheckKind::Acceptance, Checked::Passed), After::GoesOn);
    assert_eq!(bench.board.pending_check(run).unwrap().unwrap().command, "make lint");
    let after = bench.board.check_ended(run, CheckKind::Review, &Checked::Passed, &rules, NOW + 3).unwrap();
    assert_eq!(after, After::Done);
    assert_eq!(bench.board.card(&card).unwrap().result.as_deref(), Some("work"));
    assert_eq!(bench.kinds(&card).last().map(String::as_str), Some("completed"));
}

#[test]
fn a_command_that_fails_sends_it_back_and_not_without_end() {
    let mut bench = bench();
    let card = bench.make("checked", |card| card.extras.acceptance = Some("false".into()));
    let rules = bench.rules.clone();
    let output = format!("{}the end", "x".repeat(9000));
    for (n, expected) in [(0, Status::Ready), (1, Status::Blocked)] {
        let now = NOW + n * 1000;
        let run = bench.run(&card, now);
        bench.board.complete(&card, &done("work"), By::Attempt(run), now).unwrap();
        let failed = Checked::Failed { output: output.clone() };
        bench.board.check_ended(run, CheckKind::Acceptance, &failed, &rules, now + 1).unwrap();
        assert_eq!(bench.status(&card), expected);
        let comment = bench.board.details(&card).unwrap().comments.pop().unwrap();
        assert!(comment.body.ends_with("the end") && comment.body.len() < 4200);
        assert_eq!(bench.board.pending_check(run).unwrap(), None);
    }
}

#[test]
fn work_whose_commands_nobody_ran_is_not_done() {
    let mut bench = bench();
    let card = bench.make("checked", |card| card.extras.acceptance = Some("true".into()));
    let run = bench.run(&card, NOW);
    bench.board.complete(&card, &done("work"), By::Attempt(run), NOW).unwrap();
    assert_eq!(bench.end(&card, run, &Ending::Exited { code: 0 }, NOW + 1), After::Review);
    assert_eq!(bench.status(&card), Status::Review);
    let person = bench.board.finish(&card, &Done::default(), By::Anybody, NOW + 2).unwrap();
    assert_eq!(person.then, Completed::Done, "a person has the last word");
}
