//! A record as it lies in a log: a head line and, from programs that log tracebacks, the lines that belong to it.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;

/// How important a record is, in the words of the log files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Of interest when looking for a fault.
    Debug,
    /// What the program does.
    Info,
    /// Something that may need attention.
    Warning,
    /// Something that failed.
    Error,
    /// The program cannot go on. We never write it; other programs do.
    Critical,
}

/// A word that is not a level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a level: use debug, info, warning, error or critical")]
pub struct UnknownLevel(String);

impl Level {
    /// The word in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
            Self::Critical => "CRITICAL",
        }
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    /// Any case, and the short words people type.
    fn from_str(word: &str) -> Result<Self, UnknownLevel> {
        match word.to_ascii_lowercase().as_str() {
            "debug" | "trace" => Ok(Self::Debug),
            "info" => Ok(Self::Info),
            "warning" | "warn" => Ok(Self::Warning),
            "error" => Ok(Self::Error),
            "critical" | "fatal" => Ok(Self::Critical),
            _ => Err(UnknownLevel(word.to_owned())),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the head line of a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// When, in the local time of the writer: the files hold no zone.
    pub time: DateTime,
    /// How important.
    pub level: Level,
    /// The session it happened in.
    pub session: Option<String>,
    /// Which part of the program wrote it.
    pub logger: String,
    /// Where the message starts in the line.
    message_at: usize,
}

impl Head {
    /// Reads `2026-11-15 20:54:14,735 INFO [session] logger: message`; `None` for a line that continues a record.
    pub fn parse(line: &str) -> Option<Self> {
        let (time, after_time) = parse_time(line)?;
        let (level, rest) = after_time.split_once(' ')?;
        if level.is_empty() || !level.bytes().all(|b| b.is_ascii_uppercase()) {
            return None;
        }
        // A level of somebody's own making is neither hidden nor alarming.
        let level = level.parse().unwrap_or(Level::Info);
        let (session, rest) = match rest.strip_prefix('[').and_then(|r| r.split_once("] ")) {
            Some((session, rest)) => (Some(session.to_owned()), rest),
            None => (None, rest),
        };
        let (logger, message) = match rest.split_once(": ") {
            Some((logger, message)) if !logger.contains(' ') => (logger.to_owned(), message),
            _ => (String::new(), rest),
        };
        Some(Self { time, level, session, logger, message_at: line.len() - message.len() })
    }
}

/// Milliseconds may be missing: the reference has writers of its own for some files.
fn parse_time(line: &str) -> Option<(DateTime, &str)> {
    const SECONDS: usize = "2026-11-15 20:54:14".len();
    let (stamp, rest) = (line.get(..SECONDS)?, line.get(SECONDS..)?);
    let field = |from: usize, to: usize| stamp.get(from..to)?.parse::<i16>().ok();
    let separators = [(4, b'-'), (7, b'-'), (10, b' '), (13, b':'), (16, b':')];
    if separators.iter().any(|&(at, byte)| stamp.as_bytes()[at] != byte) {
        return None;
    }
    let (millis, rest) = match rest.strip_prefix([',', '.']) {
        Some(fraction) => (fraction.get(..3)?.parse::<i32>().ok()?, fraction.get(3..)?),
        None => (0, rest),
    };
    let two = |from: usize| field(from, from + 2).and_then(|n| i8::try_from(n).ok());
    let time =
        DateTime::new(field(0, 4)?, two(5)?, two(8)?, two(11)?, two(14)?, two(17)?, millis * 1_000_000)
            .ok()?;
    Some((time, rest.strip_prefix(' ')?))
}

/// A record with all its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What its first line says; `None` for lines whose record begins before what was read.
    pub head: Option<Head>,
    /// All lines as they lie in the file, without the last line end.
    pub text: String,
}

impl Record {
    /// A record that starts with this line.
    pub fn starting(line: String) -> Self {
        Self { head: Head::parse(&line), text: line }
    }

    /// The message with the lines that follow it.
    pub fn message(&self) -> &str {
        self.head.as_ref().map_or(&self.text, |head| &self.text[head.message_at..])
    }

    /// Adds a line that belongs to this record; beyond a bound it is dropped.
    pub(super) fn push_line(&mut self, line: &str) {
        if self.text.len() + line.len() < MAX_TEXT {
            self.text.push('\n');
            self.text.push_str(line);
        }
    }
}

/// More than this of one record is never held in memory.
pub(super) const MAX_TEXT: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn a_head_line_is_taken_apart() {
        let record =
            Record::starting("2026-11-15 20:54:14,735 ERROR [20260101_abc] gateway.run: boom: x".into());
        let head = record.head.as_ref().unwrap();
        assert_eq!(head.time.to_string(), "2026-11-15T20:54:14.735");
        assert_eq!((head.level, head.session.as_deref()), (Level::Error, Some("20260101_abc")));
        assert_eq!((head.logger.as_str(), record.message()), ("gateway.run", "boom: x"));
    }

    #[test]
    fn what_is_optional_may_be_missing() {
        let head = |line: &str| Record::starting(line.to_owned());
        let plain = head("2026-11-15 20:54:14,735 WARNING gateway.run: hello");
        assert_eq!((plain.head.as_ref().unwrap().session.as_deref(), plain.message()), (None, "hello"));
        let own = head("2026-11-15 20:54:14 NOTICE started at last");
        assert_eq!(own.head.as_ref().unwrap().level, Level::Info);
        assert_eq!(own.message(), "started at last");
        let empty = head("2026-11-15 20:54:14,735 INFO x: ");
        assert_eq!(empty.message(), "");
    }

    #[test]
    fn other_lines_continue_a_record() {
        for line in [
            "",
            "Traceback (most recent call last):",
            "2026-11-15",
            "2026-13-15 20:54:14,735 INFO x: y",
            "2026-11-15 20:54:14,7",
            "2026-11-15 20:54:14,735 info x: y",
            "2026-11-15 20:54:14,7ä5 INFO x: y",
            "ääääääääääääääääääääääää",
        ] {
            assert_eq!(Head::parse(line), None, "{line}");
        }
    }

    #[test]
    fn levels_are_ordered_and_read_in_any_case() {
        assert!(Level::Debug < Level::Info && Level::Warning < Level::Error);
        assert_eq!("Warn".parse(), Ok(Level::Warning));
        assert!("loud".parse::<Level>().is_err());
    }
}
