//! One file per command: what it takes, and the thin code that does it.

pub mod approvals;
pub mod auth;
pub mod backup;
pub mod checkpoints;
pub mod completion;
pub mod config;
pub mod doctor;
pub mod dump;
pub mod fallback;
pub mod guard;
pub mod import;
pub mod insights;
pub mod kanban;
pub mod logs;
pub mod memory;
pub mod model;
pub mod profile;
pub mod prompt_size;
pub mod sandbox;
pub mod sessions;
pub mod setup;
pub mod skills;
pub mod status;
pub mod tools;

use std::process::ExitCode;

use crate::app::App;
use crate::args::{Cli, Command};
use crate::talk::args::{OneShotArgs, TalkArgs};
use crate::ui;

/// Runs what was asked for. Commands that need no home do not look for one.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let open = || App::open(cli.profile.clone());
    let Some(command) = cli.command else {
        return crate::talk::run(&open()?, &cli.talk, &cli.once);
    };
    if cli.once != OneShotArgs::default()
        || (cli.talk != TalkArgs::default() && !matches!(command, Command::Chat(_)))
    {
        let problem = "flags of a conversation (-z, -m, -c …) do not go together with this command: leave one of the two out";
        return Err(ui::WrongUsage(problem.to_owned()).into());
    }
    match command {
        Command::Approvals(args) => approvals::run(&open()?, &args),
        Command::Guard(args) => guard::run(&open()?, &args),
        Command::Backup(args) => backup::run(&args, &open()?),
        Command::Checkpoints(args) => checkpoints::run(&open()?, args),
        Command::Completion(args) => completion::run(&args),
        Command::Import(args) => import::run(&args, &open()?),
        Command::Logs(args) => logs::run(&args, &open()?),
        Command::Profile(args) => profile::run(cli.profile.clone(), args),
        Command::Memory(args) => memory::run(&open()?, &args),
        Command::Skills(args) => skills::run(&open()?, &args),
        Command::Tools(args) => tools::run(&open()?, &args),
        Command::PromptSize(args) => prompt_size::run(&open()?, &args),
        Command::Version => version(),
        Command::Status(args) => status::run(&open()?, &args),
        Command::Doctor(args) => doctor::run(cli.profile.clone(), &args),
        Command::Chat(args) => crate::talk::chat(&open()?, args.after(cli.talk)),
        Command::Demo(args) => crate::demo::run(&open()?, &args),
        Command::Dump(args) => dump::run(&open()?, &args),
        Command::Sandbox(args) => sandbox::run(&open()?, args),
        Command::Sessions(args) => sessions::run(&open()?, *args),
        Command::Kanban(args) => kanban::run(&open()?, *args),
        Command::Insights(args) => insights::run(&open()?, &args),
        Command::Config(args) => config::run(&open()?, args),
        Command::Setup(args) => setup::run(&open()?, &args),
        Command::Model(args) => model::run(&open()?, args),
        Command::Fallback(args) => fallback::run(&open()?, args),
        Command::Auth(args) => auth::run(&open()?, args),
    }
}

fn version() -> anyhow::Result<ExitCode> {
    ui::print(concat!("hermes ", env!("CARGO_PKG_VERSION")))?;
    Ok(ExitCode::SUCCESS)
}
