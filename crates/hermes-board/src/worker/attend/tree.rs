//! Ending everything below this process. It is the reaper of all its descendants, so one that forks twice and leaves its
//! session is found below it too.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitOptions, WaitStatus};

use crate::ending::Killed;
use crate::worker::process::{self, Seen};

/// How soon a dead process is noticed while everything is being ended.
const MOMENT: Duration = Duration::from_millis(5);
/// How long what was killed may take to disappear before it counts as stuck in the kernel.
const PATIENCE: Duration = Duration::from_secs(30);

/// A child that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    pub pid: i32,
    pub how: How,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Code(i32),
    Signal(i32),
}

/// Takes in the children that have ended.
pub(super) fn reap() -> Vec<Ended> {
    let mut ended = Vec::new();
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                if let Some(how) = meaning(status) {
                    ended.push(Ended { pid: pid.as_raw_nonzero().get(), how });
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Ok(None) | Err(_) => return ended,
        }
    }
}

fn meaning(status: WaitStatus) -> Option<How> {
    status.exit_status().map(How::Code).or_else(|| status.terminating_signal().map(How::Signal))
}

/// Ends everything below: asks, waits for the grace, kills. Gives the children that ended meanwhile, and whether anything
/// had to be killed. Nothing is left when it returns, but for what the kernel itself holds.
pub(super) fn end_all(grace: Duration) -> (Vec<Ended>, Killed) {
    let mut ended = reap();
    ask_to_end();
    let deadline = Instant::now() + grace;
    while Instant::now() < deadline {
        ended.extend(reap());
        if living().is_empty() {
            return (ended, Killed::Asked);
        }
        thread::sleep(MOMENT);
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        stop_all();
        for seen in living() {
            // It may have ended meanwhile, or belong to somebody else.
            let _ = seen.signal(Signal::KILL);
        }
        ended.extend(reap());
        if living().is_empty() || Instant::now() > deadline {
            return (ended, Killed::Forced);
        }
        thread::sleep(MOMENT);
    }
}

/// Asks everything below to end. A stopped process only reads the request once it continues.
fn ask_to_end() {
    let all = living();
    for seen in &all {
        let _ = seen.signal(Signal::TERM);
    }
    for seen in &all {
        let _ = seen.signal(Signal::CONT);
    }
}

/// Stops everything, until a look finds nothing that is not stopped: then nothing forks any more.
fn stop_all() {
    const ROUNDS: usize = 64;
    let mut stopped: Vec<(i32, u64)> = Vec::new();
    for _ in 0..ROUNDS {
        let fresh: Vec<Seen> =
            living().into_iter().filter(|seen| !stopped.contains(&(seen.pid, seen.start))).collect();
        if fresh.is_empty() {
            return;
        }
        for seen in fresh {
            let _ = seen.signal(Signal::STOP);
            stopped.push((seen.pid, seen.start));
        }
    }
}

fn living() -> Vec<Seen> {
    process::below(std::process::id() as i32)
}
