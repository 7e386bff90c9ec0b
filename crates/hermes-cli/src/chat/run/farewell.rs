//! The last lines: what this was, and how to come back to it.

use super::Ended;
use crate::chat::figures;
use crate::chat::text::{Line, Style};

/// The lines; none when nothing happened.
pub(super) fn lines(ended: &Ended) -> Vec<Line> {
    if ended.tally.turns == 0 && ended.facts.messages == 0 {
        return Vec::new();
    }
    let facts = &ended.facts;
    let mut lines = vec![Line::new()];
    let mut about = Line::styled("Session ", Style::FAINT).with(&facts.session_id, Style::PLAIN);
    if let Some(title) = &facts.title {
        about.push(&format!(" \"{title}\""), Style::STRONG);
    }
    lines.push(about);
    let spent = ended.tally.spent;
    let mut parts = vec![
        figures::clock(ended.lasted),
        count(ended.tally.turns as u64, "turn"),
        count(ended.tally.tool_calls.into(), "tool call"),
    ];
    if spent.tokens() > 0 {
        parts.push(format!("{} tokens", figures::tokens(spent.tokens())));
    }
    if spent.micro_dollars > 0 {
        parts.push(figures::money(spent.micro_dollars));
    }
    lines.push(Line::styled(&parts.join(", "), Style::FAINT));
    lines.push(
        Line::styled("Continue with ", Style::FAINT)
            .with(&format!("hermes --resume {}", facts.session_id), Style::STRONG),
    );
    lines
}

fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
