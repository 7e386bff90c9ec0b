//! What can be typed: the global flags and the list of commands.

use clap::{Parser, Subcommand};

use crate::commands::{
    auth, backup, completion, config, doctor, dump, fallback, import, logs, model, profile, sandbox, setup,
    status,
};

/// An AI agent that runs on your own machine.
#[derive(Debug, Parser)]
#[command(
    name = "hermes",
    version,
    disable_help_subcommand = false,
    arg_required_else_help = true,
    after_help = "Run `hermes COMMAND --help` for what a command does, its flags and examples."
)]
pub struct Cli {
    /// Use this profile instead of the active one
    #[arg(short = 'p', long, global = true, value_name = "NAME")]
    pub profile: Option<String>,

    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// Every command that works.
#[derive(Debug, Subcommand)]
pub enum Command {
    Setup(setup::Args),
    Model(model::Args),
    Fallback(fallback::Args),
    Auth(auth::Args),
    Status(status::Args),
    Doctor(doctor::Args),
    Dump(dump::Args),
    Config(config::Args),
    Backup(backup::Args),
    Completion(completion::Args),
    Sandbox(sandbox::Args),
    Import(import::Args),
    Logs(logs::Args),
    Profile(profile::args::Args),
    /// Print the version
    Version,
}
