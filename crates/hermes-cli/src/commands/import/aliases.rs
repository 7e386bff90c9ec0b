//! The commands that run a restored profile: they live outside the home, so no backup holds them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use hermes_home::Profile;
use hermes_home::profile::ProfileName;
use hermes_home::profiles::{Profiles, Surroundings};

use crate::app::App;
use crate::args::Cli;
use crate::ui;

/// Makes the aliases of restored profiles that have none, and gives their names. One that cannot be made is no reason to
/// fail.
pub fn restore<'a>(app: &App, paths: impl Iterator<Item = &'a Path>) -> Vec<String> {
    let profiles = Profiles::new(app.home.root(), &app.user_home());
    let around = surroundings(app);
    let mut made = Vec::new();
    for name in profiles_of(paths) {
        let profile = Profile::Named(name.clone());
        if profiles.dir(&profile).is_err() || !profiles.aliases(&profile).is_empty() {
            continue;
        }
        match profiles.add_alias(&profile, &name, &around) {
            Ok(_) => made.push(name.to_string()),
            Err(e) => ui::warn(&format!("profile \"{name}\" has no alias: {e}")),
        }
    }
    made
}

/// The profiles these paths of a root home belong to.
fn profiles_of<'a>(paths: impl Iterator<Item = &'a Path>) -> BTreeSet<ProfileName> {
    paths
        .filter_map(|path| path.strip_prefix("profiles").ok()?.iter().next()?.to_str())
        .filter_map(|name| ProfileName::parse(name).ok())
        .collect()
}

fn surroundings(app: &App) -> Surroundings {
    Surroundings {
        search_path: app.var("PATH").map(|path| std::env::split_paths(path).collect()).unwrap_or_default(),
        commands: Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect(),
        exe: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("hermes")),
    }
}
