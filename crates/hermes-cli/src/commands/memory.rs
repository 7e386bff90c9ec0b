//! `hermes memory`: what the agent noted, how full its files are, and taking it away.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use hermes_guard::Policy;
use hermes_home::Settings;
use hermes_home::settings::{self, Change, SettingError, table::memory as table};
use hermes_skills::memory::{About, MemoryFile, length};
use hermes_tools::masked;
use serde_json::{Value, json};

use crate::app::App;
use crate::logging;
use crate::ui;

/// See and take away what the agent noted between conversations
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hermes memory                           what is noted, and how full the files are
  hermes memory reset --target user       forget what is noted about you
  hermes config set memory.memory_char_limit 4000")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show what is noted, and how full the files are
    Status,
    /// Use no further memory service, only the files
    Off,
    /// Take all notes away
    Reset {
        /// Which notes
        #[arg(long, value_enum, default_value = "all")]
        target: Target,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    All,
    Memory,
    User,
}

impl Target {
    fn notes(self) -> &'static [About] {
        match self {
            Self::All => &About::ALL,
            Self::Memory => &[About::Work],
            Self::User => &[About::User],
        }
    }
}

/// Runs `hermes memory`.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    match &args.action {
        None | Some(Action::Status) => status(app, args.json),
        Some(Action::Off) => off(app),
        Some(Action::Reset { target, yes }) => reset(app, *target, *yes),
    }
}

/// A file of notes and what is in it.
struct Notes {
    about: About,
    on: bool,
    file: MemoryFile,
    entries: Vec<String>,
}

fn look(app: &App, settings: &Settings, about: About) -> anyhow::Result<Notes> {
    let file = about.in_home(&app.home, settings)?;
    let entries = file.read()?;
    Ok(Notes { about, on: settings.get(about.switch())?, file, entries })
}

fn status(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let settings = app.settings()?;
    let notes: Vec<Notes> =
        About::ALL.into_iter().map(|about| look(app, &settings, about)).collect::<anyhow::Result<_>>()?;
    let redactor = logging::redactor(app);
    if as_json {
        let mut value: Value = notes.iter().map(as_value).collect();
        masked::value(&mut value, &redactor, Policy::Log);
        ui::print_json(&value)?;
        return Ok(ExitCode::SUCCESS);
    }
    for notes in &notes {
        ui::print(&redactor.redact(&page(notes), Policy::Log))?;
    }
    if let Some(provider) = provider(&settings)? {
        ui::note(&format!("memory.provider names \"{provider}\", which this version does not use."));
    }
    ui::note(
        "The agent changes these with its memory tool; you can edit the files, with a line § between entries.",
    );
    Ok(ExitCode::SUCCESS)
}

fn page(notes: &Notes) -> String {
    let state = if notes.on { "" } else { ", switched off" };
    let (used, limit) = (length(&notes.entries), notes.file.limit());
    let mut page = format!(
        "{} ({}{state}): {used} of {limit} characters, {}%\n",
        notes.about.as_str(),
        notes.file.path().display(),
        notes.file.percent(&notes.entries),
    );
    for entry in &notes.entries {
        let lines = ui::harmless(entry).replace('\n', "\n    ");
        let _ = writeln!(page, "  - {lines}");
    }
    page
}

fn as_value(notes: &Notes) -> Value {
    json!({
        "target": notes.about.as_str(),
        "file": notes.file.path(),
        "on": notes.on,
        "characters": length(&notes.entries),
        "limit": notes.file.limit(),
        "percent": notes.file.percent(&notes.entries),
        "entries": notes.entries,
    })
}

fn provider(settings: &Settings) -> Result<Option<String>, SettingError> {
    Ok(Some(settings.get(&table::MEMORY_PROVIDER)?).filter(|name| !name.trim().is_empty()))
}

fn off(app: &App) -> anyhow::Result<ExitCode> {
    match provider(&app.settings()?)? {
        Some(provider) => {
            settings::apply(&app.home, &[Change::unset(&table::MEMORY_PROVIDER)])?;
            ui::note(&format!("\"{provider}\" is no longer used; the files are."));
        }
        None => ui::note("No further memory service is set; the files are used."),
    }
    ui::note(
        "To switch the files off as well: `hermes config set memory.memory_enabled false`, and memory.user_profile_enabled.",
    );
    Ok(ExitCode::SUCCESS)
}

fn reset(app: &App, target: Target, yes: bool) -> anyhow::Result<ExitCode> {
    let settings = app.settings()?;
    let mut files = Vec::new();
    for about in target.notes() {
        let notes = look(app, &settings, *about)?;
        if !notes.entries.is_empty() {
            files.push(notes);
        }
    }
    if files.is_empty() {
        ui::note("Nothing is noted.");
        return Ok(ExitCode::SUCCESS);
    }
    let what = |notes: &Notes| {
        format!("{} in {}", ui::count(notes.entries.len() as u64, "note"), notes.file.path().display())
    };
    let all = files.iter().map(what).collect::<Vec<_>>().join(" and ");
    if !yes && !ui::confirm(&format!("Take away {all}? It cannot be undone."))? {
        ui::note("Nothing was changed; --yes does it without asking.");
        return Ok(ExitCode::from(ui::FAILED));
    }
    for notes in &files {
        notes.file.clear()?;
    }
    ui::note(&format!("Taken away: {all}."));
    Ok(ExitCode::SUCCESS)
}
