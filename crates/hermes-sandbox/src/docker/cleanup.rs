//! Taking containers away: bounded, by id, on a worker that can be waited for.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::cli::{Engine, Request, deadline};
use super::errors::EngineError;
use crate::plan::{Applied, Plan};

/// How long the first process gets between TERM and KILL.
const STOP_GRACE: &str = "10";

/// Stops a container.
pub fn stop(engine: &dyn Engine, id: &str) -> Result<(), EngineError> {
    let args = ["stop", "-t", STOP_GRACE, id];
    engine.demand(&Request::new("stopping the container", id, deadline::CHANGE, args)).map(drop)
}

/// Whether a container may be ended by removing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// Only if it does not run: the engine refuses otherwise, which protects one that was started meanwhile.
    OnlyStopped,
    /// In any case. For containers that are ours beyond doubt.
    Forced,
}

/// Removes a container and its unnamed volumes. One that is gone already is a success.
pub fn remove(engine: &dyn Engine, id: &str, how: Removal) -> Result<(), EngineError> {
    let mut args = vec!["rm"];
    if how == Removal::Forced {
        args.push("-f");
    }
    args.extend(["-v", id]);
    match engine.demand(&Request::new("removing the container", id, deadline::CHANGE, args)) {
        Ok(_) | Err(EngineError::NoSuchContainer { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Stops and removes a container of ours. Stopping may fail (it may be dead already), removing may not.
pub fn tear_down(engine: &dyn Engine, id: &str) -> Result<(), EngineError> {
    // The answer does not matter: a container that cannot be stopped is still to be removed.
    let _ = stop(engine, id);
    remove(engine, id, Removal::Forced)
}

/// Removes what a plan says, as long as it still does not run.
pub fn apply_to_stopped(engine: &dyn Engine, plan: Plan) -> Applied {
    let mut applied = Applied::default();
    for mut one in plan.remove {
        match remove(engine, &one.id, Removal::OnlyStopped) {
            Ok(()) => applied.removed.push(one),
            Err(error) => {
                one.reason = error.to_string();
                applied.kept.push(one);
            }
        }
    }
    applied
}

/// Removals on their way, for whoever must wait for them before the process ends.
#[derive(Debug, Clone, Default)]
pub struct Pending {
    count: Arc<(Mutex<usize>, Condvar)>,
}

impl Pending {
    /// Tears a container down on a thread of its own, and then does what remains to be done.
    pub fn start(&self, engine: Arc<dyn Engine>, id: String, then: impl FnOnce() + Send + 'static) {
        *self.lock() += 1;
        let done = Done(self.clone());
        let name = format!("hermes-cleanup-{}", &id[..id.len().min(12)]);
        let spawned = thread::Builder::new().name(name).spawn(move || {
            // Nobody is left to tell: what could not be removed is found by the next sweep.
            let _ = tear_down(&*engine, &id);
            then();
            drop(done);
        });
        // A machine that cannot start a thread drops the closure, and with it the count.
        drop(spawned);
    }

    /// Waits until all are through. `true` also when there were none.
    pub fn wait(&self, within: Duration) -> bool {
        let until = Instant::now() + within;
        let mut count = self.lock();
        while *count > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            count = self.count.1.wait_timeout(count, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, usize> {
        self.count.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts down even if the worker panics.
struct Done(Pending);

impl Drop for Done {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.count.1.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docker::fake::FakeEngine;
    use crate::host::call::Output;

    fn calls(engine: &FakeEngine) -> Vec<String> {
        engine.calls().iter().map(|call| call.join(" ")).collect()
    }

    #[test]
    fn a_tear_down_stops_and_removes_by_id() {
        let engine = FakeEngine::default();
        tear_down(&engine, "abc").unwrap();
        assert_eq!(calls(&engine), ["stop -t 10 abc", "rm -f -v abc"]);
    }

    #[test]
    fn one_that_cannot_be_stopped_is_removed_all_the_same() {
        let engine = FakeEngine::default().refuse(&["stop"], 1, "is not running");
        tear_down(&engine, "abc").unwrap();
        assert_eq!(engine.verbs(), ["stop", "rm"]);
    }

    #[test]
    fn one_that_is_gone_is_as_good_as_removed() {
        let engine =
            FakeEngine::default().refuse(&["rm"], 1, "Error response from daemon: No such container: abc");
        assert!(tear_down(&engine, "abc").is_ok());
    }

    #[test]
    fn waiting_is_over_at_once_when_nothing_is_pending() {
        assert!(Pending::default().wait(Duration::ZERO));
    }

    #[test]
    fn waiting_ends_with_the_removal_and_gives_up_in_time() {
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Mutex::new(held);
        let engine = Arc::new(FakeEngine::default().on(&["rm"], move |_| {
            let _ = held.lock().unwrap().recv();
            Output::default()
        }));
        let pending = Pending::default();
        pending.start(engine.clone(), "0123456789abcdef".into(), || ());
        assert!(!pending.wait(Duration::from_millis(20)), "the engine has not answered yet");
        release.send(()).unwrap();
        assert!(pending.wait(Duration::from_secs(20)));
        assert_eq!(engine.verbs(), ["stop", "rm"]);
    }
}
