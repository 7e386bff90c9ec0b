//! How connections are made: certificates, proxies, addresses.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Certificate, ClientBuilder, redirect};

use super::Deadlines;
use crate::url::BaseUrl;

/// How connections are made.
#[derive(Debug, Clone, Default)]
pub struct ClientOptions {
    /// Certificates to trust instead of the system's.
    pub ca_bundle: Option<PathBuf>,
    /// Which addresses are used.
    pub addresses: Addresses,
}

/// Which addresses outgoing connections use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Addresses {
    /// Whatever works.
    #[default]
    Any,
    /// Only IPv4.
    OnlyV4,
}

/// Why no connection can be made at all.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum ConnectError {
    /// The file with certificates cannot be used.
    #[error("cannot use the certificates in {}: {reason}. Correct HERMES_CA_BUNDLE or unset it", .path.display())]
    CaBundle { path: PathBuf, reason: String },
    /// The HTTP machinery cannot be set up.
    #[error("cannot set up HTTPS: {0}")]
    Setup(String),
}

/// The connections, set up when the first of their kind is needed: loading the system's certificates takes time that a
/// call to this machine should not pay for.
#[derive(Debug, Default)]
pub(super) struct Connections {
    options: ClientOptions,
    /// For this machine: no proxy in between, no certificates.
    near: OnceLock<Result<reqwest::Client, ConnectError>>,
    /// For everyone else.
    far: OnceLock<Result<reqwest::Client, ConnectError>>,
}

impl Connections {
    pub(super) fn new(options: ClientOptions) -> Self {
        Self { options, ..Self::default() }
    }

    pub(super) fn to(&self, base_url: &BaseUrl) -> Result<&reqwest::Client, ConnectError> {
        let built = if base_url.is_loopback() {
            let near = || builder(&self.options).no_proxy().tls_certs_only([]);
            self.near.get_or_init(|| build(near()))
        } else {
            let far = || with_certificates(builder(&self.options), &self.options);
            self.far.get_or_init(|| far().and_then(build))
        };
        built.as_ref().map_err(Clone::clone)
    }
}

fn builder(options: &ClientOptions) -> ClientBuilder {
    // Fails only when a provider was installed before, which is then as good.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("hermes/", env!("CARGO_PKG_VERSION")))
        // A redirect would carry the key to a host nobody chose.
        .redirect(redirect::Policy::none())
        .connect_timeout(Deadlines::CONNECT)
        .tcp_keepalive(Duration::from_secs(30))
        .pool_idle_timeout(Duration::from_mins(1));
    match options.addresses {
        Addresses::Any => builder,
        Addresses::OnlyV4 => builder.local_address(std::net::IpAddr::from([0, 0, 0, 0])),
    }
}

fn with_certificates(builder: ClientBuilder, options: &ClientOptions) -> Result<ClientBuilder, ConnectError> {
    let Some(path) = &options.ca_bundle else { return Ok(builder) };
    let failed = |reason: String| ConnectError::CaBundle { path: path.clone(), reason };
    let pem = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| failed(error.to_string()))?;
    if certificates.is_empty() {
        return Err(failed("there is none in it".to_owned()));
    }
    Ok(builder.tls_certs_only(certificates))
}

fn build(builder: ClientBuilder) -> Result<reqwest::Client, ConnectError> {
    builder.build().map_err(|error| ConnectError::Setup(error.to_string()))
}
