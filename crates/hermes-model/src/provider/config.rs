//! What the settings say about models, gathered once.

use std::collections::BTreeMap;

use hermes_guard::Secret;
use hermes_home::Settings;
use hermes_home::settings::table::model;
use hermes_home::settings::{Origin, SettingError};
use serde_json::{Map, Value};

use super::custom::{CustomProvider, price};
use crate::keys::Strategy;
use crate::money::Price;
use crate::wire::Wire;

/// What the settings say about models.
#[derive(Debug, Clone, Default)]
pub struct ModelConfig {
    /// `model.default`
    pub model: String,
    /// `model.provider`; empty and `auto` mean the same.
    pub provider: String,
    /// `model.base_url`, or `CUSTOM_BASE_URL`
    pub base_url: String,
    /// `model.base_url` as config.yaml has it: the variable is only for plain endpoints.
    pub provider_url: String,
    /// `model.api_key`
    pub api_key: Option<Secret>,
    /// `model.key_env`
    pub key_env: String,
    /// `model.api_mode`
    pub wire: Option<Wire>,
    /// `model.context_length`
    pub window: Option<u64>,
    /// `model.price`
    pub price: Option<Price>,
    /// `model.ollama_num_ctx`
    pub num_ctx: Option<u64>,
    /// `providers` and `custom_providers`
    pub custom: Vec<CustomProvider>,
    /// `model_aliases`
    pub aliases: Value,
    /// `fallback_providers`, and `fallback_model` of older settings behind them.
    pub fallbacks: Vec<Value>,
    /// `credential_pool_strategies`
    pub strategies: BTreeMap<String, Strategy>,
    /// `provider_routing`, as `OpenRouter` wants it.
    pub routing: Map<String, Value>,
}

impl ModelConfig {
    /// Reads the settings.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let positive = |number: Option<i64>| number.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
        let strategies = settings.get(&model::CREDENTIAL_POOL_STRATEGIES)?;
        let strategy = |(name, word): (String, String)| Some((name.to_lowercase(), Strategy::parse(&word)?));
        Ok(Self {
            model: settings.get(&model::DEFAULT)?.trim().to_owned(),
            provider: settings.get(&model::PROVIDER)?.trim().to_lowercase(),
            base_url: settings.get(&model::BASE_URL)?.trim().to_owned(),
            provider_url: base_url_in_file(settings),
            api_key: settings.get(&model::API_KEY)?.map(Secret::new),
            key_env: settings.get(&model::KEY_ENV)?.trim().to_owned(),
            wire: Wire::parse(&settings.get(&model::API_MODE)?),
            window: positive(settings.get(&model::CONTEXT_LENGTH)?),
            price: price_set(settings)?,
            num_ctx: positive(settings.get(&model::OLLAMA_NUM_CTX)?),
            custom: CustomProvider::read_all(
                &settings.get(&model::PROVIDERS)?,
                &settings.get(&model::CUSTOM_PROVIDERS)?,
            ),
            aliases: settings.get(&model::MODEL_ALIASES)?,
            fallbacks: fallbacks(settings)?,
            strategies: strategies.into_iter().filter_map(strategy).collect(),
            routing: routing(settings)?,
        })
    }

    /// The user's entry of this name; `custom:NAME` is the long form.
    pub fn custom(&self, name: &str) -> Option<&CustomProvider> {
        let name = name.trim();
        let name = name.strip_prefix("custom:").unwrap_or(name);
        self.custom.iter().find(|entry| entry.is_named(name))
    }

    /// Whether nobody chose a provider.
    pub fn is_auto(&self) -> bool {
        matches!(self.provider.as_str(), "" | "auto")
    }
}

fn fallbacks(settings: &Settings) -> Result<Vec<Value>, SettingError> {
    let entries = |value: Value| match value {
        Value::Array(list) => list,
        Value::Object(_) => vec![value],
        _ => Vec::new(),
    };
    let newer = entries(settings.get(&model::FALLBACK_PROVIDERS)?);
    let older = entries(settings.get(&model::FALLBACK_MODEL)?);
    Ok(newer.into_iter().chain(older).filter(Value::is_object).collect())
}

/// The price the user set. One that cannot be read is an error: money would be counted wrong.
fn price_set(settings: &Settings) -> Result<Option<Price>, SettingError> {
    let found = settings.resolve(&model::PRICE.spec)?;
    if found.value.is_null() {
        return Ok(None);
    }
    price(&found.value).map(Some).ok_or_else(|| SettingError {
        key: model::PRICE.spec.key,
        origin: found.origin,
        found: found.value.to_string(),
        wanted: "dollars per million tokens, such as {input: 3, output: 15}".to_owned(),
    })
}

fn base_url_in_file(settings: &Settings) -> String {
    let mut candidates = settings.candidates(&model::BASE_URL.spec).filter_map(Result::ok);
    let in_file = candidates.find(|candidate| matches!(candidate.origin, Origin::File { .. }));
    in_file.and_then(|found| found.value.as_str().map(|url| url.trim().to_owned())).unwrap_or_default()
}

/// The wishes about the servers behind a router; only what was set.
fn routing(settings: &Settings) -> Result<Map<String, Value>, SettingError> {
    let mut wishes = Map::new();
    for (name, list) in [
        ("only", settings.get(&model::ROUTING_ONLY)?),
        ("ignore", settings.get(&model::ROUTING_IGNORE)?),
        ("order", settings.get(&model::ROUTING_ORDER)?),
    ] {
        if !list.is_empty() {
            wishes.insert(name.to_owned(), list.into());
        }
    }
    for (name, word) in [
        ("sort", settings.get(&model::ROUTING_SORT)?),
        ("data_collection", settings.get(&model::ROUTING_DATA_COLLECTION)?),
    ] {
        if !word.is_empty() {
            wishes.insert(name.to_owned(), word.into());
        }
    }
    if settings.get(&model::ROUTING_REQUIRE_PARAMETERS)? {
        wishes.insert("require_parameters".to_owned(), true.into());
    }
    Ok(wishes)
}
