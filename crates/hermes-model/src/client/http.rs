//! Headers with keys, bounded bodies, and what an error answer says.

use std::future::Future;
use std::time::Duration;

use hermes_guard::{Policy, Redactor, Secret};
use jiff::Timestamp;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::transport;
use crate::endpoint::{Auth, Endpoint};
use crate::failure::{Observed, Transport, read_error_body, retry_after};

/// The endpoint's headers and the key.
pub(super) fn headers(endpoint: &Endpoint, key: Option<&Secret>) -> Result<HeaderMap, Observed> {
    let mut headers = HeaderMap::new();
    for (name, value) in &endpoint.headers {
        insert(&mut headers, name, value);
    }
    let Some(key) = key.filter(|key| !key.is_empty()) else { return Ok(headers) };
    let text = key.expose().trim();
    let (name, value) = match endpoint.auth {
        Auth::Bearer => ("authorization", format!("Bearer {text}")),
        Auth::XApiKey => ("x-api-key", text.to_owned()),
        Auth::ApiKey => ("api-key", text.to_owned()),
    };
    let mut value = HeaderValue::from_str(&value).map_err(|_| Observed {
        code: Some("invalid_api_key".to_owned()),
        message: "the key holds characters that no key has, such as a line end: enter it again".to_owned(),
        ..Observed::default()
    })?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

pub(super) fn insert(headers: &mut HeaderMap, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}

pub(super) fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("json"))
}

/// Why waiting ended without a result.
#[derive(Debug)]
pub(super) enum Stop {
    Cancelled,
    Broken(Observed),
}

/// Waits for something, but not longer than anybody wants it.
pub(super) async fn until<T>(
    cancel: &CancellationToken,
    limit: Duration,
    work: impl Future<Output = Result<T, Observed>>,
) -> Result<T, Stop> {
    let late = || Observed::broken(Transport::Silent, format!("no answer within {} s", limit.as_secs_f32()));
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Stop::Cancelled),
        done = timeout(limit, work) => done.unwrap_or_else(|_| Err(late())).map_err(Stop::Broken),
    }
}

/// Reads a body up to a size; what lies beyond is dropped with the connection.
pub(super) async fn read_body(response: &mut Response, largest: usize) -> Result<Vec<u8>, Observed> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| transport::observed(&e, Transport::CutOff))? {
        let room = largest - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() >= room {
            break;
        }
    }
    Ok(body)
}

/// An answer with an error status.
pub(super) fn of_answer(status: u16, headers: &HeaderMap, body: &[u8]) -> Observed {
    let id = ["x-request-id", "request-id"].iter().find_map(|name| headers.get(*name));
    Observed {
        status: Some(status),
        retry_after: retry_after(headers, Timestamp::now()),
        request_id: id.and_then(|id| id.to_str().ok()).map(str::to_owned),
        ..read_error_body(body)
    }
}

/// Providers like to repeat the key they refuse.
pub(super) fn redacted(mut observed: Observed, key: Option<&Secret>) -> Observed {
    let redactor = Redactor::new(key.map(|key| key.expose().to_owned()));
    observed.message = redactor.redact(&observed.message, Policy::Log).into_owned();
    observed
}
