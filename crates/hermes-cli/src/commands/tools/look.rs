//! The half of `hermes tools` that changes nothing.

use std::collections::BTreeMap;
use std::process::ExitCode;

use hermes_agent::assembly;
use hermes_tools::Availability;
use hermes_tools::toolsets::{self, Selection, Toolset};
use serde_json::{Value, json};

use crate::app::App;
use crate::talk::{self, args::TalkArgs};
use crate::ui;

/// Why tools cannot be used here, by their names.
type Unavailable = BTreeMap<String, String>;

/// Lists the toolsets of a platform.
pub fn list(app: &App, platform: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let chosen = Selection::new(&app.settings()?, platform, &[])?;
    let unavailable = unavailable(app, platform)?;
    if as_json {
        let sets: Vec<Value> = toolsets::basic().map(|set| as_value(set, &chosen, &unavailable)).collect();
        ui::print_json(&json!({ "platform": platform, "toolsets": sets }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = toolsets::basic().flat_map(|set| rows(set, &chosen, &unavailable)).collect();
    ui::print(&ui::table(&["TOOLSET", "STATE", "FOR"], &rows))?;
    for (tool, why) in &unavailable {
        ui::note(&format!("{tool} is unavailable: {why}"));
    }
    ui::note(&format!(
        "For the platform \"{platform}\". Switch with `hermes tools enable NAME` and `hermes tools disable NAME`."
    ));
    Ok(ExitCode::SUCCESS)
}

/// Asks every tool whether it can work, as a conversation through this door would find it. They look at settings only.
fn unavailable(app: &App, platform: &str) -> anyhow::Result<Unavailable> {
    let mut opening = talk::opening(app, &TalkArgs::default())?;
    platform.clone_into(&mut opening.source);
    opening.person = talk::somebody_on(platform);
    let why = |tool: &dyn hermes_tools::Tool| match tool.available() {
        Availability::Yes => None,
        Availability::No { why } => Some((tool.spec().name, why)),
    };
    Ok(assembly::all_tools(&opening)?.iter().filter_map(|tool| why(tool.as_ref())).collect())
}

/// Whether a toolset is on, and of any use.
fn state(set: &Toolset, chosen: &Selection, unavailable: &Unavailable) -> &'static str {
    let here = set.here();
    if !chosen.is_on(set) {
        "off"
    } else if here.is_empty() {
        "not here"
    } else if here.iter().all(|tool| unavailable.contains_key(*tool)) {
        "unavailable"
    } else {
        "on"
    }
}

/// How wide the last column may be, so that a line fits into 80.
const WIDTH: usize = 50;

/// A toolset as rows of the table: what does not fit into one line goes on in the next.
fn rows(set: &Toolset, chosen: &Selection, unavailable: &Unavailable) -> Vec<Vec<String>> {
    let state = state(set, chosen, unavailable).to_owned();
    let mut heads = [set.name.to_owned(), state].into_iter().map(Some).chain(std::iter::repeat(None));
    let lines = wrapped(&words(set), WIDTH);
    let mut head = || heads.next().flatten().unwrap_or_default();
    lines.into_iter().map(|line| vec![head(), head(), line]).collect()
}

/// What it is for and its tools, in a sentence.
fn words(set: &Toolset) -> String {
    let (here, missing) = (set.here(), set.missing());
    let absent = match missing.len() {
        0..=4 => missing.join(", "),
        more => format!("{}, and {} more", missing[..3].join(", "), more - 3),
    };
    match (here.is_empty(), missing.is_empty()) {
        (true, true) => set.about.to_owned(),
        (true, false) => format!("{} (not in this version: {absent})", set.about),
        (false, true) => format!("{}: {}", set.about, here.join(", ")),
        (false, false) => format!("{}: {} (not in this version: {absent})", set.about, here.join(", ")),
    }
}

/// A text in lines of at most so many characters, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

fn as_value(set: &Toolset, chosen: &Selection, unavailable: &Unavailable) -> Value {
    let here = set.here();
    let reason = |tool: &&&str| unavailable.get(**tool).map(|why| json!({ "tool": tool, "why": why }));
    json!({
        "name": set.name,
        "about": set.about,
        "on": chosen.is_on(set),
        "state": state(set, chosen, unavailable),
        "tools": here,
        "unavailable": here.iter().filter_map(|tool| reason(&tool)).collect::<Vec<Value>>(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_too_long() {
        for set in toolsets::basic() {
            for line in wrapped(&words(set), WIDTH) {
                assert!(line.chars().count() <= WIDTH && !line.is_empty(), "{line}");
            }
            assert!(set.name.len() <= 15, "{}", set.name);
        }
    }
}
