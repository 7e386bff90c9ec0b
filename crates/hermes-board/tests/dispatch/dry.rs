//! A dry run is the plan, and changes nothing.

use hermes_board::claim::Claimed;
use hermes_board::dispatch::{Liveness, Report, Scope, plan};
use hermes_board::{Board, Slug};

use crate::fixture::{NOW, bench, claimer, started};

#[test]
fn the_file_stays_as_it_is_whatever_there_would_be_to_do() {
    let mut bench = bench();
    bench.rules.default_assignee = Some("beta".into());
    let expired = bench.card("expired", Some("alpha"));
    let Claimed::Yes(claim) = bench.board.claim(&expired, &claimer(), 1, NOW).unwrap() else { panic!() };
    bench.world.alive.insert(claim.run, Liveness::Dead);
    let crashed = bench.card("crashed", Some("alpha"));
    let run = bench.run(&crashed, NOW);
    bench.world.alive.insert(run, Liveness::Dead);
    let parent = bench.card("parent", Some("ghost"));
    let child = bench.make("child", |card| card.parents = vec![parent.clone()]);
    bench.sql(&format!("UPDATE tasks SET status = 'done' WHERE id = '{parent}'"));
    let later = bench.card("later", None);
    bench.board.schedule(&later, None, Some(NOW + 1), NOW).unwrap();
    bench.card("whose?", None);
    bench.card("ghost", Some("ghost"));
    let launched = bench.workers.launched.len();

    let path = bench.root.database(&Slug::default_board());
    bench.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    let before = std::fs::read(&path).unwrap();
    let mut board = Board::look(&bench.root, &Slug::default_board()).unwrap().unwrap();
    let snapshot = board.snapshot(Scope::All, &bench.rules, NOW + 50).unwrap();
    let report = Report::of(&plan(&snapshot, &bench.rules, &bench.world, NOW + 50));
    drop(board);
    assert!(std::fs::read(&path).unwrap() == before, "not a byte differs");
    assert_eq!(bench.workers.launched.len(), launched);

    assert_eq!((report.reclaimed, &report.crashed, report.promoted), (1, &vec![crashed.clone()], 2));
    assert!(started(&report).contains(&child), "what is let go is started in the same look");
    assert_eq!(report.auto_assigned_default.len(), 2);
    assert_eq!(report.skipped_nonspawnable.len(), 1);
    let done = bench.tick(NOW + 50);
    assert_eq!(done.reclaimed, report.reclaimed);
    assert_eq!((&done.crashed, done.promoted), (&report.crashed, report.promoted));
    assert_eq!(started(&done), started(&report), "it says what is done then");
    assert_eq!(done.auto_assigned_default.len(), report.auto_assigned_default.len());
}
