//! What a script is held to: limits, and what it sees of its surroundings.

use std::time::Duration;

use hermes_home::Settings;
use hermes_home::settings::{SettingError, table};
use serde_json::{Value, json};

/// Variables with one of these in their names are not for scripts.
const SECRET_WORDS: [&str; 12] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "CREDENTIAL",
    "PASSWD",
    "AUTH",
    "DSN",
    "WEBHOOK",
    "CREDS",
    "BEARER",
    "APIKEY",
];
/// Of the others a script sees those that begin like this.
const PREFIXES: [&str; 15] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    "SHELL",
    "LOGNAME",
    "XDG_",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "CONDA",
];
/// And these.
const NAMES: [&str; 4] = ["HERMES_HOME", "HERMES_PROFILE", "HERMES_CONFIG", "HERMES_ENV"];

/// Limits of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// How long it may take.
    pub timeout: Duration,
    /// How many tool calls it may make.
    pub most_calls: u64,
    /// Where it runs.
    pub mode: Mode,
}

/// Where a script runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// In the conversation's directory, with the project's own Python.
    Project,
    /// In a directory of its own, with the Python of the place.
    Strict,
}

impl Mode {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Strict => "strict",
        }
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self { timeout: Duration::from_mins(5), most_calls: 50, mode: Mode::Project }
    }
}

impl Rules {
    /// As the settings say.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let number = |value: i64| u64::try_from(value).unwrap_or_default();
        let mode = settings.get(&table::tools::CODE_EXECUTION_MODE)?;
        Ok(Self {
            timeout: Duration::from_secs(number(settings.get(&table::tools::CODE_EXECUTION_TIMEOUT)?)),
            most_calls: number(settings.get(&table::tools::CODE_EXECUTION_MAX_TOOL_CALLS)?),
            mode: if mode == "project" { Mode::Project } else { Mode::Strict },
        })
    }
}

/// Which variables a script sees, for the launcher.
pub(super) fn environment(passthrough: &[String]) -> Value {
    json!({
        "passthrough": passthrough,
        "names": NAMES,
        "secret_words": SECRET_WORDS,
        "prefixes": PREFIXES,
    })
}
