//! Gets a page without being led astray: every address is judged before it is opened, every number its name stands for
//! before it is connected to, and everything again after each redirect.

mod body;
mod error;
mod lookup;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hermes_guard::url::{Refusal, UrlPolicy, host_of};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Response, StatusCode};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::net::{self, Network, NetworkError, Way};
use body::Decoding;
pub use error::FetchError;
pub use lookup::{Looking, Lookup, System};

/// Most redirects that are followed.
const MOST_REDIRECTS: usize = 5;

/// What is fetched, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// What the server is told we take.
    pub accept: &'static str,
    /// Most bytes, uncompressed.
    pub largest: usize,
    /// What happens to more.
    pub beyond: Beyond,
    /// For all of it, redirects included.
    pub within: Duration,
}

/// What happens to what is longer than wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// The beginning is kept.
    Cut,
    /// It is an error: half of it is of no use.
    Refuse,
}

impl Order {
    /// A page to read.
    pub const PAGE: Self = Self {
        accept: "text/html,application/xhtml+xml,text/plain;q=0.9,text/markdown;q=0.9,application/json;q=0.8,*/*;q=0.5",
        largest: 2 * 1024 * 1024,
        beyond: Beyond::Cut,
        within: Duration::from_secs(30),
    };
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where it came from in the end.
    pub url: Url,
    /// Its type without parameters, in lower case; empty when the server does not say.
    pub media_type: String,
    /// The charset the server says.
    pub charset: Option<String>,
    /// The bytes, uncompressed.
    pub body: Vec<u8>,
    /// Whether that is all.
    pub extent: Extent,
}

/// Whether a body is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// It is.
    Whole,
    /// There was more.
    Cut,
}

/// Fetches within a policy. Cheap to clone; connects to nobody before the first fetch.
#[derive(Clone)]
pub struct Fetcher(Arc<Inner>);

struct Inner {
    policy: Arc<UrlPolicy>,
    network: Network,
    lookup: Arc<dyn Lookup>,
    near: OnceLock<Result<reqwest::Client, NetworkError>>,
    far: OnceLock<Result<reqwest::Client, NetworkError>>,
}

impl Fetcher {
    /// Fetches what the policy allows, with names looked up by the system.
    pub fn new(policy: UrlPolicy, network: Network) -> Self {
        Self::with_lookup(policy, network, Arc::new(System))
    }

    /// The same, with names looked up by somebody else.
    pub fn with_lookup(policy: UrlPolicy, network: Network, lookup: Arc<dyn Lookup>) -> Self {
        let (near, far) = (OnceLock::new(), OnceLock::new());
        Self(Arc::new(Inner { policy: Arc::new(policy), network, lookup, near, far }))
    }

    /// What may be opened.
    pub fn policy(&self) -> &UrlPolicy {
        &self.0.policy
    }

    /// Gets what is at an address.
    pub async fn fetch(
        &self,
        address: &str,
        order: &Order,
        cancel: &CancellationToken,
    ) -> Result<Fetched, FetchError> {
        let url = self.0.policy.check(address)?;
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(FetchError::Cancelled),
            done = tokio::time::timeout(order.within, self.0.follow(url, order)) => {
                done.unwrap_or(Err(FetchError::Slow { within: order.within }))
            }
        }
    }
}

impl Inner {
    /// Opens an address and the ones it leads to.
    async fn follow(&self, mut url: Url, order: &Order) -> Result<Fetched, FetchError> {
        for _ in 0..=MOST_REDIRECTS {
            let response = self.open(&url, order).await?;
            let status = response.status();
            if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
                return finish(url, response, order).await;
            }
            let next = target(&url, response.headers())?;
            self.policy.check_url(&next).map_err(|refusal| FetchError::Led { refusal })?;
            url = next;
        }
        Err(FetchError::Circles { most: MOST_REDIRECTS })
    }

    async fn open(&self, url: &Url, order: &Order) -> Result<Response, FetchError> {
        let host = host_of(url).unwrap_or_default();
        // The name of a proxy is looked up unjudged, so as a target it has to be judged here.
        if self.network.proxies.contains(&host) {
            for ip in
                self.lookup.lookup(host.clone()).await.map_err(|error| FetchError::unknown(&host, &error))?
            {
                self.policy.check_address(&host, ip)?;
            }
        }
        let client = self.client(net::way(url))?;
        let request = client
            .get(url.clone())
            .header(ACCEPT, order.accept)
            .header("Accept-Language", "en;q=0.9,*;q=0.5")
            .header(ACCEPT_ENCODING, "gzip, deflate");
        request.send().await.map_err(|error| FetchError::of(&error, &host))
    }

    fn client(&self, way: Way) -> Result<&reqwest::Client, FetchError> {
        let slot = if way == Way::Near { &self.near } else { &self.far };
        let built = slot.get_or_init(|| {
            let resolver = lookup::Judged::new(&self.policy, &self.lookup, &self.network.proxies);
            net::build(self.network.builder(way)?.dns_resolver(Arc::new(resolver)))
        });
        built.as_ref().map_err(|error| FetchError::Network(error.clone()))
    }
}

/// Where a redirect leads.
fn target(from: &Url, headers: &HeaderMap) -> Result<Url, FetchError> {
    let location = headers.get(LOCATION).and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    let host = || host_of(from).unwrap_or_default();
    let mut next = location
        .and_then(|location| from.join(location).ok())
        .ok_or_else(|| FetchError::Nowhere { host: host() })?;
    next.set_fragment(None);
    Ok(next)
}

async fn finish(url: Url, mut response: Response, order: &Order) -> Result<Fetched, FetchError> {
    let host = host_of(&url).unwrap_or_default();
    let status = response.status();
    if !status.is_success() {
        return Err(FetchError::Status { host, status: status.as_u16() });
    }
    let (media_type, charset) = content_type(response.headers());
    if order.beyond == Beyond::Refuse
        && response.content_length().is_some_and(|length| length > order.largest as u64)
    {
        return Err(FetchError::TooLarge { largest: order.largest });
    }
    let coding =
        response.headers().get(CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut decoding =
        Decoding::new(coding, order.largest).ok_or_else(|| FetchError::Coding { host: host.clone() })?;
    while let Some(piece) = response.chunk().await.map_err(|error| FetchError::of(&error, &host))? {
        if decoding.push(&piece).map_err(|_| FetchError::Garbled { host: host.clone() })? == Extent::Cut {
            break;
        }
    }
    let (body, extent) = decoding.finish().map_err(|_| FetchError::Garbled { host })?;
    if extent == Extent::Cut && order.beyond == Beyond::Refuse {
        return Err(FetchError::TooLarge { largest: order.largest });
    }
    Ok(Fetched { url, media_type, charset, body, extent })
}

/// The type and the charset of an answer.
fn content_type(headers: &HeaderMap) -> (String, Option<String>) {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = text.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
    let charset = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']).to_owned())
    });
    (media_type, charset)
}

impl From<Refusal> for FetchError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
