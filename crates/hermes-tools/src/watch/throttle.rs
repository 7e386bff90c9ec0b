//! How often matches are told: a command that prints thousands of matching lines must not flood the conversation.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::workplace::lock;

/// Least time between two notifications of one command.
const SPACING: Duration = Duration::from_secs(15);
/// After so many such spans in a row in which matches were left out, a watch stops.
const MOST_CROWDED: u32 = 3;
/// Most notifications of all commands within [`SPAN`]; then all are silent for [`PAUSE`].
const MOST_OF_ALL: usize = 15;
const SPAN: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_secs(30);

/// What happens to matches.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// They are told, with the number of those that were not before.
    Tell { left_out: usize },
    /// They are counted.
    Drop,
    /// No more of them.
    Stop { left_out: usize },
}

/// For one command.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    last: Option<Instant>,
    left_out: usize,
    crowded: u32,
    stopped: bool,
}

impl Throttle {
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    pub(super) fn pass(&mut self, matches: usize, now: Instant, all: &Breaker) -> Pass {
        if self.last.is_some_and(|last| now.duration_since(last) < SPACING) {
            self.left_out += matches;
            return Pass::Drop;
        }
        self.crowded = if self.left_out > 0 { self.crowded + 1 } else { 0 };
        if self.crowded >= MOST_CROWDED {
            self.stopped = true;
            return Pass::Stop { left_out: self.left_out + matches };
        }
        if !all.lets_through(now) {
            self.left_out += matches;
            return Pass::Drop;
        }
        self.last = Some(now);
        Pass::Tell { left_out: std::mem::take(&mut self.left_out) }
    }
}

/// For all commands of a place.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    told: VecDeque<Instant>,
    silent_until: Option<Instant>,
}

impl Breaker {
    fn lets_through(&self, now: Instant) -> bool {
        let mut recent = lock(&self.0);
        if recent.silent_until.is_some_and(|until| now < until) {
            return false;
        }
        recent.silent_until = None;
        while recent.told.front().is_some_and(|at| now.duration_since(*at) >= SPAN) {
            recent.told.pop_front();
        }
        if recent.told.len() >= MOST_OF_ALL {
            recent.told.clear();
            recent.silent_until = Some(now + PAUSE);
            return false;
        }
        recent.told.push_back(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn matches_in_between_are_counted_and_told_later() {
        let (mut throttle, all, start) = (Throttle::default(), Breaker::default(), Instant::now());
        assert_eq!(throttle.pass(1, start, &all), Pass::Tell { left_out: 0 });
        assert_eq!(throttle.pass(2, at(start, 1), &all), Pass::Drop);
        assert_eq!(throttle.pass(1, at(start, 20), &all), Pass::Tell { left_out: 2 });
        assert_eq!(throttle.pass(1, at(start, 60), &all), Pass::Tell { left_out: 0 });
    }

    #[test]
    fn a_watch_that_is_crowded_for_long_stops() {
        let (mut throttle, all, start) = (Throttle::default(), Breaker::default(), Instant::now());
        let passes: Vec<Pass> = (0..60).map(|second| throttle.pass(1, at(start, second), &all)).collect();
        let told = passes.iter().filter(|pass| matches!(pass, Pass::Tell { .. })).count();
        assert_eq!((told, throttle.is_stopped()), (3, true));
        assert_eq!(passes[45], Pass::Stop { left_out: 15 });
    }

    #[test]
    fn many_commands_together_are_silenced_for_a_while() {
        let (all, start) = (Breaker::default(), Instant::now());
        let told = |now: Instant| Throttle::default().pass(1, now, &all);
        let first = (0..20).filter(|_| matches!(told(start), Pass::Tell { .. })).count();
        assert_eq!(first, MOST_OF_ALL);
        assert_eq!(told(at(start, 29)), Pass::Drop);
        assert_eq!(told(at(start, 30)), Pass::Tell { left_out: 0 });
    }
}
