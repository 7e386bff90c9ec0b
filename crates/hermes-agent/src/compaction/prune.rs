//! Making old messages short without a model: repeated output, long output, long arguments, pictures.

use std::collections::{BTreeMap, HashMap};

use hermes_model::{Content, Message, Part, ToolCall, ToolResult, ToolStatus};
use serde_json::Value;

use crate::history::Entry;

/// Output of at most this many characters stays.
const SHORT_OUTPUT: usize = 200;
/// Arguments of at most this many bytes stay.
const SHORT_ARGUMENTS: usize = 500;
/// Texts in arguments of at most this many characters stay.
const SHORT_LEAF: usize = 200;

/// The shorter forms of those messages among `places` that have one. Pruning its result again changes nothing.
pub(super) fn prune(entries: &[Entry], places: &[usize]) -> BTreeMap<usize, Message> {
    let newest = newest_outputs(entries);
    let calls = calls(entries);
    let mut pruned = BTreeMap::new();
    for place in places.iter().copied() {
        let shorter = match &entries[place].message {
            Message::Tool(result) => {
                let repeated = newest.get(output(result).as_str()).is_some_and(|last| *last > place);
                shorter_result(result, calls.get(result.call_id.as_str()).copied(), repeated)
                    .map(Message::Tool)
            }
            Message::Assistant(parts) => shorter_answer(parts).map(Message::Assistant),
            Message::User(_) => None,
        };
        pruned.extend(shorter.map(|shorter| (place, shorter)));
    }
    pruned
}

fn output(result: &ToolResult) -> String {
    hermes_model::message::text_of(&result.content)
}

/// Where each long output stands last.
fn newest_outputs(entries: &[Entry]) -> HashMap<String, usize> {
    let mut newest = HashMap::new();
    for (place, entry) in entries.iter().enumerate() {
        if let Message::Tool(result) = &entry.message {
            newest.insert(output(result), place);
        }
    }
    newest
}

fn calls(entries: &[Entry]) -> HashMap<&str, &ToolCall> {
    entries.iter().flat_map(|entry| entry.message.calls()).map(|call| (call.id.as_str(), call)).collect()
}

fn shorter_result(result: &ToolResult, call: Option<&ToolCall>, repeated: bool) -> Option<ToolResult> {
    let text = output(result);
    let chars = text.chars().count();
    let has_picture = result.content.iter().any(|item| matches!(item, Content::Image(_)));
    if chars <= SHORT_OUTPUT && !has_picture {
        return None;
    }
    let short = if chars <= SHORT_OUTPUT {
        format!("{text}\n[picture left out]")
    } else {
        one_line(result, call, &text, repeated)
    };
    let content = vec![Content::Text(clip(&short, SHORT_OUTPUT))];
    Some(ToolResult { content, ..result.clone() })
}

/// What was called and how it went, in at most [`SHORT_OUTPUT`] characters.
fn one_line(result: &ToolResult, call: Option<&ToolCall>, text: &str, repeated: bool) -> String {
    let outcome = match result.status {
        ToolStatus::Ok => "worked",
        ToolStatus::Failed => "failed",
    };
    let lines = text.lines().count();
    let size = if repeated {
        "the same output came again later".to_owned()
    } else {
        format!("{lines} lines, {} characters left out", text.chars().count())
    };
    let arguments = call.map(|call| clip(&call.arguments, 80)).unwrap_or_default();
    format!("[old output of {} {arguments}: {outcome}; {size}]", clip(&result.name, 40))
}

fn shorter_answer(parts: &[Part]) -> Option<Vec<Part>> {
    let mut changed = false;
    let shorter = parts
        .iter()
        .map(|part| match part {
            Part::Call(call) => {
                let arguments = shorter_arguments(&call.arguments);
                changed |= arguments.is_some();
                Part::Call(ToolCall {
                    arguments: arguments.unwrap_or_else(|| call.arguments.clone()),
                    ..call.clone()
                })
            }
            other => other.clone(),
        })
        .collect();
    changed.then_some(shorter)
}

/// Cut inside the JSON, so that it stays JSON: broken arguments teach the model to write broken ones.
fn shorter_arguments(arguments: &str) -> Option<String> {
    if arguments.len() <= SHORT_ARGUMENTS {
        return None;
    }
    let mut value: Value = serde_json::from_str(arguments).ok()?;
    shorten_leaves(&mut value).then(|| value.to_string())
}

fn shorten_leaves(value: &mut Value) -> bool {
    match value {
        Value::String(text) if text.chars().count() > SHORT_LEAF => {
            *text = clip(text, SHORT_LEAF);
            true
        }
        Value::Array(items) => items.iter_mut().fold(false, |changed, item| shorten_leaves(item) | changed),
        Value::Object(fields) => {
            fields.values_mut().fold(false, |changed, item| shorten_leaves(item) | changed)
        }
        _ => false,
    }
}

/// At most `limit` characters, with a word about the rest.
fn clip(text: &str, limit: usize) -> String {
    let chars = text.chars().count();
    if chars <= limit {
        return text.to_owned();
    }
    let note = format!("… [{chars} characters]");
    let kept = limit.saturating_sub(note.chars().count());
    text.chars().take(kept).chain(note.chars()).take(limit).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::compaction::testing::{call, conversation, result};

    fn texts(pruned: &BTreeMap<usize, Message>) -> Vec<(usize, String)> {
        pruned.iter().map(|(place, message)| (*place, message.text())).collect()
    }

    #[test]
    fn old_output_becomes_a_line_that_says_what_it_was() {
        let entries = conversation(vec![
            call("c1", "terminal", r#"{"command":"cargo test"}"#),
            result("c1", "terminal", &"ok\n".repeat(300)),
            call("c2", "terminal", r#"{"command":"ls"}"#),
            result("c2", "terminal", "a b"),
        ]);
        let pruned = texts(&prune(&entries, &[0, 1, 2, 3]));
        assert_eq!(
            pruned,
            [(1, r#"[old output of terminal {"command":"cargo test"}: worked; 300 lines, 900 characters left out]"#.to_owned())]
        );
    }

    #[test]
    fn of_the_same_output_only_the_newest_stays_whole() {
        let long = "x".repeat(400);
        let entries = conversation(vec![
            call("c1", "read_file", "{}"),
            result("c1", "read_file", &long),
            call("c2", "read_file", "{}"),
            result("c2", "read_file", &long),
        ]);
        let pruned = texts(&prune(&entries, &[0, 1]));
        assert!(pruned.len() == 1 && pruned[0].1.contains("came again later"), "{pruned:?}");
    }

    #[test]
    fn arguments_stay_json() {
        let arguments = serde_json::json!({"path": "a.rs", "lines": [1, "é".repeat(900)]}).to_string();
        let entries = conversation(vec![call("c1", "write_file", &arguments)]);
        let pruned = prune(&entries, &[0]);
        let shorter = pruned[&0].calls().next().unwrap().arguments.clone();
        let value: Value = serde_json::from_str(&shorter).unwrap();
        assert_eq!(value["path"], "a.rs");
        assert!(value["lines"][1].as_str().unwrap().chars().count() <= SHORT_LEAF);
    }
}
