//! Changing settings: one value at a time, atomically, under a lock, each in the file it belongs to.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::check::{free_value, tree_above};
use super::dotenv::{self, NameError};
use super::load::{LoadError, looks_secret};
use super::nearest;
use super::spec::{Kind, Place, Spec};
use super::table::{all, find};
use super::value::from_text;
use crate::files::{self, Access, FileError, Lock};
use crate::home::Home;
use crate::yaml::{self, EditError};

/// Why a setting was not changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No such setting.
    #[error("there is no setting \"{key}\"{}", hint(.nearest))]
    Unknown {
        /// What was asked for.
        key: String,
        /// What was probably meant.
        nearest: Vec<&'static str>,
    },
    /// The key names a section.
    #[error("\"{key}\" is a section: name one of its settings, such as {example}")]
    Section {
        /// The section.
        key: String,
        /// One of its settings.
        example: &'static str,
    },
    /// The value does not fit.
    #[error("{key} cannot be {found}: it must be {wanted}")]
    WrongValue {
        /// The setting.
        key: &'static str,
        /// What was given.
        found: String,
        /// What is wanted.
        wanted: String,
    },
    /// config.yaml cannot be changed as asked.
    #[error("{}: {source}", .file.display())]
    Edit {
        /// The file.
        file: PathBuf,
        /// Why.
        source: EditError,
    },
    /// The variable cannot be kept in `.env`.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The file is not usable as it is.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

fn hint(nearest: &[&'static str]) -> String {
    if nearest.is_empty() {
        ": `hermes config --all` lists them".to_owned()
    } else {
        format!(": did you mean {}?", nearest.join(" or "))
    }
}

/// What a change did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// The file holds the new value now.
    Written(PathBuf),
    /// It already was so.
    Unchanged(PathBuf),
}

/// Sets a value, in config.yaml or, if it is a secret or a variable, in `.env`.
pub fn set(home: &Home, key: &str, text: &str) -> Result<Changed, StoreError> {
    match target(key)? {
        Target::Variable(name) => edit_env(home, |before| Ok(dotenv::set(before, &name, text)?)),
        Target::SecretInFile(spec) => {
            let variable = spec.secret_variable();
            // First the file that can be refused: a secret that nothing refers to would be left behind.
            let reference = Value::String(format!("${{{variable}}}"));
            edit_config(home, |before| set_setting(before, spec, &reference))?;
            edit_env(home, |before| Ok(dotenv::set(before, &variable, text)?))
        }
        Target::Setting(spec) => {
            let wrong = |found| StoreError::WrongValue { key: spec.key, found, wanted: spec.wants() };
            let value = from_text(spec, text).map_err(wrong)?;
            edit_config(home, |before| set_setting(before, spec, &value))
        }
        Target::Inside(key) => edit_config(home, |before| yaml::set(before, &split(&key), &free_value(text))),
    }
}

/// Removes a value so that the default (or a weaker source) counts again. `None`: it was not set.
pub fn unset(home: &Home, key: &str) -> Result<Option<Changed>, StoreError> {
    let in_env =
        |name: &str| removed(edit_env(home, |b| Ok(dotenv::unset(b, name).unwrap_or_else(|| b.to_owned()))));
    let in_file = |keys: &[&str]| removed(edit_config(home, |before| without(before, keys)));
    match unset_target(key)? {
        Target::Variable(name) => in_env(&name),
        Target::SecretInFile(spec) => {
            let env = in_env(&spec.secret_variable())?;
            Ok(in_file(&[spec.key])?.or(env))
        }
        Target::Setting(spec) => in_file(&spellings(spec)),
        Target::Inside(key) => in_file(&[&key]),
    }
}

/// Every key a setting may stand under.
pub(super) fn spellings(spec: &Spec) -> Vec<&'static str> {
    [spec.key].into_iter().chain(spec.also.iter().chain(spec.was).copied()).collect()
}

/// The text without these keys.
pub(super) fn without(before: &str, keys: &[&str]) -> Result<String, EditError> {
    let mut text = before.to_owned();
    for key in keys {
        // A mapping under another spelling's name is the section, not the value.
        if !is_section_there(&text, key) {
            text = yaml::unset(&text, &split(key))?.unwrap_or(text);
        }
    }
    Ok(text)
}

fn removed(changed: Result<Changed, StoreError>) -> Result<Option<Changed>, StoreError> {
    changed.map(|c| matches!(c, Changed::Written(_)).then_some(c))
}

fn is_section_there(text: &str, key: &str) -> bool {
    let prefix = format!("{key}.");
    all().any(|s| s.key.starts_with(&prefix))
        && yaml::parse(text)
            .ok()
            .and_then(|d| d.get(&split(key)).map(|n| matches!(n.kind, yaml::Kind::Map(..))))
            .unwrap_or(false)
}

enum Target {
    Variable(String),
    SecretInFile(&'static Spec),
    Setting(&'static Spec),
    Inside(String),
}

fn target(key: &str) -> Result<Target, StoreError> {
    if let Some(spec) = find(key) {
        // A variable typed as such is meant as one, also when a key of config.yaml has the same meaning.
        if spec.place == Place::EnvOnly || spec.env == Some(key) {
            return Ok(Target::Variable(key.to_owned()));
        }
        return Ok(match (spec.kind, spec.env) {
            (Kind::Secret, Some(variable)) => Target::Variable(variable.to_owned()),
            (Kind::Secret, None) => Target::SecretInFile(spec),
            _ => Target::Setting(spec),
        });
    }
    if tree_above(key).is_some() {
        return Ok(Target::Inside(key.to_owned()));
    }
    if is_variable(key) && looks_secret(key) {
        return Ok(Target::Variable(key.to_owned()));
    }
    Err(unknown(key))
}

/// What is not declared may still have to go away.
fn unset_target(key: &str) -> Result<Target, StoreError> {
    match target(key) {
        Err(StoreError::Unknown { .. }) if is_variable(key) => Ok(Target::Variable(key.to_owned())),
        Err(StoreError::Unknown { .. }) => Ok(Target::Inside(key.to_owned())),
        other => other,
    }
}

/// Whether a word is spelled like a variable.
pub fn is_variable(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_uppercase())
        && key.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// What to say about a key that is not declared.
pub fn unknown(key: &str) -> StoreError {
    let prefix = format!("{key}.");
    if let Some(spec) = all().find(|s| s.key.starts_with(&prefix)) {
        return StoreError::Section { key: key.to_owned(), example: spec.key };
    }
    // Variables and keys are written differently: a slip stays on its side.
    let of_its_kind = |s: &&Spec| is_variable(key) == is_variable(s.key);
    let mut close = nearest(key, all().filter(of_its_kind).map(|s| s.key));
    if !key.contains('.') && close.is_empty() {
        let mut sections: Vec<&'static str> = all().filter(of_its_kind).map(Spec::section).collect();
        sections.dedup();
        close = nearest(key, sections.into_iter());
    }
    StoreError::Unknown { key: key.to_owned(), nearest: close }
}

/// Writes a declared setting where the file already has it, under whichever spelling.
pub(super) fn set_setting(before: &str, spec: &'static Spec, value: &Value) -> Result<String, EditError> {
    let document = yaml::parse(before)?;
    if document.get(&split(spec.key)).is_some() {
        return yaml::set(before, &split(spec.key), value);
    }
    let is_value =
        |key: &str| document.get(&split(key)).is_some_and(|n| !matches!(n.kind, yaml::Kind::Map(..)));
    if let Some(spelled) = spec.also.iter().chain(spec.was).find(|k| is_value(k)) {
        return yaml::set(before, &split(spelled), value);
    }
    let before = widen_short_form(before, spec.key, &document)?;
    yaml::set(&before, &split(spec.key), value)
}

/// `model: NAME` becomes `model: {default: NAME}` when another key of the section is set.
fn widen_short_form(before: &str, key: &str, document: &yaml::Document) -> Result<String, EditError> {
    let section = key.split('.').next().unwrap_or(key);
    let short_for = find(section).filter(|s| s.key != section && s.key.starts_with(&format!("{section}.")));
    let (Some(spec), Some(node)) = (short_for, document.get(&[section])) else {
        return Ok(before.to_owned());
    };
    let yaml::Kind::Scalar(text, _) = &node.kind else { return Ok(before.to_owned()) };
    let name = spec.key.rsplit('.').next().unwrap_or(spec.key);
    if node.is_null() || text.is_empty() {
        return yaml::unset(before, &[section]).map(|t| t.unwrap_or_else(|| before.to_owned()));
    }
    let cleared = yaml::set(before, &[section], &Value::Null)?;
    yaml::set(&cleared, &[section, name], &Value::String(text.clone()))
}

fn split(key: &str) -> Vec<&str> {
    key.split('.').collect()
}

/// Changes config.yaml under its lock; the result must be usable YAML.
pub fn edit_config(
    home: &Home,
    change: impl FnOnce(&str) -> Result<String, EditError>,
) -> Result<Changed, StoreError> {
    let file = home.config_file();
    edit_file(home, &file, Access::Keep, |bytes| {
        let text = String::from_utf8(bytes).map_err(|_| LoadError::NotText(file.clone()))?;
        let (mark, body) =
            text.strip_prefix('\u{feff}').map_or(("", text.as_str()), |rest| ("\u{feff}", rest));
        let after = change(body).map_err(|source| StoreError::Edit { file: file.clone(), source })?;
        Ok(format!("{mark}{after}"))
    })
}

/// Changes `.env` under its lock; it is 0600 afterwards.
pub fn edit_env(
    home: &Home,
    change: impl FnOnce(&str) -> Result<String, StoreError>,
) -> Result<Changed, StoreError> {
    edit_file(home, &home.env_file(), Access::Private, |bytes| change(&dotenv::decode(&bytes)))
}

fn edit_file(
    home: &Home,
    file: &Path,
    access: Access,
    change: impl FnOnce(Vec<u8>) -> Result<String, StoreError>,
) -> Result<Changed, StoreError> {
    let lock = Lock::acquire(&home.path(".settings.lock"))?;
    let before = files::read_if_exists(file)?.unwrap_or_default();
    let after = change(before.clone())?;
    if after.as_bytes() == before && (access == Access::Keep || !file.exists()) {
        return Ok(Changed::Unchanged(file.to_path_buf()));
    }
    files::write_locked(file, after.as_bytes(), access, &lock)?;
    Ok(if after.as_bytes() == before {
        Changed::Unchanged(file.to_path_buf())
    } else {
        Changed::Written(file.to_path_buf())
    })
}
