//! One HTTP call to a model: sent, watched by deadlines, read as events, dropped at once when cancelled.

mod connect;
mod deadlines;
mod http;
mod stream;
mod transport;

use std::time::Duration;

use hermes_guard::Secret;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, Url};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::endpoint::Endpoint;
use crate::failure::{CallSize, Failure, Observed, Transport, failure_of};
use crate::request::{Delivery, Request};
use crate::url::BaseUrl;
use connect::Connections;
pub use connect::{Addresses, ClientOptions};
pub use deadlines::{Deadlines, Patience, Thinking};
use http::{Stop, headers, insert, is_json, of_answer, read_body, redacted, until};
pub use stream::EventStream;

/// Why a call gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Somebody wanted it to end.
    #[error("cancelled")]
    Cancelled,
    /// It failed.
    #[error(transparent)]
    Failed(#[from] Box<Failure>),
}

impl CallError {
    fn failed(observed: Observed, size: &CallSize) -> Self {
        Self::Failed(Box::new(failure_of(observed, size)))
    }
}

/// One call.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Whom to ask.
    pub endpoint: &'a Endpoint,
    /// With which key.
    pub key: Option<&'a Secret>,
    /// What to ask.
    pub request: &'a Request,
    /// How long to wait for what.
    pub deadlines: Deadlines,
    /// The model's window, when it is known.
    pub window: Option<u64>,
}

impl Call<'_> {
    fn size(&self) -> CallSize {
        let (tokens, messages) = (self.request.estimated_tokens(), self.request.messages.len());
        CallSize { tokens, messages, window: self.window }
    }
}

/// Makes calls. Cheap to share; connections are kept and used again.
#[derive(Debug, Default)]
pub struct Client {
    connections: Connections,
}

impl Client {
    /// A client; nothing is set up before the first call.
    pub fn new(options: ClientOptions) -> Self {
        Self { connections: Connections::new(options) }
    }

    /// Sends a request and returns its events as they come. Dropping what it returns closes the connection.
    pub async fn stream(&self, call: Call<'_>, cancel: &CancellationToken) -> Result<EventStream, CallError> {
        let started = Instant::now();
        let outgoing = call.endpoint.wire.encode(call.endpoint, call.request);
        let wanted = if outgoing.body["stream"] == true { Delivery::Stream } else { Delivery::Whole };
        let limit = match wanted {
            Delivery::Stream => call.deadlines.stale.min(call.deadlines.total),
            Delivery::Whole => call.deadlines.total,
        };
        let send = async {
            let mut headers = headers(call.endpoint, call.key)?;
            insert(&mut headers, CONTENT_TYPE.as_str(), "application/json");
            for (name, value) in &outgoing.headers {
                insert(&mut headers, name, value);
            }
            let url = call.endpoint.base_url.join(outgoing.path);
            let post = self.http(&call.endpoint.base_url)?.post(url).headers(headers);
            let sent = post.body(outgoing.body.to_string()).send().await;
            sent.map_err(|error| transport::observed(&error, Transport::NoAnswer))
        };
        let size = call.size();
        let response = until(cancel, limit, send).await.map_err(|stop| stopped(stop, call.key, &size))?;
        tracing::debug!(
            provider = call.endpoint.provider,
            model = call.request.model,
            status = response.status().as_u16(),
            ms = started.elapsed().as_millis() as u64,
            "model answered"
        );
        if !response.status().is_success() {
            return Err(refused(response, call.key, cancel, &size).await);
        }
        // Some servers answer in one piece whatever they are asked.
        let delivery = if is_json(response.headers()) { Delivery::Whole } else { wanted };
        Ok(EventStream::new(response, &call, delivery, started, cancel.clone()))
    }

    /// Fetches a JSON document of the endpoint, such as its list of models.
    pub async fn get(
        &self,
        endpoint: &Endpoint,
        key: Option<&Secret>,
        url: Url,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Vec<u8>, CallError> {
        /// The largest list of models is some megabytes.
        const LARGEST_DOCUMENT: usize = 32 * 1024 * 1024;
        let fetch = async {
            let sent = self.http(&endpoint.base_url)?.get(url).headers(headers(endpoint, key)?).send().await;
            let mut response = sent.map_err(|error| transport::observed(&error, Transport::NoAnswer))?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = read_body(&mut response, LARGEST_DOCUMENT).await;
            if status.is_success() {
                body
            } else {
                Err(of_answer(status.as_u16(), &headers, &body.unwrap_or_default()))
            }
        };
        until(cancel, limit, fetch).await.map_err(|stop| stopped(stop, key, &CallSize::default()))
    }

    fn http(&self, base_url: &BaseUrl) -> Result<&reqwest::Client, Observed> {
        let failed =
            |error: connect::ConnectError| Observed::broken(Transport::Certificate, error.to_string());
        self.connections.to(base_url).map_err(failed)
    }
}

fn stopped(stop: Stop, key: Option<&Secret>, size: &CallSize) -> CallError {
    match stop {
        Stop::Cancelled => CallError::Cancelled,
        Stop::Broken(observed) => CallError::failed(redacted(observed, key), size),
    }
}

/// Reads what an error answer says.
async fn refused(
    mut response: Response,
    key: Option<&Secret>,
    cancel: &CancellationToken,
    size: &CallSize,
) -> CallError {
    /// The status is known; the words are not worth a long wait.
    const PATIENCE: Duration = Duration::from_secs(10);
    /// Longer bodies are cut.
    const LARGEST_BODY: usize = 64 * 1024;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    match until(cancel, PATIENCE, read_body(&mut response, LARGEST_BODY)).await {
        Err(Stop::Cancelled) => CallError::Cancelled,
        read => {
            CallError::failed(redacted(of_answer(status, &headers, &read.unwrap_or_default()), key), size)
        }
    }
}
