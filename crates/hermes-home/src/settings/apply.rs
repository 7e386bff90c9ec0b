//! Several settings of config.yaml changed in one step: all of them or none.

use serde_json::Value;

use super::spec::{Def, Spec};
use super::store::{Changed, StoreError, edit_config, set_setting, spellings, without};
use super::table::find;
use crate::home::Home;

/// One setting of config.yaml and what becomes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The setting's key.
    pub key: &'static str,
    /// The new value; nothing takes the setting out of the file.
    pub to: Option<Value>,
}

impl Change {
    /// Sets a value.
    pub fn set<T>(def: &Def<T>, value: impl Into<Value>) -> Self {
        Self { key: def.spec.key, to: Some(value.into()) }
    }

    /// Takes a setting out of the file, however it is spelled there.
    pub fn unset<T>(def: &Def<T>) -> Self {
        Self { key: def.spec.key, to: None }
    }
}

/// Makes all changes, or none when one of them cannot be made.
pub fn apply(home: &Home, changes: &[Change]) -> Result<Changed, StoreError> {
    let specs: Vec<(&'static Spec, Option<&Value>)> = changes
        .iter()
        .map(|change| {
            let spec = find(change.key).ok_or_else(|| super::unknown(change.key))?;
            Ok((spec, change.to.as_ref()))
        })
        .collect::<Result<_, StoreError>>()?;
    edit_config(home, |before| {
        let mut text = before.to_owned();
        // What goes away goes first: a short form such as `model: NAME` must not be widened for nothing.
        for (spec, _) in specs.iter().filter(|(_, to)| to.is_none()) {
            text = without(&text, &spellings(spec))?;
        }
        for (spec, to) in &specs {
            if let Some(value) = to {
                text = set_setting(&text, spec, value)?;
            }
        }
        Ok(text)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::Profile;
    use crate::settings::table::model;
    use serde_json::json;
    use std::fs;

    #[test]
    fn all_changes_are_made_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path(), Profile::Default);
        let file = dir.path().join("config.yaml");
        fs::write(&file, "# mine\nmodel:\n  default: old  # keep me\n  key_env: K\nterminal: {timeout: 5}\n")
            .unwrap();
        let changes = [
            Change::set(&model::DEFAULT, "new"),
            Change::unset(&model::KEY_ENV),
            Change::set(&model::PROVIDER, "zai"),
            Change::set(&model::FALLBACK_PROVIDERS, json!([{"provider": "xai", "model": "g"}])),
        ];
        apply(&home, &changes).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("# mine") && text.contains("default: new  # keep me"), "{text}");
        assert!(text.contains("provider: zai") && !text.contains("key_env"), "{text}");
        assert!(matches!(apply(&home, &changes).unwrap(), Changed::Unchanged(_)));
    }

    #[test]
    fn the_short_form_of_a_section_is_widened() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path(), Profile::Default);
        fs::write(dir.path().join("config.yaml"), "model: old\n").unwrap();
        let changes = [Change::set(&model::PROVIDER, "zai"), Change::set(&model::DEFAULT, "new")];
        apply(&home, &changes).unwrap();
        let text = fs::read_to_string(dir.path().join("config.yaml")).unwrap();
        assert!(text.contains("provider: zai") && text.contains("default: new"), "{text}");
    }

    #[test]
    fn nothing_is_written_when_one_change_is_impossible() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path(), Profile::Default);
        let before = "base: &b {default: x}\nmodel: *b\n";
        fs::write(dir.path().join("config.yaml"), before).unwrap();
        let changes = [Change::set(&model::FALLBACK_MODEL, json!({})), Change::set(&model::DEFAULT, "new")];
        assert!(apply(&home, &changes).is_err());
        assert_eq!(fs::read_to_string(dir.path().join("config.yaml")).unwrap(), before);
    }
}
