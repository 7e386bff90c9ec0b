//! `hermes insights`: what was done, with which models, and what it took.

use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_store::sessions::{DayTotals, Insights, ModelUsage, Totals};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::sessions::{open_to_look, text};
use crate::app::App;
use crate::ui;

/// Show what was done lately, with which models and tools, and what it cost
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many days back
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,
    /// Only through this door: cli, telegram, cron …
    #[arg(long)]
    source: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the overview.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    let since = Timestamp::now() - SignedDuration::from_hours(i64::from(args.days) * 24);
    let insights = match open_to_look(app)? {
        None => None,
        Some(mut store) => Some(store.insights(since, args.source.as_deref(), &TimeZone::system())?),
    };
    if args.json {
        ui::print_json(&json!({"days": args.days, "source": args.source, "insights": insights}))?;
        return Ok(ExitCode::SUCCESS);
    }
    match insights {
        Some(insights) if insights.total.sessions > 0 => ui::print(&page(&insights, args.days))?,
        _ => ui::print(&format!("Nothing was done in the last {}.", ui::count(u64::from(args.days), "day")))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// How many lines a section has at the most.
const LONGEST: usize = 10;
const BAR: usize = 30;

/// The figures as a page.
pub fn page(insights: &Insights, days: u32) -> String {
    let mut page = format!("The last {}\n\n", ui::count(u64::from(days), "day"));
    page.push_str(&overview(&insights.total));
    if !insights.models.is_empty() {
        let _ = write!(page, "\n{}", models(&insights.models));
    }
    if insights.sources.len() > 1 {
        let cells = |(source, totals): &(String, Totals)| {
            vec![
                text::line(source, 20),
                totals.sessions.to_string(),
                text::tokens(totals.input + totals.output),
            ]
        };
        let rows: Vec<Vec<String>> = insights.sources.iter().take(LONGEST).map(cells).collect();
        let _ = write!(page, "\n{}", ui::table(&["SOURCE", "SESSIONS", "TOKENS"], &rows));
    }
    if !insights.tools.is_empty() {
        let cells = |(tool, count): &(String, u64)| vec![text::line(tool, 40), count.to_string()];
        let rows: Vec<Vec<String>> = insights.tools.iter().take(LONGEST).map(cells).collect();
        let _ = write!(page, "\n{}", ui::table(&["TOOL", "CALLS"], &rows));
    }
    let _ = write!(page, "\n{}", activity(&insights.days));
    page
}

fn overview(total: &Totals) -> String {
    let mut page = String::new();
    let mut line = |label: &str, value: String| {
        let _ = writeln!(page, "{label:<12}{value}");
    };
    line("sessions", total.sessions.to_string());
    line("messages", format!("{}, {}", total.messages, ui::count(total.tool_calls, "tool call")));
    let cached = text::tokens(total.cache_read);
    line(
        "tokens",
        format!("{} in, {} out, {cached} from cache", text::tokens(total.input), text::tokens(total.output)),
    );
    let unknown = match total.unpriced_sessions {
        0 => String::new(),
        count => format!(" (and {} nobody knows the price of)", ui::count(count, "session")),
    };
    line("cost", format!("{}{unknown}", text::dollars(total.cost_usd)));
    page
}

fn models(models: &[ModelUsage]) -> String {
    let cells = |usage: &ModelUsage| {
        vec![
            text::line(&usage.model, 40),
            if usage.task.is_empty() { "–".to_owned() } else { text::line(&usage.task, 20) },
            usage.api_calls.to_string(),
            text::tokens(usage.input),
            text::tokens(usage.output),
            text::dollars(usage.cost_usd),
        ]
    };
    let rows: Vec<Vec<String>> = models.iter().take(LONGEST).map(cells).collect();
    ui::table(&["MODEL", "FOR", "CALLS", "IN", "OUT", "COST"], &rows)
}

/// A bar for each of the last days on which something was done.
fn activity(days: &[DayTotals]) -> String {
    let shown = &days[days.len().saturating_sub(LONGEST)..];
    let most = shown.iter().map(|day| day.totals.messages).max().unwrap_or(0).max(1);
    let cells = |day: &DayTotals| {
        let length = (day.totals.messages as usize * BAR).div_ceil(most as usize);
        vec![
            day.day.clone(),
            day.totals.sessions.to_string(),
            day.totals.messages.to_string(),
            "█".repeat(length),
        ]
    };
    let rows: Vec<Vec<String>> = shown.iter().map(cells).collect();
    ui::table(&["DAY", "SESSIONS", "MESSAGES", ""], &rows)
}
