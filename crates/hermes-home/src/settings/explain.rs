//! Why a setting has the value it has.

use serde::Serialize;
use serde_json::Value;

use super::load::{Origin, SettingError, Settings};
use super::show::masked;
use super::spec::{Effect, Kind, Place, Spec};
use super::table::is_read;

/// Everything there is to say about one setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The key.
    pub key: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// The effective value, masked if secret; `null` when the strongest source is unusable.
    pub value: Value,
    /// Why the strongest source is unusable.
    pub error: Option<String>,
    /// Where the value comes from.
    pub origin: String,
    /// Weaker sources that were overridden: their value and place.
    pub overrode: Vec<(Value, String)>,
    /// The default.
    pub default: Value,
    /// What it may hold.
    pub wants: String,
    /// Its variable.
    pub variable: Option<&'static str>,
    /// When a change takes effect.
    pub takes_effect: &'static str,
    /// How to set it.
    pub set_with: String,
}

/// Explains one setting.
pub fn explain(settings: &Settings, spec: &Spec) -> Explanation {
    let mut found = settings.candidates(spec);
    let (value, error, origin) = match found.next() {
        Some(Ok(resolved)) => (masked(spec, &resolved.value), None, resolved.origin),
        Some(Err(e)) => (Value::Null, Some(e.to_string()), e.origin),
        None => (spec.default(), None, Origin::Default),
    };
    let weaker = |candidate: Result<super::Resolved, SettingError>| match candidate {
        Ok(resolved) => (masked(spec, &resolved.value), resolved.origin.to_string()),
        Err(e) => (Value::Null, e.origin.to_string()),
    };
    Explanation {
        key: spec.key,
        doc: spec.doc.trim(),
        value,
        error,
        origin: origin.to_string(),
        overrode: found.map(weaker).collect(),
        default: spec.default(),
        wants: spec.wants(),
        variable: spec.env,
        takes_effect: takes_effect(spec),
        set_with: set_with(spec),
    }
}

fn takes_effect(spec: &Spec) -> &'static str {
    match spec.effect {
        _ if !is_read(spec) => "has no effect in this version: it is kept for programs that share this home",
        Effect::Live => "counts with the next command or conversation",
        Effect::Restart => "counts when the program that uses it is started again",
    }
}

fn set_with(spec: &Spec) -> String {
    let value = match spec.kind {
        // A secret typed as an argument would stay in the shell's history.
        Kind::Secret => "",
        Kind::List => " '[\"…\"]'",
        Kind::Table | Kind::Tree => " '{\"…\": \"…\"}'",
        _ => " VALUE",
    };
    let place = if spec.place == Place::EnvOnly || spec.is_secret() { ".env" } else { "config.yaml" };
    format!("hermes config set {}{value}   (written to {place})", spec.key)
}
