//! How connections are made, whoever makes them: certificates, addresses, proxies.

use std::path::PathBuf;
use std::time::Duration;

use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::model;
use reqwest::{Certificate, ClientBuilder, redirect};
use url::Url;

/// How connections are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Network {
    /// Certificates to trust instead of the system's.
    pub ca_bundle: Option<PathBuf>,
    /// Which addresses are used.
    pub addresses: Addresses,
    /// Hosts of the proxies that the environment names. Their names are looked up without being judged: the user chose
    /// them.
    pub proxies: Vec<String>,
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

/// Where a connection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// To this machine: no proxy in between, no certificates.
    Near,
    /// To everyone else.
    Far,
}

/// The HTTP machinery cannot be set up.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NetworkError {
    /// The file with certificates cannot be used.
    #[error("cannot use the certificates in {}: {reason}. Correct HERMES_CA_BUNDLE or unset it", .path.display())]
    CaBundle {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Something else.
    #[error("cannot set up HTTPS: {0}")]
    Setup(String),
}

/// Variables that name a proxy.
const PROXY_VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

const CONNECT: Duration = Duration::from_secs(15);

impl Network {
    /// As the settings and the environment they were read with say.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let bundle = settings.get(&model::CA_BUNDLE)?;
        let only_v4 = settings.get(&model::FORCE_IPV4)?;
        let env = &settings.sources().env;
        let proxies =
            PROXY_VARIABLES.iter().filter_map(|name| env.get(*name)).filter_map(|text| proxy_host(text));
        Ok(Self {
            ca_bundle: (!bundle.is_empty()).then(|| PathBuf::from(bundle)),
            addresses: if only_v4 { Addresses::OnlyV4 } else { Addresses::Any },
            proxies: proxies.collect(),
        })
    }

    pub(crate) fn builder(&self, way: Way) -> Result<ClientBuilder, NetworkError> {
        // Fails only when a provider was installed before, which is then as good.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder()
            .user_agent(concat!("hermes/", env!("CARGO_PKG_VERSION")))
            // Every redirect is looked at first, and none gets a key.
            .redirect(redirect::Policy::none())
            .referer(false)
            .connect_timeout(CONNECT)
            .pool_idle_timeout(Duration::from_mins(1));
        let builder = match self.addresses {
            Addresses::Any => builder,
            Addresses::OnlyV4 => builder.local_address(std::net::IpAddr::from([0, 0, 0, 0])),
        };
        match way {
            Way::Near => Ok(builder.no_proxy()),
            Way::Far => self.with_certificates(builder),
        }
    }

    fn with_certificates(&self, builder: ClientBuilder) -> Result<ClientBuilder, NetworkError> {
        let Some(path) = &self.ca_bundle else { return Ok(builder) };
        let failed = |reason: String| NetworkError::CaBundle { path: path.clone(), reason };
        let pem = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| failed(error.to_string()))?;
        if certificates.is_empty() {
            return Err(failed("there is none in it".to_owned()));
        }
        Ok(builder.tls_certs_only(certificates))
    }
}

pub(crate) fn build(builder: ClientBuilder) -> Result<reqwest::Client, NetworkError> {
    builder.build().map_err(|error| NetworkError::Setup(error.to_string()))
}

/// How to get to an address.
pub(crate) fn way(url: &Url) -> Way {
    let near = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    if near { Way::Near } else { Way::Far }
}

/// The host of a proxy, written with or without a scheme.
fn proxy_host(text: &str) -> Option<String> {
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    Url::parse(&whole).ok()?.host_str().map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_known_by_their_hosts() {
        assert_eq!(proxy_host("http://user:pw@Proxy.corp:3128/").as_deref(), Some("proxy.corp"));
        assert_eq!(proxy_host("proxy:8080").as_deref(), Some("proxy"));
        assert_eq!(proxy_host(""), None);
    }
}
