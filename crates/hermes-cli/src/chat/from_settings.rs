//! What the settings say about a chat.

use std::path::PathBuf;

use hermes_home::Settings;
use hermes_home::settings::table::{display, other};
use hermes_home::settings::{Origin, SettingError};
use serde_json::Value;

use super::options::{Bell, BusyInput, ChatOptions, Reasoning, ShowCost, ToolDetail};
use super::slash::{Commands, QuickAction, QuickCommand};

impl ChatOptions {
    /// The options the settings ask for. What depends on the process (history file, editor, search path, the user's
    /// home, a greeting) is for the caller.
    pub fn from_settings(settings: &Settings, cwd: impl Into<PathBuf>) -> Result<Self, SettingError> {
        let busy = settings.get(&display::BUSY_INPUT_MODE)?;
        let reasoning =
            match (settings.get(&display::SHOW_REASONING)?, settings.get(&display::REASONING_FULL)?) {
                (false, _) => Reasoning::Hidden,
                (true, false) => Reasoning::Brief,
                (true, true) => Reasoning::Full,
            };
        let verbose = settings.get(&display::TOOL_PROGRESS)? == "verbose";
        // The status line is the place for money; only an explicit no keeps it out.
        let cost = settings.resolve(&display::SHOW_COST.spec)?;
        let hidden = cost.value == Value::Bool(false) && cost.origin != Origin::Default;
        Ok(Self {
            busy_input: BusyInput::named(&busy).unwrap_or(BusyInput::Interrupt),
            reasoning,
            tool_detail: if verbose { ToolDetail::Output } else { ToolDetail::Compact },
            bell: if settings.get(&display::BELL_ON_COMPLETE)? { Bell::Rings } else { Bell::Silent },
            cost: if hidden { ShowCost::Never } else { ShowCost::WhenKnown },
            commands: Commands::new(Vec::new(), quick_commands(&settings.get(&other::QUICK_COMMANDS)?)),
            ..Self::plain(cwd)
        })
    }
}

/// The shortcuts that make sense; others are left out, as the reference does.
fn quick_commands(tree: &Value) -> Vec<QuickCommand> {
    let entries = tree.as_object().into_iter().flatten();
    entries.filter_map(|(name, entry)| quick_command(name, entry)).collect()
}

fn quick_command(name: &str, entry: &Value) -> Option<QuickCommand> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|t| !t.trim().is_empty());
    let action = match text("type")? {
        "exec" => QuickAction::Run(text("command")?.to_owned()),
        "alias" => QuickAction::Alias(text("target")?.to_owned()),
        _ => return None,
    };
    Some(QuickCommand { name: name.trim_start_matches('/').to_ascii_lowercase(), action })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    #[test]
    fn the_defaults_suit_most_people() {
        let options = ChatOptions::from_settings(&Settings::default(), "/").unwrap();
        assert_eq!(options.busy_input, BusyInput::Interrupt);
        assert_eq!((options.reasoning, options.cost), (Reasoning::Brief, ShowCost::WhenKnown));
    }

    #[test]
    fn settings_count() {
        let settings = Settings::default()
            .with_flag(&display::BUSY_INPUT_MODE, json!("queue"))
            .with_flag(&display::SHOW_COST, json!(false))
            .with_flag(&display::SHOW_REASONING, json!(false));
        let options = ChatOptions::from_settings(&settings, "/").unwrap();
        assert_eq!(options.busy_input, BusyInput::Queue);
        assert_eq!((options.reasoning, options.cost), (Reasoning::Hidden, ShowCost::Never));
    }

    #[test]
    fn shortcuts_that_make_no_sense_are_left_out() {
        let tree = json!({
            "Disk": {"type": "exec", "command": "df -h"},
            "/r": {"type": "alias", "target": "/retry"},
            "odd": {"type": "exec"},
            "odder": "text",
        });
        let names: Vec<String> = quick_commands(&tree).into_iter().map(|q| q.name).collect();
        assert_eq!(names, ["disk", "r"]);
    }
}
