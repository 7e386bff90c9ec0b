//! When a conversation is made shorter, and when it is better left alone.

use std::time::Duration;

use jiff::Timestamp;

use super::CompactionConfig;

/// What the window is taken for when nobody knows it.
pub const ASSUMED_WINDOW: u64 = 128_000;
/// Below this many tokens shortening costs more than it saves.
const FLOOR: u64 = 64_000;
/// Whatever else: at this share of the window, in percent.
const LATEST: u64 = 85;
/// Room for an answer when no limit is set for it.
const USUAL_ANSWER: u64 = 8_192;
/// A compaction that saves less than this many percent was not worth it.
const WORTH: u64 = 10;

/// Why it is considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// Before the next request, as always.
    Routine,
    /// The provider refused a request as too long.
    Overflow,
    /// The user asked for it.
    Asked,
}

/// How full the window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// Tokens of the next request.
    pub tokens: u64,
    /// The size of the window, when it is known.
    pub window: Option<u64>,
    /// Most tokens of an answer, when it is set.
    pub max_output: Option<u64>,
}

impl Fill {
    /// The window, or what it is taken for.
    pub fn window(&self) -> u64 {
        self.window.filter(|window| *window > 0).unwrap_or(ASSUMED_WINDOW)
    }

    /// The number of tokens at which the conversation is made shorter.
    pub fn limit(&self, config: &CompactionConfig) -> u64 {
        let window = self.window();
        let wanted = ((window as f64 * config.threshold) as u64).max(FLOOR);
        // A window that is small must still leave room for the answer, and an answer must not push out all else.
        let answer = self.max_output.unwrap_or(USUAL_ANSWER).min(window / 2);
        wanted.min(window * LATEST / 100).min(window - answer).max(1)
    }
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Ask for a summary.
    Summarise,
    /// Make old tool output short and ask nobody.
    PruneOnly {
        /// How long no summary is asked for.
        wait: Duration,
    },
    /// Leave it.
    Leave(Reason),
}

/// Why a conversation is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// There is room.
    Room {
        /// At how many tokens there is not.
        until: u64,
    },
    /// The user switched it off.
    SwitchedOff,
    /// The last two times saved next to nothing: doing it again would only cost.
    NotWorthIt,
}

/// Why there is no summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryFailure {
    /// The answer broke off or was of no use.
    BadAnswer,
    /// No model can be reached at all.
    NoModel,
    /// Anything else.
    Other,
}

impl SummaryFailure {
    /// How long no summary is asked for after it.
    pub fn pause(self) -> Duration {
        Duration::from_secs(match self {
            Self::BadAnswer => 30,
            Self::Other => 60,
            Self::NoModel => 600,
        })
    }
}

/// How compaction has gone in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Health {
    /// Percent that the last two saved, newest first.
    saved: [Option<u64>; 2],
    paused_until: Option<Timestamp>,
}

impl Health {
    /// One was made.
    pub fn succeeded(&mut self, before: u64, after: u64) {
        let saved = before.saturating_sub(after) * 100 / before.max(1);
        self.saved = [Some(saved), self.saved[0]];
        self.paused_until = None;
    }

    /// No summary could be had. Gives how long none is asked for.
    pub fn failed(&mut self, failure: SummaryFailure, now: Timestamp) -> Duration {
        let pause = failure.pause();
        self.paused_until = now.checked_add(pause).ok();
        pause
    }

    fn paused(&self, now: Timestamp) -> Option<Duration> {
        let left = self.paused_until?.duration_since(now);
        Duration::try_from(left).ok().filter(|left| !left.is_zero())
    }

    fn is_futile(&self) -> bool {
        self.saved.iter().all(|saved| saved.is_some_and(|saved| saved < WORTH))
    }
}

/// Whether it is time.
pub fn decide(
    config: &CompactionConfig,
    fill: &Fill,
    health: &Health,
    urgency: Urgency,
    now: Timestamp,
) -> Decision {
    let limit = fill.limit(config);
    match urgency {
        Urgency::Asked => return Decision::Summarise,
        Urgency::Routine if !config.automatic => return Decision::Leave(Reason::SwitchedOff),
        Urgency::Routine if fill.tokens < limit => return Decision::Leave(Reason::Room { until: limit }),
        Urgency::Routine if health.is_futile() => return Decision::Leave(Reason::NotWorthIt),
        Urgency::Routine | Urgency::Overflow => {}
    }
    health.paused(now).map_or(Decision::Summarise, |wait| Decision::PruneOnly { wait })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: CompactionConfig =
        CompactionConfig { automatic: true, threshold: 0.5, target: 0.2, protect_first: 3, protect_last: 20 };

    fn limit(window: u64, max_output: Option<u64>) -> u64 {
        Fill { tokens: 0, window: Some(window), max_output }.limit(&CONFIG)
    }

    fn routine(tokens: u64, health: &Health, now: Timestamp) -> Decision {
        decide(
            &CONFIG,
            &Fill { tokens, window: Some(200_000), max_output: None },
            health,
            Urgency::Routine,
            now,
        )
    }

    #[test]
    fn the_limit_leaves_room_in_every_window() {
        assert_eq!(limit(200_000, None), 100_000);
        assert_eq!(limit(1_000_000, None), 500_000);
        // The floor must not become the whole window.
        assert_eq!(limit(65_000, None), 65_000 * 85 / 100);
        assert_eq!(limit(64_000, Some(32_000)), 32_000);
        // Small windows work too.
        assert_eq!(limit(8_000, None), 4_000);
        assert_eq!(limit(200_000, Some(150_000)), 100_000);
        assert!(limit(1, None) >= 1);
        for window in (1_000..300_000).step_by(977) {
            assert!(limit(window, None) <= window * 85 / 100);
        }
    }

    #[test]
    fn it_waits_for_the_limit() {
        let health = Health::default();
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(routine(99_999, &health, now), Decision::Leave(Reason::Room { until: 100_000 }));
        assert_eq!(routine(100_000, &health, now), Decision::Summarise);
    }

    #[test]
    fn two_that_saved_nothing_are_enough() {
        let mut health = Health::default();
        let now = Timestamp::UNIX_EPOCH;
        health.succeeded(100, 95);
        assert_eq!(routine(150_000, &health, now), Decision::Summarise);
        health.succeeded(100, 91);
        assert_eq!(routine(150_000, &health, now), Decision::Leave(Reason::NotWorthIt));
        let fill = Fill { tokens: 150_000, window: None, max_output: None };
        assert_eq!(decide(&CONFIG, &fill, &health, Urgency::Overflow, now), Decision::Summarise);
        health.succeeded(100, 50);
        assert_eq!(routine(150_000, &health, now), Decision::Summarise);
    }

    #[test]
    fn after_a_failure_only_pruning_is_done_for_a_while() {
        let mut health = Health::default();
        let start = Timestamp::UNIX_EPOCH;
        let wait = health.failed(SummaryFailure::NoModel, start);
        assert_eq!(wait, Duration::from_mins(10));
        assert_eq!(routine(150_000, &health, start), Decision::PruneOnly { wait });
        let fill = Fill { tokens: 1, window: None, max_output: None };
        assert_eq!(decide(&CONFIG, &fill, &health, Urgency::Asked, start), Decision::Summarise);
        assert_eq!(routine(150_000, &health, start + wait), Decision::Summarise);
    }

    #[test]
    fn switched_off_it_only_helps_when_it_must() {
        let off = CompactionConfig { automatic: false, ..CONFIG };
        let fill = Fill { tokens: 500_000, window: Some(200_000), max_output: None };
        let health = Health::default();
        let at = |urgency| decide(&off, &fill, &health, urgency, Timestamp::UNIX_EPOCH);
        assert_eq!(at(Urgency::Routine), Decision::Leave(Reason::SwitchedOff));
        assert_eq!(at(Urgency::Asked), Decision::Summarise);
    }
}
