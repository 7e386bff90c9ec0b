//! One file per command: what it takes, and the thin code that does it.

pub mod completion;
pub mod config;

use std::process::ExitCode;

use crate::app::App;
use crate::args::{Cli, Command};
use crate::ui;

/// Runs what was asked for. Commands that need no home do not look for one.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let open = || App::open(cli.profile);
    match cli.command {
        Command::Completion(args) => completion::run(&args),
        Command::Version => version(),
        Command::Config(args) => config::run(&open()?, args),
    }
}

fn version() -> anyhow::Result<ExitCode> {
    ui::print(concat!("hermes ", env!("CARGO_PKG_VERSION")))?;
    Ok(ExitCode::SUCCESS)
}
