//! What a turn may do, from the settings.

use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::agent;
use hermes_model::setup;

use crate::agent::Rules;
use crate::compaction::CompactionConfig;
use crate::turn::guardrails::{self, After};

/// Reads the rules of a turn.
pub fn turn_rules(settings: &Settings, model: &str, most_calls: Option<u32>) -> Result<Rules, SettingError> {
    let set = u32::try_from(settings.get(&agent::MAX_TURNS)?).unwrap_or(u32::MAX);
    Ok(Rules {
        most_calls: most_calls.unwrap_or(set).max(1),
        calls_setting: agent::MAX_TURNS.spec.key,
        most_tokens: None,
        effort: setup::effort(settings, model)?,
        max_tokens: setup::max_tokens(settings)?,
        cache: setup::cache_marks(settings)?,
        guardrails: guardrail_rules(settings)?,
        compaction: CompactionConfig::from_settings(settings)?,
    })
}

fn guardrail_rules(settings: &Settings) -> Result<guardrails::Rules, SettingError> {
    let count =
        |def| -> Result<u32, SettingError> { Ok(u32::try_from(settings.get(def)?).unwrap_or(u32::MAX)) };
    let warn = After {
        same_failure: count(&agent::WARN_EXACT_FAILURE)?,
        tool_failures: count(&agent::WARN_SAME_TOOL_FAILURE)?,
        same_result: count(&agent::WARN_NO_PROGRESS)?,
    };
    let stop = After {
        same_failure: count(&agent::STOP_EXACT_FAILURE)?,
        tool_failures: count(&agent::STOP_SAME_TOOL_FAILURE)?,
        same_result: count(&agent::STOP_NO_PROGRESS)?,
    };
    Ok(guardrails::Rules {
        warn: settings.get(&agent::GUARDRAIL_WARNINGS)?.then_some(warn),
        stop: settings.get(&agent::GUARDRAIL_HARD_STOP)?.then_some(stop),
    })
}
