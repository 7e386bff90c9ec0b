//! The orphan sweep: its decision table, the exact calls, and its gates.

use std::time::Duration;

use jiff::Timestamp;

use super::fake::FakeEngine;
use super::identity::Identity;
use super::inspect::{Observed, State};
use super::sample::{identity, json, ours, reference};
use super::sweep::{Gate, plan, run, threshold};
use crate::config::Switch;
use crate::plan::Plan;

const TEN_MINUTES: Duration = Duration::from_mins(10);

fn now() -> Timestamp {
    "2026-01-02T12:00:00Z".parse().unwrap()
}

fn exited(id: &str, finished: &str) -> Observed {
    Observed { finished: super::inspect::timestamp(finished), ..ours(id, State::Exited) }
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.remove.iter().map(|one| one.id.as_str()).collect()
}

fn planned(seen: &[Observed]) -> Plan {
    plan(&identity(), seen, TEN_MINUTES, now())
}

#[test]
fn nothing_there_nothing_done() {
    assert_eq!(planned(&[]), Plan::default());
    let engine = FakeEngine::default().say(&["ps"], "");
    let applied = run(&engine, &identity(), Duration::from_mins(5), now()).unwrap();
    assert!(applied.removed.is_empty());
    assert_eq!(engine.verbs(), ["ps"], "no inspect, no removal");
}

#[test]
fn stale_goes_and_recent_stays() {
    let seen = [exited("old", "2026-01-02T11:00:00Z"), exited("new", "2026-01-02T11:55:00Z")];
    assert_eq!(ids(&planned(&seen)), ["old"]);
}

#[test]
fn the_age_is_exact_to_the_second_and_reads_nanoseconds() {
    assert_eq!(ids(&planned(&[exited("a", "2026-01-02T11:50:00Z")])), ["a"], "exactly ten minutes");
    assert!(ids(&planned(&[exited("a", "2026-01-02T11:50:00.000000001Z")])).is_empty());
    assert_eq!(ids(&planned(&[exited("a", "2026-01-02T11:49:59.999999999Z")])), ["a"]);
    assert_eq!(ids(&planned(&[exited("a", "2026-01-02T12:49:59.5+01:00")])), ["a"]);
}

#[test]
fn zero_unreadable_and_future_times_are_spared() {
    for odd in ["0001-01-01T00:00:00Z", "", "last tuesday", "2026-01-02T13:00:00Z"] {
        assert!(ids(&planned(&[exited("a", odd)])).is_empty(), "{odd}");
    }
}

#[test]
fn no_state_but_exited_is_ever_touched() {
    use State::{Created, Dead, Paused, Removing, Restarting, Running, Unknown};
    for state in [Created, Dead, Paused, Removing, Restarting, Running, Unknown] {
        // A restarted container still shows when it ended the time before.
        let seen = Observed { state, ..exited("a", "2020-01-01T00:00:00Z") };
        assert!(ids(&planned(&[seen])).is_empty(), "{state:?}");
    }
}

#[test]
fn only_this_profile_of_this_home() {
    let seen = [exited("a", "2020-01-01T00:00:00Z")];
    let other_home = Identity { home: "/srv/other".into(), ..identity() };
    let other_profile = Identity { profile: "work".into(), ..identity() };
    for other in [other_home, other_profile] {
        let plan = plan(&other, &seen, TEN_MINUTES, now());
        assert!(ids(&plan).is_empty());
        assert_eq!(plan.spare.len(), 1, "the reason is told");
    }
}

#[test]
fn the_references_orphans_are_swept_too() {
    let seen = Observed { finished: "2026-01-01T00:00:00Z".parse().ok(), ..reference("r", State::Exited) };
    assert_eq!(ids(&planned(&[seen])), ["r"]);
}

#[test]
fn the_calls_are_these() {
    let seen = [exited("old", "2026-01-02T11:00:00Z"), exited("new", "2026-01-02T11:55:00Z")];
    let engine = FakeEngine::default().say(&["ps"], "old\nnew\n").say(&["inspect"], &json(&seen));
    let applied = run(&engine, &identity(), Duration::from_mins(5), now()).unwrap();
    assert_eq!(applied.removed.len(), 1);
    let calls: Vec<String> = engine.calls().iter().map(|call| call.join(" ")).collect();
    assert_eq!(
        calls,
        [
            "ps -a --no-trunc --filter label=hermes-agent=1 --filter status=exited \
             --filter label=hermes-profile=default --format {{.ID}}",
            "inspect --type container old new",
            "rm -v old",
        ]
    );
}

#[test]
fn a_failing_list_ends_it_quietly() {
    let engine = FakeEngine::default().refuse(&["ps"], 1, "Cannot connect to the Docker daemon");
    assert!(run(&engine, &identity(), Duration::from_mins(5), now()).is_err());
    assert_eq!(engine.verbs(), ["ps"]);
}

#[test]
fn one_failed_removal_does_not_end_the_sweep() {
    let seen = [exited("one", "2026-01-01T00:00:00Z"), exited("two", "2026-01-01T00:00:00Z")];
    let engine = FakeEngine::default().say(&["ps"], "one\ntwo\n").say(&["inspect"], &json(&seen)).refuse(
        &["rm", "one"],
        1,
        "Error response from daemon: You cannot remove a running container one.",
    );
    let applied = run(&engine, &identity(), Duration::from_mins(5), now()).unwrap();
    assert_eq!(applied.removed.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["two"]);
    assert_eq!(applied.kept.len(), 1, "only what really went is counted");
}

#[test]
fn one_that_vanished_between_list_and_look_does_not_end_the_sweep() {
    let seen = json(&[exited("two", "2026-01-01T00:00:00Z")]);
    let engine = FakeEngine::default().say(&["ps"], "one\ntwo\n").on(&["inspect"], move |_| {
        crate::host::call::Output {
            code: 1,
            stdout: seen.clone().into_bytes(),
            stderr: "Error: No such container: one".into(),
        }
    });
    let applied = run(&engine, &identity(), Duration::from_mins(5), now()).unwrap();
    assert_eq!(applied.removed.len(), 1);
}

#[test]
fn the_threshold_is_twice_the_lifetime_and_two_minutes_at_least() {
    assert_eq!(threshold(Duration::from_mins(5)), TEN_MINUTES);
    assert_eq!(threshold(Duration::ZERO), Duration::from_mins(2));
    assert_eq!(threshold(Duration::from_mins(1)), Duration::from_mins(2));
    assert_eq!(threshold(Duration::from_secs(61)), Duration::from_secs(122));
}

#[test]
fn the_gate_opens_once_for_each_profile() {
    let gate = Gate::default();
    let work = Identity { profile: "work".into(), ..identity() };
    assert!(gate.enter(Switch::On, &identity()));
    assert!(!gate.enter(Switch::On, &identity()));
    assert!(gate.enter(Switch::On, &work), "another profile of the same process has its own turn");
}

#[test]
fn a_disabled_sweep_does_not_use_up_the_turn() {
    let gate = Gate::default();
    assert!(!gate.enter(Switch::Off, &identity()));
    assert!(gate.enter(Switch::On, &identity()));
}
