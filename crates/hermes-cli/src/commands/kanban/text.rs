//! Cards in words.

use hermes_board::card::{Card, Status};
use hermes_board::{CardId, Seconds};
use jiff::Timestamp;

use crate::commands::sessions::text::{line, moment};

/// The sign of a status.
pub fn icon(status: Status) -> &'static str {
    match status {
        Status::Triage | Status::Review => "?",
        Status::Todo => "◻",
        Status::Ready => "▶",
        Status::Running => "●",
        Status::Scheduled => "⏱",
        Status::Blocked => "⊘",
        Status::Done => "✓",
        Status::Archived => "—",
    }
}

/// The colour of a status, for a terminal.
fn colour(status: Status) -> &'static str {
    match status {
        Status::Ready => "36",
        Status::Running => "33",
        Status::Blocked => "31",
        Status::Review | Status::Triage => "35",
        Status::Done => "32",
        Status::Todo | Status::Scheduled | Status::Archived => "2",
    }
}

/// Who works on a card, or who will, or that nobody does.
pub fn who(card: &Card, fallback: Option<&str>) -> String {
    match (&card.assignee, fallback) {
        (Some(name), _) => line(name, 40),
        (None, _) if matches!(card.status, Status::Done | Status::Archived) => "(unassigned)".to_owned(),
        (None, Some(name)) => format!("(→ {name})"),
        (None, None) => "(nobody)".to_owned(),
    }
}

/// A card on one line.
pub fn row(card: &Card, fallback: Option<&str>, width: usize, paint: Paint) -> String {
    let tenant = card.tenant.as_deref().map(|tenant| format!("[{}]  ", line(tenant, 30))).unwrap_or_default();
    let who = who(card, fallback);
    let head = format!("{} {}  {:<8}  {:<20} ", icon(card.status), card.id, card.status, who);
    let room = width.saturating_sub(head.chars().count() + 1 + tenant.chars().count()).max(8);
    let title = line(&card.title, room);
    match paint {
        Paint::Plain => format!("{head} {tenant}{title}"),
        Paint::Colours => {
            let code = colour(card.status);
            let head = format!(
                "\u{1b}[{code}m{} {}  {:<8}\u{1b}[0m  {who:<20} ",
                icon(card.status),
                card.id,
                card.status
            );
            format!("{head} \u{1b}[2m{tenant}\u{1b}[0m{title}")
        }
    }
}

/// Whether there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// No.
    Plain,
    /// Yes.
    Colours,
}

/// A point in time.
pub fn at(seconds: Seconds) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), moment)
}

/// A span as people say it.
pub fn span(seconds: Seconds) -> String {
    match seconds {
        ..60 => format!("{}s", seconds.max(0)),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{:.1}h", seconds as f64 / 3600.0),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Names in a row.
pub fn names(ids: &[CardId]) -> String {
    ids.iter().map(CardId::as_str).collect::<Vec<_>>().join(", ")
}

/// Reads a span such as `90s`, `30m`, `2h`, `1d`, or seconds.
pub fn parse_span(text: &str) -> Result<i64, String> {
    let text = text.trim();
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3600),
        Some((at, 'd')) => (&text[..at], 86_400),
        _ => (text, 1),
    };
    let seconds = number.parse::<i64>().ok().filter(|n| *n > 0).and_then(|n| n.checked_mul(unit));
    seconds.ok_or_else(|| format!("\"{text}\" is no span: say 300, 90s, 30m, 2h or 1d"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_said() {
        assert_eq!(parse_span("300"), Ok(300));
        assert_eq!(parse_span(" 2h "), Ok(7200));
        assert_eq!(parse_span("1d"), Ok(86_400));
        for bad in ["", "h", "-5", "0", "2w", "99999999999999999d", "é"] {
            assert!(parse_span(bad).is_err(), "{bad}");
        }
        assert_eq!((span(59), span(120), span(5400)), ("59s".into(), "2m".into(), "1.5h".into()));
    }
}
