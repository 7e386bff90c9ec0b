//! Threads that wait a while for the next piece of work before they end.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use super::lock;

/// Threads that wait at once; more than these end after their work.
const MAX_IDLE: usize = 4;
/// How long a thread waits.
const PATIENCE: Duration = Duration::from_secs(5);

type Work = Box<dyn FnOnce() + Send>;

/// See the module.
#[derive(Default)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    idle: Mutex<Idle>,
    on_quiet: OnceLock<fn()>,
}

#[derive(Default)]
struct Idle {
    last: u64,
    waiting: Vec<(u64, SyncSender<Work>)>,
}

impl Workers {
    /// Runs `work` on a thread of its own, now.
    pub(crate) fn run(&self, mut work: Work) -> io::Result<()> {
        loop {
            let waiting = lock(&self.shared.idle).waiting.pop();
            let Some((_, thread)) = waiting else { break };
            match thread.send(work) {
                Ok(()) => return Ok(()),
                Err(mpsc::SendError(unsent)) => work = unsent,
            }
        }
        let shared = Arc::downgrade(&self.shared);
        std::thread::Builder::new()
            .name("box-work".into())
            .stack_size(512 * 1024)
            .spawn(move || serve(work, &shared))
            .map(drop)
    }

    /// Called whenever a thread has waited in vain: there has been little to do for a while.
    pub(crate) fn on_quiet(&self, action: fn()) {
        let _ = self.shared.on_quiet.set(action);
    }
}

fn serve(mut work: Work, shared: &Weak<Shared>) {
    loop {
        work();
        let Some((id, next)) = shared.upgrade().and_then(|shared| enlist(&shared)) else { return };
        match await_work(id, &next, shared) {
            Some(more) => work = more,
            None => return,
        }
    }
}

/// Joins those who wait, unless there are enough.
fn enlist(shared: &Shared) -> Option<(u64, Receiver<Work>)> {
    let mut idle = lock(&shared.idle);
    if idle.waiting.len() >= MAX_IDLE {
        return None;
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    idle.last += 1;
    let id = idle.last;
    idle.waiting.push((id, sender));
    Some((id, receiver))
}

fn await_work(id: u64, next: &Receiver<Work>, shared: &Weak<Shared>) -> Option<Work> {
    match next.recv_timeout(PATIENCE) {
        Ok(work) => return Some(work),
        Err(RecvTimeoutError::Disconnected) => return None,
        Err(RecvTimeoutError::Timeout) => {}
    }
    let shared = shared.upgrade()?;
    let withdrawn = {
        let mut idle = lock(&shared.idle);
        let before = idle.waiting.len();
        idle.waiting.retain(|(other, _)| *other != id);
        idle.waiting.len() < before
    };
    if !withdrawn {
        // Somebody has chosen this thread already; the work is on its way.
        drop(shared);
        return next.recv().ok();
    }
    if let Some(action) = shared.on_quiet.get() {
        action();
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn all_work_is_done_and_threads_are_used_again() {
        let workers = Workers::default();
        let (done, results) = mpsc::channel();
        for n in 0..100 {
            let done = done.clone();
            workers.run(Box::new(move || done.send((n, std::thread::current().id())).unwrap())).unwrap();
        }
        let mut numbers: Vec<i32> = (0..100).map(|_| results.recv().unwrap().0).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
        assert!(lock(&workers.shared.idle).waiting.len() <= MAX_IDLE);
    }
}
