//! The models to ask, in order: from the settings and what the home knows.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use hermes_home::Settings;
use tokio_util::sync::CancellationToken;

use super::{Memory, Remembered, SetupError, patience};
use crate::call::Route;
use crate::catalog;
use crate::client::{Client, Patience};
use crate::keys::KeyPool;
use crate::list::{self, Cached, ListCache};
use crate::provider::{ModelConfig, ResolveError, Resolved, StoredKeys, Wanted, fallback_chain, resolve};

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
    let first = first(&config, settings, wanted, stored)?;
    if first.model.is_empty() {
        return Err(SetupError::NoModel(first.endpoint.provider));
    }
    behind(first, &config, settings, stored, None)
}

/// The same, with all that a home knows: stored keys, windows that were learned, lists of models on disk.
pub fn open(home: &Path, settings: &Settings, wanted: &Wanted) -> Result<Chain, SetupError> {
    let stored = StoredKeys::in_home(home)?;
    let config = ModelConfig::from_settings(settings)?;
    let first = first(&config, settings, wanted, &stored)?;
    if first.model.is_empty() {
        return Err(SetupError::NoModel(first.endpoint.provider));
    }
    behind(first, &config, settings, &stored, Some(&Memory::in_home(home)))
}

/// The same, and a server of the user's own is asked when no model is chosen: if it offers just one, that is it.
pub async fn ready(
    home: &Path,
    settings: &Settings,
    wanted: &Wanted,
    client: &Client,
    cancel: &CancellationToken,
) -> Result<Chain, SetupError> {
    let stored = StoredKeys::in_home(home)?;
    let config = ModelConfig::from_settings(settings)?;
    let mut first = first(&config, settings, wanted, &stored)?;
    if first.model.is_empty() {
        first.model = only_model(home, &first, client, cancel).await?;
    }
    behind(first, &config, settings, &stored, Some(&Memory::in_home(home)))
}

fn first(
    config: &ModelConfig,
    settings: &Settings,
    wanted: &Wanted,
    stored: &StoredKeys,
) -> Result<Resolved, ResolveError> {
    resolve(config, wanted, &|name: &str| settings.variable(name).map(str::to_owned), stored)
}

/// The chain that begins with this model.
fn behind(
    first: Resolved,
    config: &ModelConfig,
    settings: &Settings,
    stored: &StoredKeys,
    memory: Option<&Memory>,
) -> Result<Chain, SetupError> {
    let patience = patience(settings)?;
    let variables = |name: &str| settings.variable(name).map(str::to_owned);
    let (others, problems) = fallback_chain(config, &first, &variables, stored);
    let to_route = |resolved: Resolved| {
        let key = resolved.keys.first().map(|key| &key.secret);
        let known = memory.map(|memory| memory.about(&resolved.endpoint, &resolved.model, key));
        route_knowing(resolved, patience, known.unwrap_or_default())
    };
    let routes = std::iter::once(first).chain(others).map(to_route).collect();
    Ok(Chain { routes, problems })
}

/// The only model of a server of the user's own.
async fn only_model(
    home: &Path,
    resolved: &Resolved,
    client: &Client,
    cancel: &CancellationToken,
) -> Result<String, SetupError> {
    /// A person chooses among a few; `hermes model list` has them all.
    const SHOWN: usize = 8;
    let endpoint = &resolved.endpoint;
    if !endpoint.base_url.is_local() {
        return Err(SetupError::NoModel(endpoint.provider.clone()));
    }
    let address = endpoint.base_url.to_string();
    let key = resolved.keys.first().map(|key| &key.secret);
    let lists = ListCache::in_home(home);
    let offers = match lists.get(endpoint, key, SystemTime::now()) {
        Cached::Fresh(offers) => offers,
        Cached::Stale(_) | Cached::Missing => {
            let fetched = list::fetch(client, endpoint, key, cancel).await;
            let offers =
                fetched.map_err(|source| SetupError::NotOffered { address: address.clone(), source })?;
            // A list that cannot be kept is asked for again next time.
            let _ = lists.put(endpoint, key, &offers, SystemTime::now());
            offers
        }
    };
    match offers.as_slice() {
        [] => Err(SetupError::NoModel(endpoint.provider.clone())),
        [only] => Ok(only.id.clone()),
        several => {
            let models = several.iter().take(SHOWN).map(|offer| offer.id.clone()).collect();
            Err(SetupError::SeveralModels { address, models })
        }
    }
}

/// The route to a model: what the settings say about it, else what is known about it.
pub fn route(resolved: Resolved, patience: Patience) -> Route {
    route_knowing(resolved, patience, Remembered::default())
}

/// The user's word counts first, then what the endpoint said, then the table.
fn route_knowing(resolved: Resolved, patience: Patience, known: Remembered) -> Route {
    let facts = catalog::facts(&resolved.endpoint.provider, &resolved.model);
    Route {
        keys: Arc::new(Mutex::new(KeyPool::new(resolved.keys, resolved.strategy))),
        window: resolved.options.window.or(known.window.map(|(window, _)| window)).or(facts.window),
        price: resolved.options.price.or(known.price).or(facts.price),
        patience: Patience {
            own_total: resolved.options.total,
            own_stale: resolved.options.stale,
            ..patience
        },
        endpoint: resolved.endpoint,
        model: resolved.model,
    }
}
