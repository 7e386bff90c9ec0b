//! Arguments fitted to the schema of a tool: `"42"` where a number is wanted becomes one.

use serde_json::{Map, Number, Value};

use crate::tool::Arguments;

/// Arguments that are run: what is run is what was written, never what was made of something else.
const RUN: &[&str] = &["command", "code"];

/// Fits arguments to a schema where it is clear what was meant. What does not fit stays as it is: the tool says so.
pub fn fit(arguments: &mut Arguments, schema: &Value) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, value) in arguments.iter_mut() {
        if let Some(schema) = properties.get(name).filter(|_| !RUN.contains(&name.as_str())) {
            fit_value(value, schema);
        }
    }
}

fn fit_value(value: &mut Value, schema: &Value) {
    let types = types(schema);
    if types.is_empty() {
        return;
    }
    if !types.iter().any(|wanted| is(value, wanted)) {
        let better = types.iter().find_map(|wanted| converted(value, wanted));
        *value = match better {
            Some(better) => better,
            // One thing where a list of things is wanted.
            None if types.contains(&"array") && !value.is_null() => Value::Array(vec![value.take()]),
            None => return,
        };
    }
    inside(value, schema);
}

/// Looks at the parts of lists and objects, and at the spelling of choices.
fn inside(value: &mut Value, schema: &Value) {
    match value {
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    fit_value(item, schema);
                }
            }
        }
        Value::Object(object) => {
            let mut taken: Map<String, Value> = std::mem::take(object);
            fit(&mut taken, schema);
            *object = taken;
        }
        Value::String(text) => {
            let choices = schema.get("enum").and_then(Value::as_array);
            let meant =
                |choice: &&Value| choice.as_str().is_some_and(|c| c.eq_ignore_ascii_case(text.trim()));
            if let Some(Value::String(choice)) = choices.and_then(|choices| choices.iter().find(meant)) {
                text.clone_from(choice);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The types a schema takes, in its order.
fn types(schema: &Value) -> Vec<&str> {
    let mut types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for either in ["anyOf", "oneOf"] {
        let schemas = schema.get(either).and_then(Value::as_array);
        types.extend(schemas.into_iter().flatten().filter_map(|s| s.get("type").and_then(Value::as_str)));
    }
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        types.push("null");
    }
    types
}

fn is(value: &Value, wanted: &str) -> bool {
    match wanted {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn converted(value: &Value, wanted: &str) -> Option<Value> {
    match (wanted, value) {
        ("integer", Value::Number(number)) => whole(number.as_f64()?),
        ("integer", Value::String(text)) => {
            let text = text.trim();
            text.parse::<i64>().map(Value::from).ok().or_else(|| whole(text.parse().ok()?))
        }
        ("number", Value::String(text)) => text.trim().parse::<Number>().ok().map(Value::Number),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        ("null", Value::String(text)) => text.trim().eq_ignore_ascii_case("null").then_some(Value::Null),
        ("array" | "object", Value::String(text)) => {
            serde_json::from_str(text.trim()).ok().filter(|value| is(value, wanted))
        }
        ("string", Value::Number(_) | Value::Bool(_)) => Some(Value::String(value.to_string())),
        _ => None,
    }
}

/// A number without a fraction, as one.
fn whole(number: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation, reason = "whole and in range, as checked")]
    (number.fract() == 0.0 && number.abs() < EXACT).then(|| Value::from(number as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn fitted(value: Value, schema: &Value) -> Value {
        let mut arguments: Arguments = [("x".to_owned(), value)].into_iter().collect();
        fit(&mut arguments, &json!({ "type": "object", "properties": { "x": schema } }));
        arguments["x"].clone()
    }

    #[test]
    fn clear_cases_are_fitted() {
        for (value, schema, expected) in [
            (json!("42"), json!({ "type": "integer" }), json!(42)),
            (json!(" 42.0 "), json!({ "type": "integer" }), json!(42)),
            (json!(42.0), json!({ "type": "integer" }), json!(42)),
            (json!("1.5"), json!({ "type": "number" }), json!(1.5)),
            (json!("True"), json!({ "type": "boolean" }), json!(true)),
            (json!("null"), json!({ "type": ["integer", "null"] }), Value::Null),
            (json!("null"), json!({ "type": "integer", "nullable": true }), Value::Null),
            (json!("[1, 2]"), json!({ "type": "array" }), json!([1, 2])),
            (json!("{\"a\": 1}"), json!({ "type": "object" }), json!({ "a": 1 })),
            (json!("one"), json!({ "type": "array", "items": { "type": "string" } }), json!(["one"])),
            (json!("3"), json!({ "type": "array", "items": { "type": "integer" } }), json!([3])),
            (json!(["1"]), json!({ "type": "array", "items": { "type": "integer" } }), json!([1])),
            (json!(7), json!({ "type": "string" }), json!("7")),
            (json!("LIST"), json!({ "type": "string", "enum": ["list", "poll"] }), json!("list")),
            (
                json!({ "n": "1" }),
                json!({ "type": "object", "properties": { "n": { "type": "integer" } } }),
                json!({ "n": 1 }),
            ),
            (json!("5"), json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }), json!(5)),
        ] {
            assert_eq!(fitted(value.clone(), &schema), expected, "{value} {schema}");
        }
    }

    #[test]
    fn what_is_not_clear_stays() {
        for (value, schema) in [
            (json!("soon"), json!({ "type": "integer" })),
            (json!("1.5"), json!({ "type": "integer" })),
            (json!("yes"), json!({ "type": "boolean" })),
            (json!("42"), json!({ "type": "string" })),
            (json!("42"), json!({ "type": ["integer", "string"] })),
            (json!("[1"), json!({ "type": "object" })),
            (Value::Null, json!({ "type": "array" })),
            (json!("42"), json!({})),
        ] {
            assert_eq!(fitted(value.clone(), &schema), value, "{schema}");
        }
        let mut unknown: Arguments = [("y".to_owned(), json!("1"))].into_iter().collect();
        fit(&mut unknown, &json!({ "properties": { "x": { "type": "integer" } } }));
        assert_eq!(unknown["y"], "1");
    }

    #[test]
    fn what_is_run_is_never_made_up() {
        let mut call: Arguments = [("command".to_owned(), json!(5))].into_iter().collect();
        fit(&mut call, &json!({ "properties": { "command": { "type": "string" } } }));
        assert_eq!(call["command"], 5);
    }

    proptest! {
        #[test]
        fn fitting_twice_changes_nothing_more(
            text in "\\PC{0,20}",
            wanted in prop::sample::select(vec!["string", "integer", "number", "boolean", "array", "object", "null"]),
        ) {
            let schema = json!({ "type": wanted });
            let once = fitted(json!(text), &schema);
            prop_assert_eq!(fitted(once.clone(), &schema), once);
        }
    }
}
