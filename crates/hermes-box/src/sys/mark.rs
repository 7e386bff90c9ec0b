//! A number that a command's processes carry, so that they are found again whoever their parent is by now.
//!
//! A process that left its session and whose shim was killed is nobody's child that we know. Limits pass on to everything a process
//! starts, and the one on file locks has had no meaning for a long time: its soft value is the mark. A process can take it off, as it
//! can leave in other ways; one that was only put into the background does not.

#![allow(unsafe_code)]

use std::fs;

use super::proc::{self, Process};

/// The line in `/proc/<pid>/limits`.
const LINE: &str = "Max file locks";

/// A mark from a random number: within what the system takes, and never the one for no limit.
pub(crate) fn from_random(number: u64) -> u64 {
    (number >> 2) | 1 << 60
}

/// From here on this process carries the mark, and so does everything it starts.
pub(crate) fn carry(mark: u64) {
    // SAFETY: both calls only use the structure, which lives until they return.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_LOCKS, &raw mut limit) == 0 {
            limit.rlim_cur = mark;
            // Without it the tree of processes still says a lot.
            libc::setrlimit(libc::RLIMIT_LOCKS, &raw const limit);
        }
    }
}

/// The living processes among these that carry the mark.
pub(crate) fn carriers(mark: u64, processes: &[Process]) -> Vec<Process> {
    let mut carriers: Vec<Process> = processes.to_vec();
    carriers.retain(|process| !process.is_zombie() && of(process.pid) == Some(mark));
    carriers
}

/// All living processes that carry the mark.
pub(crate) fn all_carriers(mark: u64) -> Vec<Process> {
    carriers(mark, &proc::all())
}

/// The mark of a process; `None` when it has none or cannot be looked at.
fn of(pid: i32) -> Option<u64> {
    parse(&fs::read_to_string(format!("/proc/{pid}/limits")).ok()?)
}

fn parse(limits: &str) -> Option<u64> {
    let values = limits.lines().find_map(|line| line.strip_prefix(LINE))?;
    values.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_read_and_no_limit_is_none() {
        let limits = |soft: &str| {
            format!(
                "Limit  Soft Limit  Hard Limit  Units\nMax processes  5  6  processes\nMax file locks            {soft}  unlimited            locks\n"
            )
        };
        assert_eq!(parse(&limits("1234567")), Some(1_234_567));
        assert_eq!(parse(&limits("unlimited")), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn every_mark_is_a_limit_the_system_takes() {
        for number in [0, 1, u64::MAX, 1 << 63] {
            let mark = from_random(number);
            assert!((1 << 60..1 << 62).contains(&mark), "{mark}");
        }
    }
}
