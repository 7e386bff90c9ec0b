//! Before a choice is saved: what was and what will be, and a question where something that works would go.

use hermes_guard::mask;
use hermes_home::settings::Origin;
use hermes_home::settings::table::model;
use hermes_model::choice::{Choice, KeyChoice, KeyPlace, hidden_by};
use hermes_model::setup;
use serde_json::Value;

use super::desk::Desk;
use crate::prompt::{self, Enter, Left};
use crate::ui;

/// Who says yes to replacing what works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// The person at the terminal.
    Ask,
    /// It was given with `--yes`.
    Given,
}

/// Shows what changes, asks if something that works goes away, and saves.
pub fn save(desk: &Desk<'_>, choice: &Choice, consent: Consent) -> anyhow::Result<()> {
    let lines = differences(desk, choice);
    if lines.is_empty() {
        ui::note(&format!("{} of {} is in use already: nothing to change.", choice.model, choice.provider));
        return Ok(());
    }
    ui::note("");
    for line in &lines {
        ui::note(&format!("  {line}"));
    }
    if consent == Consent::Ask && works(desk) {
        agree()?;
    }
    choice.save(&desk.app.home, &desk.config, &desk.settings)?;
    ui::note(&format!("Saved to {}.", desk.app.home.config_file().display()));
    tell_what_hides(desk)
}

/// Whether what is set up now leads somewhere.
fn works(desk: &Desk<'_>) -> bool {
    setup::open(desk.app.home.dir(), &desk.settings, &hermes_model::provider::Wanted::default()).is_ok()
}

fn agree() -> anyhow::Result<()> {
    if !prompt::is_possible() {
        anyhow::bail!("this replaces a model that is set up: add --yes to do it. Nothing was changed");
    }
    if prompt::yes("Save this?", Enter::Yes)? { Ok(()) } else { Err(Left.into()) }
}

/// One line for everything that changes: `name  old → new`.
fn differences(desk: &Desk<'_>, choice: &Choice) -> Vec<String> {
    let now = |key: &str| {
        let found = hermes_home::settings::find(key).and_then(|spec| desk.settings.resolve(spec).ok());
        found.map(|found| found.value).unwrap_or_default()
    };
    let mut lines = Vec::new();
    for change in choice.changes(&desk.config, &desk.settings) {
        let label = match change.key {
            "model.default" => "model",
            "model.provider" => "provider",
            "model.base_url" => "address",
            other => other,
        };
        let secret = change.key == model::API_KEY.spec.key;
        let after = change.to.as_ref().map_or_else(|| "(not set)".to_owned(), words);
        let before = now(change.key);
        let before = if secret { mask(before.as_str().unwrap_or_default()) } else { words(&before) };
        lines.push(format!("{label:<22}{before} → {after}"));
    }
    if let KeyChoice::New(secret) = &choice.key {
        let variable = choice.key_place(&desk.config).variable();
        let before = desk.variable(&variable).map_or_else(|| "(not set)".to_owned(), |key| mask(&key));
        let file = desk.app.home.env_file();
        lines.push(format!("{variable:<22}{before} → {}   in {}", mask(secret.expose()), file.display()));
    }
    if let (KeyChoice::Variable(variable), KeyPlace::OfOwn { name, .. }) =
        (&choice.key, choice.key_place(&desk.config))
    {
        lines.push(format!("{:<22}{variable}", format!("key of {name}")));
    }
    lines
}

fn words(value: &Value) -> String {
    match value {
        Value::Null => "(not set)".to_owned(),
        Value::String(text) if text.is_empty() => "(not set)".to_owned(),
        Value::String(text) => ui::harmless(text),
        other => other.to_string(),
    }
}

/// A variable that is stronger than the file would make the choice look ignored.
fn tell_what_hides(desk: &Desk<'_>) -> anyhow::Result<()> {
    for origin in hidden_by(&desk.app.settings()?) {
        match origin {
            Origin::DotEnv { variable, .. } => ui::warn(&format!(
                "{variable} in .env overrides it: `hermes config unset {variable}` lets it count"
            )),
            origin => ui::warn(&format!("the {origin} overrides it: unset it to let the choice count")),
        }
    }
    Ok(())
}
