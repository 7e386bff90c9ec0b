//! `hermes sessions rename`, `delete`, `prune`, `archive` and `unarchive`.

use std::process::ExitCode;

use hermes_store::sessions::{Archived, Clash, ListFilter, Pruned, SessionRow};
use jiff::{Timestamp, Zoned};
use serde_json::json;

use super::filter::FilterArgs;
use super::{open_to_change, open_to_look, text};
use crate::app::App;
use crate::ui;

/// How carefully to go about it.
#[derive(Debug, Clone, Copy, clap::Args)]
struct How {
    /// Only say which conversations it would be
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Give a conversation a title
#[derive(Debug, clap::Args)]
pub struct RenameArgs {
    /// Its id, the beginning of its id, or its title
    session: String,
    /// The new title
    #[arg(required = true)]
    title: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Renames.
pub fn rename(app: &App, args: &RenameArgs) -> anyhow::Result<ExitCode> {
    let mut store = open_to_change(app, &args.session)?;
    let id = store.resolve(&args.session)?;
    let title = store.set_title(&id, &args.title.join(" "), Clash::Refuse)?;
    if args.json {
        ui::print_json(&json!({"id": id.as_str(), "title": title}))?;
    } else {
        ui::print(&format!("{id} is called \"{title}\" now"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Delete conversations, with what helpers said in them
#[derive(Debug, clap::Args)]
pub struct DeleteArgs {
    /// Their ids, beginnings of ids, or titles
    #[arg(required = true)]
    sessions: Vec<String>,
    #[command(flatten)]
    how: How,
}

/// Deletes.
pub fn delete(app: &App, args: &DeleteArgs) -> anyhow::Result<ExitCode> {
    let mut store = open_to_change(app, args.sessions.first().map_or("", String::as_str))?;
    let mut rows = Vec::new();
    for name in &args.sessions {
        let id = store.resolve(name)?;
        rows.push(store.row(&id)?);
    }
    if !agreed(&rows, "Delete", args.how)? {
        return Ok(stopped(args.how, "deleted"));
    }
    let mut gone = Pruned { sessions: Vec::new(), messages: 0 };
    for row in rows {
        let pruned = store.delete(&row.id)?;
        gone.sessions.extend(pruned.sessions);
        gone.messages += pruned.messages;
    }
    forget_files(app, &gone);
    report(&gone, args.how.json)
}

/// Delete old conversations
///
/// Only those that ended. Without any other flag: those that began more than 90 days ago.
#[derive(Debug, clap::Args)]
pub struct PruneArgs {
    #[command(flatten)]
    which: FilterArgs,
    /// Also those that were put away
    #[arg(long)]
    include_archived: bool,
    #[command(flatten)]
    how: How,
}

/// What `prune` takes when nothing else is said.
const OLD: &str = "90";

/// Prunes.
pub fn prune(app: &App, args: &PruneArgs) -> anyhow::Result<ExitCode> {
    let archived = if args.include_archived { Archived::Show } else { Archived::Hide };
    let filter = old(&args.which).filter(&Zoned::now(), archived)?;
    let rows = matching(app, &filter)?;
    if rows.is_empty() || !agreed(&rows, "Delete", args.how)? {
        return nothing_or_stopped(&rows, args.how, "deleted");
    }
    let gone = open_to_change(app, "")?.prune(&filter)?;
    forget_files(app, &gone);
    report(&gone, args.how.json)
}

fn old(which: &FilterArgs) -> FilterArgs {
    let mut which = which.clone();
    if which.is_wide() {
        which.older_than = Some(OLD.to_owned());
    }
    which
}

/// Put conversations away: they stay, and lists leave them out
///
/// Names them, or narrows down those that ended.
#[derive(Debug, clap::Args)]
pub struct ArchiveArgs {
    /// Ids, beginnings of ids, or titles
    sessions: Vec<String>,
    #[command(flatten)]
    which: FilterArgs,
    #[command(flatten)]
    how: How,
}

/// Archives.
pub fn archive(app: &App, args: &ArchiveArgs) -> anyhow::Result<ExitCode> {
    let rows = if args.sessions.is_empty() {
        if args.which.is_wide() && args.which.source.is_none() {
            let usage = "say which: name them, or narrow them down as with --older-than 90";
            return Err(ui::WrongUsage(usage.to_owned()).into());
        }
        matching(app, &args.which.filter(&Zoned::now(), Archived::Hide)?)?
    } else {
        let mut store = open_to_change(app, &args.sessions[0])?;
        let mut rows = Vec::new();
        for name in &args.sessions {
            let id = store.resolve(name)?;
            rows.push(store.row(&id)?);
        }
        rows
    };
    // Naming them is enough; a filter may have caught more than was meant.
    let how = How { yes: args.how.yes || !args.sessions.is_empty(), ..args.how };
    if rows.is_empty() || !agreed(&rows, "Put away", how)? {
        return nothing_or_stopped(&rows, how, "put away");
    }
    let mut store = open_to_change(app, "")?;
    for row in &rows {
        store.set_archived(&row.id, true)?;
    }
    if how.json {
        ui::print_json(&json!({"archived": rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>()}))?;
    } else {
        ui::print(&format!("put {} away", ui::count(rows.len() as u64, "conversation")))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Take conversations out again that were put away
#[derive(Debug, clap::Args)]
pub struct UnarchiveArgs {
    /// Ids, beginnings of ids, or titles
    #[arg(required = true)]
    sessions: Vec<String>,
}

/// Unarchives.
pub fn unarchive(app: &App, args: &UnarchiveArgs) -> anyhow::Result<ExitCode> {
    let mut store = open_to_change(app, args.sessions.first().map_or("", String::as_str))?;
    for name in &args.sessions {
        let id = store.resolve(name)?;
        store.set_archived(&id, false)?;
        ui::print(&format!("{id} is in the list again"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn matching(app: &App, filter: &ListFilter) -> anyhow::Result<Vec<SessionRow>> {
    Ok(match open_to_look(app)? {
        None => Vec::new(),
        Some(mut store) => store.prunable(filter)?,
    })
}

/// How many sessions are listed before a question.
const LISTED: usize = 20;

/// Shows what is about to happen, and asks unless that was answered before.
fn agreed(rows: &[SessionRow], verb: &str, how: How) -> anyhow::Result<bool> {
    if how.dry_run {
        if how.json {
            ui::print_json(&rows.iter().map(text::json).collect::<Vec<_>>())?;
        } else {
            ui::print(&text::table(rows, Timestamp::now()))?;
        }
        return Ok(false);
    }
    if how.yes {
        return Ok(true);
    }
    ui::note(text::table(&rows[..rows.len().min(LISTED)], Timestamp::now()).trim_end());
    if rows.len() > LISTED {
        ui::note(&format!("… and {} more", rows.len() - LISTED));
    }
    let messages: u64 = rows.iter().map(|row| row.message_count).sum();
    let what =
        format!("{} with {}", ui::count(rows.len() as u64, "conversation"), ui::count(messages, "message"));
    Ok(ui::confirm(&format!("{verb} {what}?"))?)
}

fn stopped(how: How, done: &str) -> ExitCode {
    if how.dry_run {
        ui::note(&format!("nothing was {done} (--dry-run)"));
        return ExitCode::SUCCESS;
    }
    ui::note(&format!("nothing was {done} (`-y` answers the question)"));
    ExitCode::from(ui::FAILED)
}

fn nothing_or_stopped(rows: &[SessionRow], how: How, done: &str) -> anyhow::Result<ExitCode> {
    if !rows.is_empty() {
        return Ok(stopped(how, done));
    }
    ui::print(if how.json { "[]" } else { "No conversation fits: nothing to do." })?;
    Ok(ExitCode::SUCCESS)
}

/// Removes what older programs keep of a session beside the store. It goes with the session as far as it can: a file that
/// cannot be removed must not bring the session back.
fn forget_files(app: &App, gone: &Pruned) {
    let directory = app.home.path("sessions");
    let Ok(entries) = std::fs::read_dir(&directory) else { return };
    let names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    for id in &gone.sessions {
        let (own, dump) = ([format!("{id}.json"), format!("{id}.jsonl")], format!("request_dump_{id}_"));
        for name in names.iter().filter(|name| own.contains(name) || name.starts_with(&dump)) {
            if let Err(error) = std::fs::remove_file(directory.join(name)) {
                ui::warn(&format!("could not remove {}: {error}", directory.join(name).display()));
            }
        }
    }
}

fn report(gone: &Pruned, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        let ids: Vec<&str> = gone.sessions.iter().map(hermes_store::sessions::SessionId::as_str).collect();
        ui::print_json(&json!({"deleted": ids, "messages": gone.messages}))?;
    } else {
        let sessions = ui::count(gone.sessions.len() as u64, "conversation");
        ui::print(&format!("deleted {sessions} with {}", ui::count(gone.messages, "message")))?;
    }
    Ok(ExitCode::SUCCESS)
}
