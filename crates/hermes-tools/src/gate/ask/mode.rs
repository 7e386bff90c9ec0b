//! How it is decided before anybody is asked, as the settings say.

use std::time::Duration;

use hermes_guard::command::Sudo;
use hermes_home::Settings;
use hermes_home::settings::{SettingError, table::safety, table::terminal};

/// Whether everything that is not forbidden runs without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Yolo {
    /// It does.
    On,
    /// It does not.
    #[default]
    Off,
}

impl From<bool> for Yolo {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

/// Who looks at a dangerous command first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum First {
    /// The user.
    #[default]
    Person,
    /// A model, and then the user.
    Model,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Mode {
    /// Whether anybody is asked at all.
    pub yolo: Yolo,
    /// Who looks first.
    pub first: First,
    /// Patterns of commands that are always refused.
    pub deny: Vec<String>,
    /// Patterns of commands that never need a question.
    pub allow: Vec<String>,
    /// How long a question waits; `None` is for ever.
    pub patience: Option<Duration>,
    /// Whether sudo has a password of the user's.
    pub sudo: Sudo,
}

impl Default for Mode {
    fn default() -> Self {
        Self {
            yolo: Yolo::Off,
            first: First::Person,
            deny: Vec::new(),
            allow: Vec::new(),
            patience: None,
            sudo: Sudo::NoPassword,
        }
    }
}

impl Mode {
    /// As the settings say; `yolo` switches questions off whatever they say.
    pub fn from_settings(settings: &Settings, yolo: impl Into<Yolo>) -> Result<Self, SettingError> {
        let mode = settings.get(&safety::APPROVALS_MODE)?;
        let off = mode == "off" || settings.get(&safety::YOLO_MODE)?;
        let seconds = u64::try_from(settings.get(&safety::APPROVALS_TIMEOUT)?).unwrap_or(0);
        let password = settings.get(&terminal::SUDO_PASSWORD)?.is_some_and(|password| !password.is_empty());
        Ok(Self {
            yolo: if off { Yolo::On } else { yolo.into() },
            first: if mode == "smart" { First::Model } else { First::Person },
            deny: settings.get(&safety::APPROVALS_DENY)?,
            allow: settings.get(&safety::COMMAND_ALLOWLIST)?,
            patience: (seconds > 0).then(|| Duration::from_secs(seconds)),
            sudo: if password { Sudo::HasPassword } else { Sudo::NoPassword },
        })
    }
}
