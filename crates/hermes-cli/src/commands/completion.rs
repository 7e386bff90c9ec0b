//! `hermes completion`: a script that teaches a shell to complete our commands.

use std::process::ExitCode;

use clap::{CommandFactory, ValueEnum};

use crate::{args::Cli, ui};

/// Print a completion script for your shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hermes completion bash > ~/.local/share/bash-completion/completions/hermes
  hermes completion zsh > ~/.zfunc/_hermes
  hermes completion fish > ~/.config/fish/completions/hermes.fish")]
pub struct Args {
    /// The shell to write the script for
    #[arg(value_enum, default_value = "bash")]
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Prints the script.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let shell = match args.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hermes", &mut script);
    ui::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
