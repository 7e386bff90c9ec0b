//! A result that is put away: the text its file holds, and what the model sees of it. Pure.

use std::fmt::Write as _;

use serde_json::Value;

use crate::text::{head, tail};

/// Bytes of the beginning that stay.
const BEGINNING: usize = 1_500;
/// Bytes of the end that stay.
const END: usize = 1_000;
/// Bytes of the other fields that stay.
const FIELDS: usize = 400;
/// `read_file` cuts longer lines.
const LONG_LINE: usize = 2_000;
/// What all that and the words around it come to.
pub(super) const SHOWN: usize = BEGINNING + END + FIELDS + 800;

/// A result that is put away.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Spilled {
    /// What its file holds: text with lines of its own.
    pub(super) text: String,
    /// The fields beside that text.
    fields: Option<String>,
    /// Characters of the result.
    chars: usize,
}

impl Spilled {
    /// The text of a result. JSON is one line, which nobody can read in parts: of an object that is mostly one text the
    /// file gets that text, of another one a line or more for each value.
    pub(super) fn of(result: &str) -> Self {
        let chars = result.chars().count();
        let plain = |text: String| Self { text, fields: None, chars };
        let value = match serde_json::from_str::<Value>(result) {
            Ok(value) if value.is_object() || value.is_array() => value,
            _ => return plain(result.to_owned()),
        };
        let mut rest = value;
        match longest(&mut rest) {
            Some(text) if text.len() * 2 >= result.len() => {
                let text = std::mem::replace(text, "(in the file)".to_owned());
                Self { text, fields: Some(rest.to_string()), chars }
            }
            _ => {
                let mut text = String::with_capacity(result.len());
                flatten("", &rest, &mut text);
                plain(text)
            }
        }
    }

    /// What the model sees: both ends, and how to get at what lies between them. `kept` is where the file is, or why there
    /// is none.
    pub(super) fn shown(&self, kept: Result<&str, &str>) -> String {
        let total = self.text.lines().count();
        let mut shown = format!(
            "<persisted-output>\nThis result is too long to be shown: {} characters, {total} lines. ",
            self.chars
        );
        let before = beginning(&self.text);
        let after = end(&self.text[before.len()..]);
        let next = before.lines().count() + usize::from(before.ends_with('\n') || before.is_empty());
        match kept {
            Ok(path) => {
                let _ = write!(
                    shown,
                    "All of it is in {path}: go on with read_file(path=\"{path}\", offset={next}), or search it with \
                     search_files or `grep -n`."
                );
                if self.text.lines().any(|line| line.len() > LONG_LINE) {
                    let _ = write!(shown, " read_file cuts long lines: see them with `cut -c 2001-4000`.");
                }
            }
            Err(reason) => {
                let _ = write!(shown, "The rest could not be kept ({reason}): ask for less.");
            }
        }
        if let Some(fields) = &self.fields {
            let _ = write!(shown, "\nIts other fields: {}", head(fields, FIELDS));
        }
        let _ = write!(shown, "\nIt begins:\n{}", before.trim_end_matches('\n'));
        if !after.is_empty() {
            let first = total + 1 - after.lines().count();
            let _ = write!(shown, "\n[…]\nIt ends, from line {first}:\n{}", after.trim_end_matches('\n'));
        }
        shown.push_str("\n</persisted-output>");
        shown
    }
}

/// The longest text in it.
fn longest(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(items) => items.iter_mut().filter_map(longest).max_by_key(|text| text.len()),
        Value::Object(fields) => fields.values_mut().filter_map(longest).max_by_key(|text| text.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Every value behind its name, texts with their own lines.
fn flatten(name: &str, value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                flatten(&format!("{name}[{place}]"), item, out);
            }
        }
        Value::Object(fields) => {
            for (field, item) in fields {
                let name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
                flatten(&name, item, out);
            }
        }
        Value::String(text) if text.contains('\n') => {
            let _ = writeln!(out, "{name}:\n{}", text.trim_end_matches('\n'));
        }
        Value::String(text) => {
            let _ = writeln!(out, "{name}: {text}");
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let _ = writeln!(out, "{name}: {value}");
        }
    }
}

/// The beginning, in whole lines if there are any.
fn beginning(text: &str) -> &str {
    let beginning = head(text, BEGINNING);
    match beginning.rfind('\n') {
        Some(line) if beginning.len() < text.len() => &beginning[..=line],
        _ => beginning,
    }
}

/// The end, in whole lines if there are any.
fn end(text: &str) -> &str {
    let end = tail(text, END);
    match end.find('\n') {
        Some(line) if end.len() < text.len() && line + 1 < end.len() => &end[line + 1..],
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn the_bulk_of_a_result_keeps_its_lines() {
        let lines: Vec<String> = (1..=5_000).map(|n| format!("line {n}\n")).collect();
        let output = lines.concat();
        let result = json!({ "output": output, "exit_code": 0, "error": null }).to_string();
        let spilled = Spilled::of(&result);
        assert_eq!(spilled.text, output);
        let shown = spilled.shown(Ok("/tmp/c.txt"));
        assert!(
            shown.contains(&format!("{} characters, 5000 lines. All of it is in /tmp/c.txt: ", result.len()))
        );
        assert!(
            shown.contains("Its other fields: {\"output\":\"(in the file)\",\"exit_code\":0,\"error\":null}")
        );
        // The offset is the first line that is not shown.
        let next: usize = shown.split("offset=").nth(1).unwrap().split(')').next().unwrap().parse().unwrap();
        assert!(
            shown.contains(&format!("line {}\n[…]", next - 1)) && !shown.contains(&format!("line {next}\n"))
        );
        let last = shown.split("from line ").nth(1).unwrap();
        let (first, rest) = last.split_once(":\n").unwrap();
        assert!(
            rest.starts_with(&format!("line {first}\n")) && rest.ends_with("line 5000\n</persisted-output>")
        );
        assert!(shown.len() <= SHOWN, "{}", shown.len());
    }

    #[test]
    fn a_list_gets_a_line_for_each_value() {
        let page =
            |n: usize| json!({ "title": format!("page {n}"), "content": "one\ntwo\n".repeat(3), "ok": true });
        let spilled = Spilled::of(&json!({ "results": [page(1), page(2), page(3)] }).to_string());
        assert!(spilled.text.starts_with("results[0].title: page 1\nresults[0].content:\none\ntwo\n"));
        assert!(spilled.text.ends_with("two\nresults[2].ok: true\n"));
        assert_eq!(spilled.fields, None);
    }

    #[test]
    fn long_lines_are_told() {
        let shown = Spilled::of(&"x".repeat(90_000)).shown(Ok("/f"));
        assert!(shown.contains("offset=1)") && shown.contains("cut -c 2001-4000") && shown.len() <= SHOWN);
    }

    proptest! {
        #[test]
        fn whatever_a_result_is_the_rest_is_short(text in "[a-z\n\"é]{0,9000}") {
            for result in [text.clone(), json!({ "content": text }).to_string(), json!([text, text]).to_string()] {
                let shown = Spilled::of(&result).shown(Ok("/tmp/call.txt"));
                prop_assert!(shown.len() <= SHOWN, "{}", shown.len());
            }
        }
    }
}
