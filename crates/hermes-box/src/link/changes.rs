//! Lets threads wait until something they care about has changed.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use super::lock;

/// A count of changes. Look at it, look at the world, then wait for the count to move on: nothing is missed in between.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    count: Mutex<u64>,
    moved: Condvar,
}

impl Changes {
    /// Something changed.
    pub(crate) fn note(&self) {
        *lock(&self.count) += 1;
        self.moved.notify_all();
    }

    /// The count now.
    pub(crate) fn seen(&self) -> u64 {
        *lock(&self.count)
    }

    /// Waits until the count is past `seen`, or until the deadline.
    pub(crate) fn wait_past(&self, seen: u64, deadline: Option<Instant>) {
        let mut count = lock(&self.count);
        while *count == seen {
            let Some(deadline) = deadline else {
                count = self.moved.wait(count).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            count = self.moved.wait_timeout(count, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until `settled` holds; false when it does not by the deadline.
    pub(crate) fn wait_until(&self, deadline: Option<Instant>, mut settled: impl FnMut() -> bool) -> bool {
        loop {
            let seen = self.seen();
            if settled() {
                return true;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return false;
            }
            self.wait_past(seen, deadline);
        }
    }
}
