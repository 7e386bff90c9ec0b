//! What the settings say about compaction.

use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::context;

/// What the settings say about compaction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompactionConfig {
    /// Whether it happens by itself.
    pub automatic: bool,
    /// Share of the window at which it does.
    pub threshold: f64,
    /// Share of that threshold the newest messages may take afterwards.
    pub target: f64,
    /// First messages that stay.
    pub protect_first: usize,
    /// Last messages that stay.
    pub protect_last: usize,
}

impl Default for CompactionConfig {
    fn default() -> Self {
        Self { automatic: true, threshold: 0.5, target: 0.2, protect_first: 3, protect_last: 20 }
    }
}

impl CompactionConfig {
    /// Reads the settings.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let count = |number: i64| usize::try_from(number).unwrap_or_default();
        Ok(Self {
            automatic: settings.get(&context::ENABLED)?,
            threshold: settings.get(&context::THRESHOLD)?,
            target: settings.get(&context::TARGET_RATIO)?,
            protect_first: count(settings.get(&context::PROTECT_FIRST_N)?),
            protect_last: count(settings.get(&context::PROTECT_LAST_N)?),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn settings_nobody_made_are_the_defaults() {
        assert_eq!(
            CompactionConfig::from_settings(&Settings::default()).unwrap(),
            CompactionConfig::default()
        );
    }
}
