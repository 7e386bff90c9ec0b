//! Waiting for a condition: asks again and again until it holds or the time is up, never a blind sleep.

use std::thread;
use std::time::{Duration, Instant};

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Waits until `condition` holds; ends the test, naming `what` was awaited, when `limit` has passed.
#[track_caller]
pub fn wait_until(limit: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let met = poll_until(limit, || condition().then_some(())).is_some();
    assert!(met, "waited {limit:?} in vain until {what}");
}

/// Asks until there is a value. None when `limit` has passed; it asks at least once.
pub fn poll_until<T>(limit: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + limit;
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(value) = ask() {
            return Some(value);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
