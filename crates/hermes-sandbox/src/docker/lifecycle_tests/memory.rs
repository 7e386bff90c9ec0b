//! What one process knows from another, and what it must be told.

use super::fixture::{Fixture, having, having_in_turn, usual};
use crate::backend::{Backend, Trust};
use crate::config::DriftPolicy;
use crate::docker::fake::FakeEngine;
use crate::docker::inspect::State;
use crate::notice::{Lost, Notice};

#[test]
fn one_replaced_by_another_process_is_a_told_loss() {
    let fixture = Fixture::new();
    let engine = usual(having_in_turn(&[
        &[fixture.ours("a1", State::Running)],
        &[fixture.ours("b2", State::Running)],
    ]));
    let backend = fixture.backend(&engine);
    backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    let ensured = backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    assert!(matches!(
        ensured.happened.notice(Vec::new()),
        Some(Notice::StateLost { lost: Lost::EverythingOffMounts, .. })
    ));
}

#[test]
fn an_old_record_is_enough_when_the_engine_is_stuck() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    fixture.ensure(&engine).unwrap();
    let record = fixture.context().sandbox_dir.join(".boxes");
    let record = record.join(fixture.backend(&engine).identity().container_name()).join("record.json");
    let mut text: serde_json::Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    text["verified"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(&record, text.to_string()).unwrap();
    engine.wedge();
    let backend = fixture.backend(&engine);
    backend.ensure(Trust::Records, &mut |_| ()).unwrap();
    assert_eq!(backend.place().unwrap().id, "a1");
    assert!(backend.ensure(Trust::Engine, &mut |_| ()).is_err(), "but whoever asks it gets the error");
}

#[test]
fn a_recorded_container_is_believed_without_asking() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    fixture.ensure(&engine).unwrap();
    let asked = engine.calls().len();
    let next_process = fixture.backend(&engine);
    next_process.ensure(Trust::Records, &mut |_| ()).unwrap();
    assert_eq!(next_process.place().unwrap().id, "a1");
    assert_eq!(engine.calls().len(), asked);
}

#[test]
fn a_record_made_with_other_settings_is_not_believed() {
    let mut fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    fixture.ensure(&engine).unwrap();
    let asked = engine.calls().len();
    fixture.config.container.on_drift = DriftPolicy::Warn;
    fixture.config.container.limits.pids = Some(7);
    let ensured = fixture.backend(&engine).ensure(Trust::Records, &mut |_| ()).unwrap();
    assert!(engine.calls().len() > asked);
    assert!(matches!(&ensured.notices[0], Notice::Drifted { .. }));
}

#[test]
fn a_container_that_was_removed_by_hand_is_a_told_loss() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    fixture.ensure(&engine).unwrap();
    let empty = usual(FakeEngine::default());
    let ensured = fixture.ensure(&empty).unwrap();
    assert!(matches!(
        ensured.happened.notice(Vec::new()),
        Some(Notice::StateLost { lost: Lost::EverythingOffMounts, .. })
    ));
}
