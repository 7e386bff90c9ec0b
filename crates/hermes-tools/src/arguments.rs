//! Arguments as models write them: read, mended where it is clear what was meant, and fitted to the tool's schema.

mod fit;
mod lenient;

use serde_json::Value;

use crate::tool::Arguments;

pub use fit::fit;

/// What became of a call's arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Parsed {
    /// They are in order.
    Good(Arguments),
    /// They were not, but it is clear what was meant.
    Repaired(Arguments),
    /// They break off: the answer was cut. Never run such a call; the rest is missing.
    Truncated,
    /// Nobody can say what was meant; why.
    Hopeless(String),
}

/// Reads arguments. Never panics, whatever the text is.
pub fn parse(text: &str) -> Parsed {
    match text.trim() {
        "" | "null" => return Parsed::Good(Arguments::new()),
        _ => {}
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(arguments)) => return Parsed::Good(arguments),
        // Encoded twice.
        Ok(Value::String(inner)) => {
            return match serde_json::from_str(&inner) {
                Ok(Value::Object(arguments)) => Parsed::Repaired(arguments),
                _ => Parsed::Hopeless("the arguments are a string: send a JSON object".to_owned()),
            };
        }
        Ok(other) => {
            return Parsed::Hopeless(format!("the arguments are {}: send a JSON object", kind(&other)));
        }
        Err(_) => {}
    }
    if !text.trim_start().starts_with(['{', '[', '`']) {
        return Parsed::Hopeless("the arguments are no JSON: send a JSON object".to_owned());
    }
    match lenient::read(text) {
        Ok(Value::Object(arguments)) => Parsed::Repaired(arguments),
        Ok(other) => Parsed::Hopeless(format!("the arguments are {}: send a JSON object", kind(&other))),
        Err(lenient::Broken::Truncated) => Parsed::Truncated,
        Err(lenient::Broken::Wrong(what)) => {
            Parsed::Hopeless(format!("the arguments are no valid JSON: {what}"))
        }
    }
}

/// A value's kind in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn object(value: Value) -> Arguments {
        match value {
            Value::Object(object) => object,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn broken_json_is_mended() {
        for (text, meant) in [
            ("{\"command\": \"a\nb\tc\"}", json!({ "command": "a\nb\tc" })),
            ("{\"a\": 1,}", json!({ "a": 1 })),
            ("{\"a\": [1, 2,],}", json!({ "a": [1, 2] })),
            ("{\"a\": {\"b\": [1, 2]}", json!({ "a": { "b": [1, 2] } })),
            ("{\"a\": 1}}}", json!({ "a": 1 })),
            ("{\"a\": 1 \"b\": 2}", json!({ "a": 1, "b": 2 })),
            ("{'a': 'it\\'s', b: True, c: None}", json!({ "a": "it's", "b": true, "c": null })),
            ("```json\n{\"a\": 1,}\n```", json!({ "a": 1 })),
            (r#"{"re": "\d+\w", "tab": "\t",}"#, json!({ "re": "\\d+\\w", "tab": "\t" })),
            (r#"{"half": "\ud83d", "pair": "\ud83d\ude00",}"#, json!({ "half": "\u{fffd}", "pair": "😀" })),
            ("\"{\\\"a\\\": 1}\"", json!({ "a": 1 })),
        ] {
            assert_eq!(parse(text), Parsed::Repaired(object(meant)), "{text}");
        }
    }

    #[test]
    fn what_breaks_off_is_never_completed() {
        for text in [
            "{\"command\": \"rm -rf /tmp/x",
            "{\"command\": \"echo ${HOME}",
            "{\"content\": \"fn main() { }",
            "{\"command\":",
            "{\"a\": 1, \"b",
            "{",
            "{\"a\": tru",
            "{\"a\": 12",
        ] {
            assert_eq!(parse(text), Parsed::Truncated, "{text}");
        }
    }

    #[test]
    fn the_rest_is_given_up() {
        for text in ["[1]", "3", "true", "hello", "{\"a\": 1} {\"b\": 2}", "{\"a\": NaN}", "\"x\"", "[1,]"] {
            assert!(matches!(parse(text), Parsed::Hopeless(_)), "{text}: {:?}", parse(text));
        }
        assert_eq!(parse(" "), Parsed::Good(Arguments::new()));
        let deep = format!("{}1{}", "{\"a\":[".repeat(5000), "]}".repeat(5000));
        assert!(matches!(parse(&deep), Parsed::Hopeless(_)));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
            "[\\n\\t\"\\\\{}\\[\\],:']{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-z\"\\\\]{1,6}", inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    fn arguments() -> impl Strategy<Value = Arguments> {
        prop::collection::vec(("[a-z_]{1,8}", any_json()), 0..4).prop_map(|pairs| pairs.into_iter().collect())
    }

    proptest! {
        #[test]
        fn good_json_is_left_as_it_is(arguments in arguments()) {
            let text = Value::Object(arguments.clone()).to_string();
            prop_assert_eq!(parse(&text), Parsed::Good(arguments));
        }

        #[test]
        fn the_lenient_reader_agrees_with_the_strict_one(arguments in arguments()) {
            let value = Value::Object(arguments);
            prop_assert_eq!(lenient::read(&value.to_string()).ok(), Some(value));
        }

        #[test]
        fn missing_and_extra_closers_are_mended(arguments in arguments(), extra in 1usize..5) {
            let value = Value::Object(arguments.clone());
            let text = format!("{value}{}", "}".repeat(extra));
            prop_assert_eq!(parse(&text), Parsed::Repaired(arguments.clone()));
            let wrapped = serde_json::json!({ "x": value }).to_string();
            prop_assert_eq!(parse(&wrapped[..wrapped.len() - 1]), Parsed::Repaired(object(json!({ "x": value }))));
        }

        #[test]
        fn no_text_is_too_odd(text in "[{}\\[\\]\",:'\\\\a-zA-Z0-9\\n .u-]{0,60}") {
            if let Parsed::Repaired(arguments) = parse(&text) {
                let again = Value::Object(arguments.clone()).to_string();
                prop_assert_eq!(parse(&again), Parsed::Good(arguments));
            }
        }

        #[test]
        fn a_cut_never_changes_a_string(arguments in arguments(), cut in 0usize..400) {
            let text = Value::Object(arguments.clone()).to_string();
            let cut = text.floor_char_boundary(cut.min(text.len()));
            // What is mended from a beginning holds only values that are whole in the original.
            if let Parsed::Repaired(found) = parse(&text[..cut]) {
                for (name, value) in &found {
                    if let Value::String(string) = value {
                        prop_assert_eq!(arguments.get(name), Some(&Value::String(string.clone())));
                    }
                }
            }
        }
    }

    /// Good arguments, damaged at random places many times over; the seed is fixed so that a failure can be repeated.
    #[test]
    fn damage_of_any_kind_is_survived() {
        const SPICE: [&str; 12] = ["\"", "\\", "{", "}", "[", "]", ",", ":", "\n", "\\ud800", "'", "\u{0}"];
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed % below as u64).unwrap()
        };
        let good = json!({
            "command": "printf '%s\\n' \"a b\" | sed 's/x/\\t/' # ünï\n", "timeout": 30, "pty": false,
            "watch_patterns": ["a", "b}"], "nested": { "x": [1.5, null, { "y": "z" }] }
        })
        .to_string();
        for _ in 0..20_000 {
            let mut text = good.clone();
            for _ in 0..=random(4) {
                let at = text.floor_char_boundary(random(text.len() + 1));
                match random(3) {
                    0 => text.insert_str(at, SPICE[random(SPICE.len())]),
                    1 => text.truncate(at.max(1)),
                    _ if at < text.len() => drop(text.remove(at)),
                    _ => {}
                }
            }
            if let Parsed::Good(arguments) | Parsed::Repaired(arguments) = parse(&text) {
                let again = Value::Object(arguments).to_string();
                assert!(matches!(parse(&again), Parsed::Good(_)), "{text}");
            }
        }
    }
}
