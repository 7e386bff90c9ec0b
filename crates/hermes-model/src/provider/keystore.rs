//! Changing the pool of keys in `auth.json`. Other programs of this home keep their logins in the same file: whatever is
//! not ours stays as it is, and the file is written under the lock they use.

use std::path::{Path, PathBuf};

use hermes_guard::{Secret, mask};
use hermes_home::files::{self, Access, FileError, Lock};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// `auth.json` of a home.
#[derive(Debug, Clone)]
pub struct KeyStore {
    path: PathBuf,
}

/// An entry of the pool, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PooledKey {
    /// Whose key it is.
    pub provider: String,
    /// Its place among the provider's, from 1.
    pub number: usize,
    /// Its identifier.
    pub id: String,
    /// What its owner calls it.
    pub label: String,
    /// `api_key`, or the kind of login.
    pub kind: String,
    /// Where it came from.
    pub source: String,
    /// The key with its middle hidden.
    pub masked: String,
    /// Whether it can be used.
    pub state: KeyState,
}

/// Whether an entry can be used here.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyState {
    /// Yes.
    Ready,
    /// Another program noted that it was refused, and why.
    Refused(String),
    /// It is a login of another program, or a copy of a variable, and not taken.
    NotTaken,
}

/// A key to be added.
#[derive(Debug)]
pub struct NewKey<'a> {
    /// Whose it is: a provider, or `custom:NAME`.
    pub provider: &'a str,
    /// What to call it; nothing numbers it.
    pub label: Option<&'a str>,
    /// The key.
    pub secret: &'a Secret,
    /// The only address it may be sent to.
    pub base_url: &'a str,
    /// A fresh identifier.
    pub id: &'a str,
}

/// Why the pool was not changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not what it should be.
    #[error("{} is not a JSON object: move it away, or mend it by hand; nothing was changed", .0.display())]
    NotJson(PathBuf),
    /// The key is there already.
    #[error("this key of '{provider}' is stored already as #{number} ({label})")]
    Known {
        /// The provider.
        provider: String,
        /// Its place.
        number: usize,
        /// Its label.
        label: String,
    },
    /// There is no such entry.
    #[error("'{provider}' has no key '{target}': see `hermes auth list {provider}`")]
    NoSuchKey {
        /// The provider.
        provider: String,
        /// What was asked for.
        target: String,
    },
    /// Several entries have this label.
    #[error("several keys of '{provider}' are called '{target}': name it by its number")]
    Several {
        /// The provider.
        provider: String,
        /// What was asked for.
        target: String,
    },
}

impl KeyStore {
    /// In the home directory `home`.
    pub fn in_home(home: &Path) -> Self {
        Self { path: home.join("auth.json") }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All entries, by provider and in order.
    pub fn list(&self) -> Result<Vec<PooledKey>, KeyStoreError> {
        let document = self.read()?;
        let pools = document.get("credential_pool").and_then(Value::as_object);
        let all = pools.into_iter().flatten().flat_map(|(provider, list)| shown(provider, list));
        Ok(all.collect())
    }

    /// Adds a key behind the provider's others.
    pub fn add(&self, new: &NewKey<'_>, now: Timestamp) -> Result<PooledKey, KeyStoreError> {
        self.change(new.provider, now, |entries| {
            let same = |entry: &Value| new.secret.matches(entry["access_token"].as_str().unwrap_or_default());
            if let Some(place) = entries.iter().position(same) {
                let known = described(new.provider, place, &entries[place]);
                let (provider, number, label) = (known.provider, known.number, known.label);
                return Err(KeyStoreError::Known { provider, number, label });
            }
            let place = entries.len();
            let label = new.label.map_or_else(|| format!("api-key-{}", place + 1), str::to_owned);
            entries.push(entry(new, &label, place));
            Ok(described(new.provider, place, &entries[place]))
        })
    }

    /// Takes a key out: by number, identifier or label.
    pub fn remove(&self, provider: &str, target: &str, now: Timestamp) -> Result<PooledKey, KeyStoreError> {
        self.change(provider, now, |entries| {
            let place = find(provider, entries, target)?;
            let gone = described(provider, place, &entries[place]);
            entries.remove(place);
            for (place, entry) in entries.iter_mut().enumerate() {
                entry["priority"] = json!(place);
            }
            Ok(gone)
        })
    }

    /// Forgets that keys of a provider were refused. Says how many there were.
    pub fn reset(&self, provider: &str, now: Timestamp) -> Result<usize, KeyStoreError> {
        self.change(provider, now, |entries| {
            let refused = entries.iter_mut().filter(|entry| !entry["last_status"].is_null());
            Ok(refused.map(forget).count())
        })
    }

    fn change<T>(
        &self,
        provider: &str,
        now: Timestamp,
        work: impl FnOnce(&mut Vec<Value>) -> Result<T, KeyStoreError>,
    ) -> Result<T, KeyStoreError> {
        let lock = Lock::acquire(&self.path.with_extension("lock"))?;
        let mut document = self.read()?;
        let before = document.clone();
        document.entry("version").or_insert(json!(1));
        document.entry("providers").or_insert(json!({}));
        let pools = document.entry("credential_pool").or_insert(json!({}));
        let pools = pools.as_object_mut().ok_or_else(|| KeyStoreError::NotJson(self.path.clone()))?;
        let pool = pools.entry(provider.to_lowercase()).or_insert(json!([]));
        let entries = pool.as_array_mut().ok_or_else(|| KeyStoreError::NotJson(self.path.clone()))?;
        entries.sort_by_key(|entry| entry["priority"].as_i64().unwrap_or(0));
        let done = work(entries)?;
        if entries.is_empty() {
            pools.remove(&provider.to_lowercase());
        }
        if document != before {
            document.insert("updated_at".to_owned(), json!(now.to_string()));
            let text = serde_json::to_string_pretty(&Value::Object(document)).unwrap_or_default();
            files::write_locked(&self.path, text.as_bytes(), Access::Private, &lock)?;
        }
        Ok(done)
    }

    fn read(&self) -> Result<Map<String, Value>, KeyStoreError> {
        let Some(bytes) = files::read_if_exists(&self.path)? else { return Ok(Map::new()) };
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(document)) => Ok(document),
            _ => Err(KeyStoreError::NotJson(self.path.clone())),
        }
    }
}

fn entry(new: &NewKey<'_>, label: &str, place: usize) -> Value {
    json!({
        "id": new.id,
        "label": label,
        "auth_type": "api_key",
        "priority": place,
        "source": "manual",
        "access_token": new.secret.expose(),
        "last_status": null,
        "last_status_at": null,
        "last_error_code": null,
        "last_error_reason": null,
        "last_error_message": null,
        "last_error_reset_at": null,
        "base_url": new.base_url,
        "request_count": 0,
    })
}

fn forget(entry: &mut Value) {
    const NOTES: [&str; 6] = [
        "last_status",
        "last_status_at",
        "last_error_code",
        "last_error_reason",
        "last_error_message",
        "last_error_reset_at",
    ];
    for note in NOTES {
        entry[note] = Value::Null;
    }
}

fn shown(provider: &str, list: &Value) -> Vec<PooledKey> {
    let mut entries: Vec<&Value> = list.as_array().into_iter().flatten().collect();
    entries.sort_by_key(|entry| entry["priority"].as_i64().unwrap_or(0));
    entries.into_iter().enumerate().map(|(place, entry)| described(provider, place, entry)).collect()
}

fn described(provider: &str, place: usize, entry: &Value) -> PooledKey {
    let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    let (kind, source, token) = (text("auth_type"), text("source"), text("access_token"));
    let state = if kind != "api_key" || source.starts_with("env:") || token.is_empty() {
        KeyState::NotTaken
    } else if matches!(text("last_status").as_str(), "" | "ok") {
        KeyState::Ready
    } else {
        let code = entry["last_error_code"].as_i64().map(|code| format!(" ({code})")).unwrap_or_default();
        KeyState::Refused(format!("{}{code}", text("last_status")))
    };
    PooledKey {
        provider: provider.to_owned(),
        number: place + 1,
        id: text("id"),
        label: text("label"),
        kind,
        source,
        masked: mask(&token),
        state,
    }
}

fn find(provider: &str, entries: &[Value], target: &str) -> Result<usize, KeyStoreError> {
    let none = || KeyStoreError::NoSuchKey { provider: provider.to_owned(), target: target.to_owned() };
    let number: Option<usize> = target.trim_start_matches('#').parse().ok();
    if let Some(place) =
        number.and_then(|number| number.checked_sub(1)).filter(|place| *place < entries.len())
    {
        return Ok(place);
    }
    if let Some(place) = entries.iter().position(|entry| entry["id"] == target) {
        return Ok(place);
    }
    let mut called = entries.iter().enumerate().filter(|(_, entry)| entry["label"] == target);
    match (called.next(), called.next()) {
        (Some((place, _)), None) => Ok(place),
        (Some(_), Some(_)) => {
            Err(KeyStoreError::Several { provider: provider.to_owned(), target: target.to_owned() })
        }
        (None, _) => Err(none()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::provider::StoredKeys;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    const URL: &str = "https://openrouter.ai/api/v1";

    fn add(store: &KeyStore, key: &str, label: Option<&str>) -> Result<PooledKey, KeyStoreError> {
        let secret = Secret::new(key);
        let id = key.chars().rev().take(6).collect::<String>();
        let new = NewKey { provider: "openrouter", label, secret: &secret, base_url: URL, id: &id };
        store.add(&new, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn keys_are_added_listed_and_removed_and_the_rest_of_the_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("auth.json");
        let others = json!({"version": 1, "providers": {"nous": {"token": "x"}}, "active_provider": "nous"});
        fs::write(&file, others.to_string()).unwrap();
        let store = KeyStore::in_home(dir.path());
        assert_eq!(add(&store, "sk-or-first-000000000001", Some("work")).unwrap().number, 1);
        assert_eq!(add(&store, "sk-or-second-00000000002", None).unwrap().label, "api-key-2");
        let again = add(&store, "sk-or-first-000000000001", None);
        assert!(matches!(again, Err(KeyStoreError::Known { number: 1, .. })), "{again:?}");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

        let origins: Vec<String> = StoredKeys::in_home(dir.path())
            .unwrap()
            .of("openrouter", URL)
            .into_iter()
            .map(|key| key.origin)
            .collect();
        assert_eq!(origins, ["auth.json, work", "auth.json, api-key-2"]);
        let listed = store.list().unwrap();
        assert!(listed.iter().all(|key| key.state == KeyState::Ready && !key.masked.contains("first")));

        assert_eq!(store.remove("openrouter", "work", Timestamp::UNIX_EPOCH).unwrap().number, 1);
        let gone = store.remove("openrouter", "work", Timestamp::UNIX_EPOCH);
        assert!(matches!(gone, Err(KeyStoreError::NoSuchKey { .. })), "{gone:?}");
        store.remove("openrouter", "#1", Timestamp::UNIX_EPOCH).unwrap();
        let document: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(document["providers"]["nous"]["token"], "x");
        assert_eq!(
            (&document["active_provider"], &document["credential_pool"]),
            (&json!("nous"), &json!({}))
        );
    }

    #[test]
    fn refusals_are_shown_and_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let store = KeyStore::in_home(dir.path());
        add(&store, "sk-or-first-000000000001", None).unwrap();
        let file = dir.path().join("auth.json");
        let mut document: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let entry = &mut document["credential_pool"]["openrouter"][0];
        entry["last_status"] = json!("exhausted");
        entry["last_error_code"] = json!(429);
        fs::write(&file, document.to_string()).unwrap();
        assert_eq!(store.list().unwrap()[0].state, KeyState::Refused("exhausted (429)".into()));
        assert_eq!(store.reset("openrouter", Timestamp::UNIX_EPOCH).unwrap(), 1);
        assert_eq!(store.list().unwrap()[0].state, KeyState::Ready);
        assert_eq!(store.reset("openrouter", Timestamp::UNIX_EPOCH).unwrap(), 0);
    }

    #[test]
    fn a_file_that_is_not_ours_to_mend_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("auth.json");
        for broken in ["{half", "[]", r#"{"credential_pool": []}"#] {
            fs::write(&file, broken).unwrap();
            let store = KeyStore::in_home(dir.path());
            let refused = add(&store, "sk-or-first-000000000001", None);
            assert!(matches!(refused, Err(KeyStoreError::NotJson(_))), "{broken}");
            assert_eq!(fs::read_to_string(&file).unwrap(), broken);
        }
        assert!(!KeyStore::in_home(&dir.path().join("none")).path().exists());
    }
}
