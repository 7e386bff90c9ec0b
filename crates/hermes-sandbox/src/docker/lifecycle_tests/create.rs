//! Containers that are not there: making one, alone or against others.

use std::path::Path;

use super::fixture::{Fixture, NEW_ID, has_verb, having, having_in_turn, usual};
use crate::backend::{Backend, Happened, Trust};
use crate::docker::errors::{EngineError, LimitKind};
use crate::docker::fake::FakeEngine;
use crate::docker::inspect::State;
use crate::docker::sample;
use crate::error::SandboxError;
use crate::host::call::Output;
use crate::notice::Notice;

#[test]
fn the_first_start_pulls_nothing_that_is_there_and_reports_no_loss() {
    let fixture = Fixture::new();
    let engine = usual(FakeEngine::default());
    let ensured = fixture.ensure(&engine).unwrap();
    assert_eq!(ensured.happened, Happened::Created);
    assert!(!has_verb(&engine, "pull"));
    assert_eq!(engine.verbs(), ["ps", "image", "info", "context", "run"]);
}

#[test]
fn the_loser_of_a_race_attaches_to_the_winners_container() {
    let fixture = Fixture::new();
    let conflict = "docker: Error response from daemon: Conflict. The container name \"/x\" is already in use by container \"b2\".";
    let engine =
        usual(having_in_turn(&[&[], &[fixture.ours("b2", State::Running)]]).refuse(&["run"], 125, conflict));
    let backend = fixture.backend(&engine);
    let ensured = backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    assert_eq!(backend.place().unwrap().id, "b2");
    assert_eq!(ensured.happened.notice(Vec::new()), None);
    assert!(!has_verb(&engine, "rm"), "the winner's container is not touched");
}

#[test]
fn a_winner_that_died_before_starting_it_is_helped_out() {
    let fixture = Fixture::new();
    let engine = usual(having_in_turn(&[
        &[fixture.ours("b2", State::Created)],
        &[fixture.ours("b2", State::Running)],
    ]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(engine.calls().contains(&vec!["start".into(), "b2".into()]));
    assert_eq!(ensured.happened, Happened::Created, "it never ran, so nothing is lost");
}

#[test]
fn a_stranger_under_our_name_is_an_error_that_names_it() {
    let fixture = Fixture::new();
    let mut stranger = fixture.ours("s1", State::Running);
    stranger.labels.clear();
    let engine =
        usual(FakeEngine::default().say(&["inspect", "container"], &sample::json(&[stranger])).refuse(
            &["run"],
            125,
            "Conflict. The container name \"/x\" is already in use by container \"s1\".",
        ));
    let error = fixture.ensure(&engine).unwrap_err();
    assert!(matches!(&error, SandboxError::NameOccupied { .. }), "{error}");
    assert!(!has_verb(&engine, "rm") && !has_verb(&engine, "stop"));
}

#[test]
fn a_failed_run_takes_away_what_it_made_by_id() {
    let fixture = Fixture::new();
    let engine = usual(FakeEngine::default().on(&["run"], |_| Output {
        code: 125,
        stdout: format!("{NEW_ID}\n").into_bytes(),
        stderr: "docker: Error response from daemon: something broke".into(),
    }));
    let error = fixture.ensure(&engine).unwrap_err();
    assert!(matches!(error, SandboxError::Engine(EngineError::Failed { code: 125, .. })), "{error}");
    assert!(engine.calls().contains(&vec!["rm".into(), "-v".into(), NEW_ID.into()]));
}

#[test]
fn a_run_that_failed_without_an_id_removes_only_a_corpse_of_its_own() {
    let fixture = Fixture::new();
    let corpse = fixture.ours("c3", State::Created);
    let working = fixture.ours("c3", State::Running);
    for (there, removed) in [(corpse, true), (working, false)] {
        let engine =
            usual(FakeEngine::default().say(&["inspect", "container"], &sample::json(&[there])).refuse(
                &["run"],
                125,
                "docker: Error response from daemon: something broke",
            ));
        assert!(fixture.ensure(&engine).is_err());
        assert_eq!(has_verb(&engine, "rm"), removed);
    }
}

#[test]
fn a_limit_the_host_cannot_enforce_is_left_out_and_told() {
    let fixture = Fixture::new();
    let mut attempts = 0;
    let engine = usual(FakeEngine::default().on(&["run"], move |args| {
        attempts += 1;
        if attempts == 1 {
            assert!(args.contains(&"--storage-opt".to_owned()));
            let stderr =
                "--storage-opt is supported only for overlay over xfs with 'pquota' mount option".into();
            return Output { code: 125, stdout: Vec::new(), stderr };
        }
        assert!(!args.contains(&"--storage-opt".to_owned()));
        Output { stdout: NEW_ID.into(), ..Output::default() }
    }));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(
        ensured.notices.iter().any(|n| matches!(n, Notice::NotEnforced { limit: LimitKind::Disk, .. })),
        "{ensured:?}"
    );
}

#[test]
fn two_homes_with_the_same_profile_name_mean_two_containers() {
    let (one, two) = (Fixture::new(), Fixture::new());
    let engine = usual(FakeEngine::default());
    let names: Vec<String> =
        [&one, &two].iter().map(|fixture| fixture.backend(&engine).identity().container_name()).collect();
    assert_ne!(names[0], names[1]);
    let engine = usual(having(&[one.ours("a1", State::Running)]));
    two.ensure(&engine).unwrap();
    assert!(has_verb(&engine, "run"), "the other home's container is not taken");
}

#[test]
fn directories_for_the_container_are_ours_before_the_engine_makes_them_as_root() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new();
    let engine = usual(FakeEngine::default());
    fixture.ensure(&engine).unwrap();
    let kept = fixture.context().sandbox_dir.join("docker/default");
    for dir in [kept.join("home"), kept.join("workspace")] {
        assert!(dir.is_dir(), "{}", dir.display());
    }
    let name = fixture.backend(&engine).identity().container_name();
    let run = fixture.context().sandbox_dir.join(".boxes").join(&name).join("run");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&run), mode(run.parent().unwrap())), (0o1777, 0o700));
}
