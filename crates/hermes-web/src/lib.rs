//! The web for an agent: fetching within a policy, pages as readable text, search.
//!
//! - [`fetch`]: gets what is at an address, if the policy allows it.
//! - [`page`], [`html`]: makes text of it.
//! - Pictures are in [`image`].
//! - [`service`]: others who search and read, described as data.
//! - [`policy`]: what the user's settings allow.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]

mod charset;
pub mod fetch;
pub mod html;
pub mod image;
mod net;
pub mod page;
pub mod policy;
pub mod service;

pub use fetch::{FetchError, Fetched, Fetcher};
pub use net::{Addresses, Network, NetworkError};
/// The addresses this crate speaks of.
pub use url::Url;
