//! What both ends of a connection need: a queue with its own writer, and locks that outlive a panic.

pub(crate) mod changes;
pub(crate) mod outbox;
pub(crate) mod transport;
pub(crate) mod workers;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, whatever happened to the last holder. The data behind our locks is changed in single steps, so it is
/// sound even when a thread panicked while it held one.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
