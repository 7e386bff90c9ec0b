//! The line at the bottom: the model, how full the window is, what it took. What does not fit is left out, the least
//! important first.

use std::time::Duration;

use super::conversation::{Approvals, StatusFacts};
use super::figures;
use super::options::{Glyphs, ShowCost};
use super::text::{Color, Line, Style, cut, fit};

/// Names of models are cut to this.
const MODEL_WIDTH: usize = 26;
/// Screens narrower than this show the model and the time alone.
const NARROW: usize = 52;
/// Screens narrower than this show no figures but the share of the window.
const MIDDLE: usize = 76;

/// What the line shows besides the facts of the conversation.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Since the chat began.
    pub session: Duration,
    /// How long the last turn took, or the running one.
    pub turn: Option<Duration>,
}

/// The line for a screen of that width.
pub fn render(facts: &StatusFacts, clock: Clock, cost: ShowCost, glyphs: Glyphs, width: usize) -> Line {
    let mut parts = vec![Line::plain(&fit(short_model(&facts.model), MODEL_WIDTH))];
    if width >= NARROW {
        parts.extend(window(facts, glyphs, width >= MIDDLE));
        if facts.compactions > 0 {
            parts.push(faint(&format!("{}x shortened", facts.compactions)));
        }
        let (tasks, jobs) = glyphs.background();
        if facts.background_tasks > 0 {
            parts.push(faint(&format!("{tasks}{}", facts.background_tasks)));
        }
        if facts.background_jobs > 0 {
            parts.push(faint(&format!("{jobs}{}", facts.background_jobs)));
        }
    }
    if width >= MIDDLE {
        let spent = facts.spent;
        if spent.tokens() > 0 {
            parts.push(faint(&format!("{} tokens", figures::tokens(spent.tokens()))));
        }
        if cost == ShowCost::WhenKnown && spent.micro_dollars > 0 {
            let more = if spent.unpriced > 0 { "+" } else { "" };
            parts.push(faint(&format!("{}{more}", figures::money(spent.micro_dollars))));
        }
        parts.extend(clock.turn.map(|turn| faint(&format!("last {}", figures::duration(turn)))));
    }
    parts.push(faint(&figures::clock(clock.session)));
    if facts.approvals == Approvals::Skipped {
        // In front, so that no screen is too narrow for it.
        parts.insert(0, Line::styled("YOLO", Style::color(Color::Red).bold()));
    }
    let dot = format!(" {} ", glyphs.dot());
    let mut line = Line::plain(" ");
    for (i, part) in parts.into_iter().enumerate() {
        if i > 0 {
            line.push(&dot, Style::FAINT);
        }
        line.append(part);
    }
    cut(&line, width)
}

fn faint(text: &str) -> Line {
    Line::styled(text, Style::FAINT)
}

/// `openrouter/vendor/model` is known by its last part.
fn short_model(model: &str) -> &str {
    model.rsplit('/').next().filter(|m| !m.is_empty()).unwrap_or(model)
}

fn window(facts: &StatusFacts, glyphs: Glyphs, whole: bool) -> Option<Line> {
    let Some(size) = facts.window.filter(|w| *w > 0) else {
        return (facts.context > 0 && whole)
            .then(|| faint(&format!("{} in window", figures::tokens(facts.context))));
    };
    let percent = (facts.context.saturating_mul(100) / size).min(999);
    let style = match percent {
        0..60 => Style::FAINT,
        60..85 => Style::color(Color::Yellow),
        _ => Style::color(Color::Red),
    };
    if !whole {
        return Some(Line::styled(&format!("{percent}%"), style));
    }
    let filled = (percent.min(100) as usize).div_ceil(10);
    let (full, empty) = glyphs.cells();
    let bar = format!("{}{}", full.repeat(filled), empty.repeat(10 - filled));
    let used = format!("{}/{} ", figures::tokens(facts.context), figures::tokens(size));
    Some(faint(&used).with(&bar, style).with(&format!(" {percent}%"), style))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(width: usize) -> String {
        let mut facts = StatusFacts {
            model: "vendor/some-model-with-quite-a-long-name".into(),
            context: 30_000,
            window: Some(200_000),
            compactions: 1,
            background_tasks: 2,
            background_jobs: 1,
            ..StatusFacts::default()
        };
        facts.spent.input = 45_000;
        facts.spent.micro_dollars = 123_000;
        let clock = Clock { session: Duration::from_secs(192), turn: Some(Duration::from_secs(12)) };
        render(&facts, clock, ShowCost::WhenKnown, Glyphs::Rich, width).text()
    }

    #[test]
    fn wider_screens_show_more() {
        insta::assert_snapshot!([20, 40, 60, 120].map(line).join("\n"), @r"
         some-model-with-qu…
         some-model-with-quite-a-l… · 3m12s
         some-model-with-quite-a-l… · 15% · 1x shortened · ▶2 · ⚙1 …
         some-model-with-quite-a-l… · 30.0k/200k ██░░░░░░░░ 15% · 1x shortened · ▶2 · ⚙1 · 45.0k tokens · $0.12 · last 12s · 3m…
        ");
    }

    #[test]
    fn the_warning_is_on_every_screen() {
        let facts =
            StatusFacts { model: "m".into(), approvals: Approvals::Skipped, ..StatusFacts::default() };
        let clock = Clock { session: Duration::ZERO, turn: None };
        let line = render(&facts, clock, ShowCost::Never, Glyphs::Ascii, 8);
        assert!(line.text().starts_with(" YOLO"), "{}", line.text());
    }
}
