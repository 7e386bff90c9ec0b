//! `hermes skills`: which skills there are, and one of them.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Subcommand;
use hermes_skills::skills::{FindError, Library, Linked, Skill, State, linked, needs};
use serde_json::{Value, json};

use crate::app::App;
use crate::ui;

/// See the skills the agent can use
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hermes skills                    every skill, and what is wrong with it
  hermes skills show deploy        read one")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the skills
    List {
        /// Leave out those that are switched off
        #[arg(long)]
        enabled_only: bool,
        /// As they are on this platform
        #[arg(long, value_name = "PLATFORM", default_value = "cli")]
        platform: String,
    },
    /// Print a skill
    Show {
        /// Its name, or its path below the directory of skills
        name: String,
    },
}

/// Runs `hermes skills`.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    match &args.action {
        None => list(&library(app, "cli")?, false, args.json),
        Some(Action::List { enabled_only, platform }) => {
            list(&library(app, platform)?, *enabled_only, args.json)
        }
        Some(Action::Show { name }) => show(&library(app, "cli")?, name, args.json),
    }
}

fn library(app: &App, platform: &str) -> anyhow::Result<Library> {
    Ok(Library::open(&app.home, &app.settings()?, platform)?)
}

fn list(library: &Library, enabled_only: bool, as_json: bool) -> anyhow::Result<ExitCode> {
    let mut skills = library.list();
    if enabled_only {
        skills.retain(|skill| library.state(skill) == State::On);
    }
    if as_json {
        ui::print_json(&skills.iter().map(|skill| as_value(library, skill)).collect::<Vec<Value>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    if skills.is_empty() {
        let places: Vec<String> = library.roots().iter().map(|root| root.display().to_string()).collect();
        ui::note(&format!("There are no skills in {}.", places.join(", ")));
        return Ok(ExitCode::SUCCESS);
    }
    let row = |skill: &Skill| {
        let category = skill.category.clone().unwrap_or_default();
        vec![skill.name.clone(), category, word(library.state(skill)).to_owned(), short(&skill.description)]
    };
    let rows: Vec<Vec<String>> = skills.iter().map(row).collect();
    ui::print(&ui::harmless(&ui::table(&["SKILL", "CATEGORY", "STATE", "FOR"], &rows)))?;
    for skill in &skills {
        if let Some(problem) = &skill.problem {
            ui::warn(&ui::harmless(&format!("{}: {problem}", skill.file.display())));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn word(state: State) -> &'static str {
    match state {
        State::On => "on",
        State::Disabled => "off",
        State::OtherSystem => "other system",
    }
}

fn short(text: &str) -> String {
    const LENGTH: usize = 70;
    match text.char_indices().nth(LENGTH) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn as_value(library: &Library, skill: &Skill) -> Value {
    json!({
        "name": skill.name,
        "description": skill.description,
        "category": skill.category,
        "state": word(library.state(skill)),
        "file": skill.file,
        "problem": skill.problem,
    })
}

fn show(library: &Library, name: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let skill = library.find(name).map_err(|error| match error {
        FindError::Unknown { known, .. } if !known.is_empty() => {
            anyhow::anyhow!("there is no skill \"{name}\": there are {}", known.join(", "))
        }
        FindError::Ambiguous { matches, .. } => {
            anyhow::anyhow!("several skills are called \"{name}\": choose one of {}", matches.join(", "))
        }
        error => error.into(),
    })?;
    let text = skill.text().context("the skill cannot be shown")?;
    let files = skill.dir.as_deref().map(linked).unwrap_or_default();
    let wanted: Vec<String> = needs(&skill.header).into_iter().map(|need| need.name).collect();
    if as_json {
        let mut value = as_value(library, &skill);
        value["content"] = Value::from(text);
        value["linked_files"] = serde_json::to_value(&files)?;
        value["required_environment_variables"] = Value::from(wanted);
        ui::print_json(&value)?;
        return Ok(ExitCode::SUCCESS);
    }
    ui::print(&ui::harmless(&text))?;
    let names = |files: &Linked| -> Vec<String> {
        [&files.references, &files.templates, &files.assets, &files.scripts]
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    };
    ui::note(&format!("({})", skill.file.display()));
    for (what, names) in [("Files", names(&files)), ("Needs", wanted)] {
        if !names.is_empty() {
            ui::note(&format!("{what}: {}", names.join(", ")));
        }
    }
    Ok(ExitCode::SUCCESS)
}
