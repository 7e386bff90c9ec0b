//! How a setting is declared: once, with everything the loader, the documentation and the errors need to know.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde_json::Value;

/// One declared setting.
#[derive(Debug)]
pub struct Spec {
    /// Its dotted place in config.yaml, or the variable's name when it lives only in the environment.
    pub key: &'static str,
    /// The environment variable that sets it, if any.
    pub env: Option<&'static str>,
    /// Other spellings in config.yaml that are just as good.
    pub also: &'static [&'static str],
    /// Old spellings in config.yaml: accepted, with a hint.
    pub was: &'static [&'static str],
    /// What it holds.
    pub kind: Kind,
    /// What it is when nobody sets it.
    pub preset: Preset,
    /// What it does, in one line.
    pub doc: &'static str,
    /// When a change takes effect.
    pub effect: Effect,
    /// Where it may be set.
    pub place: Place,
}

/// What a setting holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Yes or no.
    Flag,
    /// A whole number within bounds.
    Int(i64, i64),
    /// A number within bounds.
    Float(f64, f64),
    /// Text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    List,
    /// Names with texts.
    Table,
    /// Any structure; what is inside is checked by its reader.
    Tree,
    /// Text that must not be shown.
    Secret,
}

/// A default that can stand in a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Preset {
    /// Not set.
    Unset,
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// Text.
    Text(&'static str),
    /// A list of texts.
    List(&'static [&'static str]),
    /// An empty mapping.
    Empty,
}

/// When a change takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// With the next command, turn or tick.
    Live,
    /// When the program that uses it is started again.
    Restart,
}

/// Where a setting may be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In config.yaml, and in its variable if it has one.
    File,
    /// Only as an environment variable, in the real environment or `.env`.
    EnvOnly,
}

impl Spec {
    /// The default as a value.
    pub fn default(&self) -> Value {
        match self.preset {
            Preset::Unset => Value::Null,
            Preset::Flag(b) => b.into(),
            Preset::Int(i) => i.into(),
            Preset::Float(f) => f.into(),
            Preset::Text(t) => t.into(),
            Preset::List(items) => items.iter().copied().collect(),
            Preset::Empty => Value::Object(serde_json::Map::new()),
        }
    }

    /// The section it belongs to: everything before the first dot.
    pub fn section(&self) -> &'static str {
        self.key.split('.').next().unwrap_or(self.key)
    }

    /// Whether its value must be masked wherever it is shown.
    pub fn is_secret(&self) -> bool {
        self.kind == Kind::Secret
    }

    /// The variable a secret of config.yaml is kept in, so that the file holds only a reference to it.
    pub fn secret_variable(&self) -> String {
        self.env.map_or_else(
            || format!("HERMES_{}", self.key.to_uppercase().replace(['.', '-'], "_")),
            str::to_owned,
        )
    }

    /// What it holds, in words.
    pub fn wants(&self) -> String {
        match self.kind {
            Kind::Flag => "true or false".to_owned(),
            Kind::Int(i64::MIN, i64::MAX) => "a whole number".to_owned(),
            Kind::Int(min, i64::MAX) => format!("a whole number, at least {min}"),
            Kind::Int(min, max) => format!("a whole number from {min} to {max}"),
            Kind::Float(min, max) if min.is_infinite() && max.is_infinite() => "a number".to_owned(),
            Kind::Float(min, max) if max.is_infinite() => format!("a number, at least {min}"),
            Kind::Float(min, max) => format!("a number from {min} to {max}"),
            Kind::Text | Kind::Secret => "text".to_owned(),
            Kind::Choice(options) => {
                let named = options.iter().filter(|o| !o.is_empty()).copied().collect::<Vec<_>>().join(", ");
                if options.contains(&"") {
                    format!("empty or one of {named}")
                } else {
                    format!("one of {named}")
                }
            }
            Kind::List => "a list of texts".to_owned(),
            Kind::Table => "a mapping of names to texts".to_owned(),
            Kind::Tree => "a mapping or list".to_owned(),
        }
    }
}

/// A declared setting together with the Rust type it is read as.
#[derive(Debug)]
pub struct Def<T> {
    /// The declaration.
    pub spec: Spec,
    read_as: PhantomData<fn() -> T>,
}

impl<T> Def<T> {
    const fn new(key: &'static str, kind: Kind, preset: Preset) -> Self {
        let spec = Spec {
            key,
            env: None,
            also: &[],
            was: &[],
            kind,
            preset,
            doc: "",
            effect: Effect::Live,
            place: Place::File,
        };
        Self { spec, read_as: PhantomData }
    }

    /// The environment variable that sets it.
    pub(super) const fn env(mut self, name: &'static str) -> Self {
        self.spec.env = Some(name);
        self
    }

    /// Spellings that are just as good.
    pub(super) const fn also(mut self, keys: &'static [&'static str]) -> Self {
        self.spec.also = keys;
        self
    }

    /// Old spellings.
    pub(super) const fn was(mut self, keys: &'static [&'static str]) -> Self {
        self.spec.was = keys;
        self
    }

    /// A change needs a restart.
    pub(super) const fn restart(mut self) -> Self {
        self.spec.effect = Effect::Restart;
        self
    }

    /// It lives only in the environment: `key` is the variable.
    pub(super) const fn env_only(mut self) -> Self {
        self.spec.env = Some(self.spec.key);
        self.spec.place = Place::EnvOnly;
        self
    }

    pub(super) const fn doc(mut self, doc: &'static str) -> Self {
        self.spec.doc = doc;
        self
    }
}

impl Def<i64> {
    /// The smallest allowed value.
    pub(super) const fn at_least(mut self, min: i64) -> Self {
        if let Kind::Int(_, max) = self.spec.kind {
            self.spec.kind = Kind::Int(min, max);
        }
        self
    }

    /// The largest allowed value.
    pub(super) const fn at_most(mut self, max: i64) -> Self {
        if let Kind::Int(min, _) = self.spec.kind {
            self.spec.kind = Kind::Int(min, max);
        }
        self
    }
}

impl Def<f64> {
    /// The allowed range.
    pub(super) const fn within(mut self, min: f64, max: f64) -> Self {
        self.spec.kind = Kind::Float(min, max);
        self
    }
}

/// A yes/no setting.
pub(super) const fn flag(key: &'static str, default: bool) -> Def<bool> {
    Def::new(key, Kind::Flag, Preset::Flag(default))
}

/// A whole number.
pub(super) const fn int(key: &'static str, default: i64) -> Def<i64> {
    Def::new(key, Kind::Int(i64::MIN, i64::MAX), Preset::Int(default))
}

/// A whole number that may be left unset.
pub(super) const fn optional_int(key: &'static str) -> Def<Option<i64>> {
    Def::new(key, Kind::Int(i64::MIN, i64::MAX), Preset::Unset)
}

/// A number.
pub(super) const fn float(key: &'static str, default: f64) -> Def<f64> {
    Def::new(key, Kind::Float(f64::NEG_INFINITY, f64::INFINITY), Preset::Float(default))
}

/// Text; the empty text is the usual way to say "not set".
pub(super) const fn text(key: &'static str, default: &'static str) -> Def<String> {
    Def::new(key, Kind::Text, Preset::Text(default))
}

/// One of several words.
pub(super) const fn choice(
    key: &'static str,
    options: &'static [&'static str],
    default: &'static str,
) -> Def<String> {
    Def::new(key, Kind::Choice(options), Preset::Text(default))
}

/// A list of texts.
pub(super) const fn list(key: &'static str, default: &'static [&'static str]) -> Def<Vec<String>> {
    Def::new(key, Kind::List, Preset::List(default))
}

/// Names with texts, empty by default.
pub(super) const fn table(key: &'static str) -> Def<BTreeMap<String, String>> {
    Def::new(key, Kind::Table, Preset::Empty)
}

/// Any structure, unset by default.
pub(super) const fn tree(key: &'static str) -> Def<Value> {
    Def::new(key, Kind::Tree, Preset::Unset)
}

/// Any structure, or this word.
pub(super) const fn tree_or(key: &'static str, default: &'static str) -> Def<Value> {
    Def::new(key, Kind::Tree, Preset::Text(default))
}

/// Text that must not be shown, unset by default.
pub(super) const fn secret(key: &'static str) -> Def<Option<String>> {
    Def::new(key, Kind::Secret, Preset::Unset)
}

/// A type a setting can be read as. The value was checked against the declared kind before.
pub trait FromValue: Sized {
    /// Takes the value over; `None` only if the declaration and the type disagree, which a test rules out.
    fn from_value(value: &Value) -> Option<Self>;
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl FromValue for i64 {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_i64()
    }
}

impl FromValue for Option<i64> {
    fn from_value(value: &Value) -> Option<Self> {
        Some(value.as_i64())
    }
}

impl FromValue for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_f64()
    }
}

impl FromValue for String {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

impl FromValue for Option<String> {
    fn from_value(value: &Value) -> Option<Self> {
        Some(value.as_str().filter(|s| !s.is_empty()).map(str::to_owned))
    }
}

impl FromValue for Vec<String> {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_array().map(|items| items.iter().filter_map(|i| i.as_str().map(str::to_owned)).collect())
    }
}

impl FromValue for BTreeMap<String, String> {
    fn from_value(value: &Value) -> Option<Self> {
        let text = |v: &Value| v.as_str().map(str::to_owned);
        value.as_object().map(|map| map.iter().filter_map(|(k, v)| Some((k.clone(), text(v)?))).collect())
    }
}

impl FromValue for Value {
    fn from_value(value: &Value) -> Option<Self> {
        Some(value.clone())
    }
}

/// Declares the settings of one module: a typed constant each, and the table of all of them.
macro_rules! settings {
    ($( $(#[doc = $doc:literal])+ $name:ident : $ty:ty = $make:expr;)*) => {
        $(
            $(#[doc = $doc])+
            pub const $name: $crate::settings::Def<$ty> = $make.doc(concat!($($doc),+));
        )*
        pub(super) static TABLE: &[&$crate::settings::Spec] = &[$(&$name.spec),*];
    };
}
pub(crate) use settings;
