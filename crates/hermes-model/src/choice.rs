//! What choosing a model changes: decided here for every front door, so that all of them leave the same settings behind.

use hermes_guard::Secret;
use hermes_home::settings::table::model;
use hermes_home::settings::{self, Change, Def, Origin, Settings, StoreError};
use hermes_home::{Home, yaml};
use serde_json::Value;

use crate::provider::{
    ModelConfig, ResolveError, Resolved, StoredKeys, Wanted, find, is_plain, resolve, vendor_variable,
};
use crate::url::BaseUrl;

/// A model somebody chose.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The provider: one of the table, one of the user's own, or `custom` for a plain endpoint.
    pub provider: String,
    /// The model; empty while it is still to be chosen.
    pub model: String,
    /// The address, where it is not the provider's own.
    pub base_url: Option<String>,
    /// The key.
    pub key: KeyChoice,
}

/// Where the key of a chosen model comes from.
#[derive(Debug, Clone, Default)]
pub enum KeyChoice {
    /// From where it comes already, or there is none.
    #[default]
    AsItIs,
    /// From this variable.
    Variable(String),
    /// It is new and must be saved.
    New(Secret),
}

/// Where a new key is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// In this variable of `.env`; the provider looks there.
    Variable(String),
    /// In a variable of `.env` that `model.api_key` refers to.
    BesideModel,
    /// In this variable of `.env`, which an entry of `providers` must name.
    OfOwn {
        /// The entry.
        name: String,
        /// The variable.
        variable: String,
    },
}

impl KeyPlace {
    /// The variable of `.env`.
    pub fn variable(&self) -> String {
        match self {
            Self::Variable(variable) | Self::OfOwn { variable, .. } => variable.clone(),
            Self::BesideModel => model::API_KEY.spec.secret_variable(),
        }
    }
}

impl Choice {
    /// Where a new key for this choice is kept.
    pub fn key_place(&self, config: &ModelConfig) -> KeyPlace {
        if let Some(own) = config.custom(&self.provider).filter(|entry| entry.url.is_some()) {
            let url = own.url.as_deref().and_then(|url| BaseUrl::parse(url).ok());
            let usual = url.as_ref().and_then(vendor_variable);
            let variable = own.key_env.clone().or(usual).unwrap_or_else(|| variable_for(&own.name));
            return KeyPlace::OfOwn { name: own.name.clone(), variable };
        }
        // A provider's key may go to its own address only; for another one it stands beside the address.
        let variable = find(&self.provider).filter(|_| self.base_url.is_none());
        let variable = variable.and_then(|spec| spec.key_env.first());
        variable.map_or(KeyPlace::BesideModel, |name| KeyPlace::Variable((*name).to_owned()))
    }

    /// The endpoint and keys as they will be once the choice is saved.
    pub fn resolve(
        &self,
        config: &ModelConfig,
        settings: &Settings,
        stored: &StoredKeys,
    ) -> Result<Resolved, ResolveError> {
        let place = self.key_place(config);
        let after = self.config_after(config, &place);
        let fresh = match &self.key {
            KeyChoice::New(secret) => Some((place.variable(), secret.expose().to_owned())),
            _ => None,
        };
        let variables = |name: &str| match &fresh {
            Some((variable, value)) if variable == name => Some(value.clone()),
            _ => settings.variable(name).map(str::to_owned),
        };
        resolve(&after, &Wanted::default(), &variables, stored)
    }

    fn config_after(&self, config: &ModelConfig, place: &KeyPlace) -> ModelConfig {
        let moved = self.moves(config);
        let mut after = config.clone();
        after.provider.clone_from(&self.provider);
        after.model.clone_from(&self.model);
        after.base_url = self.base_url.clone().unwrap_or_default();
        after.provider_url.clone_from(&after.base_url);
        after.fallbacks.clear();
        if moved {
            (after.api_key, after.wire, after.num_ctx) = (None, None, None);
            after.key_env.clear();
        }
        if moved || self.model != config.model {
            (after.window, after.price) = (None, None);
        }
        match (&self.key, place) {
            (KeyChoice::Variable(variable), KeyPlace::OfOwn { name, .. }) => {
                for entry in after.custom.iter_mut().filter(|entry| entry.is_named(name)) {
                    (entry.api_key, entry.key_env) = (None, Some(variable.clone()));
                }
            }
            (KeyChoice::Variable(variable), _) => {
                after.api_key = None;
                after.key_env.clone_from(variable);
            }
            (KeyChoice::New(secret), KeyPlace::BesideModel) => after.api_key = Some(secret.clone()),
            (KeyChoice::New(secret), KeyPlace::OfOwn { name, .. }) => {
                for entry in after.custom.iter_mut().filter(|entry| entry.is_named(name)) {
                    entry.api_key = Some(secret.clone());
                }
            }
            _ => {}
        }
        after
    }

    /// Whether the endpoint becomes another one: what stands beside the old one is then not meant for it.
    fn moves(&self, config: &ModelConfig) -> bool {
        let same_name = |a: &str, b: &str| {
            let id = |name: &str| match find(name) {
                Some(spec) => spec.id.to_owned(),
                None if is_plain(name) => "custom".to_owned(),
                None => name.to_lowercase(),
            };
            id(a) == id(b)
        };
        !same_name(&self.provider, &config.provider)
            || self.base_url.as_deref().unwrap_or_default() != config.provider_url
    }

    /// What changes in config.yaml; nothing that stays as it is.
    pub fn changes(&self, config: &ModelConfig, settings: &Settings) -> Vec<Change> {
        let moved = self.moves(config);
        let other_model = moved || self.model != config.model;
        let named = matches!(self.key, KeyChoice::Variable(_));
        let mut changes = vec![
            Change::set(&model::DEFAULT, self.model.as_str()),
            Change::set(&model::PROVIDER, self.provider.as_str()),
        ];
        changes.push(match &self.base_url {
            Some(url) => Change::set(&model::BASE_URL, url.as_str()),
            None => Change::unset(&model::BASE_URL),
        });
        match &self.key {
            KeyChoice::Variable(name) if !self.finds(name) && !self.is_own(config) => {
                changes.push(Change::set(&model::KEY_ENV, name.as_str()));
            }
            KeyChoice::AsItIs if !moved => {}
            _ => changes.push(Change::unset(&model::KEY_ENV)),
        }
        if moved || named {
            changes.push(Change::unset(&model::API_KEY));
        }
        if moved {
            changes.extend([Change::unset(&model::API_MODE), Change::unset(&model::OLLAMA_NUM_CTX)]);
        }
        if other_model {
            changes.extend([Change::unset(&model::CONTEXT_LENGTH), Change::unset(&model::PRICE)]);
        }
        changes.retain(|change| in_file(settings, change.key) != change.to);
        changes
    }

    /// Whether it is an endpoint of the user's own, which names its key itself.
    fn is_own(&self, config: &ModelConfig) -> bool {
        matches!(self.key_place(config), KeyPlace::OfOwn { .. })
    }

    /// Whether the provider looks into this variable by itself.
    fn finds(&self, variable: &str) -> bool {
        self.base_url.is_none() && find(&self.provider).is_some_and(|spec| spec.key_env.contains(&variable))
    }

    /// Saves the key, then the choice: a key that nothing refers to does no harm, a choice without its key does.
    pub fn save(&self, home: &Home, config: &ModelConfig, settings: &Settings) -> Result<(), StoreError> {
        let changes = self.changes(config, settings);
        match (&self.key, self.key_place(config)) {
            (KeyChoice::New(secret), KeyPlace::Variable(variable)) => {
                settings::set(home, &variable, secret.expose())?;
            }
            (KeyChoice::New(secret), KeyPlace::BesideModel) => {
                settings::apply(home, &changes)?;
                settings::set(home, model::API_KEY.spec.key, secret.expose())?;
                return Ok(());
            }
            (KeyChoice::New(secret), KeyPlace::OfOwn { name, variable }) => {
                let keep = |before: &str| Ok(settings::dotenv::set(before, &variable, secret.expose())?);
                settings::edit_env(home, keep)?;
                name_key(home, settings, &name, &variable)?;
            }
            (KeyChoice::Variable(variable), KeyPlace::OfOwn { name, .. }) => {
                name_key(home, settings, &name, variable)?;
            }
            _ => {}
        }
        settings::apply(home, &changes).map(|_| ())
    }
}

/// Names the variable of an endpoint's key in its entry, whichever form that has.
fn name_key(home: &Home, settings: &Settings, name: &str, variable: &str) -> Result<(), StoreError> {
    let listed = settings.get(&model::CUSTOM_PROVIDERS).unwrap_or_default();
    let is_it = |text: &str| text.trim().eq_ignore_ascii_case(name.trim());
    let mapped = settings.get(&model::PROVIDERS).unwrap_or_default();
    let key = mapped.as_object().into_iter().flatten().map(|(key, _)| key).find(|key| is_it(key));
    let place = listed
        .as_array()
        .into_iter()
        .flatten()
        .position(|entry| is_it(entry["name"].as_str().unwrap_or_default()))
        .map(|place| place.to_string());
    let (section, entry) = match (key, &place) {
        (None, Some(place)) => ("custom_providers", place.as_str()),
        (key, _) => ("providers", key.map_or(name, String::as_str)),
    };
    let named = Value::String(variable.to_owned());
    settings::edit_config(home, |before| yaml::set(before, &[section, entry, "key_env"], &named)).map(|_| ())
}

/// A setting as config.yaml has it.
fn in_file(settings: &Settings, key: &str) -> Option<Value> {
    let spec = settings::find(key)?;
    let found = settings.candidates(spec).filter_map(Result::ok);
    found.filter(|found| matches!(found.origin, Origin::File { .. })).map(|found| found.value).next()
}

/// What hides a choice that was saved: a variable that is stronger than config.yaml.
pub fn hidden_by(settings: &Settings) -> Vec<Origin> {
    fn strongest<T>(settings: &Settings, def: &Def<T>) -> Option<Origin> {
        let origin = settings.resolve(&def.spec).ok()?.origin;
        matches!(origin, Origin::Env(_) | Origin::DotEnv { .. }).then_some(origin)
    }
    let hiding = [
        strongest(settings, &model::DEFAULT),
        strongest(settings, &model::PROVIDER),
        strongest(settings, &model::BASE_URL),
    ];
    hiding.into_iter().flatten().collect()
}

fn variable_for(name: &str) -> String {
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = name.chars().map(upper).collect();
    let name = name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
    format!("{}_API_KEY", if name.is_empty() { "CUSTOM" } else { name })
}
