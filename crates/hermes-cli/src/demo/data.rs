//! The material of the demo: a log of a web server in which something went wrong, made the same every time.

use std::fmt::Write as _;

/// How many requests the log holds.
pub const LINES: usize = 600;

const PATHS: [&str; 5] = ["/", "/cart", "/checkout", "/login", "/search"];
/// The path that begins to fail.
const FAILING: &str = "/checkout";
/// The minute it begins to fail, counted from 09:00.
const SINCE: usize = 37;

/// The log.
pub fn access_log() -> String {
    let mut text = String::new();
    for number in 0..LINES {
        let minute = number / 10;
        let path = PATHS[scatter(number) % PATHS.len()];
        let status = match path {
            FAILING if minute >= SINCE && !scatter(number + 7).is_multiple_of(5) => 502,
            _ if scatter(number + 3).is_multiple_of(41) => 500,
            "/login" if scatter(number + 5).is_multiple_of(9) => 401,
            _ => 200,
        };
        let second = (number % 10) * 6;
        let _ = writeln!(
            text,
            "2026-03-02T{:02}:{:02}:{second:02}Z GET {path} {status} {}ms",
            9 + minute / 60,
            minute % 60,
            20 + scatter(number) % 180
        );
    }
    text
}

/// Numbers that look as if there were no order in them.
fn scatter(number: usize) -> usize {
    let mut value = (number as u64).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value ^= value >> 29;
    (value.wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) as usize
}

/// What is true about the log, found without the agent.
#[derive(Debug, PartialEq, Eq)]
pub struct Truth {
    /// The path with the most server errors.
    pub worst: String,
    /// How many of its requests failed.
    pub errors: usize,
    /// How many requests it had.
    pub requests: usize,
}

/// Looks at a log without the agent's tools.
pub fn truth(log: &str) -> Option<Truth> {
    let mut by_path: std::collections::BTreeMap<&str, (usize, usize)> = std::collections::BTreeMap::new();
    for line in log.lines() {
        let mut words = line.split(' ').skip(2);
        let (path, status) = (words.next()?, words.next()?);
        let entry = by_path.entry(path).or_default();
        entry.0 += usize::from(status.starts_with('5'));
        entry.1 += 1;
    }
    let (worst, (errors, requests)) = by_path.into_iter().max_by_key(|(_, counts)| counts.0)?;
    Some(Truth { worst: worst.to_owned(), errors, requests })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn the_log_is_the_same_every_time_and_one_path_stands_out() {
        let log = access_log();
        assert_eq!(log, access_log());
        assert_eq!(log.lines().count(), LINES);
        let truth = truth(&log).unwrap();
        assert_eq!(truth.worst, FAILING);
        assert!(truth.errors * 4 > truth.requests, "{truth:?}");
    }
}
