//! `hermes kanban attend`: looks after one attempt. The dispatcher starts it; people do not.

use std::process::ExitCode;

use hermes_board::dispatch::Rules;
use hermes_board::worker::attend::{self, Around, Charge};
use hermes_board::{CardId, RunId};

use super::Desk;
use crate::ui;

/// Look after one attempt at a card
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The card
    task_id: String,
    /// The attempt
    #[arg(long)]
    run: i64,
    /// What is written on the card
    #[arg(long)]
    lock: String,
}

/// Looks after an attempt.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    crate::logging::start(desk.app);
    let charge = Charge {
        board: desk.slug.clone(),
        card: CardId::new(&args.task_id),
        run: RunId(args.run),
        lock: args.lock.clone(),
    };
    let around = Around {
        root: desk.root.clone(),
        homes: desk.app.home.root().to_owned(),
        env: desk.app.env.clone(),
        own: std::env::current_exe()?,
        cwd: std::env::current_dir()?,
        // A worker must not go without a guard because a setting is wrong.
        rules: desk.rules().unwrap_or_else(|error| {
            ui::warn(&format!("{error:#}; the usual limits are used"));
            Rules::default()
        }),
    };
    attend::attend(&around, &charge)?;
    Ok(ExitCode::SUCCESS)
}
