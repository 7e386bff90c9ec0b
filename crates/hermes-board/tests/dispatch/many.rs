//! Rules that hold for every board, and what a look costs.

use std::collections::{BTreeMap, BTreeSet};

use hermes_board::dispatch::snapshot::{Candidate, Running, Taken};
use hermes_board::dispatch::{Elsewhere, Liveness, Rules, Scope, Snapshot, World, plan};
use hermes_board::state::{Mode, State};
use hermes_board::{CardId, RunId};
use proptest::prelude::*;

use crate::fixture::{NOW, bench, started};

const PROFILES: [&str; 3] = ["alpha", "beta", "ghost"];

fn snapshot(ready: &[(usize, i64, i64)], running: &[usize], review: &[usize]) -> Snapshot {
    let profile = |n: usize| PROFILES.get(n).map(|name| (*name).to_owned());
    let candidate = |prefix: &str, n: usize, who: usize, priority: i64, wait: i64| Candidate {
        card: CardId::new(format!("{prefix}{n}")),
        assignee: profile(who),
        priority,
        created_at: n as i64,
        row: n as i64,
        not_before: (wait > 0).then_some(NOW + wait - 2),
        ..Candidate::default()
    };
    Snapshot {
        state: State { mode: Mode::Active, ..State::default() },
        scope: Scope::All,
        newest_event: 0,
        leaving: Vec::new(),
        running: running
            .iter()
            .enumerate()
            .map(|(n, who)| Running {
                card: CardId::new(format!("run{n}")),
                profile: profile(*who),
                run: Some(RunId(n as i64)),
                lock: Some("here:7".into()),
                expires: Some(NOW + 900),
                pid: Some(5),
                started_at: NOW,
                heartbeat_at: None,
                max_runtime: None,
                worker: None,
                taken: Taken::Otherwise,
                signalled: None,
            })
            .collect(),
        due: Vec::new(),
        rules_changed: Vec::new(),
        free: Vec::new(),
        ready: ready
            .iter()
            .enumerate()
            .map(|(n, (who, priority, wait))| candidate("t", n, *who, *priority, *wait))
            .collect(),
        triage: Vec::new(),
        review: review.iter().enumerate().map(|(n, who)| candidate("r", n, *who, 0, 0)).collect(),
        wake_at: None,
    }
}

proptest! {
    #[test]
    fn no_cap_is_exceeded_and_every_card_is_in_one_place(
        ready in prop::collection::vec((0_usize..4, -2_i64..3, 0_i64..4), 0..40),
        running in prop::collection::vec(0_usize..2, 0..8),
        review in prop::collection::vec(0_usize..4, 0..6),
        (board, spawn, profile, host) in (any::<Option<u8>>(), any::<Option<u8>>(), any::<Option<u8>>(), any::<Option<u8>>()),
        elsewhere in 0_u32..4,
        default in prop::option::of(0_usize..3),
    ) {
        let small = |cap: Option<u8>| cap.map(|cap| u32::from(cap % 12) + 1);
        let rules = Rules {
            max_in_progress: small(board), max_spawn: small(spawn), per_profile: small(profile), host_cap: small(host),
            default_assignee: default.map(|n| PROFILES[n].to_owned()), ..Rules::default()
        };
        let seen = snapshot(&ready, &running, &review);
        let world = World {
            host: "here".into(),
            profiles: ["alpha", "beta"].map(String::from).into(),
            alive: (0..running.len()).map(|n| (RunId(n as i64), Liveness::Alive)).collect(),
            leaving: BTreeSet::new(),
            elsewhere: Elsewhere { by_profile: [("alpha".to_owned(), elsewhere)].into(), total: elsewhere },
        };
        let plan = plan(&seen, &rules, &world, NOW);
        prop_assert!(plan.attempts.is_empty());
        let started = plan.start.len() as u32;
        let before = running.len() as u32;
        let room = |cap: Option<u32>, now: u32| cap.map_or(u32::MAX, |cap| cap.saturating_sub(now));
        let most = room(rules.max_in_progress, before).min(room(rules.max_spawn, before)).min(room(rules.host_cap, before + elsewhere));
        prop_assert!(started <= most, "{started} of {most}");
        let mut by_profile: BTreeMap<&str, u32> = [("alpha", elsewhere)].into();
        for who in &running {
            *by_profile.entry(PROFILES[*who]).or_default() += 1;
        }
        let already = by_profile.clone();
        for start in &plan.start {
            *by_profile.entry(&start.profile).or_default() += 1;
        }
        for (profile, count) in &by_profile {
            let was = already.get(profile).copied().unwrap_or(0);
            prop_assert!(*count == was || rules.per_profile.is_none_or(|cap| *count <= cap), "{profile} has {count}");
        }
        let mut places: Vec<&CardId> = plan.start.iter().map(|start| &start.card).chain(plan.skip.iter().map(|skip| &skip.card)).collect();
        let count = places.len();
        places.sort();
        places.dedup();
        prop_assert_eq!(places.len(), count, "none twice");
        let all: BTreeSet<&CardId> = seen.ready.iter().chain(&seen.review).map(|candidate| &candidate.card).collect();
        prop_assert_eq!(places.into_iter().collect::<BTreeSet<_>>(), all, "and none forgotten");
        // Nothing that could be started is left while there is room.
        if started < most && rules.per_profile.is_none() {
            let capped = plan.skip.iter().any(|skip| matches!(skip.why, hermes_board::dispatch::why::Why::Cap(_)));
            prop_assert!(!capped);
        }
    }
}

#[test]
fn a_look_at_what_changed_sees_no_more_than_that() {
    let mut bench = bench();
    bench.rules.host_cap = Some(2);
    let parent = bench.card("parent", Some("alpha"));
    for n in 0..200 {
        bench.make(&format!("waits {n}"), |card| card.parents = vec![parent.clone()]);
        bench.card(&format!("ready {n}"), Some("beta"));
        bench.card(&format!("ghost {n}"), Some("ghost"));
    }
    let all = bench.snapshot(NOW);
    assert_eq!(all.ready.len(), 401);
    let seen = all.newest_event;
    assert_eq!(bench.tick(NOW).spawned.len(), 2);
    // Every place is taken: not one of the waiting cards is read.
    let (snapshot, report) = bench.tick_since(seen, NOW + 1);
    assert_eq!((snapshot.ready.len(), snapshot.free.len(), report.spawned.len()), (0, 0, 0));
    // One place is free: a few are read, one is started, also behind cards of a profile that is not there.
    let claim = bench.workers.launched.iter().find(|claim| claim.card.id != parent).unwrap().clone();
    let seen = snapshot.newest_event;
    let done = hermes_board::act::Report::default();
    bench.board.complete(&claim.card.id, &done, hermes_board::act::By::Attempt(claim.run), NOW + 2).unwrap();
    let (snapshot, report) = bench.tick_since(seen, NOW + 3);
    assert!(snapshot.ready.len() < 60, "{} were read", snapshot.ready.len());
    assert_eq!(report.spawned.len(), 1);
    // What waited for a finished card is let go, and only that is looked at.
    let claim = bench.workers.launched.iter().find(|claim| claim.card.id == parent).unwrap().clone();
    bench.sql(&format!(
        "UPDATE tasks SET status = 'done', claim_lock = NULL, current_run_id = NULL WHERE id = '{parent}'"
    ));
    bench.board.comment(&parent, "other", "the other program did it", NOW + 4).unwrap();
    let (snapshot, _) = bench.tick_since(snapshot.newest_event, NOW + 5);
    assert_eq!(snapshot.free.len(), 200, "{:?}", claim.run);
}

#[test]
fn both_scopes_start_the_same() {
    let mut bench = bench();
    bench.rules.host_cap = Some(5);
    bench.rules.default_assignee = Some("beta".into());
    for n in 0..30 {
        let who = ["alpha", "beta", "ghost"].get(n % 4).copied();
        bench.make(&format!("{n}"), |card| {
            card.assignee = who.map(str::to_owned);
            card.priority = (n as i64 * 7) % 5;
        });
    }
    let all = bench.dry(NOW);
    let (_, since) = bench.tick_since(0, NOW);
    assert_eq!(started(&since), started(&all));
}
