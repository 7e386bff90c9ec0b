//! Names of sessions and messages, and how the tables write a point in time.

use std::fmt;

use jiff::{Timestamp, Zoned};

/// The name of a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

impl SessionId {
    /// A new name: the local time and six random hexadecimal digits.
    pub fn new(now: &Zoned, random: [u8; 3]) -> Self {
        let [a, b, c] = random;
        Self(format!("{}_{a:02x}{b:02x}{c:02x}", now.strftime("%Y%m%d_%H%M%S")))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for SessionId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

impl From<&str> for SessionId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of a message. Later messages have larger numbers; the order of numbers is the order of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub i64);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Seconds since 1970, as the tables keep them.
pub(super) fn seconds(at: Timestamp) -> f64 {
    at.as_microsecond() as f64 / 1e6
}

/// Back from seconds. What no clock can have shown becomes 1970.
pub(super) fn timestamp(seconds: f64) -> Timestamp {
    let micros = (seconds * 1e6).round();
    if micros.is_finite() {
        Timestamp::from_microsecond(micros as i64).unwrap_or_default()
    } else {
        Timestamp::UNIX_EPOCH
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    #[test]
    fn a_name_is_the_local_time_and_six_digits() {
        let now: Zoned = "2026-01-02T03:04:05+02:00[+02:00]".parse().unwrap();
        assert_eq!(SessionId::new(&now, [0, 0xab, 0x1f]).as_str(), "20260102_030405_00ab1f");
    }

    #[test]
    fn times_survive_the_way_through_the_table() {
        for micros in [0, 1, 1_700_000_000_123_456, 1_893_456_000_999_999] {
            let at = Timestamp::from_microsecond(micros).unwrap();
            assert_eq!(timestamp(seconds(at)), at);
        }
        assert_eq!(timestamp(f64::NAN), Timestamp::UNIX_EPOCH);
        assert_eq!(timestamp(1e300), Timestamp::UNIX_EPOCH);
    }
}
