//! Trying again while another process holds the lock: a bounded number of times, at random intervals.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::thread;
use std::time::Duration;

use rusqlite::{ErrorCode, ffi};

/// How long to keep trying for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How many times to try again after the first attempt.
    pub retries: u32,
    /// The shortest pause between two attempts.
    pub shortest: Duration,
    /// The longest pause between two attempts.
    pub longest: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { retries: 6, shortest: Duration::from_millis(20), longest: Duration::from_millis(150) }
    }
}

impl Patience {
    /// The pause for one random number: evenly spread, so that waiting processes do not meet again and again.
    fn pause(&self, random: u64) -> Duration {
        let spread = self.longest.saturating_sub(self.shortest).as_micros() as u64;
        self.shortest + Duration::from_micros(if spread == 0 { 0 } else { random % (spread + 1) })
    }

    /// Runs `attempt` until it does anything but find the database busy, or the retries are used up.
    pub(crate) fn run<T>(&self, mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        for _ in 0..self.retries {
            match attempt() {
                Err(error) if is_busy(&error) => thread::sleep(self.pause(random())),
                done => return done,
            }
        }
        attempt()
    }
}

/// Whether somebody else holds a lock we need.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// What SQLite answers when somebody else holds a lock.
pub(crate) fn busy() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None)
}

/// A number that differs from call to call and from process to process. Good for pauses and names, not for secrets.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    const QUICK: Patience = Patience { retries: 3, shortest: Duration::ZERO, longest: Duration::ZERO };

    #[test]
    fn pauses_stay_between_the_bounds() {
        let patience = Patience::default();
        for random in [0, 1, 129_999, 130_000, 130_001, u64::MAX] {
            let pause = patience.pause(random);
            assert!((patience.shortest..=patience.longest).contains(&pause), "{pause:?}");
        }
        assert_eq!(QUICK.pause(u64::MAX), Duration::ZERO);
    }

    #[test]
    fn busy_is_tried_again_and_then_reported() {
        let mut calls = 0;
        let result: rusqlite::Result<()> = QUICK.run(|| {
            calls += 1;
            Err(busy())
        });
        assert!(is_busy(&result.unwrap_err()));
        assert_eq!(calls, 4);
    }

    #[test]
    fn the_first_answer_that_is_not_busy_counts() {
        let mut calls = 0;
        let result = QUICK.run(|| {
            calls += 1;
            if calls < 3 { Err(busy()) } else { Ok(calls) }
        });
        assert_eq!(result.unwrap(), 3);
        let mut calls = 0;
        let result: rusqlite::Result<()> = QUICK.run(|| {
            calls += 1;
            Err(rusqlite::Error::QueryReturnedNoRows)
        });
        assert!(result.is_err());
        assert_eq!(calls, 1);
    }
}
