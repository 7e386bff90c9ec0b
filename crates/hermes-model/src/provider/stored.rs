//! Keys that were stored with `hermes auth add`: the pool in `auth.json`, shared with other programs of this home.

use std::path::Path;

use hermes_guard::Secret;
use hermes_home::files::{self, FileError};
use serde_json::Value;

use crate::keys::Key;

/// The stored keys of all providers.
#[derive(Debug, Clone, Default)]
pub struct StoredKeys {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    provider: String,
    priority: i64,
    base_url: String,
    key: Key,
}

impl StoredKeys {
    /// Reads `auth.json` of a home. A file that is no JSON holds no keys: it is not ours to mend.
    pub fn in_home(home: &Path) -> Result<Self, FileError> {
        let bytes = files::read_if_exists(&home.join("auth.json"))?.unwrap_or_default();
        Ok(Self::read(&serde_json::from_slice(&bytes).unwrap_or_default()))
    }

    /// Reads the content of `auth.json`. Only plain keys are taken: logins belong to who made them.
    pub fn read(auth: &Value) -> Self {
        let mut entries = Vec::new();
        for (provider, list) in auth["credential_pool"].as_object().into_iter().flatten() {
            entries.extend(
                list.as_array().into_iter().flatten().filter_map(|entry| read_entry(provider, entry)),
            );
        }
        entries.sort_by_key(|entry| entry.priority);
        Self { entries }
    }

    /// The keys of a provider, best first. Those that were stored for another address are left out.
    pub fn of(&self, provider: &str, base_url: &str) -> Vec<Key> {
        let same = |a: &str, b: &str| a.trim_end_matches('/') == b.trim_end_matches('/');
        let fits = |entry: &&Entry| {
            entry.provider == provider && (entry.base_url.is_empty() || same(&entry.base_url, base_url))
        };
        self.entries.iter().filter(fits).map(|entry| entry.key.clone()).collect()
    }

    /// Whether there is a key of a provider, for any address.
    pub fn has(&self, provider: &str) -> bool {
        self.entries.iter().any(|entry| entry.provider == provider)
    }
}

fn read_entry(provider: &str, entry: &Value) -> Option<Entry> {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    // What was copied from a variable is read from the variable: it may have changed.
    let from_variable = text("source").starts_with("env:");
    if text("auth_type") != "api_key" || from_variable || text("access_token").is_empty() {
        return None;
    }
    Some(Entry {
        provider: provider.to_lowercase(),
        priority: entry["priority"].as_i64().unwrap_or(0),
        base_url: text("base_url").to_owned(),
        key: Key {
            origin: format!("auth.json, {}", text("label")),
            secret: Secret::new(text("access_token")),
        },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_keys_are_taken_in_order_and_logins_are_not() {
        let entry = |label: &str, kind: &str, priority: i64, source: &str| {
            json!({"id": "1", "label": label, "auth_type": kind, "priority": priority, "source": source,
                "access_token": format!("token-{label}"), "base_url": "https://openrouter.ai/api/v1"})
        };
        let auth = json!({"version": 1, "credential_pool": {"openrouter": [
            entry("second", "api_key", 1, "manual"), entry("first", "api_key", 0, "manual"),
            entry("login", "oauth", 0, "manual"), entry("copied", "api_key", 0, "env:OPENROUTER_API_KEY"),
        ]}});
        let stored = StoredKeys::read(&auth);
        let origins: Vec<String> = stored
            .of("openrouter", "https://openrouter.ai/api/v1/")
            .into_iter()
            .map(|key| key.origin)
            .collect();
        assert_eq!(origins, ["auth.json, first", "auth.json, second"]);
        assert!(stored.of("openrouter", "https://evil.test").is_empty());
        assert!(stored.has("openrouter") && !stored.has("zai"));
        assert!(!StoredKeys::read(&json!("broken")).has("openrouter"));
        let dir = tempfile::tempdir().unwrap();
        assert!(!StoredKeys::in_home(dir.path()).unwrap().has("openrouter"));
        std::fs::write(dir.path().join("auth.json"), auth.to_string()).unwrap();
        assert!(StoredKeys::in_home(dir.path()).unwrap().has("openrouter"));
    }
}
