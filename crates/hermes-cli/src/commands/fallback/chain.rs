//! The entries of the chain: what they are, and whether they lead anywhere.

use hermes_model::choice::{Choice, KeyChoice};
use hermes_model::provider::{ModelConfig, Resolved, Wanted, fallback, find, is_same, resolve};
use serde_json::{Map, Value, json};

use super::super::model::Desk;
use crate::ui::{self, WrongUsage};

/// One entry, as config.yaml has it: fields this program does not know stay.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry(pub Value);

/// All entries in the order in which they are tried.
pub fn entries(config: &ModelConfig) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    for value in &config.fallbacks {
        let entry = Entry(value.clone());
        if !all.contains(&entry) {
            all.push(entry);
        }
    }
    all
}

impl Entry {
    /// From flags. Without a provider it is the one in use.
    pub fn new(
        config: &ModelConfig,
        model: &str,
        provider: Option<&str>,
        base_url: Option<&str>,
        key_env: Option<&str>,
    ) -> anyhow::Result<Self> {
        let provider = match (provider, base_url) {
            (Some(name), _) => find(name).map_or_else(|| name.trim().to_owned(), |spec| spec.id.to_owned()),
            (None, Some(_)) => "custom".to_owned(),
            (None, None) if config.is_auto() => {
                return Err(WrongUsage("no provider is set: name one with --provider".into()).into());
            }
            (None, None) => config.provider.clone(),
        };
        // The address of the plain endpoint in use belongs to it.
        let base_url = base_url.map(str::to_owned).or_else(|| {
            (provider == config.provider && !config.provider_url.is_empty())
                .then(|| config.provider_url.clone())
        });
        Ok(Self::of(&provider, model, base_url.as_deref(), key_env))
    }

    /// From the wizard. A new key must have a place of its own first.
    pub fn chosen(desk: &Desk<'_>, choice: &Choice) -> anyhow::Result<Self> {
        let key_env = match &choice.key {
            KeyChoice::AsItIs => None,
            KeyChoice::Variable(name) => Some(name.clone()),
            KeyChoice::New(secret) => {
                let place = choice.key_place(&desk.config).variable();
                // The variable beside the model in use is not for another endpoint.
                let own = find(&choice.provider).is_some_and(|spec| spec.key_env.contains(&place.as_str()));
                let variable = if own { place } else { free_variable(desk) };
                hermes_home::settings::set(&desk.app.home, &variable, secret.expose())?;
                ui::note(&format!("{variable}: written to {}", desk.app.home.env_file().display()));
                (!own).then_some(variable)
            }
        };
        Ok(Self::of(&choice.provider, &choice.model, choice.base_url.as_deref(), key_env.as_deref()))
    }

    fn of(provider: &str, model: &str, base_url: Option<&str>, key_env: Option<&str>) -> Self {
        let mut entry = Map::new();
        entry.insert("provider".to_owned(), json!(provider));
        entry.insert("model".to_owned(), json!(model));
        for (name, value) in [("base_url", base_url), ("key_env", key_env)] {
            if let Some(value) = value {
                entry.insert(name.to_owned(), json!(value));
            }
        }
        Self(Value::Object(entry))
    }

    fn text(&self, name: &str) -> String {
        ui::harmless(self.0[name].as_str().unwrap_or_default())
    }

    /// Its provider, for people.
    pub fn provider(&self) -> String {
        let provider = self.text("provider");
        if provider.is_empty() { "custom".to_owned() } else { provider }
    }

    /// Its model.
    pub fn model(&self) -> String {
        self.text("model")
    }

    /// Its address, when it has one of its own.
    pub fn base_url(&self) -> Option<String> {
        Some(self.text("base_url")).filter(|url| !url.is_empty())
    }

    /// For messages.
    pub fn name(&self) -> String {
        format!("{} of {}", self.model(), self.provider())
    }

    /// Where it leads.
    fn resolve(&self, desk: &Desk<'_>) -> anyhow::Result<Resolved> {
        let variables = |name: &str| desk.variable(name);
        Ok(fallback(&desk.config, &self.0, &variables, &desk.stored)?)
    }

    /// Whether both are the same model in the same place.
    pub fn is_same(&self, desk: &Desk<'_>, other: &Self) -> bool {
        match (self.resolve(desk), other.resolve(desk)) {
            (Ok(one), Ok(other)) => is_same(&one, &other),
            _ => {
                (self.provider(), self.model(), self.base_url())
                    == (other.provider(), other.model(), other.base_url())
            }
        }
    }
}

/// A variable for a key that belongs to one fallback only; those of others are not overwritten.
fn free_variable(desk: &Desk<'_>) -> String {
    let name = |number: usize| match number {
        1 => "HERMES_FALLBACK_API_KEY".to_owned(),
        number => format!("HERMES_FALLBACK_{number}_API_KEY"),
    };
    (1..=usize::from(u16::MAX)).map(name).find(|name| desk.variable(name).is_none()).unwrap_or_default()
}

/// Where its key comes from, or why it cannot be used.
pub fn check(desk: &Desk<'_>, entry: &Entry) -> Result<String, String> {
    if entry.model().is_empty() {
        return Err("it names no model".to_owned());
    }
    let resolved = entry.resolve(desk).map_err(|error| error.to_string())?;
    Ok(resolved.keys.first().map_or_else(|| "no key needed".to_owned(), |key| key.origin.clone()))
}

/// An entry that leads nowhere, or to the model that has just failed, would only look like safety.
pub fn refuse_useless(desk: &Desk<'_>, entry: &Entry) -> anyhow::Result<()> {
    if let Err(problem) = check(desk, entry) {
        anyhow::bail!("{problem}. Nothing was added (--no-check adds it all the same)");
    }
    let variables = |name: &str| desk.variable(name);
    let first = resolve(&desk.config, &Wanted::default(), &variables, &desk.stored);
    if let (Ok(first), Ok(new)) = (first, entry.resolve(desk))
        && is_same(&first, &new)
    {
        anyhow::bail!("{} is the model in use: as its own fallback it would never be tried", entry.name());
    }
    Ok(())
}

/// Which entry is meant: by number, model or `PROVIDER/MODEL`.
pub fn place_of(entries: &[Entry], target: &str) -> anyhow::Result<usize> {
    if let Some(number) =
        target.trim_start_matches('#').parse::<usize>().ok().filter(|n| (1..=entries.len()).contains(n))
    {
        return Ok(number - 1);
    }
    let called = |entry: &Entry| {
        entry.model() == target || format!("{}/{}", entry.provider(), entry.model()) == target
    };
    let found: Vec<usize> = (0..entries.len()).filter(|place| called(&entries[*place])).collect();
    match found.as_slice() {
        [place] => Ok(*place),
        [] => anyhow::bail!("there is no fallback '{target}': see `hermes fallback list`"),
        _ => anyhow::bail!("several fallbacks are called '{target}': name it by its number"),
    }
}
