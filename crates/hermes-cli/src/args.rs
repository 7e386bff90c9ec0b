//! What can be typed: the global flags and the list of commands.

use clap::{Parser, Subcommand};

use crate::commands::{
    approvals, auth, backup, checkpoints, completion, config, doctor, dump, fallback, guard, import,
    insights, kanban, logs, memory, model, profile, prompt_size, sandbox, sessions, setup, skills, status,
    tools,
};
use crate::demo;
use crate::talk::ChatArgs;
use crate::talk::args::{OneShotArgs, TalkArgs};

/// An AI agent that runs on your own machine.
#[derive(Debug, Parser)]
#[command(
    name = "hermes",
    version,
    disable_help_subcommand = false,
    after_help = "Run `hermes COMMAND --help` for what a command does, its flags and examples."
)]
pub struct Cli {
    /// Use this profile instead of the active one
    #[arg(short = 'p', long, global = true, value_name = "NAME")]
    pub profile: Option<String>,

    /// A conversation, or one question
    #[command(flatten)]
    pub talk: TalkArgs,
    /// One question
    #[command(flatten)]
    pub once: OneShotArgs,

    /// What to do
    #[command(subcommand)]
    pub command: Option<Command>,
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
    Chat(ChatArgs),
    Approvals(approvals::Args),
    Guard(guard::Args),
    Config(config::Args),
    Demo(demo::Args),
    Backup(backup::Args),
    Checkpoints(checkpoints::Args),
    Completion(completion::Args),
    Sandbox(sandbox::Args),
    Sessions(Box<sessions::Args>),
    Kanban(Box<kanban::Args>),
    Insights(insights::Args),
    Import(import::Args),
    Logs(logs::Args),
    Memory(memory::Args),
    Profile(profile::args::Args),
    #[command(name = "prompt-size")]
    PromptSize(prompt_size::Args),
    Skills(skills::Args),
    Tools(tools::Args),
    /// Print the version
    Version,
}
