//! Letting go of a container, in every mode.

use std::time::Duration;

use super::fixture::{Fixture, having, usual};
use crate::backend::{Backend, Dispose, Trust};
use crate::config::{Filesystem, Reuse};
use crate::docker::fake::FakeEngine;
use crate::docker::inspect::State;

#[test]
fn cleanup_in_persist_mode_touches_nothing_and_drops_the_handle() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    let backend = fixture.backend(&engine);
    backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    let asked = engine.calls().len();
    backend.dispose(Dispose::Release).unwrap();
    assert!(backend.wait_for_cleanup(Duration::ZERO), "nothing is pending");
    assert_eq!(engine.calls().len(), asked);
    assert_eq!(backend.place(), None, "the next use looks again");
    backend.dispose(Dispose::Release).unwrap();
    assert_eq!(engine.calls().len(), asked, "a second time does nothing either");
}

#[test]
fn a_forced_removal_stops_and_removes_in_every_mode() {
    for filesystem in [Filesystem::Persistent, Filesystem::Ephemeral] {
        let mut fixture = Fixture::new();
        fixture.config.container.filesystem = filesystem;
        let engine = usual(having(&[fixture.ours("a1", State::Running)]));
        let backend = fixture.backend(&engine);
        backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
        backend.dispose(Dispose::Remove).unwrap();
        assert!(backend.wait_for_cleanup(Duration::from_secs(20)));
        let calls: Vec<String> = engine.calls().iter().map(|call| call.join(" ")).collect();
        assert_eq!(calls[calls.len() - 2..], ["stop -t 10 a1", "rm -f -v a1"]);
    }
}

#[test]
fn opting_out_stops_and_removes_whatever_the_filesystem() {
    for filesystem in [Filesystem::Persistent, Filesystem::Ephemeral] {
        let mut fixture = Fixture::new();
        fixture.config.container.reuse = Reuse::Never;
        fixture.config.container.filesystem = filesystem;
        let engine = usual(FakeEngine::default());
        let backend = fixture.backend(&engine);
        backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
        backend.dispose(Dispose::Release).unwrap();
        assert!(backend.wait_for_cleanup(Duration::from_secs(20)));
        let verbs = engine.verbs();
        assert_eq!(verbs[verbs.len() - 2..], ["stop", "rm"]);
    }
}

#[test]
fn cleanup_without_a_container_does_nothing_and_fails_at_nothing() {
    let fixture = Fixture::new();
    let engine = usual(FakeEngine::default().refuse(&["run"], 125, "no"));
    let backend = fixture.backend(&engine);
    assert!(backend.ensure(Trust::Engine, &mut |_| ()).is_err());
    let asked = engine.calls().len();
    backend.dispose(Dispose::Release).unwrap();
    assert!(backend.wait_for_cleanup(Duration::ZERO));
    assert_eq!(engine.calls().len(), asked);
}
