//! Sessions in words: times as people say them, rows of a table, JSON.

use hermes_home::Profile;
use hermes_store::sessions::{Kind, SessionId, SessionRow};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::app::App;
use crate::ui;

/// How long ago something was.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(then.as_second());
    match seconds {
        i64::MIN..60 => "just now".to_owned(),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86_400 => format!("{}h ago", seconds / 3600),
        86_400..2_592_000 => format!("{}d ago", seconds / 86_400),
        _ => then.to_zoned(jiff::tz::TimeZone::system()).date().to_string(),
    }
}

/// A point in time, to the minute, where the user is.
pub fn moment(at: Timestamp) -> String {
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Text of a stranger on one line of ours, cut to a width.
pub fn line(text: &str, width: usize) -> String {
    let line = ui::harmless(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    if line.chars().count() <= width {
        return line;
    }
    line.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// What a session is called: its title, or else how it begins.
pub fn name(row: &SessionRow, width: usize) -> String {
    match &row.title {
        Some(title) => line(title, width),
        None if row.preview.is_empty() => "(nothing said)".to_owned(),
        None => line(&row.preview, width),
    }
}

/// Numbers of tokens as people read them.
pub fn tokens(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.2}M", count as f64 / 1e6),
    }
}

/// Money.
pub fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// The command that goes on with a session.
pub fn resume_command(app: &App, id: &SessionId) -> String {
    match app.home.profile() {
        Profile::Default => format!("hermes --resume {id}"),
        Profile::Named(name) => format!("hermes -p {name} --resume {id}"),
    }
}

const WIDEST_NAME: usize = 50;

/// A table of sessions.
pub fn table(rows: &[SessionRow], now: Timestamp) -> String {
    let cells = |row: &SessionRow| {
        vec![
            ui::harmless(row.id.as_str()),
            name(row, WIDEST_NAME),
            line(&row.source, 12),
            row.message_count.to_string(),
            ago(row.last_active, now),
        ]
    };
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    ui::table(&["ID", "TITLE", "SOURCE", "MESSAGES", "LAST ACTIVE"], &rows)
}

/// A session in JSON.
pub fn json(row: &SessionRow) -> Value {
    json!({
        "id": row.id.as_str(),
        "title": row.title,
        "preview": row.preview,
        "source": row.source,
        "kind": kind(row.kind),
        "model": row.model,
        "provider": row.provider,
        "parent": row.parent.as_ref().map(SessionId::as_str),
        "root": row.root.as_ref().map(SessionId::as_str),
        "started_at": row.started_at.to_string(),
        "last_active": row.last_active.to_string(),
        "ended_at": row.ended_at.map(|at| at.to_string()),
        "end_reason": row.end_reason,
        "messages": row.message_count,
        "tool_calls": row.tool_call_count,
        "api_calls": row.api_call_count,
        "tokens": {
            "input": row.input_tokens,
            "output": row.output_tokens,
            "cache_read": row.cache_read_tokens,
            "cache_write": row.cache_write_tokens,
            "reasoning": row.reasoning_tokens,
        },
        "cost_usd": row.cost_usd(),
        "cost_status": row.cost_status,
        "cwd": row.cwd,
        "git_branch": row.git_branch,
        "git_root": row.git_root,
        "user_id": row.user_id,
        "profile": row.profile,
        "archived": row.archived,
    })
}

/// The name of a kind in JSON.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Conversation => "conversation",
        Kind::OneShot => "one-shot",
        Kind::Delegated => "delegated",
        Kind::Branch => "branch",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    #[test]
    fn times_are_said_as_people_say_them() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let said = |seconds: i64| ago(Timestamp::from_second(1_800_000_000 - seconds).unwrap(), now);
        assert_eq!(said(-5), "just now");
        assert_eq!(said(59), "just now");
        assert_eq!(said(60), "1m ago");
        assert_eq!(said(7199), "1h ago");
        assert_eq!(said(86_400 * 29), "29d ago");
        assert!(said(86_400 * 40).starts_with("2026-1"), "{}", said(86_400 * 40));
    }

    #[test]
    fn strangers_text_stays_on_its_line_and_steers_nothing() {
        assert_eq!(line("a\n b\u{1b}[31m", 40), "a b\\u{1b}[31m");
        assert_eq!(line("abcdef", 4), "abc…");
    }

    #[test]
    fn small_amounts_keep_their_digits() {
        assert_eq!(dollars(0.0), "$0.00");
        assert_eq!(dollars(0.0042), "$0.0042");
        assert_eq!(dollars(12.345), "$12.35");
        assert_eq!(tokens(9999), "9999");
        assert_eq!(tokens(123_456), "123.5k");
    }
}
