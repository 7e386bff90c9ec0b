//! Others who search the web and read pages: which there are, which one the user has, and how they are asked.

mod ask;
mod call;
mod choose;
mod error;
mod table;

use hermes_guard::Secret;
use url::Url;

use crate::net::Network;
pub use choose::{Extraction, NoService, extraction, search};
pub use error::ServiceError;
pub use table::{SERVICES, Service};

/// A service the user can use.
#[derive(Clone)]
pub struct Backend {
    service: &'static Service,
    base: Url,
    key: Option<Secret>,
    client: call::Connection,
    patience: Patience,
}

/// How often and how patiently a service is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Most attempts.
    pub attempts: u32,
    /// The first pause; each further one is twice as long.
    pub pause: std::time::Duration,
    /// Longest pause, whatever the service asks for.
    pub longest: std::time::Duration,
    /// For one attempt.
    pub within: std::time::Duration,
}

impl Default for Patience {
    fn default() -> Self {
        let seconds = std::time::Duration::from_secs;
        Self { attempts: 3, pause: seconds(1), longest: seconds(15), within: seconds(60) }
    }
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hit {
    /// Its title.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// What it says about the matter.
    pub description: String,
}

/// A page that a service read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extract {
    /// The address that was asked for.
    pub url: String,
    /// The page, or what the service says went wrong.
    pub page: Result<crate::html::Readable, String>,
}

impl Backend {
    /// A service at an address of its own. The key goes to no other host.
    pub fn new(service: &'static Service, base: Url, key: Option<Secret>, network: Network) -> Self {
        Self { service, base, key, client: call::Connection::new(network), patience: Patience::default() }
    }

    /// The same, asked as patiently as this.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// What the service is called.
    pub fn name(&self) -> &'static str {
        self.service.name
    }
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Backend({})", self.service.name)
    }
}
