//! Small helpers for JSON: one spelling for equal values, and reading numbers that may be missing or odd.

use serde_json::{Map, Value};

/// The arguments of a tool call in one spelling: keys sorted, no spaces. Equal calls then give equal bytes, which is what
/// a provider's prompt cache compares. What is no JSON object becomes `{}`: providers refuse a whole request for it.
pub fn canonical_arguments(text: &str) -> String {
    canonical_object(text).to_string()
}

/// The same as a value.
pub fn canonical_object(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(object @ Value::Object(_)) => sorted(object),
        _ => Value::Object(Map::new()),
    }
}

/// The value with the keys of every object in order.
pub fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<(String, Value)> = map.into_iter().map(|(k, v)| (k, sorted(v))).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

/// A count, wherever it stands; 0 when it is missing or no number.
pub(crate) fn count(value: &Value, path: &[&str]) -> u64 {
    let found = path.iter().try_fold(value, |at, key| at.get(key));
    found.map_or(0, |number| {
        number.as_u64().or_else(|| number.as_f64().map(|f| f.max(0.0) as u64)).unwrap_or(0)
    })
}

/// A whole number under a name.
pub(crate) fn number_at(map: &Map<String, Value>, name: &str) -> Option<u64> {
    map.get(name).and_then(Value::as_u64)
}

/// A text that is there and not empty.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_arguments_have_one_spelling() {
        assert_eq!(
            canonical_arguments(r#"{ "b": {"z":1,"a":2}, "a": [ {"y":1,"x":2} ] }"#),
            r#"{"a":[{"x":2,"y":1}],"b":{"a":2,"z":1}}"#
        );
        for broken in ["", "{\"a\":", "[1]", "null", "text"] {
            assert_eq!(canonical_arguments(broken), "{}", "{broken}");
        }
    }

    #[test]
    fn counts_survive_odd_numbers() {
        let value = serde_json::json!({"a": {"b": 3, "f": 2.9, "n": -1, "s": "x"}});
        assert_eq!(count(&value, &["a", "b"]), 3);
        assert_eq!(count(&value, &["a", "f"]), 2);
        assert_eq!(count(&value, &["a", "n"]), 0);
        assert_eq!(count(&value, &["a", "s"]), 0);
        assert_eq!(count(&value, &["x", "y"]), 0);
    }
}
