//! Small helpers for tests.

use std::time::{Duration, Instant};

/// Waits until something holds, and fails after a long time.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < until, "it never came true that {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
