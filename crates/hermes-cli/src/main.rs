//! The `hermes` command: arguments in, one command out.

mod app;
mod args;
mod base64;
mod commands;
mod demo;
mod help;
mod logging;
mod prompt;
mod talk;
mod ui;
mod worker;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

fn main() -> ExitCode {
    // The same binary serves as the guard of a command and as the local box agent.
    hermes_box::shim::main_if_invoked();
    hermes_box::daemon::main_if_invoked();
    worker::end_with_guard();
    keep_to_ourselves();
    let matches = match help::with_groups(args::Cli::command()).try_get_matches() {
        Ok(matches) => matches,
        Err(e) => return ui::usage(&e),
    };
    let cli = match args::Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(e) => return ui::usage(&e),
    };
    match commands::run(cli) {
        Ok(code) => code,
        Err(e) => ui::failure(&e),
    }
}

/// What this process was started with holds keys. Commands it runs are of the same user and could read its environment and
/// memory otherwise. Should that not be possible, nothing else changes.
fn keep_to_ourselves() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
