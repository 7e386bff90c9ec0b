//! Names looked up and judged in one step, right where the connection is made: what was judged is what is connected to,
//! so a name that changes its mind in between gains nothing.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use hermes_guard::url::UrlPolicy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// A lookup under way.
pub type Looking = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Says which addresses a host name stands for.
pub trait Lookup: Send + Sync {
    /// All of them.
    fn lookup(&self, host: String) -> Looking;
}

/// The system's own lookup.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

impl Lookup for System {
    fn lookup(&self, host: String) -> Looking {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A name that stands for nothing.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) struct NoSuchHost(pub(super) io::Error);

/// Gives only addresses that may be connected to.
pub(super) struct Judged {
    policy: Arc<UrlPolicy>,
    lookup: Arc<dyn Lookup>,
    proxies: Arc<[String]>,
}

impl Judged {
    pub(super) fn new(policy: &Arc<UrlPolicy>, lookup: &Arc<dyn Lookup>, proxies: &[String]) -> Self {
        Self { policy: Arc::clone(policy), lookup: Arc::clone(lookup), proxies: proxies.into() }
    }
}

impl Resolve for Judged {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().trim_end_matches('.').to_ascii_lowercase();
        let is_proxy = self.proxies.contains(&host);
        let (policy, looking) = (Arc::clone(&self.policy), self.lookup.lookup(host.clone()));
        Box::pin(async move {
            let found = looking.await.map_err(NoSuchHost)?;
            if found.is_empty() {
                return Err(NoSuchHost(io::Error::new(io::ErrorKind::NotFound, "it has no address")).into());
            }
            if !is_proxy {
                // One address inside is enough to distrust the name.
                for ip in &found {
                    policy.check_address(&host, *ip)?;
                }
            }
            // Port 0 becomes the port of the address that is opened.
            let addresses: Addrs = Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}
