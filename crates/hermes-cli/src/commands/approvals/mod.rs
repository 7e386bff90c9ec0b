//! `hermes approvals`: what the user allows for good, and taking it back.

use std::process::ExitCode;

use clap::Subcommand;
use hermes_home::settings::table::safety;
use hermes_tools::gate::ledger::{self, Ledger, Record};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::app::App;
use crate::ui;

/// See what you allowed for good, and take it back
///
/// Answering a question about a command with "always" writes it down here. Patterns of `command_allowlist` in
/// config.yaml are listed too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hermes approvals list
  hermes approvals revoke 1f0c22aa
  hermes approvals revoke --all")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List what is allowed for good
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take agreements back, also for conversations that go on
    Revoke {
        /// Which, as `list` names them
        #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
        ids: Vec<String>,
        /// All of them, patterns of config.yaml included
        #[arg(long)]
        all: bool,
    },
}

/// Runs the command.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    match &args.action {
        Action::List { json } => list(app, *json),
        Action::Revoke { ids, all } => revoke(app, ids, *all),
    }
}

/// An agreement as it is listed.
struct Entry {
    id: String,
    command: String,
    record: Option<Record>,
}

/// Records that count, and patterns that were written by hand.
fn entries(app: &App) -> anyhow::Result<Vec<Entry>> {
    let patterns = app.settings()?.get(&safety::COMMAND_ALLOWLIST)?;
    let records = Ledger::new(app.home.clone()).records()?;
    let records: Vec<Record> = records.into_iter().filter(|record| record.stands_beside(&patterns)).collect();
    let patterns: Vec<Entry> = ledger::by_hand(&patterns, &records)
        .into_iter()
        .map(|pattern| Entry { id: ledger::id_of(&pattern), command: pattern, record: None })
        .collect();
    let kept = records.into_iter().map(|record| Entry {
        id: record.id.clone(),
        command: record.command.clone(),
        record: Some(record),
    });
    Ok(kept.chain(patterns).collect())
}

fn list(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let entries = entries(app)?;
    if as_json {
        ui::print_json(&entries.iter().map(as_value).collect::<Vec<Value>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    if entries.is_empty() {
        ui::note("Nothing is allowed for good.");
        return Ok(ExitCode::SUCCESS);
    }
    let row = |entry: &Entry| {
        let (since, rules) = match &entry.record {
            Some(record) => (day(record), record.rules.join(", ")),
            None => ("-".to_owned(), "pattern in config.yaml".to_owned()),
        };
        let place = ui::harmless(directory(entry).unwrap_or("anywhere"));
        vec![entry.id.clone(), since, rules, place, ui::harmless(&entry.command).replace('\n', " ⏎ ")]
    };
    let rows: Vec<Vec<String>> = entries.iter().map(row).collect();
    ui::print(&ui::table(&["ID", "SINCE", "WOULD BE ASKED FOR", "IN", "COMMAND"], &rows))?;
    ui::note("Take one back with `hermes approvals revoke ID`.");
    Ok(ExitCode::SUCCESS)
}

fn granted_at(record: &Record) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(record.granted_at).ok()?).ok()
}

fn day(record: &Record) -> String {
    granted_at(record).map_or_else(|| "-".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}

/// Where it counts; nothing is everywhere.
fn directory(entry: &Entry) -> Option<&str> {
    entry.record.as_ref()?.directory.as_deref()
}

fn as_value(entry: &Entry) -> Value {
    json!({
        "id": entry.id,
        "command": entry.command,
        "directory": directory(entry),
        "kind": if entry.record.is_some() { "command" } else { "pattern" },
        "rules": entry.record.as_ref().map(|record| record.rules.clone()).unwrap_or_default(),
        "granted_at": entry.record.as_ref().and_then(granted_at).map(|at| at.to_string()),
    })
}

fn revoke(app: &App, ids: &[String], all: bool) -> anyhow::Result<ExitCode> {
    let entries = entries(app)?;
    if let Some(unknown) = ids.iter().find(|id| !entries.iter().any(|entry| entry.id == **id)) {
        anyhow::bail!("there is no agreement \"{unknown}\": see `hermes approvals list`");
    }
    let count = Ledger::new(app.home.clone()).revoke(|id| all || ids.iter().any(|wanted| wanted == id))?;
    ui::note(&format!("{} taken back.", ui::count(count as u64, "agreement")));
    Ok(ExitCode::SUCCESS)
}
