//! From what somebody wrote to a value of the declared kind, or to the reason why not.

use serde_json::{Map, Value};

use super::spec::{Kind, Spec};
use crate::yaml::{self, Document, Node, Scalar, resolve};

/// Reads a YAML node as what the setting holds. `Err` is what was found instead.
pub fn from_node(spec: &Spec, doc: &Document, node: &Node) -> Result<Value, String> {
    let Some(node) = doc.follow(node) else { return Err("an alias that leads nowhere".to_owned()) };
    match (&node.kind, spec.kind) {
        (_, Kind::Tree) => Ok(yaml::to_json(doc, node)),
        (yaml::Kind::Scalar(text, style), _) => from_scalar(spec, text, &resolve(text, *style)),
        (yaml::Kind::Seq(items, _), Kind::List) => items
            .iter()
            .map(|item| scalar_text(doc, item).map(Value::String))
            .collect::<Option<Vec<_>>>()
            .map(Value::Array)
            .ok_or_else(|| "a list with something else than texts in it".to_owned()),
        (yaml::Kind::Map(..), Kind::Table) => {
            let pair =
                |(key, item): (&str, &Node)| Some((key.to_owned(), Value::String(scalar_text(doc, item)?)));
            let pairs = doc.entries(node).into_iter().map(pair).collect::<Option<Map<_, _>>>();
            pairs
                .map(Value::Object)
                .ok_or_else(|| "a mapping with something else than texts in it".to_owned())
        }
        _ => Err(node.describe().to_owned()),
    }
}

fn scalar_text(doc: &Document, node: &Node) -> Option<String> {
    match &doc.follow(node)?.kind {
        yaml::Kind::Scalar(text, _) => Some(text.clone()),
        _ => None,
    }
}

fn from_scalar(spec: &Spec, text: &str, scalar: &Scalar) -> Result<Value, String> {
    let wrong = || Err(found(spec, scalar.describe(), text));
    match (spec.kind, scalar) {
        (_, Scalar::Null) => Ok(Value::Null),
        // Unquoted `off`, `1.10` or `22:30` mean the text that was typed where text is wanted.
        (Kind::Text | Kind::Secret, _) => Ok(text.into()),
        (Kind::Choice(options), _) => one_of(options, text, scalar).map_or_else(wrong, Ok),
        (Kind::Flag, Scalar::Bool(b)) => Ok((*b).into()),
        (Kind::Flag, Scalar::Int(i @ (0 | 1))) => Ok((*i == 1).into()),
        (Kind::Int(..), Scalar::Int(i)) => in_bounds(spec, (*i).into(), *i as f64).map_or_else(wrong, Ok),
        (Kind::Float(..), Scalar::Int(i)) => {
            in_bounds(spec, (*i as f64).into(), *i as f64).map_or_else(wrong, Ok)
        }
        (Kind::Float(..), Scalar::Float(f)) => in_bounds(spec, (*f).into(), *f).map_or_else(wrong, Ok),
        // Quotes around a number or a yes are common and leave no doubt.
        (Kind::Flag | Kind::Int(..) | Kind::Float(..), Scalar::Text(t)) => {
            from_text(spec, t).or_else(|_| wrong())
        }
        _ => wrong(),
    }
}

/// Reads a variable or an argument as what the setting holds. `Err` is what was found instead.
pub fn from_text(spec: &Spec, text: &str) -> Result<Value, String> {
    let trimmed = text.trim();
    let wrong = |what: &str| Err(found(spec, what, text));
    match spec.kind {
        Kind::Text | Kind::Secret => Ok(text.into()),
        Kind::Flag => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true.into()),
            "false" | "0" | "no" | "off" => Ok(false.into()),
            _ => wrong("text"),
        },
        Kind::Int(..) => {
            let what = if trimmed.parse::<f64>().is_ok() { "a number" } else { "text" };
            let value = trimmed.parse::<i64>().ok();
            value.and_then(|i| in_bounds(spec, i.into(), i as f64)).map_or_else(|| wrong(what), Ok)
        }
        Kind::Float(..) => {
            let value = trimmed.parse::<f64>().ok().filter(|f| f.is_finite());
            let what = if value.is_some() { "a number" } else { "text" };
            value.and_then(|f| in_bounds(spec, f.into(), f)).map_or_else(|| wrong(what), Ok)
        }
        Kind::Choice(options) => {
            let scalar = resolve(trimmed, yaml::Style::Plain);
            one_of(options, trimmed, &scalar).map_or_else(|| wrong("text"), Ok)
        }
        Kind::List => {
            json(trimmed).and_then(|v| texts(&v)).map_or_else(|| wrong("text that is not a JSON list"), Ok)
        }
        Kind::Table => json(trimmed)
            .and_then(|v| text_map(&v))
            .map_or_else(|| wrong("text that is not a JSON mapping"), Ok),
        Kind::Tree => Ok(free(text)),
    }
}

fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// Numbers and yes/no inside a list are taken as the text they were written as.
fn texts(value: &Value) -> Option<Value> {
    value.as_array()?.iter().map(plain_text).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn text_map(value: &Value) -> Option<Value> {
    let pairs = value.as_object()?.iter().map(|(k, v)| Some((k.clone(), plain_text(v)?)));
    pairs.collect::<Option<Map<_, _>>>().map(Value::Object)
}

fn plain_text(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Number(_) | Value::Bool(_) => Some(Value::String(value.to_string())),
        _ => None,
    }
}

/// Unquoted `off` and `on` are yes/no values to YAML; a choice that has such words means the words.
fn one_of(options: &[&str], text: &str, scalar: &Scalar) -> Option<Value> {
    let exact = options.iter().find(|o| o.eq_ignore_ascii_case(text));
    let spelled: &[&str] = match scalar {
        Scalar::Bool(true) => &["true", "on", "yes"],
        Scalar::Bool(false) => &["false", "off", "no"],
        _ => &[],
    };
    exact.or_else(|| options.iter().find(|o| spelled.contains(o))).map(|o| (*o).into())
}

fn in_bounds(spec: &Spec, value: Value, number: f64) -> Option<Value> {
    let inside = match spec.kind {
        Kind::Int(min, max) => number >= min as f64 && number <= max as f64,
        Kind::Float(min, max) => number >= min && number <= max,
        _ => true,
    };
    inside.then_some(value)
}

/// What was found, with the text itself unless it could be a secret.
fn found(spec: &Spec, what: &str, text: &str) -> String {
    if spec.is_secret() {
        return what.to_owned();
    }
    // A key pasted into the wrong place must not end up on the screen.
    let text = super::show::masked_text(text.trim());
    let shown: String = text.chars().take(40).collect();
    let more = if text.chars().count() > 40 { "…" } else { "" };
    format!("{what} (\"{shown}{more}\")")
}

/// A value typed without a declared kind: JSON where it looks like it, otherwise as YAML reads a plain scalar.
pub fn free(text: &str) -> Value {
    if text.trim_start().starts_with(['[', '{', '"'])
        && let Some(value) = json(text)
    {
        return value;
    }
    match resolve(text, yaml::Style::Plain) {
        Scalar::Null => Value::Null,
        Scalar::Bool(b) => b.into(),
        Scalar::Int(i) => i.into(),
        Scalar::Float(f) => f.into(),
        Scalar::Text(t) => t.into(),
    }
}
