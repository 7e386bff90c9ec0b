//! `hermes profile alias`, and the alias that comes with a new profile.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory;
use hermes_home::profile::{Profile, ProfileName};
use hermes_home::profiles::Surroundings;

use super::args::Alias;
use super::{Context, done};
use crate::{args::Cli, ui};

/// Makes or removes an alias.
pub fn run(context: &Context, args: &Alias) -> anyhow::Result<ExitCode> {
    if args.remove {
        let removed = context.profiles.remove_alias(&args.target, args.called.as_ref())?;
        let lines: Vec<String> =
            removed.iter().map(|path| format!("removed the alias {}", context.shown(path))).collect();
        return done(&lines);
    }
    let alias = match (&args.called, &args.target) {
        (Some(alias), _) | (None, Profile::Named(alias)) => alias,
        (None, Profile::Default) => {
            return Err(ui::WrongUsage("name the alias of the default profile with --name".to_owned()).into());
        }
    };
    let path = context.profiles.add_alias(&args.target, alias, &surroundings(context))?;
    let ended = done(&[made(context, alias, &args.target, &path)])?;
    hint_about_path(context);
    Ok(ended)
}

/// Makes the alias of a new profile; that it cannot be made is no reason to fail.
pub fn try_add(context: &Context, name: &ProfileName) -> Option<String> {
    let profile = Profile::Named(name.clone());
    match context.profiles.add_alias(&profile, name, &surroundings(context)) {
        Ok(path) => Some(made(context, name, &profile, &path)),
        Err(e) => {
            ui::warn(&format!("no alias was made: {e}"));
            ui::note(&format!("`hermes profile alias {name} --name ALIAS` makes one under another name"));
            None
        }
    }
}

fn made(context: &Context, alias: &ProfileName, profile: &Profile, path: &std::path::Path) -> String {
    format!("`{alias}` now runs `hermes -p {profile}` ({})", context.shown(path))
}

/// What an alias must fit in with here.
pub fn surroundings(context: &Context) -> Surroundings {
    Surroundings {
        search_path: search_path(context),
        commands: Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect(),
        // Without knowing where we are, the name is the best there is.
        exe: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("hermes")),
    }
}

fn search_path(context: &Context) -> Vec<PathBuf> {
    context.app.var("PATH").map(|path| std::env::split_paths(path).collect()).unwrap_or_default()
}

/// Says so when the shell would not find aliases.
pub fn hint_about_path(context: &Context) {
    let dir = context.profiles.alias_dir();
    if !search_path(context).contains(&dir) {
        ui::note(&format!(
            "note: {} is not on your PATH. Add this to your shell's start file:\n  export PATH=\"$HOME/.local/bin:$PATH\"",
            context.shown(&dir)
        ));
    }
}
