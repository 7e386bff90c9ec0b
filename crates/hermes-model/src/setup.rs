//! From the settings to a caller that is ready: what this crate reads of them, in one place.

mod chain;
mod error;
mod memory;

use std::path::PathBuf;
use std::time::Duration;

use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::{agent, model};

use crate::budget::Limits;
use crate::client::{Addresses, ClientOptions, Patience};
use crate::request::{CacheMarks, Effort};
use crate::retry::RetryPolicy;
pub use chain::{Chain, chain, open, ready, route};
pub use error::{SetupError, suggest_setup};
pub use memory::{Memory, Remembered};

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

/// How much may be spent.
pub fn limits(settings: &Settings) -> Result<Limits, SetupError> {
    Ok(Limits::from_tree(&settings.get(&model::BUDGET)?)?)
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
