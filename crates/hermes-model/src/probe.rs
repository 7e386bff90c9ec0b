//! Is this key any good? Asked of the endpoint itself, before the key is saved.

use hermes_guard::Secret;
use tokio_util::sync::CancellationToken;

use crate::client::{Call, CallError, Client, Deadlines, Patience, Thinking};
use crate::endpoint::Endpoint;
use crate::failure::{Class, Transport};
use crate::list::{self, Offer};
use crate::message::Message;
use crate::request::{CacheMarks, Delivery, Request};

/// What a list of models says about the key it was asked for with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Only a good key opens it.
    Shown,
    /// Everybody gets it, so it says nothing about the key.
    Open,
}

/// What an endpoint offers.
#[derive(Debug, Clone)]
pub struct Offered {
    /// The models.
    pub models: Vec<Offer>,
    /// What that says about the key.
    pub proof: Proof,
}

/// What a refusal means for who wants to use the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The key is wrong.
    WrongKey,
    /// The key is right, but something else is in the way: money, a limit.
    KeyIsGood,
    /// There is no such model.
    WrongModel,
    /// There is no list of models here; servers are free not to have one.
    NoList,
    /// Nobody answers there, or not in this format.
    Unreachable,
    /// It says nothing about the key.
    Unclear,
}

/// Asks for the list of models, and whether strangers get it too. A local server without a key is not asked twice.
pub async fn offered(
    client: &Client,
    endpoint: &Endpoint,
    key: Option<&Secret>,
    cancel: &CancellationToken,
) -> Result<Offered, CallError> {
    let models = list::fetch(client, endpoint, key, cancel).await?;
    let proof = match key {
        None => Proof::Shown,
        Some(_) => match list::fetch(client, endpoint, None, cancel).await {
            Err(CallError::Cancelled) => return Err(CallError::Cancelled),
            Err(CallError::Failed(failure)) if failure.class == Class::Auth => Proof::Shown,
            // Refused for another reason or given: it proves nothing.
            _ => Proof::Open,
        },
    };
    Ok(Offered { models, proof })
}

/// Asks a model for a word or two: the cheapest question that only a good key gets answered.
pub async fn one_word(
    client: &Client,
    endpoint: &Endpoint,
    key: Option<&Secret>,
    model: &str,
    cancel: &CancellationToken,
) -> Result<(), CallError> {
    /// Some providers refuse to write less.
    const FEWEST: u64 = 16;
    let request = Request {
        messages: vec![Message::user("Say OK.")],
        max_tokens: Some(FEWEST),
        cache: CacheMarks::Off,
        delivery: Delivery::Stream,
        ..Request::new(model)
    };
    let thinking = Thinking::of(&request, endpoint.wire);
    let deadlines = Deadlines::for_call(&Patience::default(), &endpoint.base_url, 0, thinking);
    let call = Call { endpoint, key, request: &request, deadlines, window: None };
    let mut answer = client.stream(call, cancel).await?;
    // The first sign of an answer is proof enough; dropping the stream ends it.
    answer.next().await.transpose().map(|_| ())
}

/// What a failure says.
pub fn verdict(error: &CallError) -> Verdict {
    let CallError::Failed(failure) = error else { return Verdict::Unclear };
    match failure.class {
        Class::Auth => Verdict::WrongKey,
        Class::Billing | Class::RateLimit | Class::Overloaded => Verdict::KeyIsGood,
        Class::ModelNotFound => Verdict::WrongModel,
        _ if matches!(failure.observed.status, Some(404 | 405 | 501)) => Verdict::NoList,
        _ if failure.observed.transport == Some(Transport::Garbage) => Verdict::NoList,
        Class::Timeout | Class::Certificate => Verdict::Unreachable,
        _ => Verdict::Unclear,
    }
}
