//! `hermes kanban gc`

use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_board::gc::{How, Keep, Swept};
use serde_json::json;

use super::Desk;
use crate::ui;

/// Throw away what nobody needs: workspaces of archived cards, old events and logs, files of removed cards
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep events of finished cards for so many days
    #[arg(long, default_value_t = 30, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(0..=36_500))]
    event_retention_days: i64,
    /// Keep logs for so many days
    #[arg(long, default_value_t = 30, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(0..=36_500))]
    log_retention_days: i64,
    /// Only say what would go
    #[arg(long)]
    dry_run: bool,
}

/// Throws away what nobody needs.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    let keep = Keep { events: args.event_retention_days * 86_400, logs: args.log_retention_days * 86_400 };
    let how = if args.dry_run { How::Dry } else { How::Real };
    let swept = match desk.look()? {
        Some(_) => desk.board()?.sweep(keep, how, desk.now)?,
        None => Swept::default(),
    };
    for (path, why) in &swept.stay {
        ui::warn(&format!("{} stays: {why}", path.display()));
    }
    let verb = if args.dry_run { "Would remove" } else { "Removed" };
    let count = |number: usize, thing: &str| ui::count(number as u64, thing);
    let mut text = format!(
        "{verb} {}, {}, {}, files of {}, {} without a card",
        count(swept.workspaces.len(), "workspace"),
        count(swept.events, "event row"),
        count(swept.logs.len(), "log file"),
        count(swept.attachments.len(), "removed card"),
        count(swept.rows, "row"),
    );
    if args.dry_run {
        for path in swept.workspaces.iter().chain(&swept.attachments).chain(&swept.logs) {
            let _ = write!(text, "\n  {}", path.display());
        }
    }
    desk.say(&text, || {
        json!({
            "dry_run": args.dry_run, "workspaces": swept.workspaces, "event_rows": swept.events,
            "logs": swept.logs, "attachments": swept.attachments, "rows": swept.rows,
            "stay": swept.stay.iter().map(|(path, why)| json!({ "path": path, "error": why })).collect::<Vec<_>>(),
        })
    })?;
    Ok(if swept.stay.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(ui::FAILED) })
}
