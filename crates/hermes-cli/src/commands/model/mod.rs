//! `hermes model`: which model answers, seen and chosen.

mod confirm;
mod desk;
mod look;
mod set;
mod wizard;

use std::process::ExitCode;

use clap::Subcommand;

use crate::app::App;
use crate::prompt::{self, Left};
use crate::ui;

pub use desk::{Desk, Refresh};
pub use look::grouped;
pub use set::read_key;
pub use wizard::{choose, choose_and_save};

/// Choose the model that answers
///
/// Without arguments it asks: which provider, its key if it has none yet, and which of its models. The key is tested
/// with a real request before it is saved, and nothing that works is replaced without asking. Leave at any point with q,
/// Ctrl-D or Ctrl-C: nothing is changed then.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  hermes model                                      choose from lists
  hermes model sonnet                               a short name: the newest of its family
  hermes model openai/gpt-5 --provider openrouter --key-stdin < key.txt
  hermes model qwen3 --base-url http://127.0.0.1:11434/v1
  hermes model list --provider anthropic            what a provider offers
  hermes model show                                 what is in use, and where that comes from

Exit code 2 without a terminal and without arguments if no model is set up."
)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    set: set::SetArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the models a provider offers
    List(look::ListArgs),
    /// Show the model in use, where it comes from, its window and its price
    Show(look::ShowArgs),
}

/// Runs `hermes model`.
pub fn run(app: &App, args: Args) -> anyhow::Result<ExitCode> {
    let done = match args.action {
        Some(Action::List(args)) => look::list(app, &args),
        Some(Action::Show(args)) => look::show(app, &args),
        None if args.set.is_empty() && prompt::is_possible() => wizard::run(app, args.set.refresh()),
        None if args.set.is_empty() => look::without_questions(app),
        None => set::run(app, &args.set),
    };
    or_left(done)
}

/// Leaving is not an error, but what was asked for is not done either.
pub fn or_left(done: anyhow::Result<ExitCode>) -> anyhow::Result<ExitCode> {
    match done {
        Err(e) if e.is::<Left>() => {
            ui::note("Left. Nothing was changed.");
            Ok(ExitCode::from(ui::FAILED))
        }
        other => other,
    }
}
