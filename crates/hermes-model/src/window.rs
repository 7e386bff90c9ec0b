//! How large a model's window is, and what was learned about it: `context_length_cache.yaml`, shared with other programs
//! of this home.

use std::path::{Path, PathBuf};

use hermes_home::files::{self, Access, FileError};
use hermes_home::yaml;
use serde_json::{Map, Value, json};

use crate::json::number_at;
use crate::url::BaseUrl;

/// What to plan with when nobody knows the window. Small enough for the models in use; an endpoint that has less says
/// so, and that is then remembered.
pub const DEFAULT_WINDOW: u64 = 128_000;

/// The section of the file.
const SECTION: &str = "context_lengths";

/// Who says how large a window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowFrom {
    /// The user.
    Settings,
    /// The endpoint, in an error or a list.
    Learned,
    /// The list of models the endpoint offers.
    Offered,
    /// The built-in table.
    Table,
}

impl WindowFrom {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Settings => "config.yaml",
            Self::Learned => "learned from the endpoint",
            Self::Offered => "the endpoint's list of models",
            Self::Table => "built-in table",
        }
    }
}

/// The windows that were learned, in one file.
#[derive(Debug, Clone)]
pub struct WindowCache {
    path: PathBuf,
}

impl WindowCache {
    /// In the home directory `home`.
    pub fn in_home(home: &Path) -> Self {
        Self { path: home.join("context_length_cache.yaml") }
    }

    /// The window of a model at an address. A file that cannot be read is as good as none: it is only a cache.
    pub fn get(&self, model: &str, base_url: &BaseUrl) -> Option<u64> {
        let known = self.read();
        // Older rows end in the slash that people write or leave out.
        let name = name_of(model, base_url);
        let row = [name.clone(), format!("{name}/")].into_iter().find_map(|name| number_at(&known, &name));
        row.filter(|window| *window > 0)
    }

    /// Remembers the window of a model at an address.
    pub fn put(&self, model: &str, base_url: &BaseUrl, window: u64) -> Result<(), FileError> {
        if window == 0 || self.get(model, base_url) == Some(window) {
            return Ok(());
        }
        let _lock = files::Lock::acquire(&self.path.with_extension("lock"))?;
        let before = self.text();
        let name = name_of(model, base_url);
        let after = yaml::set(&before, &[SECTION, &name], &json!(window)).unwrap_or_else(|_| {
            // A file the editor refuses is written anew with what could be read of it.
            let mut known = self.read();
            known.insert(name.clone(), json!(window));
            whole(&known)
        });
        files::write_atomic(&self.path, after.as_bytes(), Access::Keep)
    }

    fn text(&self) -> String {
        let bytes = files::read_if_exists(&self.path).ok().flatten().unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }

    fn read(&self) -> Map<String, Value> {
        let Ok(document) = yaml::parse(&self.text()) else { return Map::new() };
        let section = document.get(&[SECTION]).map(|node| yaml::to_json(&document, node));
        match section {
            Some(Value::Object(known)) => known,
            _ => Map::new(),
        }
    }
}

fn whole(known: &Map<String, Value>) -> String {
    let row = |(name, window): (&String, &Value)| format!("  {}: {window}\n", json!(name));
    format!("{SECTION}:\n{}", known.iter().map(row).collect::<String>())
}

fn name_of(model: &str, base_url: &BaseUrl) -> String {
    format!("{model}@{base_url}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use std::fs;

    fn url(text: &str) -> BaseUrl {
        BaseUrl::parse(text).unwrap()
    }

    #[test]
    fn windows_are_remembered_for_a_model_at_an_address() {
        let dir = tempfile::tempdir().unwrap();
        let cache = WindowCache::in_home(dir.path());
        let here = url("http://127.0.0.1:8000/v1");
        assert_eq!(cache.get("m", &here), None);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "looking must not write");
        cache.put("m", &here, 8192).unwrap();
        cache.put("a/b: c", &here, 4096).unwrap();
        cache.put("m", &here, 16_384).unwrap();
        assert_eq!((cache.get("m", &here), cache.get("a/b: c", &here)), (Some(16_384), Some(4096)));
        assert_eq!(cache.get("m", &url("http://127.0.0.1:8001/v1")), None);
    }

    #[test]
    fn rows_of_other_programs_are_read_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("context_length_cache.yaml");
        fs::write(&file, "context_lengths:\n  old@https://h.test/v1/: 1000\n  x@https://h.test/v1: 2000\n")
            .unwrap();
        let cache = WindowCache::in_home(dir.path());
        let there = url("https://h.test/v1");
        assert_eq!((cache.get("old", &there), cache.get("x", &there)), (Some(1000), Some(2000)));
        cache.put("y", &there, 3000).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.contains("old@https://h.test/v1/: 1000") && text.contains("y@https://h.test/v1"),
            "{text}"
        );
    }

    #[test]
    fn a_broken_file_is_as_good_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let there = url("https://h.test/v1");
        for broken in ["{", "- a\n", "context_lengths: 5\n", "context_lengths: {a: [}"] {
            fs::write(dir.path().join("context_length_cache.yaml"), broken).unwrap();
            let cache = WindowCache::in_home(dir.path());
            assert_eq!(cache.get("m", &there), None, "{broken}");
            cache.put("m", &there, 7).unwrap();
            assert_eq!(cache.get("m", &there), Some(7), "{broken}");
        }
    }
}
