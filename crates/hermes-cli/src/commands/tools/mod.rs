//! `hermes tools`: which toolsets are on, and switching them.

mod change;
mod look;

use std::process::ExitCode;

use clap::Subcommand;
use hermes_home::settings::nearest;
use hermes_tools::toolsets::{self, Switch, Toolset};

use crate::app::App;
use crate::ui;

/// See and choose which tools the model gets
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hermes tools                     what is on for the command line
  hermes tools disable browser     switch a toolset off
  hermes tools enable video --platform telegram")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// One line for each platform: what is on
    #[arg(long)]
    summary: bool,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List every toolset, whether it is on, and its tools
    List {
        #[command(flatten)]
        platform: Platform,
    },
    /// Switch toolsets on
    Enable(ChangeArgs),
    /// Switch toolsets off
    Disable(ChangeArgs),
}

#[derive(Debug, clap::Args)]
struct ChangeArgs {
    /// The toolsets
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    platform: Platform,
}

#[derive(Debug, clap::Args)]
struct Platform {
    /// For this platform, such as telegram or cron
    #[arg(long, value_name = "PLATFORM", default_value = "cli")]
    platform: String,
}

/// Runs `hermes tools`.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    match &args.action {
        None if args.summary => look::summary(app, args.json),
        None => look::list(app, "cli", args.json),
        Some(Action::List { platform }) => look::list(app, platform.checked()?, args.json),
        Some(Action::Enable(change)) => change::switch(app, Switch::On, change, args.json),
        Some(Action::Disable(change)) => change::switch(app, Switch::Off, change, args.json),
    }
}

impl Platform {
    /// Its name, if there is such a platform.
    fn checked(&self) -> anyhow::Result<&str> {
        if toolsets::of_platform(&self.platform).is_some() {
            return Ok(&self.platform);
        }
        let all = toolsets::platforms().collect::<Vec<_>>().join(", ");
        Err(ui::WrongUsage(format!("there is no platform \"{}\": choose one of {all}", self.platform)).into())
    }
}

impl ChangeArgs {
    /// The toolsets that are named; a name that means none is wrong usage, and nothing is changed.
    fn sets(&self) -> anyhow::Result<Vec<&'static Toolset>> {
        let find = |name: &String| toolsets::find(name).ok_or_else(|| ui::WrongUsage(unknown(name)).into());
        self.names.iter().map(find).collect()
    }
}

fn unknown(name: &str) -> String {
    let close = nearest(name, toolsets::ALL.iter().map(|set| set.name));
    match close.as_slice() {
        [] => format!("there is no toolset \"{name}\": `hermes tools list` shows them"),
        close => format!("there is no toolset \"{name}\": did you mean {}?", close.join(" or ")),
    }
}
