//! How a profile works, as far as its guard must know: where its home is and where its commands run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hermes_home::settings::table::terminal as table;
use hermes_home::{Home, Profile, Settings};

use super::command::{Environment, Terminal};

/// See the module.
pub(super) struct Told {
    /// The profile's home.
    pub home: PathBuf,
    /// Where its commands run.
    pub terminal: Terminal,
    /// What it mounts into its boxes.
    pub volumes: Vec<String>,
    /// Variables it sets there.
    pub box_env: BTreeMap<String, String>,
}

/// Reads it, or says what is wrong with it.
pub(super) fn read(homes: &Path, profile: &str, env: &Environment) -> Result<Told, String> {
    let name = Profile::parse(profile).map_err(|error| error.to_string())?;
    let home = Home::at(homes, name);
    if !home.dir().is_dir() {
        return Err(format!("there is no profile \"{profile}\": `hermes profile create {profile}` makes it"));
    }
    let settings = Settings::load(&home, env).map_err(|error| error.to_string())?;
    let backend = settings.get(&table::BACKEND).map_err(|error| error.to_string())?;
    let terminal = match backend.as_str() {
        "local" => Terminal::Here,
        "docker" | "podman" => Terminal::Container,
        _ => Terminal::Elsewhere,
    };
    let volumes = settings.get(&table::DOCKER_VOLUMES).map_err(|error| error.to_string())?;
    let box_env = settings.get(&table::DOCKER_ENV).map_err(|error| error.to_string())?;
    Ok(Told { home: home.dir().to_owned(), terminal, volumes, box_env })
}
