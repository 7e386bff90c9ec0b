//! The half of `hermes tools` that changes something.

use std::process::ExitCode;

use hermes_home::settings::{self, Changed, table};
use hermes_home::yaml;
use hermes_tools::toolsets::{Selection, Switch};
use serde_json::{Value, json};

use super::ChangeArgs;
use crate::app::App;
use crate::ui;

/// Switches toolsets of a platform.
pub fn switch(app: &App, switch: Switch, args: &ChangeArgs, as_json: bool) -> anyhow::Result<ExitCode> {
    let (platform, sets) = (args.platform.checked()?, args.sets()?);
    let read = app.settings()?;
    let names = Selection::saved(&read, platform)?.names_with(switch, &sets);
    let value = Value::from(names.clone());
    let changed = settings::edit_config(&app.home, |before| {
        yaml::set(before, &["platform_toolsets", platform], &value)
    })?;
    if switch == Switch::On {
        let disabled = read.get(&table::agent::DISABLED_TOOLSETS)?;
        for set in sets.iter().filter(|set| disabled.iter().any(|name| name == set.name)) {
            ui::warn(&format!(
                "{} stays off: agent.disabled_toolsets names it; `hermes config set agent.disabled_toolsets` changes that",
                set.name
            ));
        }
    }
    for set in sets.iter().filter(|set| switch == Switch::On && set.here().is_empty()) {
        ui::note(&format!("note: the tools of {} are not part of this version yet", set.name));
    }
    if as_json {
        ui::print_json(&json!({ "platform": platform, "toolsets": names }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let switched = sets.iter().map(|set| set.name).collect::<Vec<_>>().join(", ");
    let state = if switch == Switch::On { "on" } else { "off" };
    match changed {
        Changed::Written(file) => {
            ui::note(&format!(
                "{switched}: {state} for \"{platform}\", from the next conversation on ({})",
                file.display()
            ));
        }
        Changed::Unchanged(_) => ui::note(&format!("{switched}: already {state} for \"{platform}\"")),
    }
    Ok(ExitCode::SUCCESS)
}
