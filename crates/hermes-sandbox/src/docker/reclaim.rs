//! Reclaiming: running containers that nobody has used for a long time, and corpses of failed starts.

use std::time::Duration;

use jiff::Timestamp;

use super::belongs;
use super::identity::Identity;
use super::inspect::{Observed, State};
use super::labels;
use super::sweep::{age, threshold};
use crate::plan::{Plan, Rule, Why, span};

/// What a container's agent says about its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// It answered.
    Known {
        /// Clients besides the one that asked.
        clients: usize,
        /// Commands and jobs that run.
        running: usize,
        /// How long nothing has been done for anyone.
        idle: Duration,
    },
    /// It does not answer, or there is none.
    Unknown,
}

/// How long things are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// An idle running container; `None` is for ever.
    pub retention: Option<Duration>,
    /// The lifetime of a handle.
    pub lifetime: Duration,
}

/// Decides which containers go: idle running ones past their retention, and corpses that never ran.
pub fn plan(identity: &Identity, seen: &[(Observed, Activity)], keep: Keep, now: Timestamp) -> Plan {
    let mut plan = Plan::default();
    for (one, activity) in seen {
        plan.decide(one, judge(identity, one, *activity, keep, now));
    }
    plan
}

fn judge(
    identity: &Identity,
    one: &Observed,
    activity: Activity,
    keep: Keep,
    now: Timestamp,
) -> Result<Why, Why> {
    belongs::to_this_profile(identity, one).map_err(|reason| Why::new(Rule::Ownership, reason))?;
    match one.state {
        State::Running => judge_running(one, activity, keep, now),
        State::Created => judge_never_started(one, keep, now),
        State::Dead => Ok(Why::new(Rule::Dead, "the engine calls it dead: it can never run again")),
        other => Err(Why::new(Rule::OtherState, format!("it is {}", other.as_str()))),
    }
}

fn judge_running(one: &Observed, activity: Activity, keep: Keep, now: Timestamp) -> Result<Why, Why> {
    if one.plain().is_some() {
        let reason = "our agent cannot run in it, so it is not known whether it is in use";
        return Err(Why::new(Rule::Unasked, reason));
    }
    if !one.is_boxed() {
        let reason = "another program made it, so it is not known whether it is in use";
        return Err(Why::new(Rule::Unasked, reason));
    }
    let Activity::Known { clients, running, idle } = activity else {
        let reason = "its agent does not answer, so it is not known whether it is in use";
        return Err(Why::new(Rule::Unasked, reason));
    };
    if clients > 0 || running > 0 {
        return Err(Why::new(Rule::InUse, format!("it is in use ({clients} clients, {running} running)")));
    }
    // Nobody can find a container of one process again, so there is nothing to retain it for.
    let single = one.label(labels::REUSE) == Some(labels::REUSE_SINGLE);
    let (rule, limit, which) = if single {
        let which = "ones of a single process go after {}, twice terminal.lifetime_seconds";
        (Rule::LeftBehind, Some(threshold(keep.lifetime)), which)
    } else {
        (Rule::Unused, keep.retention, "unused running ones go after {}, terminal.docker_retention_days")
    };
    let since = now.checked_sub(idle).unwrap_or(now);
    let unused = format!("nobody has used it for {} (since {since:.0})", span(idle));
    let why = |kept: &str| Why::new(rule, format!("{unused}: {kept}")).since(since);
    match limit {
        None => Err(why("unused running ones are kept, as terminal.docker_retention_days is 0")),
        Some(limit) => {
            let why = why(&which.replace("{}", &span(limit)));
            if idle < limit { Err(why) } else { Ok(why) }
        }
    }
}

/// One that was made and never started may be in the hands of a process that is just about to.
fn judge_never_started(one: &Observed, keep: Keep, now: Timestamp) -> Result<Why, Why> {
    let spared = |reason: &str| Why::new(Rule::NeverStarted, reason);
    let made = one.created.ok_or_else(|| spared("it is not known when it was made"))?;
    let age =
        age(made, now).ok_or_else(|| spared("it was made in the future, so clocks differ").since(made))?;
    let limit = threshold(keep.lifetime);
    let reason = format!(
        "it was made {} ago ({made:.0}) and never started: such ones go after {}, twice terminal.lifetime_seconds",
        span(age),
        span(limit)
    );
    let why = spared(&reason).since(made);
    if age < limit { Err(why) } else { Ok(why) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docker::sample::{identity, ours, reference};

    const WEEK: Duration = Duration::from_hours(7 * 24);

    fn keep() -> Keep {
        Keep { retention: Some(WEEK), lifetime: Duration::from_mins(5) }
    }

    fn now() -> Timestamp {
        "2026-01-02T12:00:00Z".parse().unwrap()
    }

    fn boxed(state: State) -> Observed {
        let mut one = ours("a", state);
        one.labels.insert(labels::PROGRAM.into(), "hash".into());
        one
    }

    fn idle(time: Duration) -> Activity {
        Activity::Known { clients: 0, running: 0, idle: time }
    }

    fn goes(one: Observed, activity: Activity, keep: Keep) -> bool {
        !plan(&identity(), &[(one, activity)], keep, now()).remove.is_empty()
    }

    #[test]
    fn idle_past_retention_goes_and_not_a_second_before() {
        assert!(goes(boxed(State::Running), idle(WEEK), keep()));
        assert!(!goes(
            boxed(State::Running),
            idle(WEEK.checked_sub(Duration::from_secs(1)).unwrap()),
            keep()
        ));
    }

    #[test]
    fn one_in_use_stays_however_long_it_was_idle() {
        let client = Activity::Known { clients: 1, running: 0, idle: 10 * WEEK };
        let job = Activity::Known { clients: 0, running: 1, idle: 10 * WEEK };
        assert!(!goes(boxed(State::Running), client, keep()));
        assert!(!goes(boxed(State::Running), job, keep()));
    }

    #[test]
    fn nothing_is_guessed() {
        assert!(!goes(boxed(State::Running), Activity::Unknown, keep()));
        assert!(!goes(reference("r", State::Running), idle(10 * WEEK), keep()));
        assert!(!goes(boxed(State::Paused), idle(10 * WEEK), keep()));
    }

    #[test]
    fn retention_for_ever_keeps_all_but_single_ones() {
        let for_ever = Keep { retention: None, ..keep() };
        assert!(!goes(boxed(State::Running), idle(100 * WEEK), for_ever));
        let mut single = boxed(State::Running);
        single.labels.insert(labels::REUSE.into(), labels::REUSE_SINGLE.into());
        assert!(goes(single.clone(), idle(Duration::from_mins(10)), for_ever));
        assert!(!goes(single, idle(Duration::from_mins(9)), for_ever));
    }

    #[test]
    fn corpses_go_once_nobody_can_be_starting_them() {
        let made = |at: &str| Observed { created: at.parse().ok(), ..boxed(State::Created) };
        assert!(goes(made("2026-01-02T11:50:00Z"), Activity::Unknown, keep()));
        assert!(!goes(made("2026-01-02T11:50:01Z"), Activity::Unknown, keep()));
        assert!(goes(boxed(State::Dead), Activity::Unknown, keep()));
        assert!(!goes(boxed(State::Exited), Activity::Unknown, keep()), "the sweep's business");
    }

    #[test]
    fn another_profiles_home_or_machine_is_never_touched() {
        for other in [
            Identity { profile: "work".into(), ..identity() },
            Identity { home: "/srv/other".into(), ..identity() },
            Identity { machine: "far".into(), ..identity() },
        ] {
            let plan = plan(&other, &[(boxed(State::Running), idle(10 * WEEK))], keep(), now());
            assert!(plan.remove.is_empty() && plan.spare.len() == 1);
        }
    }
}
