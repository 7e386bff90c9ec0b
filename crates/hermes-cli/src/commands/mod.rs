//! One file per command: what it takes, and the thin code that does it.

pub mod completion;
pub mod profile;

use std::process::ExitCode;

use crate::args::{Cli, Command};
use crate::ui;

/// Runs what was asked for. Commands that need no home do not look for one.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Completion(args) => completion::run(&args),
        Command::Profile(args) => profile::run(cli.profile, args),
        Command::Version => version(),
    }
}

fn version() -> anyhow::Result<ExitCode> {
    ui::print(concat!("hermes ", env!("CARGO_PKG_VERSION")))?;
    Ok(ExitCode::SUCCESS)
}
