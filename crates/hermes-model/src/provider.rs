//! Providers as data: where models live, which keys open which door, and how a choice in the settings becomes a route.
//!
//! Everything here is pure: settings and variables come in, a decision or the reason against it comes out.

mod alias;
mod chain;
mod config;
mod custom;
mod error;
mod hosts;
mod keys;
mod keystore;
mod resolve;
mod stored;
mod table;

pub use alias::{FAMILIES, Family};
pub use chain::{fallback, fallback_chain, is_same};
pub use config::ModelConfig;
pub use custom::{CustomProvider, ModelOptions};
pub use error::ResolveError;
pub use hosts::{vendor_variable, wire_of_url};
pub use keys::Variables;
pub use keystore::{KeyState, KeyStore, KeyStoreError, NewKey, PooledKey};
pub use resolve::{Resolved, Wanted, is_plain, resolve};
pub use stored::StoredKeys;
pub use table::{KeyNeed, LOGIN_ONLY, ProviderSpec, TABLE, find};
