//! Why a choice of provider or model leads nowhere, and what to do about it.

use crate::url::UrlError;

/// Why a choice leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Nobody chose, and no key decides.
    #[error("no model is set up: run `hermes model` to choose one, or set a key such as OPENROUTER_API_KEY")]
    NothingChosen,
    /// There is no such provider.
    #[error("there is no provider '{name}'{}: see `hermes model`, or add it under 'providers' in config.yaml", did_you_mean(.near.as_deref()))]
    UnknownProvider {
        /// What was asked for.
        name: String,
        /// What was perhaps meant.
        near: Option<String>,
    },
    /// It is reached with a login.
    #[error(
        "'{0}' is reached with a login of another program, which this one does not take over: choose a provider with a key (`hermes model`)"
    )]
    LoginOnly(String),
    /// It has no address.
    #[error("'{provider}' has no address: set {setting}")]
    NoAddress {
        /// The provider.
        provider: String,
        /// What would give it one.
        setting: String,
    },
    /// Its address cannot be used.
    #[error("the address of '{provider}' cannot be used: {source}")]
    BadAddress {
        /// The provider.
        provider: String,
        /// What is wrong.
        source: UrlError,
    },
    /// It has no key.
    #[error("there is no key for '{provider}': set {}, or run `hermes model`", .variables.join(" or "))]
    NoKey {
        /// The provider.
        provider: String,
        /// The variables that could hold one.
        variables: Vec<String>,
    },
    /// It has a key that may not go to this address.
    #[error(
        "the key of '{provider}' is sent only to its own host, not to '{host}': name the key for that host with 'model.key_env'"
    )]
    ForeignHost {
        /// The provider.
        provider: String,
        /// The host.
        host: String,
    },
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map(|name| format!(" (did you mean '{name}'?)")).unwrap_or_default()
}
