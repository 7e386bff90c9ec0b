//! Arguments of a call, read with a sentence for what does not fit. What is null or empty was not said.

use serde_json::Value;

use crate::tool::Arguments;

/// A text; nothing if it is missing or blank.
pub(crate) fn text(arguments: &Arguments, name: &str) -> Result<Option<String>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("\"{name}\" must be a string")),
    }
}

/// A text that has to be there; `why` says what for.
pub(crate) fn needed(arguments: &Arguments, name: &str, why: &str) -> Result<String, String> {
    text(arguments, name)?.ok_or_else(|| format!("\"{name}\" is missing: {why}"))
}

/// A whole number.
pub(crate) fn whole(arguments: &Arguments, name: &str) -> Result<Option<i64>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_i64().map(Some).ok_or_else(|| format!("\"{name}\" must be a whole number")),
    }
}

/// A yes or no.
pub(crate) fn flag(arguments: &Arguments, name: &str) -> Result<Option<bool>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(_) => Err(format!("\"{name}\" must be true or false")),
    }
}

/// A list of texts, without blank ones; nothing if there is no list.
pub(crate) fn texts(arguments: &Arguments, name: &str) -> Result<Option<Vec<String>>, String> {
    let wrong = || format!("\"{name}\" must be a list of strings");
    let items = match arguments.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(one)) => vec![Value::from(one.clone())],
        Some(Value::Array(items)) => items.clone(),
        Some(_) => return Err(wrong()),
    };
    let text = |item: &Value| item.as_str().map(|text| text.trim().to_owned());
    let texts: Option<Vec<String>> = items.iter().map(text).collect();
    Ok(Some(texts.ok_or_else(wrong)?.into_iter().filter(|text| !text.is_empty()).collect()))
}

/// The beginning of a text on one line, for a person.
pub(crate) fn beginning(text: &str) -> String {
    const LENGTH: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LENGTH) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}
