//! The decision table of reuse.

use super::decide::*;
use super::inspect::{Observed, State};
use super::labels;
use super::sample::{identity, ours, reference};

fn step(seen: &[Observed]) -> Step {
    decide(&identity(), None, seen, &[])
}

#[test]
fn nothing_there_means_create() {
    assert_eq!(step(&[]), Step::Create);
}

#[test]
fn a_running_one_is_attached_to_and_nothing_else() {
    assert_eq!(step(&[ours("a", State::Running)]), Step::Attach { id: "a".into() });
}

#[test]
fn a_stopped_one_is_started() {
    let ended = Observed { exit_code: 3, ..ours("a", State::Exited) };
    assert_eq!(step(&[ended]), Step::Start { id: "a".into(), before: Before::Ended { code: 3 } });
    assert_eq!(step(&[ours("a", State::Created)]), Step::Start { id: "a".into(), before: Before::NeverRan });
    let oom = Observed { oom_killed: true, exit_code: 137, ..ours("a", State::Exited) };
    assert_eq!(step(&[oom]), Step::Start { id: "a".into(), before: Before::OutOfMemory });
}

#[test]
fn a_paused_one_is_unpaused_and_a_moving_one_waited_for() {
    assert_eq!(step(&[ours("a", State::Paused)]), Step::Unpause { id: "a".into() });
    assert_eq!(step(&[ours("a", State::Restarting)]), Step::Wait { id: "a".into() });
    assert_eq!(step(&[ours("a", State::Removing)]), Step::Wait { id: "a".into() });
}

#[test]
fn a_dead_one_is_removed() {
    assert!(matches!(step(&[ours("a", State::Dead)]), Step::Remove { .. }));
}

#[test]
fn running_comes_before_stopped_whatever_the_order() {
    let stopped = ours("a", State::Exited);
    let running = ours("b", State::Running);
    assert_eq!(step(&[stopped.clone(), running.clone()]), Step::Attach { id: "b".into() });
    assert_eq!(step(&[running, stopped]), Step::Attach { id: "b".into() });
}

#[test]
fn among_equals_the_first_listed_wins() {
    let both = [ours("a", State::Running), ours("b", State::Running)];
    assert_eq!(step(&both), Step::Attach { id: "a".into() });
}

#[test]
fn one_that_would_not_start_is_passed_over() {
    let seen = [ours("a", State::Exited)];
    assert_eq!(decide(&identity(), None, &seen, &["a".into()]), Step::Create);
}

#[test]
fn ours_comes_before_one_to_adopt() {
    let seen = [reference("r", State::Running), ours("a", State::Exited)];
    assert_eq!(step(&seen), Step::Start { id: "a".into(), before: Before::Ended { code: 0 } });
    assert_eq!(step(&seen[..1]), Step::Attach { id: "r".into() });
}

#[test]
fn same_named_profiles_of_two_homes_never_share() {
    let elsewhere = super::identity::Identity { home: "/srv/other/.hermes".into(), ..identity() };
    assert_eq!(decide(&elsewhere, None, &[ours("a", State::Running)], &[]), Step::Create);
    assert_eq!(decide(&elsewhere, None, &[reference("r", State::Running)], &[]), Step::Create);
}

#[test]
fn without_proof_of_home_nothing_is_adopted() {
    let unproven = Observed { mounts: Vec::new(), ..reference("r", State::Running) };
    assert_eq!(step(&[unproven]), Step::Create);
    // The default profile's home contains the homes of the others.
    let mut of_profile = reference("r", State::Running);
    of_profile.mounts[0].source = "/home/u/.hermes/profiles/work/sandboxes/docker/default/home".into();
    assert_eq!(step(&[of_profile]), Step::Create);
}

#[test]
fn a_container_of_one_process_is_nobody_elses() {
    let mut single = ours("a", State::Running);
    single.labels.insert(labels::REUSE.into(), labels::REUSE_SINGLE.into());
    assert_eq!(step(std::slice::from_ref(&single)), Step::Create);
    let its_maker = decide(&identity(), Some("a"), &[single], &[]);
    assert_eq!(its_maker, Step::Attach { id: "a".into() }, "but its maker knows it again");
}

#[test]
fn one_without_our_label_is_foreign_even_under_our_name() {
    let mut stranger = ours("a", State::Running);
    stranger.labels.clear();
    assert!(matches!(ownership(&identity(), &stranger), Ownership::Foreign { .. }));
}
