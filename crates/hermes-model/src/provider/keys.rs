//! Which keys are used for which address.

use hermes_guard::Secret;

use super::config::ModelConfig;
use super::custom::CustomProvider;
use super::hosts::{owns, vendor_variable};
use super::stored::StoredKeys;
use super::table::{ProviderSpec, TABLE};
use crate::keys::Key;
use crate::url::BaseUrl;

/// Looks a variable up in the environment and `.env`.
pub type Variables<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// How an address came about: it decides whether a provider's keys may go there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressFrom {
    /// The provider's own, or its own variable, which is set together with its key.
    Provider,
    /// Somewhere else.
    Elsewhere,
}

/// The value of a variable as a key.
pub(super) fn from_variable(name: &str, variables: &Variables<'_>) -> Option<Key> {
    let value = variables(name)?;
    let value = value.trim();
    (!value.is_empty()).then(|| Key { origin: name.to_owned(), secret: Secret::new(value) })
}

/// Keys written or named beside an address in the settings.
pub(super) fn beside(
    api_key: Option<&Secret>,
    key_env: &str,
    place: &str,
    variables: &Variables<'_>,
) -> Vec<Key> {
    let written = api_key.filter(|key| !key.is_empty());
    let written = written.map(|secret| Key { origin: place.to_owned(), secret: secret.clone() });
    let named = (!key_env.is_empty()).then(|| from_variable(key_env, variables)).flatten();
    written.into_iter().chain(named).collect()
}

/// The keys of a known provider for an address: its variables and stored keys, but only where they belong.
pub(super) fn of_provider(
    spec: &ProviderSpec,
    url: &BaseUrl,
    from: AddressFrom,
    variables: &Variables<'_>,
    stored: &StoredKeys,
) -> Vec<Key> {
    if from == AddressFrom::Elsewhere && !owns(spec, url) {
        return of_host(url, variables);
    }
    let named = spec.key_env.iter().filter_map(|name| from_variable(name, variables));
    named.filter(|key| belongs(spec, key)).chain(stored.of(spec.id, &url.to_string())).collect()
}

/// The keys that belong to a host, whoever asks for it.
fn of_host(url: &BaseUrl, variables: &Variables<'_>) -> Vec<Key> {
    if url.is_local() {
        return Vec::new();
    }
    let owners = TABLE.iter().filter(|spec| owns(spec, url));
    let owned = owners.flat_map(|spec| spec.key_env.iter().map(move |name| (spec, *name)));
    let owned =
        owned.filter_map(|(spec, name)| from_variable(name, variables).filter(|key| belongs(spec, key)));
    let mut keys: Vec<Key> = owned.collect();
    if keys.is_empty() {
        keys.extend(vendor_variable(url).and_then(|name| from_variable(&name, variables)));
    }
    keys
}

/// Some keys show by their beginning whose they are, whatever variable they are kept in.
fn belongs(spec: &ProviderSpec, key: &Key) -> bool {
    let text = key.secret.expose();
    match (spec.id, key.origin.as_str()) {
        ("openrouter", "OPENAI_API_KEY") => text.starts_with("sk-or-"),
        ("openai-api", _) => !text.starts_with("sk-or-"),
        // A login of another program; it may not be used as a key.
        ("anthropic", _) => !text.starts_with("sk-ant-oat"),
        _ => true,
    }
}

/// Whether there is a key of a known provider for its own address.
pub(super) fn has_key(spec: &ProviderSpec, variables: &Variables<'_>, stored: &StoredKeys) -> bool {
    let mut named = spec.key_env.iter().filter_map(|name| from_variable(name, variables));
    named.any(|key| belongs(spec, &key)) || stored.has(spec.id)
}

/// The keys of an endpoint of the user's own.
pub(super) fn of_custom(
    entry: &CustomProvider,
    url: &BaseUrl,
    variables: &Variables<'_>,
    stored: &StoredKeys,
) -> Vec<Key> {
    let place = format!("config.yaml, providers.{}", entry.name);
    let mut keys =
        beside(entry.api_key.as_ref(), entry.key_env.as_deref().unwrap_or_default(), &place, variables);
    keys.extend(stored.of(&format!("custom:{}", entry.name.to_lowercase()), &url.to_string()));
    if keys.is_empty() {
        keys.extend(of_host(url, variables));
    }
    keys
}

/// The keys of the plain endpoint in `model.base_url`.
pub(super) fn of_plain(config: &ModelConfig, url: &BaseUrl, variables: &Variables<'_>) -> Vec<Key> {
    let mut keys = beside(config.api_key.as_ref(), &config.key_env, "config.yaml, model.api_key", variables);
    if keys.is_empty() {
        keys.extend(of_host(url, variables));
    }
    keys
}
