//! The models to try when the first one fails.

use hermes_guard::Secret;
use serde_json::Value;

use super::config::ModelConfig;
use super::error::ResolveError;
use super::keys::Variables;
use super::resolve::{Resolved, Wanted, resolve};
use super::stored::StoredKeys;
use crate::json::text;

/// The chain after `first`, in order, without repetitions. An entry that leads nowhere is returned with the reason: it
/// must not stop the others, and the user should hear of it.
pub fn fallback_chain(
    config: &ModelConfig,
    first: &Resolved,
    variables: &Variables<'_>,
    stored: &StoredKeys,
) -> (Vec<Resolved>, Vec<ResolveError>) {
    let mut chain: Vec<Resolved> = Vec::new();
    let mut problems = Vec::new();
    for entry in &config.fallbacks {
        match fallback(config, entry, variables, stored) {
            Ok(next) => {
                let known = std::iter::once(first).chain(&chain).any(|other| is_same(other, &next));
                if !known && !next.model.is_empty() {
                    chain.push(next);
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    (chain, problems)
}

/// One entry of the chain alone.
pub fn fallback(
    config: &ModelConfig,
    entry: &Value,
    variables: &Variables<'_>,
    stored: &StoredKeys,
) -> Result<Resolved, ResolveError> {
    resolve(&for_entry(config, entry), &wanted(entry), variables, stored)
}

fn wanted(entry: &Value) -> Wanted {
    let part = |key: &str| text(entry, key).map(str::to_owned);
    let base_url = part("base_url");
    let provider = part("provider").or_else(|| base_url.is_some().then(|| "custom".to_owned()));
    Wanted { provider, model: part("model"), base_url }
}

/// The settings as they are for one entry: the key beside it counts, the key beside the first model does not.
fn for_entry(config: &ModelConfig, entry: &Value) -> ModelConfig {
    let part = |key: &str| text(entry, key).map(str::to_owned);
    let provider = part("provider").unwrap_or_default().to_lowercase();
    let own_key = part("api_key").is_some() || part("key_env").is_some() || part("api_key_env").is_some();
    let same =
        provider == config.provider && part("base_url").is_none_or(|url| url == config.base_url) && !own_key;
    if same {
        return config.clone();
    }
    ModelConfig {
        provider,
        base_url: part("base_url").unwrap_or_default(),
        provider_url: part("base_url").unwrap_or_default(),
        api_key: part("api_key").map(Secret::new),
        key_env: part("key_env").or_else(|| part("api_key_env")).unwrap_or_default(),
        wire: text(entry, "api_mode").and_then(crate::wire::Wire::parse),
        window: None,
        price: None,
        ..config.clone()
    }
}

/// Whether two choices are the same model in the same place.
pub fn is_same(one: &Resolved, other: &Resolved) -> bool {
    let place =
        one.endpoint.provider == other.endpoint.provider || one.endpoint.base_url == other.endpoint.base_url;
    place && one.model == other.model
}
