//! Lists of models on disk, so that choosing a model does not wait for the network.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hermes_guard::Secret;
use hermes_home::files::{self, Access, FileError};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::Offer;
use crate::endpoint::Endpoint;
use crate::money::Price;

/// How long a list is good.
const FRESH: Duration = Duration::from_hours(1);

/// A list from disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cached {
    /// Good as it is.
    Fresh(Vec<Offer>),
    /// Better than nothing when the network fails.
    Stale(Vec<Offer>),
    /// None for this endpoint and key.
    Missing,
}

/// The lists of all endpoints, in one file.
#[derive(Debug, Clone)]
pub struct ListCache {
    path: PathBuf,
}

impl ListCache {
    /// In the home directory `home`.
    pub fn in_home(home: &Path) -> Self {
        Self { path: home.join("cache").join("model_lists.json") }
    }

    /// The list of an endpoint. A file that cannot be read is as good as none: it is only a cache.
    pub fn get(&self, endpoint: &Endpoint, key: Option<&Secret>, now: SystemTime) -> Cached {
        let lists = self.read();
        let Some(entry) = lists.get(&name_of(endpoint, key)) else { return Cached::Missing };
        let offers: Vec<Offer> =
            entry["models"].as_array().into_iter().flatten().filter_map(offer_of).collect();
        let at = UNIX_EPOCH + Duration::from_secs(entry["at"].as_u64().unwrap_or(0));
        // A time in the future is that of a clock that was wrong.
        let fresh = now.duration_since(at).is_ok_and(|age| age < FRESH);
        if offers.is_empty() {
            Cached::Missing
        } else if fresh {
            Cached::Fresh(offers)
        } else {
            Cached::Stale(offers)
        }
    }

    /// Keeps the list of an endpoint. Empty lists are not kept.
    pub fn put(
        &self,
        endpoint: &Endpoint,
        key: Option<&Secret>,
        offers: &[Offer],
        now: SystemTime,
    ) -> Result<(), FileError> {
        if offers.is_empty() {
            return Ok(());
        }
        let _lock = files::Lock::acquire(&self.path.with_extension("lock"))?;
        let mut lists = self.read();
        let at = now.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let models: Vec<Value> = offers.iter().map(value_of).collect();
        lists.insert(name_of(endpoint, key), json!({"at": at, "models": models}));
        files::write_atomic(&self.path, Value::Object(lists).to_string().as_bytes(), Access::Private)
    }

    /// Forgets all lists.
    pub fn clear(&self) -> Result<(), FileError> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(files::failed("remove", &self.path)(error))
            }
            _ => Ok(()),
        }
    }

    fn read(&self) -> Map<String, Value> {
        let bytes = files::read_if_exists(&self.path).ok().flatten().unwrap_or_default();
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(lists)) => lists,
            _ => Map::new(),
        }
    }
}

/// What a list belongs to: provider, address, and a mark of the key that gives nothing of it away.
fn name_of(endpoint: &Endpoint, key: Option<&Secret>) -> String {
    let digest = key.map(|key| Sha256::digest(key.expose()));
    let mark = digest
        .map_or(0, |digest| digest.iter().take(4).fold(0u32, |mark, byte| mark << 8 | u32::from(*byte)));
    format!("{} {} {mark:08x}", endpoint.provider, endpoint.base_url)
}

fn value_of(offer: &Offer) -> Value {
    let price = offer.price.map(|p| json!([p.input, p.output, p.cache_read, p.cache_write]));
    json!({"id": offer.id, "window": offer.window, "price": price})
}

fn offer_of(value: &Value) -> Option<Offer> {
    let numbers: Option<Vec<u64>> =
        value["price"].as_array().map(|list| list.iter().filter_map(Value::as_u64).collect());
    let price = match numbers.as_deref() {
        Some([input, output, cache_read, cache_write]) => {
            Some(Price { input: *input, output: *output, cache_read: *cache_read, cache_write: *cache_write })
        }
        _ => None,
    };
    Some(Offer { id: value["id"].as_str()?.to_owned(), window: value["window"].as_u64(), price })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::url::BaseUrl;
    use crate::wire::Wire;
    use std::fs;

    fn endpoint(name: &str) -> Endpoint {
        Endpoint::new(name, BaseUrl::parse("https://h.test/v1").unwrap(), Wire::Chat)
    }

    fn offers() -> Vec<Offer> {
        vec![
            Offer { id: "m".into(), window: Some(5), price: Some(Price::FREE) },
            Offer { id: "n".into(), window: None, price: None },
        ]
    }

    #[test]
    fn lists_are_kept_for_an_hour_and_for_their_key() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ListCache::in_home(dir.path());
        let now = SystemTime::now();
        let key = Secret::new("secret-key-0123456789");
        assert_eq!(cache.get(&endpoint("p"), Some(&key), now), Cached::Missing);
        cache.put(&endpoint("p"), Some(&key), &offers(), now).unwrap();
        cache.put(&endpoint("q"), None, &offers()[..1], now).unwrap();
        assert_eq!(cache.get(&endpoint("p"), Some(&key), now), Cached::Fresh(offers()));
        assert_eq!(cache.get(&endpoint("p"), Some(&key), now + FRESH), Cached::Stale(offers()));
        assert_eq!(cache.get(&endpoint("p"), Some(&key), now - FRESH), Cached::Stale(offers()));
        assert_eq!(cache.get(&endpoint("p"), None, now), Cached::Missing, "another key may see other models");
        assert_eq!(cache.get(&endpoint("q"), None, now), Cached::Fresh(offers()[..1].to_vec()));
        let text = fs::read_to_string(dir.path().join("cache/model_lists.json")).unwrap();
        assert!(!text.contains("secret-key"));
        cache.clear().unwrap();
        cache.clear().unwrap();
        assert_eq!(cache.get(&endpoint("q"), None, now), Cached::Missing);
    }

    #[test]
    fn a_broken_file_is_as_good_as_none_and_empty_lists_are_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ListCache::in_home(dir.path());
        fs::create_dir_all(dir.path().join("cache")).unwrap();
        fs::write(dir.path().join("cache/model_lists.json"), "{broken").unwrap();
        let now = SystemTime::now();
        assert_eq!(cache.get(&endpoint("p"), None, now), Cached::Missing);
        cache.put(&endpoint("p"), None, &[], now).unwrap();
        assert_eq!(cache.get(&endpoint("p"), None, now), Cached::Missing);
        cache.put(&endpoint("p"), None, &offers(), now).unwrap();
        assert_eq!(cache.get(&endpoint("p"), None, now), Cached::Fresh(offers()));
    }
}
