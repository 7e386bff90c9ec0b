//! `hermes config`: looking at settings and changing them.

mod change;
mod look;

use std::process::ExitCode;

use clap::Subcommand;

use crate::app::App;
use crate::ui;

/// Show and change settings
///
/// Settings live in config.yaml and, if they are secrets, in .env, both in the home directory. A value is taken from
/// the strongest place that has one: command-line flag, environment variable, .env, config.yaml, default.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hermes config                              what is set, and where
  hermes config set terminal.backend docker
  hermes config set OPENROUTER_API_KEY       asks for the key and keeps it in .env
  hermes config explain terminal.timeout     why it has the value it has
  hermes config check                        what is wrong or has no effect")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    show: ShowArgs,
}

#[derive(Debug, Clone, clap::Args)]
struct ShowArgs {
    /// Also list settings that are at their default
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show what is set, and where (the same as `hermes config`)
    Show(ShowArgs),
    /// Print the value of a setting, or of a whole section as JSON
    Get {
        /// The setting, such as `terminal.timeout`
        key: String,
        /// Print a secret as it is instead of masked
        #[arg(long)]
        reveal: bool,
    },
    /// Set a value; only its line of the file changes
    ///
    /// Without VALUE it is asked for, or read from standard input: the way to set a secret without leaving it in the
    /// shell's history. Lists and mappings are given as JSON.
    Set {
        /// The setting, such as `terminal.timeout`, or a variable, such as `OPENROUTER_API_KEY`
        key: String,
        /// The new value
        #[arg(allow_hyphen_values = true)]
        value: Option<String>,
    },
    /// Remove a value, so that the default counts again
    Unset {
        /// The setting or variable
        key: String,
    },
    /// Open config.yaml in your editor ($VISUAL, $EDITOR) and check it afterwards
    Edit,
    /// Print where config.yaml is
    Path,
    /// Print where .env is
    EnvPath,
    /// Look for wrong values, unknown keys and settings without effect
    ///
    /// Exit code 1 if a value cannot be used; warnings alone leave it 0.
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say where a setting's value comes from and what it overrode
    Explain {
        /// The setting, such as `terminal.timeout`
        key: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the reference of all settings as Markdown
    Docs,
}

/// Runs `hermes config`.
pub fn run(app: &App, args: Args) -> anyhow::Result<ExitCode> {
    match args.action.unwrap_or(Action::Show(args.show)) {
        Action::Show(show) => look::show(app, show.all, show.json),
        Action::Get { key, reveal } => look::get(app, &key, reveal),
        Action::Check { json } => look::check(app, json),
        Action::Explain { key, json } => look::explain(app, &key, json),
        Action::Set { key, value } => change::set(app, &key, value),
        Action::Unset { key } => change::unset(app, &key),
        Action::Edit => change::edit(app),
        Action::Path => print_path(&app.home.config_file()),
        Action::EnvPath => print_path(&app.home.env_file()),
        Action::Docs => {
            ui::print(&hermes_home::settings::docs_markdown())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn print_path(path: &std::path::Path) -> anyhow::Result<ExitCode> {
    ui::print(&path.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}
