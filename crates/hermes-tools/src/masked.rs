//! Secrets masked in the texts of a JSON value, and nothing else in it changed.

use std::borrow::Cow;

use hermes_guard::{Policy, Redactor};
use serde_json::Value;

/// Masks the secrets in every text of a value. Names of fields stay.
pub fn value(value: &mut Value, redactor: &Redactor, policy: Policy) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(masked) = redactor.redact(text, policy) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| self::value(item, redactor, policy)),
        Value::Object(fields) => fields.values_mut().for_each(|item| self::value(item, redactor, policy)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_masked_wherever_they_are() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let mut shown = json!({ "a": [{ "b": format!("use {key}") }, 7], "c": "plain" });
        value(&mut shown, &Redactor::new([]), Policy::File);
        assert_eq!(shown, json!({ "a": [{ "b": "use «redacted:ghp_…»" }, 7], "c": "plain" }));
    }
}
