//! Reading settings: where each value comes from, and what it overrode.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::dotenv::{self, DotEnv};
use super::spec::{Def, FromValue, Place, Spec};
use super::value::{from_node, from_text};
use crate::files::{self, FileError};
use crate::home::Home;
use crate::yaml::{self, Document, ParseError};

/// Everything settings are read from, gathered once.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Values given on the command line, by key.
    pub flags: BTreeMap<&'static str, Value>,
    /// The real environment.
    pub env: BTreeMap<String, String>,
    /// Variables that are set but are not text.
    pub undecodable: BTreeSet<String>,
    /// `.env` of the home.
    pub dotenv: DotEnv,
    /// Where that is.
    pub env_file: PathBuf,
    /// config.yaml of the home.
    pub document: Document,
    /// Where that is.
    pub config_file: PathBuf,
}

/// Why the settings could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// config.yaml is not text.
    #[error("{} is not UTF-8 text: save it as UTF-8", .0.display())]
    NotText(PathBuf),
    /// config.yaml is not usable YAML.
    #[error("{}: {source}. Mend it with `hermes config edit`", .path.display())]
    Yaml {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        source: ParseError,
    },
    /// A list or a single value stands where a section (or the whole file) should be.
    #[error("{}: line {line}: {what} is {found}, but must be a mapping of keys to values", .path.display())]
    NotAMapping {
        /// The file.
        path: PathBuf,
        /// The section.
        what: String,
        /// Where.
        line: usize,
        /// What is there.
        found: &'static str,
    },
}

/// A setting that holds something it must not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: {key} is {found}, but must be {wanted}")]
pub struct SettingError {
    /// The setting.
    pub key: &'static str,
    /// Where the value stands.
    pub origin: Origin,
    /// What was found.
    pub found: String,
    /// What is wanted.
    pub wanted: String,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A command-line flag.
    Flag,
    /// A variable of the real environment.
    Env(&'static str),
    /// A line of `.env`.
    DotEnv {
        /// The variable.
        variable: &'static str,
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
    },
    /// A line of config.yaml.
    File {
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
        /// The key as it is spelled there.
        spelled: &'static str,
    },
    /// Nobody set it.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("command line"),
            Self::Env(variable) => write!(f, "environment variable {variable}"),
            Self::DotEnv { variable, file, line } => write!(f, "{}:{line} ({variable})", file.display()),
            Self::File { file, line, .. } => write!(f, "{}:{line}", file.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The value.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
}

/// The settings of a home.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    sources: Sources,
}

impl Settings {
    /// Reads `.env` and config.yaml of a home. Missing files are empty ones.
    pub fn load(home: &Home, env: &BTreeMap<OsString, OsString>) -> Result<Self, LoadError> {
        let text = |v: &OsString| v.to_str().map(str::to_owned);
        let undecodable =
            env.iter().filter(|(_, v)| v.to_str().is_none()).filter_map(|(k, _)| text(k)).collect();
        let env: BTreeMap<String, String> =
            env.iter().filter_map(|(k, v)| Some((text(k)?, text(v)?))).collect();
        let ignored = env.get("HERMES_IGNORE_USER_CONFIG").is_some_and(|v| !v.is_empty() && v != "0");
        let config_file = home.config_file();
        let document = if ignored { Document::default() } else { read_document(&config_file)? };
        let env_file = home.env_file();
        let dotenv = DotEnv::parse(&dotenv::decode(&files::read_if_exists(&env_file)?.unwrap_or_default()));
        Ok(Self {
            sources: Sources {
                flags: BTreeMap::new(),
                env,
                undecodable,
                dotenv,
                env_file,
                document,
                config_file,
            },
        })
    }

    /// Settings from given sources.
    pub fn from_sources(sources: Sources) -> Self {
        Self { sources }
    }

    /// Adds a value given on the command line.
    #[must_use]
    pub fn with_flag<T>(mut self, def: &Def<T>, value: Value) -> Self {
        self.sources.flags.insert(def.spec.key, value);
        self
    }

    /// What the settings were read from.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The effective value of a setting.
    pub fn get<T: FromValue>(&self, def: &Def<T>) -> Result<T, SettingError> {
        let resolved = self.resolve(&def.spec)?;
        T::from_value(&resolved.value).or_else(|| T::from_value(&def.spec.default())).ok_or_else(|| {
            SettingError {
                key: def.spec.key,
                origin: resolved.origin,
                found: "something its declaration does not allow".to_owned(),
                wanted: def.spec.wants(),
            }
        })
    }

    /// The effective value of a setting with its origin.
    pub fn resolve(&self, spec: &Spec) -> Result<Resolved, SettingError> {
        let mut candidates = self.candidates(spec);
        candidates.next().unwrap_or_else(|| Ok(Resolved { value: spec.default(), origin: Origin::Default }))
    }

    /// Every source that says something about a setting, strongest first; without the default.
    pub fn candidates<'a>(
        &'a self,
        spec: &'a Spec,
    ) -> impl Iterator<Item = Result<Resolved, SettingError>> + use<'a> {
        let flag =
            self.sources.flags.get(spec.key).map(|v| Ok(Resolved { value: v.clone(), origin: Origin::Flag }));
        flag.into_iter().chain(self.in_env(spec)).chain(self.in_dotenv(spec)).chain(self.in_file(spec))
    }

    fn in_env(&self, spec: &Spec) -> Option<Result<Resolved, SettingError>> {
        let variable = spec.env?;
        if self.sources.undecodable.contains(variable) {
            return Some(Err(wrong(spec, Origin::Env(variable), "bytes that are not UTF-8".to_owned())));
        }
        // An empty variable is how shells and unit files say "not set".
        let text = self.sources.env.get(variable).filter(|t| !t.is_empty())?;
        Some(read(spec, text, Origin::Env(variable)))
    }

    fn in_dotenv(&self, spec: &Spec) -> Option<Result<Resolved, SettingError>> {
        let variable = spec.env?;
        let entry = self.sources.dotenv.get(variable).filter(|e| !e.value.is_empty())?;
        let origin = Origin::DotEnv { variable, file: self.sources.env_file.clone(), line: entry.line };
        Some(read(spec, &entry.value, origin))
    }

    fn in_file(&self, spec: &Spec) -> Option<Result<Resolved, SettingError>> {
        if spec.place == Place::EnvOnly {
            return None;
        }
        let (spelled, node) = self.node_of(spec)?;
        let origin = Origin::File { file: self.sources.config_file.clone(), line: node.line, spelled };
        Some(match from_node(spec, &self.sources.document, node) {
            Ok(Value::Null) => return None,
            Ok(value) => Ok(Resolved { value: self.expand(value), origin }),
            Err(found) => Err(wrong(spec, origin, found)),
        })
    }

    /// The node that sets a key, under its own or another accepted spelling.
    fn node_of(&self, spec: &Spec) -> Option<(&'static str, &yaml::Node)> {
        let at = |key: &'static str| self.sources.document.get(&key.split('.').collect::<Vec<_>>());
        if let Some(node) = at(spec.key) {
            return Some((spec.key, node));
        }
        // `model: NAME` is a spelling of model.default, `model: {…}` is the section.
        let other =
            |key: &&'static str| Some((*key, at(key).filter(|n| !matches!(n.kind, yaml::Kind::Map(..)))?));
        spec.also.iter().chain(spec.was).find_map(other)
    }

    /// `${NAME}` in texts; unknown names stay as they are.
    fn expand(&self, value: Value) -> Value {
        match value {
            Value::String(text) if text.contains("${") => Value::String(self.expand_text(&text)),
            Value::Array(items) => items.into_iter().map(|i| self.expand(i)).collect(),
            Value::Object(map) => Value::Object(map.into_iter().map(|(k, v)| (k, self.expand(v))).collect()),
            other => other,
        }
    }

    fn expand_text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, from) = rest.split_at(start);
            out.push_str(before);
            let Some(end) = from.find('}') else {
                rest = from;
                break;
            };
            match self.variable(&from[2..end]) {
                Some(value) => out.push_str(value),
                None => out.push_str(&from[..=end]),
            }
            rest = &from[end + 1..];
        }
        out + rest
    }

    /// A variable of the environment or `.env`, the real environment first.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let real = self.sources.env.get(name).filter(|v| !v.is_empty()).map(String::as_str);
        real.or_else(|| self.sources.dotenv.get(name).map(|e| e.value.as_str()))
    }

    /// Values that must never be shown: every secret that is set anywhere, and what `.env` holds under names that are
    /// not settings (people keep keys there under any name).
    pub fn secret_values(&self) -> Vec<String> {
        let mut all = Vec::new();
        for spec in super::all() {
            for found in self.candidates(spec).filter_map(Result::ok) {
                super::show::secrets_in(spec, &found.value, &mut all);
            }
        }
        let env = self.sources.env.iter().filter(|(k, _)| looks_secret(k)).map(|(_, v)| v.clone());
        let ordinary = |name: &str| super::find(name).is_some_and(|s| !s.is_secret());
        let dotenv =
            self.sources.dotenv.entries().iter().filter(|e| !ordinary(&e.name)).map(|e| e.value.clone());
        all.extend(env.chain(dotenv));
        all.retain(|v| !v.is_empty());
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Whether a variable holds a secret: it is declared as one, or its name says so.
pub fn looks_secret(name: &str) -> bool {
    super::find(name).map_or_else(|| hermes_guard::is_secret_name(name), Spec::is_secret)
}

fn read(spec: &Spec, text: &str, origin: Origin) -> Result<Resolved, SettingError> {
    match from_text(spec, text) {
        Ok(value) => Ok(Resolved { value, origin }),
        Err(found) => Err(wrong(spec, origin, found)),
    }
}

fn wrong(spec: &Spec, origin: Origin, found: String) -> SettingError {
    SettingError { key: spec.key, origin, found, wanted: spec.wants() }
}

/// Reads and checks the shape of a config.yaml.
pub(super) fn read_document(path: &Path) -> Result<Document, LoadError> {
    let bytes = files::read_if_exists(path)?.unwrap_or_default();
    let text = String::from_utf8(bytes).map_err(|_| LoadError::NotText(path.to_path_buf()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let document =
        yaml::parse(text).map_err(|source| LoadError::Yaml { path: path.to_path_buf(), source })?;
    let misplaced = document.root().and_then(|root| misplaced(&document, root, "the file"));
    match misplaced {
        Some((what, line, found)) => {
            Err(LoadError::NotAMapping { path: path.to_path_buf(), what, line, found })
        }
        None => Ok(document),
    }
}

/// The first section that is not one: settings below it would silently fall back to their defaults.
fn misplaced(document: &Document, node: &yaml::Node, key: &str) -> Option<(String, usize, &'static str)> {
    let real = document.follow(node)?;
    if !matches!(real.kind, yaml::Kind::Map(..)) {
        return Some((key.to_owned(), node.line, real.describe()));
    }
    document.entries(real).into_iter().find_map(|(name, child)| {
        let key = if key == "the file" { name.to_owned() } else { format!("{key}.{name}") };
        let skip = !super::table::is_section(&key) || child.is_null() || is_short_form(document, child, &key);
        if skip { None } else { misplaced(document, child, &key) }
    })
}

/// `model: NAME` stands for one setting of the section `model`.
fn is_short_form(document: &Document, node: &yaml::Node, key: &str) -> bool {
    let scalar = document.follow(node).is_some_and(|n| matches!(n.kind, yaml::Kind::Scalar(..)));
    scalar && super::find(key).is_some_and(|s| s.also.contains(&key) || s.was.contains(&key))
}
