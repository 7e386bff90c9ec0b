//! Containers made from other settings.

use super::fixture::{Fixture, has_verb, having, having_in_turn, usual};
use crate::config::{DriftPolicy, Network};
use crate::docker::inspect::State;
use crate::docker::sample;
use crate::notice::Notice;

#[test]
fn changed_settings_replace_a_container_nobody_uses() {
    let mut fixture = Fixture::new();
    let stopped = fixture.ours("a1", State::Exited);
    fixture.config.container.volumes = vec!["/srv:/data".into()];
    let engine = usual(having_in_turn(&[&[stopped], &[]]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(has_verb(&engine, "rm") && has_verb(&engine, "run") && !has_verb(&engine, "start"));
    let recreated = ensured.notices.iter().find(|n| matches!(n, Notice::Recreated { .. })).unwrap();
    assert!(recreated.to_string().contains("mount:/data"), "{recreated}");
}

#[test]
fn with_warn_the_container_is_kept_and_the_difference_told() {
    let mut fixture = Fixture::new();
    fixture.config.container.on_drift = DriftPolicy::Warn;
    let running = fixture.ours("a1", State::Running);
    fixture.config.container.limits.cpus = Some(4.0);
    let engine = usual(having(&[running]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(!has_verb(&engine, "rm") && !has_verb(&engine, "run"));
    assert!(
        matches!(&ensured.notices[0], Notice::Drifted { differences, .. } if differences[0].field == "limit:cpu")
    );
}

#[test]
fn a_moved_image_tag_is_noticed() {
    let fixture = Fixture::new();
    let stopped = fixture.ours("a1", State::Exited);
    let engine = usual(
        having_in_turn(&[&[stopped], &[]])
            .say(&["image", "inspect"], r#"[{"Id":"sha256:feed","Config":{}}]"#),
    );
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(
        ensured
            .notices
            .iter()
            .any(|n| matches!(n, Notice::Recreated { differences } if differences[0].field == "image-id"))
    );
}

#[test]
fn the_references_container_with_a_network_is_not_used_when_the_network_is_off() {
    let mut fixture = Fixture::new();
    let home = fixture.context().home;
    let mut theirs = sample::reference("r1", State::Running);
    theirs.mounts[0].source = home.join("sandboxes/docker/default/home");
    fixture.config.container.network = Network::Off;
    let engine = usual(having(&[theirs]));
    fixture.ensure(&engine).unwrap();
    assert!(has_verb(&engine, "run"), "ours is made beside it");
    assert!(!has_verb(&engine, "rm") && !has_verb(&engine, "stop"), "theirs is left alone");
}
