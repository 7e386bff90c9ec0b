//! Containers that are there: which one is used, woken up, healed or passed over.

use super::fixture::{Fixture, NEW_ID, has_verb, having, having_in_turn, usual};
use crate::backend::{Backend, Happened, Trust};
use crate::config::Reuse;
use crate::docker::errors::EngineError;
use crate::docker::fake::FakeEngine;
use crate::docker::inspect::{Observed, State};
use crate::docker::{labels, sample};
use crate::error::SandboxError;
use crate::notice::{Lost, Notice};

#[test]
fn a_running_container_is_used_without_run_or_start() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert_eq!(ensured.happened, Happened::Nothing);
    assert_eq!(engine.verbs(), ["ps", "inspect", "image"]);
    assert_eq!(
        engine.calls()[0].join(" "),
        "ps -a --no-trunc --filter label=hermes-agent=1 --filter label=hermes-task-id=default \
         --filter label=hermes-profile=default --format {{.ID}}"
    );
}

#[test]
fn a_stopped_container_is_started_and_not_run() {
    let fixture = Fixture::new();
    let exited = Observed { exit_code: 137, ..fixture.ours("a1", State::Exited) };
    let engine = usual(having_in_turn(&[&[exited], &[fixture.ours("a1", State::Running)]]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(engine.calls().contains(&vec!["start".into(), "a1".into()]));
    assert!(!has_verb(&engine, "run"));
    let Some(Notice::StateLost { lost: Lost::Processes, reason, .. }) = ensured.happened.notice(Vec::new())
    else {
        panic!("{ensured:?}")
    };
    assert!(reason.contains("exit code 137"), "{reason}");
}

#[test]
fn an_out_of_memory_end_is_told_as_such() {
    let fixture = Fixture::new();
    let exited = Observed { oom_killed: true, exit_code: 137, ..fixture.ours("a1", State::Exited) };
    let engine = usual(having_in_turn(&[&[exited], &[fixture.ours("a1", State::Running)]]));
    let notice = fixture.ensure(&engine).unwrap().happened.notice(Vec::new()).unwrap().to_string();
    assert!(notice.contains("ran out of memory"), "{notice}");
}

#[test]
fn one_that_would_not_start_gives_way_to_a_fresh_one() {
    let fixture = Fixture::new();
    for (code, stderr) in [(1, "Error response from daemon: driver failed"), (127, "exec: no such file")] {
        let engine = usual(having_in_turn(&[&[fixture.ours("a1", State::Exited)], &[]]).refuse(
            &["start"],
            code,
            stderr,
        ));
        let ensured = fixture.ensure(&engine).unwrap();
        let verbs = engine.verbs();
        let at = |verb: &str| verbs.iter().position(|seen| seen == verb).unwrap();
        assert!(at("start") < at("rm") && at("rm") < at("run"), "{verbs:?}");
        assert!(
            matches!(
                ensured.happened.notice(Vec::new()),
                Some(Notice::StateLost { lost: Lost::EverythingOffMounts, .. })
            ),
            "{ensured:?}"
        );
    }
}

#[test]
fn a_paused_container_is_resumed() {
    let fixture = Fixture::new();
    let engine =
        usual(having_in_turn(&[&[fixture.ours("a1", State::Paused)], &[fixture.ours("a1", State::Running)]]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(engine.calls().contains(&vec!["unpause".into(), "a1".into()]));
    assert_eq!(ensured.notices, [Notice::Unpaused]);
    assert_eq!(ensured.happened.notice(Vec::new()), None, "nothing is lost");
}

#[test]
fn opting_out_of_reuse_looks_at_nothing_that_is_there() {
    let mut fixture = Fixture::new();
    fixture.config.container.reuse = Reuse::Never;
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    fixture.ensure(&engine).unwrap();
    assert!(!has_verb(&engine, "ps") && has_verb(&engine, "run"), "{:?}", engine.verbs());
    let name_of = |engine: &FakeEngine| {
        let run = engine.calls().into_iter().find(|call| call[0] == "run").unwrap();
        run[run.iter().position(|arg| arg == "--name").unwrap() + 1].clone()
    };
    let first = name_of(&engine);
    let second_engine = usual(FakeEngine::default());
    fixture.ensure(&second_engine).unwrap();
    assert_ne!(first, name_of(&second_engine), "nobody else can have this name");
}

#[test]
fn a_process_that_shares_nothing_still_heals_its_own_container() {
    let mut fixture = Fixture::new();
    fixture.config.container.reuse = Reuse::Never;
    let mut own = fixture.ours(NEW_ID, State::Exited);
    own.labels.insert(labels::REUSE.into(), labels::REUSE_SINGLE.into());
    let running = Observed { state: State::Running, ..own.clone() };
    let looks = [sample::json(&[own]), sample::json(&[running])];
    let engine = usual(
        FakeEngine::default()
            .say_in_turn(&["inspect", "container"], &looks.iter().map(String::as_str).collect::<Vec<_>>()),
    );
    let backend = fixture.backend(&engine);
    backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    let healed = backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    assert!(matches!(
        healed.happened.notice(Vec::new()),
        Some(Notice::StateLost { lost: Lost::Processes, .. })
    ));
    assert_eq!(engine.verbs().iter().filter(|verb| *verb == "run").count(), 1, "no second one is made");
    assert!(engine.calls().contains(&vec!["start".into(), NEW_ID.into()]));
    assert!(!has_verb(&engine, "ps"));
}

#[test]
fn running_is_preferred_over_stopped() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Exited), fixture.ours("b2", State::Running)]));
    let backend = fixture.backend(&engine);
    backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    assert_eq!(backend.place().unwrap().id, "b2");
    assert!(!has_verb(&engine, "start"));
}

#[test]
fn a_wedged_engine_is_asked_once() {
    let fixture = Fixture::new();
    let engine = usual(FakeEngine::default());
    engine.wedge();
    let error = fixture.ensure(&engine).unwrap_err();
    assert!(matches!(error, SandboxError::Engine(EngineError::TimedOut { .. })), "{error}");
    assert_eq!(engine.calls().len(), 1, "one deadline, not one after the other");
}

#[test]
fn an_engine_whose_containers_vanish_for_ever_is_given_up_on() {
    let fixture = Fixture::new();
    let conflict = "Conflict. The container name \"/x\" is already in use by container \"b2\".";
    let engine = usual(having_in_turn(&[&[fixture.ours("a1", State::Dead)]]).refuse(&["run"], 125, conflict));
    let error = fixture.ensure(&engine).unwrap_err();
    assert!(matches!(error, SandboxError::NotStable { .. }), "{error}");
}

#[test]
fn an_agent_that_does_not_answer_is_restarted_once_and_then_replaced() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    let backend = fixture.backend(&engine);
    backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    let first = backend.ensure(Trust::Nothing, &mut |_| ()).unwrap();
    assert!(matches!(
        first.happened.notice(Vec::new()),
        Some(Notice::StateLost { lost: Lost::Processes, .. })
    ));
    assert!(has_verb(&engine, "restart") && !has_verb(&engine, "rm"));
    let second = backend.ensure(Trust::Nothing, &mut |_| ()).unwrap();
    assert!(matches!(
        second.happened.notice(Vec::new()),
        Some(Notice::StateLost { lost: Lost::EverythingOffMounts, .. })
    ));
    assert_eq!(engine.verbs().iter().filter(|verb| *verb == "restart").count(), 1);
    assert!(has_verb(&engine, "rm"));
}

#[test]
fn the_programs_and_directories_a_stopped_container_needs_are_put_back() {
    let fixture = Fixture::new();
    let gone = fixture.dir.path().join("cache/box/0123456789abcdef");
    let mut stopped = fixture.ours("a1", State::Exited);
    stopped.mounts = vec![crate::docker::inspect::SeenMount {
        source: gone.clone(),
        target: crate::docker::spec::PROGRAM_DIR.into(),
        kind: "bind".into(),
        volume: None,
    }];
    let engine = usual(having_in_turn(&[&[stopped], &[fixture.ours("a1", State::Running)]]));
    fixture.ensure(&engine).unwrap();
    assert!(crate::host::find::is_executable(&gone.join("hermes-box")));
}
