//! What every command works with: the home, the environment and where it was started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use hermes_home::settings::LoadError;
use hermes_home::{Home, HomeError, Locator, Settings};

/// The process's surroundings, read once, so that nothing below asks the process again.
#[derive(Debug)]
pub struct App {
    /// The home and profile in use.
    pub home: Home,
    /// The environment at start.
    pub env: BTreeMap<OsString, OsString>,
}

impl App {
    /// Finds the home for the profile the user named, if any.
    pub fn open(profile_flag: Option<String>) -> Result<Self, HomeError> {
        let (locator, env) = surroundings(profile_flag);
        Ok(Self { home: Home::locate(&locator)?, env })
    }

    /// Opens the root's default profile when the home that was meant cannot be opened, and says why not.
    pub fn open_anyway(profile_flag: Option<String>) -> Result<(Self, Option<HomeError>), HomeError> {
        let (locator, env) = surroundings(profile_flag);
        match Home::locate(&locator) {
            Ok(home) => Ok((Self { home, env }, None)),
            Err(refused) => Ok((Self { home: Home::root_only(&locator)?, env }, Some(refused))),
        }
    }

    /// Reads the settings of the home.
    pub fn settings(&self) -> Result<Settings, LoadError> {
        Settings::load(&self.home, &self.env)
    }

    /// A variable of the environment as text; undecodable bytes count as unset.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.env.get(&OsString::from(name)).and_then(|v| v.to_str())
    }

    /// The user's own home directory.
    pub fn user_home(&self) -> PathBuf {
        self.var("HOME").map(PathBuf::from).unwrap_or_default()
    }
}

/// What the process was started with.
fn surroundings(profile_flag: Option<String>) -> (Locator, BTreeMap<OsString, OsString>) {
    let env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let var = |name: &str| env.get(&OsString::from(name)).cloned();
    let locator = Locator {
        hermes_home: var("HERMES_HOME"),
        user_home: var("HOME").map(PathBuf::from).unwrap_or_default(),
        profile_flag,
    };
    (locator, env)
}
