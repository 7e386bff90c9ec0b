//! Base addresses of endpoints, and what their hosts say.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;

/// The address of an endpoint, to which the paths of the wire formats are added.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It is no address at all.
    #[error("'{0}' is not an address: write it as https://HOST/PATH")]
    NotAnAddress(String),
    /// It is not for HTTP.
    #[error("'{0}' is not an http or https address")]
    NotHttp(String),
    /// A password in an address ends up in logs.
    #[error(
        "the address of '{host}' holds a user name or password: put the key into a variable and name it with 'key_env'"
    )]
    Credentials {
        /// The host.
        host: String,
    },
}

impl BaseUrl {
    /// Reads an address. `localhost:8080/v1` is taken as `http://…`, everything else needs its scheme.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let text = text.trim();
        let bare = Url::parse(&format!("http://{text}"))
            .ok()
            .filter(|url| !text.contains("://") && is_loopback(url));
        let url = match bare {
            Some(url) => url,
            None => Url::parse(text).map_err(|_| UrlError::NotAnAddress(without_userinfo(text)))?,
        };
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(UrlError::NotHttp(without_userinfo(text)));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Credentials { host: url.host_str().unwrap_or_default().to_owned() });
        }
        Ok(Self(url))
    }

    /// The host, in lower case.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The path without a slash at its end.
    pub fn path(&self) -> &str {
        self.0.path().trim_end_matches('/')
    }

    /// True when the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// True for this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }

    /// True for this machine and its network, where models are loaded slowly and nobody drops idle connections.
    pub fn is_local(&self) -> bool {
        let host = self.host();
        let private = match ip_of(host) {
            Some(IpAddr::V4(ip)) => ip.is_private() || ip.is_link_local(),
            Some(IpAddr::V6(ip)) => ip.is_unique_local() || ip.is_unicast_link_local(),
            None => host == "host.docker.internal" || ends_with_label(host, "local") || !host.contains('.'),
        };
        self.is_loopback() || private
    }

    /// True when the host is this domain or lies in it.
    pub fn is_in(&self, domain: &str) -> bool {
        self.host() == domain || self.host().strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
    }

    /// The address with a path added. A query, as some gateways want one, stays at the end.
    pub fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}{path}", self.path()));
        url
    }

    /// The same address with another path.
    #[must_use]
    pub fn with_path(&self, path: &str) -> Self {
        let mut url = self.0.clone();
        url.set_path(path);
        Self(url)
    }
}

impl fmt::Display for BaseUrl {
    /// Without the query: keys are sometimes put there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut url = self.0.clone();
        url.set_query(None);
        f.write_str(url.as_str().trim_end_matches('/'))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaseUrl({self})")
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    host == "localhost"
        || ends_with_label(host, "localhost")
        || ip_of(host).is_some_and(|ip| ip.is_loopback() || ip.is_unspecified())
}

/// Whether a host's last label is this one.
fn ends_with_label(host: &str, label: &str) -> bool {
    host.rsplit_once('.').is_some_and(|(_, last)| last == label)
}

/// The address in a host, if it is one.
pub(crate) fn ip_of(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// What may be a password is not repeated in an error.
fn without_userinfo(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => format!("{}://***{}", &text[..scheme], &text[at..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn url(text: &str) -> BaseUrl {
        BaseUrl::parse(text).unwrap()
    }

    #[test]
    fn paths_are_added_and_queries_kept() {
        assert_eq!(url("https://h.test/v1/").join("/models").as_str(), "https://h.test/v1/models");
        assert_eq!(url("https://h.test").join("/v1/messages").as_str(), "https://h.test/v1/messages");
        let azure = url("https://h.test/openai?api-version=1");
        assert_eq!(azure.join("/chat").as_str(), "https://h.test/openai/chat?api-version=1");
        assert_eq!(azure.to_string(), "https://h.test/openai");
    }

    #[test]
    fn hosts_are_sorted_into_near_and_far() {
        for near in ["http://127.0.0.1:1234/v1", "localhost:8080", "http://[::1]:1/", "http://a.localhost"] {
            assert!(url(near).is_loopback() && url(near).is_local(), "{near}");
        }
        for local in [
            "http://192.168.1.4:8000",
            "http://box.local/v1",
            "http://host.docker.internal:1",
            "http://gpu:8000",
        ] {
            assert!(!url(local).is_loopback() && url(local).is_local(), "{local}");
        }
        for far in [
            "https://api.openai.com/v1",
            "https://8.8.8.8",
            "https://localhost.evil.test",
            "https://127.0.0.1.evil.test",
        ] {
            assert!(!url(far).is_local(), "{far}");
        }
        assert!(url("https://api.openai.com").is_in("openai.com"));
        assert!(!url("https://notopenai.com").is_in("openai.com"));
        assert!(!url("https://openai.com.evil.test").is_in("openai.com"));
    }

    #[test]
    fn bad_addresses_are_refused_without_repeating_secrets() {
        assert!(matches!(BaseUrl::parse(""), Err(UrlError::NotAnAddress(_))));
        assert!(matches!(BaseUrl::parse("api.test/v1"), Err(UrlError::NotAnAddress(_))));
        assert!(matches!(BaseUrl::parse("ftp://h.test"), Err(UrlError::NotHttp(_))));
        let error = BaseUrl::parse("https://me:hunter2@h.test/v1").unwrap_err().to_string();
        assert!(error.contains("h.test") && !error.contains("hunter2"), "{error}");
        let error = BaseUrl::parse("ftp://me:hunter2@h.test").unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
