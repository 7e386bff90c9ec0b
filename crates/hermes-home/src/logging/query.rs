//! Which records a reader wants to see.

use jiff::SignedDuration;
use jiff::civil::DateTime;

use super::component::Component;
use super::record::{Level, Record};

/// Conditions a record must meet; what is `None` does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// At least this important.
    pub level: Option<Level>,
    /// Not older than this, in the local time of the files.
    pub since: Option<DateTime>,
    /// The session's tag or the text holds this.
    pub session: Option<String>,
    /// Written by this part of the program.
    pub component: Option<Component>,
}

/// Clocks go back an hour once a year, and records of two processes are not quite in order.
const DISORDER: SignedDuration = SignedDuration::from_hours(2);

impl Query {
    /// Whether the record meets every condition. A record whose head is unknown meets only an empty query.
    pub fn accepts(&self, record: &Record) -> bool {
        let Some(head) = &record.head else { return *self == Self::default() };
        self.level.is_none_or(|least| head.level >= least)
            && self.since.is_none_or(|since| head.time >= since)
            && self.component.is_none_or(|component| component.owns(&head.logger))
            && self.session.as_deref().is_none_or(|id| {
                head.session.as_deref().is_some_and(|tag| tag.contains(id)) || record.message().contains(id)
            })
    }

    /// Whether everything written before this record is certainly too old.
    pub(super) fn is_past(&self, record: &Record) -> bool {
        let (Some(since), Some(head)) = (self.since, &record.head) else { return false };
        since.checked_sub(DISORDER).is_ok_and(|limit| head.time < limit)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn record(line: &str) -> Record {
        Record::starting(line.to_owned())
    }

    #[test]
    fn every_condition_must_hold() {
        let error = record("2026-11-15 20:54:14,735 ERROR [s_12] tools.x: failed for s_99");
        let with = |change: fn(&mut Query)| {
            let mut query = Query::default();
            change(&mut query);
            query.accepts(&error)
        };
        assert!(with(|_| ()));
        assert!(with(|q| q.level = Some(Level::Warning)) && !with(|q| q.level = Some(Level::Critical)));
        assert!(with(|q| q.session = Some("12".into())) && with(|q| q.session = Some("s_99".into())));
        assert!(!with(|q| q.session = Some("s_77".into())));
        assert!(
            with(|q| q.component = Some(Component::Tools)) && !with(|q| q.component = Some(Component::Cron))
        );
        assert!(with(|q| q.since = Some("2026-11-15T20:54:14".parse().unwrap())));
        assert!(!with(|q| q.since = Some("2026-11-15T20:54:15".parse().unwrap())));
    }

    #[test]
    fn a_headless_record_passes_only_without_conditions() {
        let lost = record("  File \"x.py\", line 1");
        assert!(Query::default().accepts(&lost));
        assert!(!Query { level: Some(Level::Debug), ..Query::default() }.accepts(&lost));
    }
}
