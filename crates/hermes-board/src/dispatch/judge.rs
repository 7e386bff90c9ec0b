//! What becomes of an attempt under way. Workers this program started are looked after by a process of their own, which
//! knows better; here it is only seen whether that process is there.

use crate::card::Seconds;
use crate::dispatch::Rules;
use crate::dispatch::plan::{Fate, Liveness, Signal, World};
use crate::dispatch::snapshot::{Running, Taken};
use crate::ending::{Ending, Killed, Stop, Then};

/// How long nothing may be heard of a worker for its claim to be made longer.
const SILENT: Seconds = 3600;

/// How long a worker of another program is given to end when it was asked to.
pub(crate) const PATIENCE: Seconds = 10;

/// How long a worker is given to begin when whoever started it is gone: a command that starts one ends at once.
const BEGINNING: Seconds = 5;

/// When an attempt is worth looking at again, if nothing happens before.
pub(crate) fn next_look(running: &Running, now: Seconds) -> Option<Seconds> {
    let begins =
        (running.pid.is_none() && running.taken == Taken::ToStart).then_some(running.started_at + BEGINNING);
    let signalled = running.signalled.as_ref().map(|signalled| signalled.at + PATIENCE);
    // Our own is looked after by its guard.
    let theirs = running.worker.is_none() && running.pid.is_some();
    let limit = running.max_runtime.filter(|_| theirs).map(|limit| running.started_at + limit + 1);
    let expires = running.expires.map(|at| at + 1);
    [begins, signalled, limit, expires].into_iter().flatten().filter(|at| *at > now).min()
}

/// What becomes of it; nothing, if it simply goes on.
pub(crate) fn judge(running: &Running, rules: &Rules, world: &World, now: Seconds) -> Option<Fate> {
    let local = running
        .lock
        .as_deref()
        .and_then(|lock| lock.rsplit_once(':'))
        .is_some_and(|(host, _)| host == world.host);
    let seen = running.run.and_then(|run| world.alive.get(&run)).copied().unwrap_or(Liveness::Unknown);
    let liveness = if local { seen } else { Liveness::Unknown };
    if running.worker.is_some() {
        return ours(running, liveness, now);
    }
    if running.pid.is_none() {
        return unbegun(running, liveness, local, now);
    }
    theirs(running, rules, liveness, local, now)
}

/// A worker this program started.
fn ours(running: &Running, liveness: Liveness, now: Seconds) -> Option<Fate> {
    let expired = running.expires.is_none_or(|at| at < now);
    match liveness {
        Liveness::Dead => Some(Fate::End(Ending::Vanished)),
        Liveness::Alive if !expired => None,
        Liveness::Alive => {
            let heard = running.heartbeat_at.unwrap_or(running.started_at);
            let worker = running.worker.as_ref();
            let asked = worker.is_some_and(|worker| worker.stop.is_some());
            if now - heard < SILENT || asked {
                return Some(Fate::Extend);
            }
            let reason = Some(format!("nothing was heard of it for {} seconds", now - heard));
            Some(Fate::Stop(Stop { then: Then::GoOn, by: "dispatcher".to_owned(), reason }))
        }
        Liveness::Unknown => expired.then_some(Fate::Expire { local: false }),
    }
}

/// A card that was taken and whose worker has not begun. If a dispatcher took it and died, nobody will.
fn unbegun(running: &Running, liveness: Liveness, local: bool, now: Seconds) -> Option<Fate> {
    let late = now - running.started_at >= BEGINNING;
    if liveness == Liveness::Dead && running.taken == Taken::ToStart && late {
        return Some(Fate::Release);
    }
    running.expires.is_none_or(|at| at < now).then_some(Fate::Expire { local })
}

/// A worker another program started, known by its process only. It is asked to end, then killed, and its card is free
/// once it is gone: nobody waits for that here.
fn theirs(running: &Running, rules: &Rules, liveness: Liveness, local: bool, now: Seconds) -> Option<Fate> {
    let took = now - running.started_at;
    let silent = now - running.heartbeat_at.unwrap_or(running.started_at);
    let expired = running.expires.is_none_or(|at| at < now);
    match liveness {
        Liveness::Unknown => expired.then_some(Fate::Expire { local }),
        Liveness::Dead => {
            Some(match running.signalled.as_ref().map(|signalled| (signalled, signalled.why.as_str())) {
                Some((_, "stale")) => {
                    Fate::End(Ending::Stale { silent, limit: rules.stale_seconds.unwrap_or(silent) })
                }
                Some((signalled, "timed_out")) => {
                    let killed = if now - signalled.at > PATIENCE { Killed::Forced } else { Killed::Asked };
                    Fate::End(Ending::TimedOut {
                        elapsed: took,
                        limit: running.max_runtime.unwrap_or(took),
                        killed,
                    })
                }
                Some(_) => Fate::Expire { local },
                None if expired => Fate::Expire { local },
                None if took < rules.crash_grace => return None,
                None => Fate::End(Ending::Vanished),
            })
        }
        Liveness::Alive => {
            if let Some(signalled) = &running.signalled {
                let why = reason(&signalled.why);
                return (now - signalled.at >= PATIENCE).then_some(Fate::Signal { how: Signal::Kill, why });
            }
            let why = if expired && silent >= SILENT {
                "expired"
            } else if rules.stale_seconds.is_some_and(|limit| took >= limit) && silent >= SILENT {
                "stale"
            } else if running.max_runtime.is_some_and(|limit| took > limit) {
                "timed_out"
            } else {
                return expired.then_some(Fate::Extend);
            };
            Some(Fate::Signal { how: Signal::Ask, why })
        }
    }
}

fn reason(word: &str) -> &'static str {
    match word {
        "stale" => "stale",
        "timed_out" => "timed_out",
        _ => "expired",
    }
}
