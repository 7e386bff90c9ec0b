//! Cards in words.

use hermes_board::card::{Card, Status};
use hermes_board::extras::Extras;
use hermes_board::{CardId, Seconds};
use jiff::Timestamp;

use super::screen::{Screen, line, pad};
use crate::commands::sessions::text::moment;
use hermes_cli::chat::text::cells;

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
pub fn colour(status: Status) -> &'static str {
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
pub fn row(
    card: &Card,
    extras: Option<&Extras>,
    fallback: Option<&str>,
    now: Seconds,
    screen: &Screen,
) -> String {
    let Screen { paint, width, .. } = *screen;
    let head = format!("{} {}  {}", icon(card.status), card.id, pad(card.status.as_str(), 8));
    let who = pad(&who(card, fallback), 20);
    let tenant = card.tenant.as_deref().map(|tenant| format!("[{}]  ", line(tenant, 30))).unwrap_or_default();
    let notes = notes(card, extras, now);
    let used = cells(&head) + cells(&who) + cells(&tenant) + cells(&notes) + 4;
    let title = line(&card.title, width.saturating_sub(used).max(8));
    let (head, tenant, notes) =
        (paint.colour(colour(card.status), &head), paint.faint(&tenant), paint.faint(&notes));
    format!("{head}  {who}  {tenant}{title}{notes}").trim_end().to_owned()
}

/// What else is worth a word on a card's line.
pub fn notes(card: &Card, extras: Option<&Extras>, now: Seconds) -> String {
    let mut notes = Vec::new();
    if card.priority != 0 {
        notes.push(format!("p{}", card.priority));
    }
    let open = !matches!(card.status, Status::Done | Status::Archived);
    if let Some(extras) = extras.filter(|_| open) {
        notes.extend(extras.deadline.map(|at| match at - now {
            left @ 0.. => format!("due in {}", span(left)),
            late => format!("overdue {}", span(-late)),
        }));
        let later = |at: Option<Seconds>| at.filter(|at| *at > now);
        let scheduled = later(extras.run_at).filter(|_| card.status == Status::Scheduled);
        notes.extend(scheduled.map(|at| format!("in {}", span(at - now))));
        let waits = later(extras.not_before).filter(|_| card.status == Status::Ready);
        notes.extend(waits.map(|at| format!("again in {}", span(at - now))));
        notes.extend(later(extras.editing_until).map(|_| "being edited".to_owned()));
        let reviewer = extras.reviewer.as_ref().filter(|_| card.status == Status::Review);
        notes.extend(reviewer.map(|name| format!("review: {}", line(name, 30))));
    }
    if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) }
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

/// Reads a point in time: `2h` from now, `14:30`, `2026-12-24`, `2026-12-24 14:30`, a time with its zone, or `@` and seconds
/// since 1970.
pub fn parse_time(text: &str) -> Result<Seconds, String> {
    let (text, now) = (text.trim(), Timestamp::now());
    if let Some(seconds) = text.strip_prefix('@') {
        return seconds.parse().map_err(|_| format!("\"{text}\" is no time: say @1800000000"));
    }
    if let Ok(span) = parse_span(text.strip_prefix('+').unwrap_or(text)) {
        return Ok(now.as_second() + span);
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at.as_second());
    }
    let here = now.to_zoned(jiff::tz::TimeZone::system());
    let local = |at: jiff::civil::DateTime| {
        at.to_zoned(here.time_zone().clone()).map(|at| at.timestamp().as_second())
    };
    let wrong = || {
        format!(
            "\"{text}\" is no time: say 2h, 14:30, 2026-12-24, \"2026-12-24 14:30\" or 2026-12-24T14:30:00Z"
        )
    };
    if let Ok(at) = text.parse::<jiff::civil::DateTime>() {
        return local(at).map_err(|_| wrong());
    }
    let time = jiff::civil::Time::strptime("%H:%M", text).map_err(|_| wrong())?;
    let today = local(here.date().to_datetime(time)).map_err(|_| wrong())?;
    // A time that is over today is meant for tomorrow.
    if today > now.as_second() {
        return Ok(today);
    }
    let tomorrow = here.date().tomorrow().map_err(|_| wrong())?;
    local(tomorrow.to_datetime(time)).map_err(|_| wrong())
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
        let now = Timestamp::now().as_second();
        assert_eq!(parse_time("@1800000000"), Ok(1_800_000_000));
        assert_eq!(parse_time("2027-01-15T08:00:00Z"), Ok(1_800_000_000));
        assert!(parse_time("+2h").is_ok_and(|at| (7195..7210).contains(&(at - now))));
        assert!(parse_time("00:00").is_ok_and(|at| at > now && at <= now + 90_000));
        for bad in ["", "soon", "25:00", "2026-13-01", "@x"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
        assert_eq!((span(59), span(120), span(5400)), ("59s".into(), "2m".into(), "1.5h".into()));
    }
}
