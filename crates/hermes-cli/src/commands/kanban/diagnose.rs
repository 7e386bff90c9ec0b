//! `hermes kanban diagnostics`: what is wrong with cards, and what could be done.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use hermes_board::card::CardId;
use hermes_board::diagnostics::{Diagnostic, Severity, Thresholds};
use hermes_board::{Card, Status};
use hermes_home::settings::table::kanban as settings;
use serde_json::json;

use super::screen::{Paint, line, pad};
use super::{Desk, text};

/// Show what is wrong with cards, and what could be done
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only what is at least as bad
    #[arg(long, value_parser = severities())]
    severity: Option<String>,
    /// Only this card
    #[arg(long, value_name = "CARD")]
    task: Option<String>,
}

fn severities() -> PossibleValuesParser {
    PossibleValuesParser::new(Severity::ALL.iter().map(|severity| severity.as_str()))
}

impl Desk<'_> {
    /// From when on something counts as wrong.
    pub fn thresholds(&self) -> anyhow::Result<Thresholds> {
        let settings = self.app.settings()?;
        let usual = Thresholds::default();
        let limit = settings.get(&settings::FAILURE_LIMIT)?;
        let old = settings.get(&settings::DIAGNOSTICS_SPAWN_FAILURE_THRESHOLD)?;
        let failures = settings.get(&settings::DIAGNOSTICS_FAILURE_THRESHOLD)?.or(old);
        let or = |value: Option<i64>, usual: i64| value.filter(|value| *value > 0).unwrap_or(usual);
        Ok(Thresholds {
            failures: or(failures, limit),
            crashes: or(settings.get(&settings::DIAGNOSTICS_CRASH_THRESHOLD)?, usual.crashes),
            blocked: or(settings.get(&settings::DIAGNOSTICS_BLOCKED_STALE_HOURS)?, usual.blocked / 3600)
                .saturating_mul(3600),
            stranded: or(settings.get(&settings::DIAGNOSTICS_STRANDED_THRESHOLD_SECONDS)?, usual.stranded),
            cycles: or(settings.get(&settings::DIAGNOSTICS_BLOCK_CYCLE_THRESHOLD)?, usual.cycles),
            cycle_window: or(
                settings.get(&settings::DIAGNOSTICS_BLOCK_CYCLE_WINDOW_SECONDS)?,
                usual.cycle_window,
            ),
        })
    }
}

/// Shows what is wrong.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    let least = args.severity.as_deref().and_then(Severity::parse).unwrap_or(Severity::Warning);
    let card = args.task.as_ref().map(CardId::new);
    let mut found = match desk.look()? {
        Some(mut board) => board.diagnostics(card.as_ref(), &desk.thresholds()?, desk.now)?,
        None => Vec::new(),
    };
    for (_, wrong) in &mut found {
        wrong.retain(|diagnostic| diagnostic.severity >= least);
    }
    found.retain(|(_, wrong)| !wrong.is_empty());
    if found.is_empty() {
        return desk.say("Nothing is wrong with the cards of this board.", || json!([]));
    }
    let paint = desk.screen().paint;
    let count: usize = found.iter().map(|(_, wrong)| wrong.len()).sum();
    let mut out = format!("{count} found on {} of the cards:\n", found.len());
    for (card, wrong) in &found {
        out.push_str(&told(card, wrong, paint));
    }
    desk.say(&out, || {
        let value = |(card, wrong): &(Card, Vec<Diagnostic>)| {
            json!({
                "task_id": card.id, "title": card.title, "status": card.status, "assignee": card.assignee,
                "diagnostics": wrong,
            })
        };
        found.iter().map(value).collect()
    })
}

fn told(card: &Card, wrong: &[Diagnostic], paint: Paint) -> String {
    let status: Status = card.status;
    let head = format!("{} {}  {}", text::icon(status), card.id, pad(status.as_str(), 8));
    let who = text::who(card, None);
    let mut out =
        format!("\n{}  {who}  {}\n", paint.colour(text::colour(status), &head), line(&card.title, 80));
    out.push_str(&lines(wrong, paint));
    out
}

/// What is wrong, a few lines for each.
pub fn lines(wrong: &[Diagnostic], paint: Paint) -> String {
    let mut out = String::new();
    for diagnostic in wrong {
        let code = match diagnostic.severity {
            Severity::Warning => "33",
            Severity::Error | Severity::Critical => "31",
        };
        let severity = paint.colour(code, diagnostic.severity.as_str());
        let _ = writeln!(out, "  {severity}  {}: {}", diagnostic.kind, line(&diagnostic.title, 120));
        let _ = writeln!(out, "    {}", line(&diagnostic.detail, 200));
        for action in &diagnostic.actions {
            let _ = writeln!(out, "    → {}", line(&action.label, 160));
        }
    }
    out
}
