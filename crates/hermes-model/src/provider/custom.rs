//! Endpoints of the user's own, from `providers:` and the older list `custom_providers:`.

use std::collections::BTreeMap;
use std::time::Duration;

use hermes_guard::Secret;
use serde_json::{Map, Value};

use crate::money::{MicroDollars, Price};
use crate::wire::Wire;

/// An endpoint of the user's own, or what he wants differently about a known provider.
#[derive(Debug, Clone, Default)]
pub struct CustomProvider {
    /// Its name.
    pub name: String,
    /// Its address.
    pub url: Option<String>,
    /// Its key.
    pub api_key: Option<Secret>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    /// What it speaks.
    pub wire: Option<Wire>,
    /// The model that is used when none is named.
    pub default_model: Option<String>,
    /// What is set for single models.
    pub models: BTreeMap<String, ModelOptions>,
    /// What is set for all its models.
    pub all_models: ModelOptions,
    /// Headers for every request.
    pub headers: Vec<(String, String)>,
    /// Fields added to every request body.
    pub extra_body: Map<String, Value>,
}

/// What is set for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelOptions {
    /// The size of its window.
    pub window: Option<u64>,
    /// What it costs.
    pub price: Option<Price>,
    /// How long a whole call may take.
    pub total: Option<Duration>,
    /// How long it may be silent.
    pub stale: Option<Duration>,
}

impl CustomProvider {
    /// Reads both forms. Entries of the newer one win.
    pub fn read_all(providers: &Value, list: &Value) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (name, entry) in providers.as_object().into_iter().flatten() {
            all.push(Self::read(name, entry));
        }
        for entry in list.as_array().into_iter().flatten() {
            let name = first_text(entry, &["name"]).unwrap_or_default();
            if !name.is_empty() && !all.iter().any(|known| known.is_named(name)) {
                all.push(Self::read(name, entry));
            }
        }
        all
    }

    fn read(name: &str, entry: &Value) -> Self {
        let text = |keys: &[&str]| first_text(entry, keys).map(str::to_owned);
        Self {
            name: name.to_owned(),
            url: text(&["api", "url", "base_url", "baseUrl"]),
            api_key: text(&["api_key", "apiKey"]).map(Secret::new),
            key_env: text(&["key_env", "api_key_env", "keyEnv", "apiKeyEnv"]),
            wire: first_text(entry, &["api_mode", "transport", "apiMode"]).and_then(Wire::parse),
            default_model: text(&["default_model", "model", "defaultModel"]),
            models: models(&entry["models"]),
            all_models: ModelOptions::read(entry),
            headers: headers(&entry["headers"]),
            extra_body: first(entry, &["extra_body", "extraBody"])
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default(),
        }
    }

    /// Whether this is what somebody calls it.
    pub fn is_named(&self, name: &str) -> bool {
        self.name.trim().eq_ignore_ascii_case(name.trim())
    }

    /// What is set for one of its models.
    pub fn options(&self, model: &str) -> ModelOptions {
        let own = self.models.get(model).copied().unwrap_or_default();
        own.or(self.all_models)
    }
}

impl ModelOptions {
    fn read(entry: &Value) -> Self {
        let number = |keys: &[&str]| first(entry, keys).and_then(number_of);
        let seconds = |keys: &[&str]| first(entry, keys).and_then(seconds_of);
        Self {
            window: number(&["context_length", "contextLength"]).filter(|window| *window > 0),
            price: price(&entry["price"]),
            total: seconds(&["request_timeout_seconds", "timeout_seconds", "requestTimeoutSeconds"]),
            stale: seconds(&["stale_timeout_seconds", "staleTimeoutSeconds"]),
        }
    }

    /// What is set here, and the rest from there.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            window: self.window.or(other.window),
            price: self.price.or(other.price),
            total: self.total.or(other.total),
            stale: self.stale.or(other.stale),
        }
    }
}

/// `{input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}`, in dollars per million tokens.
pub(super) fn price(entry: &Value) -> Option<Price> {
    let part = |name: &str| match &entry[name] {
        Value::Number(number) => MicroDollars::parse(&number.to_string()),
        Value::String(text) => MicroDollars::parse(text.trim_start_matches('$')),
        _ => None,
    };
    let (input, output) = (part("input")?.0, part("output")?.0);
    let or_input = |name: &str| part(name).map_or(input, |price| price.0);
    Some(Price { input, output, cache_read: or_input("cache_read"), cache_write: or_input("cache_write") })
}

/// A mapping of names to options, or a plain list of names.
fn models(entry: &Value) -> BTreeMap<String, ModelOptions> {
    let named = entry
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, options)| (name.clone(), ModelOptions::read(options)));
    let listed = entry.as_array().into_iter().flatten().filter_map(Value::as_str);
    named.chain(listed.map(|name| (name.to_owned(), ModelOptions::default()))).collect()
}

fn headers(entry: &Value) -> Vec<(String, String)> {
    let pair = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    entry.as_object().into_iter().flatten().filter_map(pair).collect()
}

fn first<'a>(entry: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| entry.get(key).filter(|value| !value.is_null()))
}

fn first_text<'a>(entry: &'a Value, keys: &[&str]) -> Option<&'a str> {
    let texts = keys.iter().filter_map(|key| entry.get(key).and_then(Value::as_str));
    texts.map(str::trim).find(|text| !text.is_empty())
}

fn number_of(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.replace(['_', ','], "").parse().ok())
}

fn seconds_of(value: &Value) -> Option<Duration> {
    let seconds = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_forms_and_all_spellings_are_read() {
        let providers = json!({
            "mybox": {"api": "http://127.0.0.1:8000/v1", "keyEnv": "MY_KEY", "transport": "anthropic_messages",
                "defaultModel": "m", "context_length": "32_768", "stale_timeout_seconds": 5,
                "models": {"big": {"context_length": 1_000_000, "timeout_seconds": 9.5,
                    "price": {"input": 3, "output": "15", "cache_read": 0.3}}},
                "extra_body": {"x": 1}, "headers": {"X-Team": "a"}},
            "empty": null,
        });
        let list = json!([{"name": "old", "base_url": "http://h.test", "api_key": "k", "models": ["a", "b"]},
            {"name": "MyBox", "url": "ignored"}, {"url": "nameless"}]);
        let all = CustomProvider::read_all(&providers, &list);
        assert_eq!(all.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["mybox", "empty", "old"]);
        let (mybox, old) = (&all[0], &all[2]);
        assert_eq!((mybox.key_env.as_deref(), mybox.wire), (Some("MY_KEY"), Some(Wire::Messages)));
        assert_eq!((mybox.default_model.as_deref(), mybox.extra_body["x"].as_i64()), (Some("m"), Some(1)));
        let options = mybox.options("big");
        let price =
            Price { input: 3_000_000, output: 15_000_000, cache_read: 300_000, cache_write: 3_000_000 };
        assert_eq!((options.window, options.price), (Some(1_000_000), Some(price)));
        assert_eq!(
            (options.total, options.stale),
            (Some(Duration::from_millis(9500)), Some(Duration::from_secs(5)))
        );
        assert_eq!(mybox.options("other").window, Some(32_768));
        assert_eq!((old.url.as_deref(), old.models.len()), (Some("http://h.test"), 2));
    }

    #[test]
    fn secrets_are_not_shown() {
        let all = CustomProvider::read_all(
            &json!({"a": {"api_key": "super-secret-value-1234567890"}}),
            &Value::Null,
        );
        assert!(!format!("{all:?}").contains("super-secret-value"), "{all:?}");
    }
}
