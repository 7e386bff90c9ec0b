//! Where things stand: for the wizard, for its summary, and for those who cannot be asked.

use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_model::probe::Verdict;
use hermes_model::provider::{ResolveError, Wanted, resolve};
use hermes_model::setup::{self, SetupError};

use super::super::model::Desk;
use super::super::sandbox::Place;
use super::Section;
use crate::app::App;
use crate::ui;

/// How a part of the setup stands.
#[derive(Debug, PartialEq, Eq)]
pub enum Standing {
    /// It can be used.
    Works(String),
    /// Nobody set it.
    Missing(String),
    /// It is set, but leads nowhere.
    Broken(String),
}

/// The model: settings and keys only, nobody is asked.
pub fn model_standing(desk: &Desk<'_>) -> Standing {
    match setup::open(desk.app.home.dir(), &desk.settings, &Wanted::default()) {
        Ok(chain) => {
            let names = chain.routes.first().map(hermes_model::Route::names).unwrap_or_default();
            Standing::Works(format!("{} of {}", names.1, names.0))
        }
        Err(error) if error.is_nothing_set_up() => Standing::Missing(error.to_string()),
        Err(error) => Standing::Broken(error.to_string()),
    }
}

/// What the endpoint has against us now, asked for real.
pub fn live_problem(desk: &Desk<'_>) -> Option<String> {
    let variables = |name: &str| desk.variable(name);
    let resolved = resolve(&desk.config, &Wanted::default(), &variables, &desk.stored).ok()?;
    let refused = desk.try_key(&resolved).err()?;
    matches!(refused.verdict, Verdict::WrongKey | Verdict::Unreachable).then_some(refused.text)
}

/// The commands that set what is missing.
fn model_commands(desk: &Desk<'_>) -> Vec<String> {
    let error = setup::open(desk.app.home.dir(), &desk.settings, &Wanted::default()).err();
    match error {
        Some(SetupError::Resolve(ResolveError::NoKey { variables, provider })) => {
            let variable = variables.first().cloned().unwrap_or_default();
            vec![
                format!("hermes config set {variable} < key.txt"),
                format!("hermes auth add {provider} < key.txt        (one of several keys)"),
            ]
        }
        Some(SetupError::NoModel(provider)) => {
            vec![format!("hermes model list --provider {provider}"), "hermes model NAME".to_owned()]
        }
        Some(_) => vec![
            "hermes model NAME --provider openrouter --key-stdin < key.txt".to_owned(),
            "hermes model NAME --base-url http://127.0.0.1:11434/v1".to_owned(),
        ],
        None => Vec::new(),
    }
}

/// Says what is missing, with the commands that set it. Nobody is asked anything.
pub fn missing(app: &App, sections: &[Section]) -> anyhow::Result<ExitCode> {
    let mut complete = true;
    let mut report = String::new();
    let mut add = |name: &str, state: &str, commands: &[String]| {
        let _ = writeln!(report, "{name:<10}{state}");
        for command in commands {
            let _ = writeln!(report, "{:<10}  → {command}", "");
        }
    };
    for section in sections {
        if *section == Section::Model {
            let desk = Desk::open(app)?;
            match model_standing(&desk) {
                Standing::Works(what) => add("model", &format!("ok: {what}"), &[]),
                Standing::Missing(why) => {
                    complete = false;
                    add("model", &format!("MISSING: {why}"), &model_commands(&desk));
                }
                Standing::Broken(why) => {
                    complete = false;
                    add("model", &format!("BROKEN: {why}"), &model_commands(&desk));
                }
            }
        } else {
            match Place::of(app).and_then(|place| place.reachable().map(|_| place.describe())) {
                Ok(place) => add("terminal", &format!("ok: commands run {place}"), &[]),
                Err(error) => {
                    complete = false;
                    let commands =
                        ["hermes config set terminal.backend local".to_owned(), "hermes doctor".to_owned()];
                    add("terminal", &format!("BROKEN: {error:#}"), &commands);
                }
            }
        }
    }
    ui::print(&report)?;
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::from(ui::FAILED) })
}

/// What came of the questions.
pub fn summary(app: &App) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(app)?;
    let (model, works) = match model_standing(&desk) {
        Standing::Works(what) => (what, true),
        Standing::Missing(why) | Standing::Broken(why) => (format!("not usable: {why}"), false),
    };
    let place = Place::of(app).map_or_else(|error| format!("not usable: {error}"), |place| place.describe());
    ui::note("");
    ui::note(&format!("model     {model}"));
    ui::note(&format!("commands  run {place}"));
    ui::note(&format!("settings  {}", app.home.config_file().display()));
    if works {
        ui::note("\nReady. `hermes` starts a conversation; `hermes doctor` checks everything.");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(ui::FAILED))
}
