//! Asks a service: the key in a header and for its host alone, bounded answers, a second try where that helps.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hermes_guard::{Policy, Redactor};
use reqwest::header::{HeaderName, HeaderValue, RETRY_AFTER};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::ask::{self, Filling, Sent};
use super::table::{Auth, Batch, Request};
use super::{Backend, Extract, Hit, ServiceError};
use crate::net::{self, Network, NetworkError};

/// Largest answer.
const LARGEST: usize = 16 * 1024 * 1024;

/// The connection to a service, made when it is first used.
#[derive(Clone)]
pub(super) struct Connection(Arc<(Network, OnceLock<Result<reqwest::Client, NetworkError>>)>);

impl Connection {
    pub(super) fn new(network: Network) -> Self {
        Self(Arc::new((network, OnceLock::new())))
    }

    fn to(&self, base: &Url) -> Result<&reqwest::Client, NetworkError> {
        let (network, client) = &*self.0;
        let built = client.get_or_init(|| net::build(network.builder(net::way(base))?));
        built.as_ref().map_err(Clone::clone)
    }
}

impl Backend {
    /// Searches.
    pub async fn search(
        &self,
        query: &str,
        limit: u64,
        cancel: &CancellationToken,
    ) -> Result<Vec<Hit>, ServiceError> {
        let service = self.service.name;
        let unreadable = |reason: &str| ServiceError::Unreadable { service, reason: reason.to_owned() };
        let search = self.service.search.as_ref().ok_or_else(|| unreadable("it does not search"))?;
        let limit = limit.clamp(1, search.most);
        let answer = self.ask(&search.request, Filling::Search { query, limit }, cancel).await?;
        let found = ask::hits(search, &answer, usize::try_from(limit).unwrap_or(usize::MAX));
        found.ok_or_else(|| unreadable("there is no list of results in it"))
    }

    /// Reads pages.
    pub async fn extract(
        &self,
        urls: &[String],
        cancel: &CancellationToken,
    ) -> Result<Vec<Extract>, ServiceError> {
        let service = self.service.name;
        let cannot = || ServiceError::Unreadable { service, reason: "it does not read pages".to_owned() };
        let read = self.service.extract.as_ref().ok_or_else(cannot)?;
        if read.batch == Batch::All {
            let answer = self.ask(&read.request, Filling::Pages(urls), cancel).await?;
            return Ok(ask::pages(read, &answer, urls));
        }
        let mut all = Vec::new();
        for url in urls {
            let one = std::slice::from_ref(url);
            match self.ask(&read.request, Filling::Pages(one), cancel).await {
                Ok(answer) => all.extend(ask::pages(read, &answer, one)),
                Err(ServiceError::Cancelled) => return Err(ServiceError::Cancelled),
                Err(error) => all.push(Extract { url: url.clone(), page: Err(error.to_string()) }),
            }
        }
        Ok(all)
    }

    /// Asks until there is an answer or no point in asking.
    async fn ask(
        &self,
        request: &Request,
        filling: Filling<'_>,
        cancel: &CancellationToken,
    ) -> Result<Value, ServiceError> {
        let sent = ask::fill(request, filling);
        let mut attempt = 1;
        loop {
            let asked = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ServiceError::Cancelled),
                asked = tokio::time::timeout(self.patience.within, self.once(request, &sent)) => asked,
            };
            let slow = ServiceError::Slow { service: self.service.name, within: self.patience.within };
            let error = match asked.unwrap_or(Err(slow)) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let pause = self.patience.pause * 2_u32.saturating_pow(attempt - 1);
            // A pause longer than anybody waits is as good as a no.
            let patient =
                |wait: &Duration| attempt < self.patience.attempts && *wait <= self.patience.longest;
            let Some(wait) = error.again(pause.min(self.patience.longest)).filter(patient) else {
                return Err(error);
            };
            attempt += 1;
            tokio::select! {
                () = cancel.cancelled() => return Err(ServiceError::Cancelled),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    async fn once(&self, request: &Request, sent: &Sent) -> Result<Value, ServiceError> {
        let service = self.service.name;
        let unreachable = |reason: String| ServiceError::Unreachable { service, reason };
        let client = self.client.to(&self.base).map_err(|error| unreachable(error.to_string()))?;
        let mut url = self.base.clone();
        url.set_path(&format!("{}{}", self.base.path().trim_end_matches('/'), request.path));
        let asking = match sent {
            Sent::Query(pairs) => {
                url.query_pairs_mut().clear().extend_pairs(pairs);
                client.get(url)
            }
            Sent::Body(body) => {
                client.post(url).header("content-type", "application/json").body(body.to_string())
            }
        };
        let asking = asking.header("accept", "application/json").headers(self.key_header()?);
        let mut response = asking.send().await.map_err(|error| unreachable(innermost(&error)))?;
        let (status, after) = (response.status(), retry_after(response.headers().get(RETRY_AFTER)));
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| unreachable(innermost(&error)))? {
            if body.len() + piece.len() > LARGEST {
                return Err(ServiceError::Unreadable { service, reason: "it is too large".to_owned() });
            }
            body.extend_from_slice(&piece);
        }
        let answer: Result<Value, _> = serde_json::from_slice(&body);
        if status.is_success() {
            return answer.map_err(|error| ServiceError::Unreadable { service, reason: error.to_string() });
        }
        let message = answer.map(|answer| self.masked(&ask::message(&answer))).unwrap_or_default();
        Err(ServiceError::of(service, self.service.variable(), status.as_u16(), after, message))
    }

    fn key_header(&self) -> Result<reqwest::header::HeaderMap, ServiceError> {
        let mut headers = reqwest::header::HeaderMap::new();
        let Some(key) = &self.key else { return Ok(headers) };
        let (name, text) = match self.service.auth {
            Auth::None => return Ok(headers),
            Auth::Bearer => ("authorization", format!("Bearer {}", key.expose().trim())),
            Auth::Header(name) => (name, key.expose().trim().to_owned()),
        };
        let bad = || ServiceError::Key {
            service: self.service.name,
            variable: self.service.variable(),
            status: 0,
            message: "it holds characters that no key has".to_owned(),
        };
        let name = HeaderName::try_from(name).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(&text).map_err(|_| bad())?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(headers)
    }

    /// Services like to repeat the key they refuse.
    fn masked(&self, message: &str) -> String {
        let redactor = Redactor::new(self.key.iter().map(|key| key.expose().to_owned()));
        redactor.redact(message, Policy::Log).into_owned()
    }
}

/// The innermost cause, without the address it happened at.
fn innermost(error: &reqwest::Error) -> String {
    let mut last = None;
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        (last, next) = (Some(cause), cause.source());
    }
    last.map_or_else(|| "the connection broke".to_owned(), ToString::to_string)
}

fn retry_after(value: Option<&HeaderValue>) -> Option<Duration> {
    value?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}
