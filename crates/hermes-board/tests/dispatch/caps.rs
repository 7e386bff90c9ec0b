//! How many may run.

use hermes_board::Status;
use hermes_board::act::{By, Report as Done};
use hermes_board::dispatch::Elsewhere;
use hermes_board::state::{Mode, State};

use crate::fixture::{Bench, NOW, bench, started};

fn cards(bench: &mut Bench, assignee: &str, count: usize) {
    for n in 0..count {
        bench.card(&format!("{assignee} {n}"), Some(assignee));
    }
}

#[test]
fn both_caps_together_leave_the_smaller_rest() {
    let mut bench = bench();
    cards(&mut bench, "alpha", 4);
    assert_eq!(bench.tick(NOW).spawned.len(), 4);
    cards(&mut bench, "alpha", 6);
    bench.rules.max_spawn = Some(10);
    bench.rules.max_in_progress = Some(6);
    assert_eq!(bench.dry(NOW).spawned.len(), 2, "a dry run counts what it would start");
    let report = bench.tick(NOW);
    assert_eq!(report.spawned.len(), 2);
    assert_eq!(report.waiting_for_cap.get("kanban.max_in_progress"), Some(&4));
    assert_eq!(bench.tick(NOW).spawned.len(), 0);
}

#[test]
fn the_machine_has_a_cap_of_its_own_for_all_boards() {
    let mut bench = bench();
    cards(&mut bench, "alpha", 3);
    bench.rules.host_cap = Some(3);
    bench.world.elsewhere = Elsewhere { total: 2, ..Elsewhere::default() };
    let report = bench.tick(NOW);
    assert_eq!(
        (report.spawned.len(), report.waiting_for_cap.get("kanban.max_in_progress_host")),
        (1, Some(&2))
    );
}

#[test]
fn without_a_cap_for_profiles_all_are_started() {
    let mut bench = bench();
    cards(&mut bench, "alpha", 3);
    let report = bench.tick(NOW);
    assert_eq!((report.spawned.len(), report.skipped_per_profile_capped.len()), (3, 0));
}

#[test]
fn two_for_each_profile() {
    let mut bench = bench();
    cards(&mut bench, "alpha", 4);
    cards(&mut bench, "beta", 3);
    bench.rules.per_profile = Some(2);
    let by = |report: &hermes_board::dispatch::Report, name: &str| {
        report.spawned.iter().filter(|spawned| spawned.assignee == name).count()
    };
    for report in [bench.dry(NOW), bench.tick(NOW)] {
        assert_eq!((by(&report, "alpha"), by(&report, "beta")), (2, 2));
        let capped = &report.skipped_per_profile_capped;
        assert_eq!(capped.len(), 3);
        assert!(capped.iter().all(|capped| capped.current == 2));
    }
    // Those that were passed over come with the next look, once there is room.
    let card = bench.workers.launched[0].clone();
    let report = Done { summary: Some("done".into()), ..Done::default() };
    bench.board.complete(&card.card.id, &report, By::Attempt(card.run), NOW + 1).unwrap();
    assert_eq!(bench.tick(NOW + 2).spawned.len(), 1);
}

#[test]
fn what_runs_already_counts_here_and_elsewhere() {
    let mut bench = bench();
    cards(&mut bench, "alpha", 1);
    bench.tick(NOW);
    cards(&mut bench, "alpha", 2);
    bench.rules.per_profile = Some(2);
    let report = bench.dry(NOW);
    assert_eq!((report.spawned.len(), report.skipped_per_profile_capped[0].current), (1, 2));
    bench.world.elsewhere = Elsewhere { by_profile: [("alpha".to_owned(), 1)].into(), total: 1 };
    let report = bench.tick(NOW);
    assert_eq!((report.spawned.len(), report.skipped_per_profile_capped.len()), (0, 2));
}

#[test]
fn looking_at_work_counts_like_work() {
    let mut bench = bench();
    for n in 0..3 {
        let card = bench.make(&format!("looked at {n}"), |card| card.extras.reviewer = Some("beta".into()));
        bench.sql(&format!("UPDATE tasks SET status = 'review' WHERE id = '{card}'"));
    }
    bench.rules.max_in_progress = Some(2);
    bench.rules.per_profile = Some(1);
    let report = bench.tick(NOW);
    assert_eq!(report.spawned.len(), 1);
    assert_eq!(report.spawned[0].assignee, "beta");
    assert_eq!(report.skipped_per_profile_capped.len(), 2);
}

#[test]
fn a_board_that_does_not_run_starts_nothing_and_says_so() {
    let mut bench = bench();
    let card = bench.card("x", Some("alpha"));
    for mode in [Mode::Parked, Mode::Paused, Mode::Draining] {
        bench.board.set_state(&State { mode, ..State::default() }).unwrap();
        let report = bench.tick(NOW);
        assert_eq!((report.spawned.len(), &report.skipped[0].task_id), (0, &card), "{mode:?}");
    }
    // Paused between the look and the deed: nothing is started either.
    bench.board.set_state(&State { mode: Mode::Active, ..State::default() }).unwrap();
    let plan = bench.plan(NOW);
    bench.board.set_state(&State { mode: Mode::Paused, ..State::default() }).unwrap();
    let report =
        bench.board.apply(&plan, &bench.rules, &crate::fixture::claimer(), &mut bench.workers, NOW).unwrap();
    assert!(report.spawned.is_empty());
    assert_eq!(bench.status(&card), Status::Ready);
}

#[test]
fn the_urgent_first_then_what_is_due_then_the_old() {
    let mut bench = bench();
    let old = bench.card("old", Some("alpha"));
    let due = bench.make("due", |card| card.extras.deadline = Some(NOW + 60));
    let urgent = bench.make("urgent", |card| card.priority = 5);
    assert_eq!(started(&bench.tick(NOW)), [urgent, due, old]);
}
