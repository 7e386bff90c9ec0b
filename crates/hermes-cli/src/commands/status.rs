//! `hermes status`: where things stand, at a glance.

use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_home::settings::table::{model, terminal};
use hermes_home::settings::{self, Place};
use serde_json::{Value, json};

use super::doctor;
use crate::app::App;
use crate::ui;

/// Show the home, the profile, the model, the keys and where commands run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also list keys that are not set
    #[arg(long)]
    all: bool,
    /// Also run the checks of `hermes doctor`
    #[arg(long)]
    deep: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the overview.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    let overview = overview(app, args.all)?;
    let checks = args.deep.then(|| doctor::results(app));
    if args.json {
        let mut overview = overview;
        if let Some(checks) = checks {
            overview["checks"] = serde_json::to_value(checks)?;
        }
        ui::print_json(&overview)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = render(&overview);
    if let Some(checks) = checks {
        let _ = write!(text, "\n{}", doctor::report(&checks));
    }
    ui::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn overview(app: &App, all: bool) -> anyhow::Result<Value> {
    let loaded = app.settings()?;
    let mut keys = serde_json::Map::new();
    for spec in settings::all().filter(|s| s.place == Place::EnvOnly && s.is_secret()) {
        let value = loaded.resolve(spec)?.value;
        if !value.is_null() || all {
            keys.insert(spec.key.to_owned(), settings::masked(spec, &value));
        }
    }
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "home": app.home.dir(),
        "profile": app.home.profile().as_str(),
        "config": presence(&app.home.config_file()),
        "env": presence(&app.home.env_file()),
        "model": loaded.get(&model::DEFAULT)?,
        "provider": loaded.get(&model::PROVIDER)?,
        "backend": loaded.get(&terminal::BACKEND)?,
        "keys": keys,
    }))
}

fn presence(path: &std::path::Path) -> &'static str {
    if path.exists() { "present" } else { "not there" }
}

fn render(o: &Value) -> String {
    let text = |key: &str| match o[key].as_str() {
        None | Some("") => "(not set)",
        Some(value) => value,
    };
    let mut out = String::new();
    for (label, key) in [
        ("version", "version"),
        ("home", "home"),
        ("profile", "profile"),
        ("config.yaml", "config"),
        (".env", "env"),
        ("model", "model"),
        ("provider", "provider"),
        ("commands run", "backend"),
    ] {
        let _ = writeln!(out, "{label:<14}{}", text(key));
    }
    let keys = o["keys"].as_object().filter(|k| !k.is_empty());
    out.push_str(if keys.is_some() { "keys\n" } else { "keys          none\n" });
    for (name, value) in keys.into_iter().flatten() {
        let _ = writeln!(out, "  {name:<28}{}", value.as_str().unwrap_or("(not set)"));
    }
    out
}
