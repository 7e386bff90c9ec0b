//! Arguments of the file tools, one by one.

use serde_json::Value;

use crate::tool::Arguments;

/// A text that must be there, and may be empty.
pub(super) fn text<'a>(arguments: &'a Arguments, name: &str) -> Result<&'a str, String> {
    optional(arguments, name)?.ok_or_else(|| format!("\"{name}\" is missing"))
}

/// A text that may be missing.
pub(super) fn optional<'a>(arguments: &'a Arguments, name: &str) -> Result<Option<&'a str>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("\"{name}\" must be a string")),
    }
}

/// A path that must be there.
pub(super) fn path<'a>(arguments: &'a Arguments, name: &str) -> Result<&'a str, String> {
    let path = text(arguments, name)?;
    match path {
        "" => Err(format!("\"{name}\" is empty: give the path of a file")),
        path if path.contains('\0') => Err(format!("\"{name}\" contains a NUL byte, which no path has")),
        path => Ok(path),
    }
}

/// A whole number that may be missing. Less than `least` counts as `least`: models count from 0 and from 1.
pub(super) fn number(arguments: &Arguments, name: &str, usual: u64, least: u64) -> Result<u64, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(usual),
        Some(value) => match (value.as_u64(), value.as_i64()) {
            (Some(number), _) => Ok(number.max(least)),
            (None, Some(_)) => Ok(least),
            (None, None) => Err(format!("\"{name}\" must be a whole number")),
        },
    }
}

/// A switch that may be missing.
pub(super) fn flag(arguments: &Arguments, name: &str) -> Result<bool, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => Err(format!("\"{name}\" must be true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        let Value::Object(given) =
            json!({ "path": "", "n": "x", "flag": 1, "less": -3, "t": 7, "nul": "a\u{0}" })
        else {
            panic!("an object")
        };
        assert!(path(&given, "path").unwrap_err().contains("empty"));
        assert!(path(&given, "gone").unwrap_err().contains("\"gone\" is missing"));
        assert!(path(&given, "nul").unwrap_err().contains("NUL"));
        assert!(number(&given, "n", 1, 1).unwrap_err().contains("\"n\""));
        assert!(flag(&given, "flag").is_err() && text(&given, "t").is_err());
        assert_eq!(number(&given, "less", 9, 1), Ok(1));
        assert_eq!(number(&given, "gone", 9, 1), Ok(9));
    }
}
