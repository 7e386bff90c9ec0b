//! From the settings to a caller that is ready: what this crate reads of them, in one place.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::{agent, model};

use crate::call::Route;
use crate::catalog;
use crate::client::{Addresses, ClientOptions, Patience};
use crate::keys::KeyPool;
use crate::provider::{ModelConfig, ResolveError, Resolved, StoredKeys, Wanted, fallback_chain, resolve};
use crate::request::{CacheMarks, Effort};
use crate::retry::RetryPolicy;

/// Why no model can be asked.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A setting makes no sense.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The choice leads nowhere.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// A provider, but no model.
    #[error("'{0}' is set up, but no model is chosen: run `hermes model`, or set 'model.default'")]
    NoModel(String),
}

/// The models to ask, in order.
#[derive(Debug)]
pub struct Chain {
    /// The first one and its fallbacks.
    pub routes: Vec<Route>,
    /// Fallbacks that lead nowhere, with the reason.
    pub problems: Vec<ResolveError>,
}

/// Finds the model that was asked for, or that of the settings, and its fallbacks.
pub fn chain(settings: &Settings, wanted: &Wanted, stored: &StoredKeys) -> Result<Chain, SetupError> {
    let config = ModelConfig::from_settings(settings)?;
    let patience = patience(settings)?;
    let variables = |name: &str| settings.variable(name).map(str::to_owned);
    let first = resolve(&config, wanted, &variables, stored)?;
    if first.model.is_empty() {
        return Err(SetupError::NoModel(first.endpoint.provider));
    }
    let (others, problems) = fallback_chain(&config, &first, &variables, stored);
    let routes = std::iter::once(first).chain(others).map(|resolved| route(resolved, patience)).collect();
    Ok(Chain { routes, problems })
}

/// The route to a model: what the settings say about it, else what is known about it.
pub fn route(resolved: Resolved, patience: Patience) -> Route {
    let facts = catalog::facts(&resolved.endpoint.provider, &resolved.model);
    Route {
        keys: Arc::new(Mutex::new(KeyPool::new(resolved.keys, resolved.strategy))),
        window: resolved.options.window.or(facts.window),
        price: resolved.options.price.or(facts.price),
        patience: Patience {
            own_total: resolved.options.total,
            own_stale: resolved.options.stale,
            ..patience
        },
        endpoint: resolved.endpoint,
        model: resolved.model,
    }
}

/// How long to wait for what.
pub fn patience(settings: &Settings) -> Result<Patience, SettingError> {
    let seconds = |number: i64| Duration::from_secs(number.max(1).unsigned_abs());
    Ok(Patience {
        total: seconds(settings.get(&model::API_TIMEOUT)?),
        silence: seconds(settings.get(&model::STREAM_READ_TIMEOUT)?),
        stale: seconds(settings.get(&model::STREAM_STALE_TIMEOUT)?),
        local_stale: seconds(settings.get(&agent::LOCAL_STREAM_STALE_TIMEOUT)?),
        own_total: None,
        own_stale: None,
    })
}

/// How much is tried.
pub fn retry_policy(settings: &Settings) -> Result<RetryPolicy, SettingError> {
    let tries = u32::try_from(settings.get(&agent::API_MAX_RETRIES)?).unwrap_or(u32::MAX);
    Ok(RetryPolicy { tries: tries.max(1), ..RetryPolicy::default() })
}

/// How connections are made.
pub fn client_options(settings: &Settings) -> Result<ClientOptions, SettingError> {
    let bundle = settings.get(&model::CA_BUNDLE)?;
    let only_v4 = settings.get(&model::FORCE_IPV4)?;
    Ok(ClientOptions {
        ca_bundle: (!bundle.is_empty()).then(|| PathBuf::from(bundle)),
        addresses: if only_v4 { Addresses::OnlyV4 } else { Addresses::Any },
    })
}

/// How long prompts are cached.
pub fn cache_marks(settings: &Settings) -> Result<CacheMarks, SettingError> {
    Ok(if settings.get(&model::CACHE_TTL)? == "1h" { CacheMarks::OneHour } else { CacheMarks::FiveMinutes })
}

/// How much a model should think; its own entry wins.
pub fn effort(settings: &Settings, model: &str) -> Result<Option<Effort>, SettingError> {
    let own = settings.get(&agent::REASONING_OVERRIDES)?.get(model).and_then(|word| Effort::parse(word));
    Ok(own.or(Effort::parse(&settings.get(&agent::REASONING_EFFORT)?)))
}

/// Most tokens one answer may have, when the user set it.
pub fn max_tokens(settings: &Settings) -> Result<Option<u64>, SettingError> {
    let set = settings.get(&model::MAX_TOKENS)?;
    Ok(set.and_then(|tokens| u64::try_from(tokens).ok()).filter(|tokens| *tokens > 0))
}
