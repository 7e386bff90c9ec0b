//! The half of `hermes tools` that changes nothing.

use std::process::ExitCode;

use hermes_tools::toolsets::{self, Selection, Toolset};
use serde_json::{Value, json};

use crate::app::App;
use crate::ui;

/// Lists the toolsets of a platform.
pub fn list(app: &App, platform: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let chosen = Selection::new(&app.settings()?, platform, &[])?;
    if as_json {
        let sets: Vec<Value> = toolsets::basic().map(|set| as_value(set, &chosen)).collect();
        ui::print_json(&json!({ "platform": platform, "toolsets": sets }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = toolsets::basic().map(|set| row(set, &chosen)).collect();
    ui::print(&ui::table(&["TOOLSET", "STATE", "FOR", "TOOLS", "NOT IN THIS VERSION"], &rows))?;
    ui::note(&format!(
        "For the platform \"{platform}\". Switch with `hermes tools enable NAME` and `hermes tools disable NAME`."
    ));
    Ok(ExitCode::SUCCESS)
}

fn row(set: &Toolset, chosen: &Selection) -> Vec<String> {
    let state = if chosen.is_on(set) { "on" } else { "off" };
    let (here, missing) = (set.here().join(", "), set.missing());
    let missing = match missing.len() {
        0 => String::new(),
        1..=4 => missing.join(", "),
        more => format!("{}, and {} more", missing[..3].join(", "), more - 3),
    };
    vec![set.name.to_owned(), state.to_owned(), set.about.to_owned(), here, missing]
}

fn as_value(set: &Toolset, chosen: &Selection) -> Value {
    json!({
        "name": set.name,
        "about": set.about,
        "on": chosen.is_on(set),
        "tools": set.here(),
        "not_in_this_version": set.missing(),
    })
}

/// What is on, for each platform.
pub fn summary(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let settings = app.settings()?;
    let mut lines = Vec::new();
    for platform in toolsets::platforms() {
        let chosen = Selection::new(&settings, platform, &[])?;
        let sets: Vec<&str> = chosen.sets().collect();
        let tools: usize =
            toolsets::basic().filter(|set| chosen.is_on(set)).map(|set| set.here().len()).sum();
        lines.push((platform, sets, tools));
    }
    if as_json {
        let line = |(platform, sets, tools): &(&str, Vec<&str>, usize)| json!({ "platform": platform, "toolsets": sets, "tools_in_this_version": tools });
        ui::print_json(&lines.iter().map(line).collect::<Vec<Value>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = lines
        .into_iter()
        .map(|(platform, sets, tools)| vec![platform.to_owned(), tools.to_string(), sets.join(" ")])
        .collect();
    ui::print(&ui::table(&["PLATFORM", "TOOLS", "TOOLSETS"], &rows))?;
    Ok(ExitCode::SUCCESS)
}
