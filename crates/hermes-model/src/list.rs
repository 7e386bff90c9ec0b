//! The models an endpoint offers, asked for once an hour.

mod cache;

use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use cache::{Cached, ListCache};

use crate::client::{CallError, Client};
use crate::endpoint::Endpoint;
use crate::failure::{CallSize, Observed, Transport, failure_of};
use crate::json::text;
use crate::money::{Price, decimal};
use crate::wire::Wire;
use hermes_guard::Secret;

/// A model on offer, with what its provider says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Its name.
    pub id: String,
    /// The size of its window.
    pub window: Option<u64>,
    /// What it costs.
    pub price: Option<Price>,
}

/// Asks an endpoint for its models. This is also how a key is tested.
pub async fn fetch(
    client: &Client,
    endpoint: &Endpoint,
    key: Option<&Secret>,
    cancel: &CancellationToken,
) -> Result<Vec<Offer>, CallError> {
    /// A list is short; a server that cannot send it in this time is not well.
    const PATIENCE: Duration = Duration::from_secs(15);
    let mut endpoint = endpoint.clone();
    let path = if endpoint.wire == Wire::Messages && !endpoint.base_url.path().ends_with("/v1") {
        "/v1/models"
    } else {
        "/models"
    };
    if endpoint.wire == Wire::Messages {
        endpoint.headers.push(("anthropic-version".to_owned(), "2023-06-01".to_owned()));
    }
    let mut url = endpoint.base_url.join(path);
    if endpoint.base_url.is_in("anthropic.com") {
        url.query_pairs_mut().append_pair("limit", "1000");
    }
    let body = client.get(&endpoint, key, url, PATIENCE, cancel).await?;
    let document: Option<Value> = serde_json::from_slice(&body).ok();
    document.and_then(|document| read(&document)).ok_or_else(|| {
        let observed = Observed::broken(Transport::Garbage, "the list of models makes no sense");
        CallError::Failed(Box::new(failure_of(observed, &CallSize::default())))
    })
}

/// Reads `{"data": […]}`, `{"models": […]}` or a bare list.
fn read(document: &Value) -> Option<Vec<Offer>> {
    let list = document.get("data").or_else(|| document.get("models")).unwrap_or(document).as_array()?;
    Some(list.iter().filter_map(read_offer).collect())
}

fn read_offer(entry: &Value) -> Option<Offer> {
    let id = entry.as_str().or_else(|| text(entry, "id")).or_else(|| text(entry, "name"))?;
    let windows =
        ["context_length", "max_model_len", "max_context_length", "context_window", "max_input_tokens"];
    let window =
        windows.iter().find_map(|name| entry.get(name).and_then(Value::as_u64)).filter(|size| *size > 0);
    // Google writes `models/NAME` and wants `NAME`.
    let id = id.strip_prefix("models/").unwrap_or(id).to_owned();
    Some(Offer { id, window, price: price(&entry["pricing"]) })
}

/// Routers give dollars per token as text: `"0.000003"`.
fn price(pricing: &Value) -> Option<Price> {
    let part = |name: &str| match &pricing[name] {
        // Dollars per token are millionths of a dollar per million tokens, times 10^12.
        Value::String(text) => decimal(text, 12),
        Value::Number(number) => decimal(&number.to_string(), 12),
        _ => None,
    };
    let (input, output) = (part("prompt")?, part("completion")?);
    let cache_read = part("input_cache_read").unwrap_or(input);
    let cache_write = part("input_cache_write").unwrap_or(input);
    Some(Price { input, output, cache_read, cache_write })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_of_all_kinds_are_read() {
        let router = json!({"data": [{"id": "a/b", "context_length": 1000,
            "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"}}]});
        let price =
            Price { input: 3_000_000, output: 15_000_000, cache_read: 300_000, cache_write: 3_000_000 };
        let offer = Offer { id: "a/b".into(), window: Some(1000), price: Some(price) };
        assert_eq!(read(&router).unwrap(), [offer]);
        let names =
            |document: Value| read(&document).unwrap().into_iter().map(|offer| offer.id).collect::<Vec<_>>();
        assert_eq!(names(json!({"models": [{"name": "models/gemini-x"}, {"no": "name"}]})), ["gemini-x"]);
        assert_eq!(names(json!(["x", {"id": "y", "max_model_len": 4096}])), ["x", "y"]);
        assert_eq!(read(&json!({"error": "no"})), None);
    }
}
