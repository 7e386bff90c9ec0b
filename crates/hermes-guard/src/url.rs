//! Which addresses of the web may be opened: decided on the address as written, on every address its name stands for,
//! and again after every redirect. Pure: who asks looks names up and connects.

mod address;
mod blocklist;
mod leak;
mod names;

use std::net::IpAddr;
use std::sync::Arc;

use ::url::{Host, Url};

use crate::Redactor;
pub use address::{Class, classify};
pub use blocklist::Blocklist;

/// Longest address that is looked at.
pub const LONGEST: usize = 8 * 1024;

/// Whether addresses on this machine and its network may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Private {
    /// No.
    #[default]
    Refused,
    /// Yes, as the user said. Metadata services of clouds stay closed: they hand out keys.
    Allowed,
}

/// What may be opened.
#[derive(Debug, Clone)]
pub struct UrlPolicy {
    private: Private,
    blocked: Blocklist,
    /// Knows the user's secrets, so that none of them leaves in an address.
    secrets: Arc<Redactor>,
}

/// Why an address may not be opened. None of these repeats the address: it may hold what must not be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It cannot be read.
    #[error("this is not a web address: write it as https://HOST/PATH")]
    NotAnAddress,
    /// It is absurdly long.
    #[error("the address is longer than {LONGEST} bytes")]
    TooLong,
    /// It is not for the web.
    #[error("'{0}' addresses are not opened, only http and https")]
    Scheme(String),
    /// A login in an address ends up in logs.
    #[error("the address for '{host}' holds a user name or password: leave it out")]
    Credentials {
        /// The host.
        host: String,
    },
    /// A number spelled so that it is not recognised.
    #[error("the address hides where it leads: write {0} itself")]
    Disguised(IpAddr),
    /// Hands out keys of the machine to whoever asks.
    #[error("'{host}' is a metadata service of a cloud machine, which is never opened")]
    Metadata {
        /// The host.
        host: String,
    },
    /// Not on the open web.
    #[error(
        "'{host}' is {class}: the user can allow such addresses with `hermes config set security.allow_private_urls true`"
    )]
    Private {
        /// The host.
        host: String,
        /// What it is.
        class: Class,
    },
    /// The user does not want it.
    #[error("'{host}' is on the user's block list ('{rule}')")]
    Blocked {
        /// The host.
        host: String,
        /// The entry.
        rule: String,
    },
    /// It would carry a secret away.
    #[error("the address for '{host}' contains a key or another secret, which must not leave this machine")]
    Secret {
        /// The host.
        host: String,
    },
}

impl UrlPolicy {
    /// A policy. `secrets` should know the user's secrets.
    pub fn new(private: Private, blocked: Blocklist, secrets: Arc<Redactor>) -> Self {
        Self { private, blocked, secrets }
    }

    /// Decides about an address as somebody wrote it.
    pub fn check(&self, text: &str) -> Result<Url, Refusal> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(Refusal::TooLong);
        }
        let url = Url::parse(text).map_err(|_| Refusal::NotAnAddress)?;
        self.check_url(&url)?;
        match (url.host(), spelled_host(text)) {
            (Some(Host::Ipv4(ip)), Some(spelled)) if spelled != ip.to_string() => {
                Err(Refusal::Disguised(ip.into()))
            }
            _ => Ok(url),
        }
    }

    /// Decides about an address that was read already, such as one a redirect leads to.
    pub fn check_url(&self, url: &Url) -> Result<(), Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme(url.scheme().to_owned()));
        }
        let host = host_of(url).ok_or(Refusal::NotAnAddress)?;
        if url.as_str().len() > LONGEST {
            return Err(Refusal::TooLong);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Credentials { host });
        }
        match url.host() {
            Some(Host::Ipv4(ip)) => self.check_address(&host, ip.into())?,
            Some(Host::Ipv6(ip)) => {
                self.check_address(&host, ip.into())?;
                if let Some(inner) = address::embedded(ip) {
                    return Err(Refusal::Disguised(inner.into()));
                }
            }
            Some(Host::Domain(_)) => self.check_name(&host)?,
            None => return Err(Refusal::NotAnAddress),
        }
        if let Some(rule) = self.blocked.finds(&host) {
            return Err(Refusal::Blocked { host, rule: rule.to_owned() });
        }
        if leak::holds_secret(url, &self.secrets) {
            return Err(Refusal::Secret { host });
        }
        Ok(())
    }

    /// Decides about one address that a host's name stands for. Every address a lookup gave must pass, and the
    /// connection must go to one of them without another lookup.
    pub fn check_address(&self, host: &str, ip: IpAddr) -> Result<(), Refusal> {
        self.judge(host, classify(ip))
    }

    fn check_name(&self, host: &str) -> Result<(), Refusal> {
        names::class_of(host).map_or(Ok(()), |class| self.judge(host, class))
    }

    fn judge(&self, host: &str, class: Class) -> Result<(), Refusal> {
        match (class, self.private) {
            (Class::Metadata, _) => Err(Refusal::Metadata { host: host.to_owned() }),
            (Class::Public, _) | (_, Private::Allowed) => Ok(()),
            (class, Private::Refused) => Err(Refusal::Private { host: host.to_owned(), class }),
        }
    }

    /// Whether a text holds one of the user's secrets, in any of the spellings that addresses are searched for.
    pub fn leaks(&self, text: &str) -> bool {
        leak::is_secret(text, &self.secrets)
    }

    /// Whether a site is on the user's block list; by its host.
    pub fn blocks(&self, host: &str) -> Option<&str> {
        self.blocked.finds(host)
    }
}

/// The host in lower case, without the dot that may end it.
pub fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// The host as it was typed: between the slashes and the port, path or query.
fn spelled_host(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(':')?;
    let rest = rest.trim_start_matches(['/', '\\']);
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(host.rsplit_once(':').map_or(host, |(host, _)| host))
}

#[cfg(test)]
mod tests;
