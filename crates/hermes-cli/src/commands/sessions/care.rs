//! `hermes sessions repair` and `optimize`.

use std::path::PathBuf;
use std::process::ExitCode;

use hermes_store::sessions::{Health, Repaired, SessionStore};
use jiff::Zoned;
use serde_json::json;

use super::open_to_look;
use crate::app::App;
use crate::ui;

/// Look for what is wrong with the store of conversations, and put it right
///
/// Makes a copy first. Exit code 1 if something is wrong that cannot be put right.
#[derive(Debug, clap::Args)]
pub struct RepairArgs {
    /// Only look
    #[arg(long, visible_alias = "dry-run")]
    check: bool,
    /// Put right even if nothing was found to be wrong
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Checks and repairs.
pub fn repair(app: &App, args: &RepairArgs) -> anyhow::Result<ExitCode> {
    let Some(mut store) = open_to_look(app)? else {
        ui::note("there are no conversations yet: nothing to repair");
        return Ok(ExitCode::SUCCESS);
    };
    let health = store.check()?;
    drop(store);
    let mend = health.damage.is_none() && !args.check && (args.force || !health.is_good());
    let repaired = mend.then(|| mended(app)).transpose()?;
    if args.json {
        ui::print_json(&json!({"good": health.is_good(), "found": health, "repaired": repaired}))?;
    } else {
        ui::print(&findings(&health, repaired.as_ref()))?;
    }
    let left = health.damage.is_some() || (args.check && !health.is_good());
    Ok(if left { ExitCode::from(ui::FAILED) } else { ExitCode::SUCCESS })
}

fn mended(app: &App) -> anyhow::Result<Repaired> {
    let mut store = SessionStore::open(&app.home.path("state.db"))?;
    Ok(store.repair(&copy_name(app))?)
}

/// Where the copy goes: beside the original, with the time in its name.
fn copy_name(app: &App) -> PathBuf {
    app.home.path(Zoned::now().strftime("state.db.before-repair-%Y%m%d-%H%M%S").to_string())
}

fn findings(health: &Health, repaired: Option<&Repaired>) -> String {
    let mut lines = Vec::new();
    if let Some(damage) = &health.damage {
        lines.push(format!("the file is damaged: {}", ui::harmless(damage)));
        lines.push("this cannot be put right: restore it with `hermes import` from a backup".to_owned());
    }
    for index in &health.stale_indexes {
        lines.push(format!("the search index {index} does not agree with the messages"));
    }
    if health.lost_messages > 0 {
        lines.push(format!("{} of sessions that are gone", ui::count(health.lost_messages, "message")));
    }
    if health.lost_children > 0 {
        lines.push(format!("{} under sessions that are gone", ui::count(health.lost_children, "session")));
    }
    if lines.is_empty() {
        lines.push("Everything is in order.".to_owned());
    }
    if let Some(done) = repaired {
        lines.push(format!("a copy is at {}", done.backup.display()));
        lines.push(format!(
            "made {} anew, found a session for {}, let {} stand alone, counted {} again",
            ui::count(done.indexes.len() as u64, "search index").replace("indexs", "indexes"),
            ui::count(done.sessions, "group of messages").replace("messagess", "messages"),
            ui::count(done.children, "session"),
            ui::count(done.counts, "session")
        ));
    }
    lines.join("\n")
}

/// Make the store of conversations smaller and searches faster
#[derive(Debug, clap::Args)]
pub struct OptimizeArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Optimizes.
pub fn optimize(app: &App, args: &OptimizeArgs) -> anyhow::Result<ExitCode> {
    if open_to_look(app)?.is_none() {
        ui::note("there are no conversations yet: nothing to do");
        return Ok(ExitCode::SUCCESS);
    }
    let mut store = SessionStore::open(&app.home.path("state.db"))?;
    let before = store.stats()?.bytes;
    store.optimize()?;
    let after = store.stats()?.bytes;
    if args.json {
        ui::print_json(&json!({"bytes_before": before, "bytes_after": after}))?;
    } else {
        ui::print(&format!("{} before, {} now", ui::size(before), ui::size(after)))?;
    }
    Ok(ExitCode::SUCCESS)
}
