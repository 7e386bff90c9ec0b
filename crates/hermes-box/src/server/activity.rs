//! What goes on in an agent, and since when nothing does.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::link::changes::Changes;
use crate::link::lock;

/// See the module.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Moves whenever a client or a job comes to its end, or the agent is told to leave.
    pub(crate) changes: Changes,
    /// Moves whenever a call comes to its end. Apart, as that happens often and is rarely waited for.
    pub(crate) calls_ended: Changes,
    started: Instant,
    last: Mutex<Instant>,
    pub(crate) clients: AtomicU32,
    /// Calls under way that count as use.
    calls: AtomicU32,
    /// Calls of any kind whose answer is not out yet.
    unanswered: AtomicU32,
    pub(crate) commands: AtomicU64,
    pub(crate) file_operations: AtomicU64,
}

/// A call or a job under way; the agent is not idle while it lives.
#[derive(Debug)]
pub(crate) struct Busy<'a>(&'a Activity);

impl Activity {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            changes: Changes::default(),
            calls_ended: Changes::default(),
            started: now,
            last: Mutex::new(now),
            clients: AtomicU32::new(0),
            calls: AtomicU32::new(0),
            unanswered: AtomicU32::new(0),
            commands: AtomicU64::new(0),
            file_operations: AtomicU64::new(0),
        }
    }

    /// Notes that something began.
    pub(crate) fn begin(&self) -> Busy<'_> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Busy(self)
    }

    /// Notes that an answer is owed.
    pub(crate) fn owe(&self) {
        self.unanswered.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes that it has been given.
    pub(crate) fn answered(&self) {
        self.unanswered.fetch_sub(1, Ordering::SeqCst);
        self.calls_ended.note();
    }

    /// Whether every call has its answer.
    pub(crate) fn owes_nothing(&self) -> bool {
        self.unanswered.load(Ordering::SeqCst) == 0
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Notes that something happened just now.
    pub(crate) fn touch(&self) {
        *lock(&self.last) = Instant::now();
    }

    pub(crate) fn uptime(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }

    /// Since when nothing has been done for a client; zero while something is.
    pub(crate) fn idle(&self, now: Instant) -> Duration {
        if self.calls() > 0 { Duration::ZERO } else { now.saturating_duration_since(*lock(&self.last)) }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.touch();
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
        self.0.calls_ended.note();
    }
}
