//! Cards that name nobody, and profiles that are not there.

use hermes_board::Status;
use serde_json::json;

use crate::fixture::{NOW, bench, started};

#[test]
fn without_a_default_they_are_passed_over_and_named() {
    let mut bench = bench();
    let card = bench.card("whose?", None);
    let report = bench.tick(NOW);
    assert_eq!((report.skipped_unassigned, started(&bench.dry(NOW))), (vec![card.clone()], vec![]));
    assert_eq!(bench.status(&card), Status::Ready);
}

#[test]
fn with_a_default_they_are_given_to_it_and_started_at_once() {
    let mut bench = bench();
    bench.rules.default_assignee = Some("beta".into());
    let card = bench.card("whose?", None);
    let report = bench.tick(NOW);
    assert_eq!(report.auto_assigned_default, std::slice::from_ref(&card));
    assert_eq!((started(&report), report.skipped_unassigned), (vec![card.clone()], vec![]));
    assert_eq!(report.spawned[0].assignee, "beta");
    assert_eq!(bench.board.card(&card).unwrap().assignee.as_deref(), Some("beta"));
    let payload = bench.payload(&card, "assigned");
    assert_eq!(payload, json!({ "assignee": "beta", "source": "kanban.default_assignee" }));
}

#[test]
fn a_dry_run_says_so_and_writes_nothing() {
    let mut bench = bench();
    bench.rules.default_assignee = Some("beta".into());
    let card = bench.card("whose?", None);
    let report = bench.dry(NOW);
    assert_eq!((started(&report), report.auto_assigned_default), (vec![card.clone()], vec![card.clone()]));
    assert_eq!(bench.board.card(&card).unwrap().assignee, None);
    assert_eq!(bench.kinds(&card), ["created"]);
}

#[test]
fn an_explicit_one_is_never_touched() {
    let mut bench = bench();
    bench.rules.default_assignee = Some("beta".into());
    let card = bench.card("mine", Some("alpha"));
    let report = bench.tick(NOW);
    assert!(report.auto_assigned_default.is_empty());
    assert_eq!(bench.board.card(&card).unwrap().assignee.as_deref(), Some("alpha"));
}

#[test]
fn profiles_that_are_not_there_are_told_once() {
    let mut bench = bench();
    bench.rules.default_assignee = Some("ghost".into());
    let (named, nobody) = (bench.card("for a ghost", Some("spectre")), bench.card("whose?", None));
    for at in 0..3 {
        let mut skipped = bench.tick(NOW + at).skipped_nonspawnable;
        skipped.sort();
        let mut expected = vec![named.clone(), nobody.clone()];
        expected.sort();
        assert_eq!(skipped, expected);
    }
    let reason =
        |bench: &mut crate::fixture::Bench, card| bench.board.details(card).unwrap().extras.skip_reason;
    assert_eq!(reason(&mut bench, &named).unwrap(), "there is no profile \"spectre\"");
    assert!(reason(&mut bench, &nobody).unwrap().contains("kanban.default_assignee is \"ghost\""));
    assert_eq!(bench.kinds(&nobody), ["created"], "no event for it, and nobody got it");
    bench.world.profiles.insert("spectre".into());
    assert_eq!(started(&bench.tick(NOW + 9)), std::slice::from_ref(&named));
    assert_eq!(reason(&mut bench, &named), None, "what does not hold any more is not said any more");
}

#[test]
fn a_card_that_the_cap_keeps_back_is_given_to_nobody_yet() {
    let mut bench = bench();
    bench.rules.default_assignee = Some("beta".into());
    bench.rules.max_in_progress = Some(1);
    let (first, second) = (bench.card("one", None), bench.card("two", None));
    let report = bench.tick(NOW);
    assert_eq!(report.auto_assigned_default, [first]);
    assert_eq!(bench.board.card(&second).unwrap().assignee, None);
    // A profile that has enough still gets it.
    bench.rules.max_in_progress = None;
    bench.rules.per_profile = Some(1);
    let report = bench.tick(NOW + 1);
    assert_eq!(report.auto_assigned_default, std::slice::from_ref(&second));
    assert_eq!(
        (report.skipped_per_profile_capped[0].current, &report.skipped_per_profile_capped[0].task_id),
        (1, &second)
    );
    assert_eq!(bench.board.card(&second).unwrap().assignee.as_deref(), Some("beta"));
}
