//! `hermes sessions`: the conversations there are, and what can be done with them.

mod browse;
mod care;
mod change;
mod export;
mod filter;
mod look;
mod show;
pub mod text;

use std::process::ExitCode;

use clap::Subcommand;
use hermes_store::Error as StoreError;
use hermes_store::sessions::{SessionError, SessionStore};

use crate::app::App;

/// List, show, search, export and remove conversations
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    #[command(visible_alias = "ls")]
    List(look::ListArgs),
    Show(show::Args),
    Search(look::SearchArgs),
    Browse(browse::Args),
    Export(export::Args),
    Rename(change::RenameArgs),
    #[command(visible_alias = "rm")]
    Delete(change::DeleteArgs),
    Prune(change::PruneArgs),
    Archive(change::ArchiveArgs),
    Unarchive(change::UnarchiveArgs),
    Stats(look::StatsArgs),
    Repair(care::RepairArgs),
    Optimize(care::OptimizeArgs),
}

/// Runs a subcommand; the list if none was named.
pub fn run(app: &App, args: Args) -> anyhow::Result<ExitCode> {
    match args.action.unwrap_or_else(|| Action::List(look::ListArgs::default())) {
        Action::List(args) => look::list(app, &args),
        Action::Show(args) => show::run(app, &args),
        Action::Search(args) => look::search(app, args),
        Action::Browse(args) => browse::run(app, &args),
        Action::Export(args) => export::run(app, &args),
        Action::Rename(args) => change::rename(app, &args),
        Action::Delete(args) => change::delete(app, &args),
        Action::Prune(args) => change::prune(app, &args),
        Action::Archive(args) => change::archive(app, &args),
        Action::Unarchive(args) => change::unarchive(app, &args),
        Action::Stats(args) => look::stats(app, &args),
        Action::Repair(args) => care::repair(app, &args),
        Action::Optimize(args) => care::optimize(app, &args),
    }
}

/// The sessions of the home, to look at. Nothing if nobody ever talked there: looking makes no file.
pub fn open_to_look(app: &App) -> Result<Option<SessionStore>, SessionError> {
    let path = app.home.path("state.db");
    match SessionStore::open_read_only(&path) {
        Err(SessionError::Store(StoreError::Missing { .. } | StoreError::Empty { .. })) => Ok(None),
        // An older program made it; it has to be completed before it can be read.
        Err(SessionError::Store(StoreError::Outdated { .. })) => SessionStore::open(&path).map(Some),
        opened => opened.map(Some),
    }
}

/// The sessions of the home, to change. An error if there are none, because nothing is there to be changed.
fn open_to_change(app: &App, name: &str) -> Result<SessionStore, SessionError> {
    match open_to_look(app)? {
        None => Err(SessionError::NoSession { name: name.to_owned() }),
        Some(_) => SessionStore::open(&app.home.path("state.db")),
    }
}
