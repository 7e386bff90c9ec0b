//! `hermes kanban list`, `stats`, `assignees` and `search`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use hermes_board::extras::Extras;
use hermes_board::query::{Archived, Filter, Sort, Stats};
use hermes_board::{Card, CardId, Status};
use serde_json::json;

use super::screen::{line, pad, table};
use super::{Desk, json, text};
use crate::ui;

/// List cards, those that come first, first
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct ListArgs {
    /// Only those of the profile in `HERMES_PROFILE`
    #[arg(long)]
    mine: bool,
    /// Only those of this profile
    #[arg(long)]
    assignee: Option<String>,
    /// Only those that stand here
    #[arg(long, value_parser = statuses())]
    status: Option<String>,
    /// Only those of this name space
    #[arg(long)]
    tenant: Option<String>,
    /// Only those made in this conversation
    #[arg(long)]
    session: Option<String>,
    /// Also those that were put away
    #[arg(long)]
    archived: bool,
    /// Which come first
    #[arg(long, default_value = "priority", value_parser = sorts())]
    sort: String,
    /// Only those of this template
    #[arg(long, value_name = "ID")]
    workflow_template_id: Option<String>,
    /// Only those at this step
    #[arg(long, value_name = "KEY")]
    step_key: Option<String>,
    /// At most so many
    #[arg(short = 'n', long)]
    limit: Option<usize>,
}

fn statuses() -> PossibleValuesParser {
    PossibleValuesParser::new(Status::ALL.iter().map(|status| status.as_str()))
}

fn sorts() -> PossibleValuesParser {
    PossibleValuesParser::new(Sort::ALL.iter().map(|(name, _)| *name))
}

/// Lists cards. Nothing is changed by looking.
pub fn list(desk: &Desk<'_>, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let mine = || desk.app.var("HERMES_PROFILE").map(str::to_owned);
    let filter = Filter {
        assignee: args
            .assignee
            .clone()
            .or_else(|| args.mine.then(mine).flatten())
            .map(|name| name.to_lowercase()),
        status: args.status.as_deref().and_then(Status::parse),
        tenant: args.tenant.clone(),
        session: args.session.clone(),
        template: args.workflow_template_id.clone(),
        step: args.step_key.clone(),
        archived: if args.archived { Archived::Shown } else { Archived::Hidden },
        limit: args.limit,
    };
    let sort =
        Sort::ALL.iter().find(|(name, _)| *name == args.sort).map(|(_, sort)| *sort).unwrap_or_default();
    let (cards, extras) = match desk.look()? {
        Some(mut board) => {
            let cards = board.list(&filter, sort)?;
            (cards, if desk.json { BTreeMap::new() } else { board.extras()? })
        }
        None => (Vec::new(), BTreeMap::new()),
    };
    if desk.json {
        let fallback = desk.fallback(&cards)?;
        let all: Vec<_> = cards.iter().map(|card| json::card(card, fallback.as_deref())).collect();
        ui::print_json(&all)?;
    } else if cards.is_empty() {
        let all = filter == Filter { limit: args.limit, ..Filter::default() };
        ui::print(if all {
            "No cards yet: `hermes kanban create TITLE` makes one."
        } else {
            "No card fits."
        })?;
    } else {
        print_rows(desk, &cards, &extras)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_rows(desk: &Desk<'_>, cards: &[Card], extras: &BTreeMap<CardId, Extras>) -> anyhow::Result<()> {
    let fallback = desk.fallback(cards)?;
    let screen = desk.screen();
    let mut lines = String::new();
    for card in cards {
        let known = extras.get(&card.id);
        lines.push_str(&text::row(card, known, fallback.as_deref(), desk.now, &screen));
        lines.push('\n');
    }
    Ok(ui::print(&lines)?)
}

/// Count cards by where they stand and whose they are
#[derive(Debug, clap::Args)]
pub struct StatsArgs {}

/// Counts cards.
pub fn stats(desk: &Desk<'_>, _: &StatsArgs) -> anyhow::Result<ExitCode> {
    let stats = match desk.look()? {
        Some(mut board) => board.stats(desk.now)?,
        None => Stats::default(),
    };
    if desk.json {
        ui::print_json(&json!({
            "by_status": stats.by_status,
            "by_assignee": stats.by_assignee,
            "oldest_ready_age_seconds": stats.oldest_ready,
            "now": desk.now,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::from("By status:\n");
    for status in Status::ALL.iter().filter(|status| **status != Status::Archived) {
        let _ = writeln!(text, "  {status:<10}{}", stats.by_status.get(status).copied().unwrap_or(0));
    }
    if !stats.by_assignee.is_empty() {
        text.push_str("\nBy assignee:\n");
        for (name, counts) in &stats.by_assignee {
            let _ = writeln!(text, "  {}  {}", pad(&line(name, 20), 20), counted(counts));
        }
    }
    if let Some(age) = stats.oldest_ready {
        let _ = writeln!(text, "\nThe oldest ready card waits since {}", text::span(age));
    }
    ui::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn counted(counts: &BTreeMap<Status, i64>) -> String {
    counts.iter().map(|(status, count)| format!("{status}={count}")).collect::<Vec<_>>().join(" ")
}

/// List profiles and the cards each has
#[derive(Debug, clap::Args)]
pub struct AssigneesArgs {}

/// Lists profiles.
pub fn assignees(desk: &Desk<'_>, _: &AssigneesArgs) -> anyhow::Result<ExitCode> {
    let stats = match desk.look()? {
        Some(mut board) => board.stats(desk.now)?,
        None => Stats::default(),
    };
    let on_disk = desk.profiles();
    let names: BTreeSet<&String> = on_disk.iter().chain(stats.by_assignee.keys()).collect();
    let none = BTreeMap::new();
    let counts = |name: &String| stats.by_assignee.get(name).unwrap_or(&none);
    if desk.json {
        let all: Vec<_> = names
            .iter()
            .map(|name| json!({ "name": name, "on_disk": on_disk.contains(*name), "counts": counts(name) }))
            .collect();
        ui::print_json(&all)?;
    } else {
        let row = |name: &&String| {
            let here = if on_disk.contains(*name) { "yes" } else { "no" };
            vec![line(name, 30), here.to_owned(), counted(counts(name))]
        };
        let rows: Vec<_> = names.iter().map(row).collect();
        ui::print(&table(&["NAME", "ON DISK", "CARDS"], &rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Find cards by words in titles, texts, comments and results
#[derive(Debug, clap::Args)]
pub struct SearchArgs {
    /// Words; all must be there
    #[arg(required = true)]
    words: Vec<String>,
    /// At most so many
    #[arg(short = 'n', long, default_value_t = 20)]
    limit: usize,
}

/// Finds cards.
pub fn search(desk: &Desk<'_>, args: &SearchArgs) -> anyhow::Result<ExitCode> {
    let found = match desk.look()? {
        Some(_) => desk.board()?.search(&args.words.join(" "), args.limit)?,
        None => Vec::new(),
    };
    if desk.json {
        let fallback = desk.fallback(found.iter().map(|found| &found.card))?;
        let all: Vec<_> = found
            .iter()
            .map(|found| {
                json!({ "task": json::card(&found.card, fallback.as_deref()), "snippet": found.snippet })
            })
            .collect();
        ui::print_json(&all)?;
    } else if found.is_empty() {
        ui::print("No card fits.")?;
    } else {
        let mut text = String::new();
        for found in &found {
            let card = &found.card;
            let _ = writeln!(
                text,
                "{} {}  {}  {}",
                text::icon(card.status),
                card.id,
                pad(card.status.as_str(), 8),
                line(&card.title, 80)
            );
            let _ = writeln!(text, "    {}", line(&found.snippet, 120));
        }
        ui::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}
