//! Ending everything below this process.
//!
//! A shim is the reaper of all its descendants, so a process that forks twice and leaves its session is still
//! found below it. One that forks faster than it is killed is stopped first: stop all, kill all, again until none is left.

use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitOptions, WaitStatus};

use crate::proto::exec::Status;
use crate::sys::proc::{self, Process};

/// How long killed processes may take to disappear before they count as stuck in the kernel.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sends a signal to everything below this process.
pub(super) fn signal_all(number: Signal) {
    for process in living() {
        // It may have ended meanwhile, or belong to somebody else.
        let _ = proc::signal(&process, number);
    }
}

/// Asks everything below to end. A stopped process only reads the request once it continues.
pub(super) fn ask_to_end() {
    let processes = living();
    for process in &processes {
        let _ = proc::signal(process, Signal::TERM);
    }
    for process in &processes {
        let _ = proc::signal(process, Signal::CONT);
    }
}

/// Kills everything below; `reaped` is called for every child that ended. Returns how many could not be killed.
pub(super) fn kill_all(mut reaped: impl FnMut(i32, Status)) -> u32 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        stop_all();
        signal_all(Signal::KILL);
        if reap(&mut reaped) == Children::None {
            return 0;
        }
        let left = living();
        if Instant::now() > deadline {
            return left.len() as u32;
        }
        // Dead processes take a moment to turn up as such.
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Stops everything, until a look finds nothing that is not stopped: then nothing forks any more.
fn stop_all() {
    const ROUNDS: usize = 64;
    let mut stopped: Vec<(i32, u64)> = Vec::new();
    for _ in 0..ROUNDS {
        let fresh: Vec<Process> =
            living().into_iter().filter(|process| !stopped.contains(&(process.pid, process.start))).collect();
        if fresh.is_empty() {
            return;
        }
        for process in fresh {
            let _ = proc::signal(&process, Signal::STOP);
            stopped.push((process.pid, process.start));
        }
    }
}

fn living() -> Vec<Process> {
    let mut processes = proc::descendants(std::process::id() as i32);
    processes.retain(|process| !process.is_zombie());
    processes
}

/// Whether there are children left to wait for.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) enum Children {
    Some,
    None,
}

/// Takes in every child that has ended.
pub(super) fn reap(mut reaped: impl FnMut(i32, Status)) -> Children {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => reaped(pid.as_raw_nonzero().get(), meaning(status)),
            Ok(None) => return Children::Some,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Children::None,
        }
    }
}

fn meaning(status: WaitStatus) -> Status {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Status::Code(code),
        (None, Some(signal)) => Status::Signal(signal),
        (None, None) => Status::Unknown,
    }
}
