//! What a call asks for, checked.

use std::time::Duration;

use serde_json::Value;

use super::LONGEST_FOREGROUND;
use crate::tool::Arguments;

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) command: String,
    pub(super) workdir: Option<String>,
    pub(super) pty: bool,
    pub(super) mode: Mode,
    /// What the model should know about how its arguments were taken.
    pub(super) notes: Vec<String>,
}

/// Whether the conversation waits for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    Foreground { timeout: Duration },
    Background { tell: Tell },
}

/// What the model is told of a background command by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tell {
    Nothing,
    Ending,
    /// The same, where lines were asked for as well.
    EndingNotLines,
    Lines(Vec<String>),
}

impl Order {
    /// Reads the arguments; `usual` is the time limit of calls that name none.
    pub(super) fn read(arguments: &Arguments, usual: Duration) -> Result<Self, String> {
        let command = match arguments.get("command") {
            Some(Value::String(command)) if !command.trim().is_empty() => command.clone(),
            Some(Value::String(_)) => return Err("\"command\" is empty: give the command line".to_owned()),
            Some(_) => return Err("\"command\" must be a string".to_owned()),
            None => return Err("\"command\" is missing: give the command line".to_owned()),
        };
        if command.contains('\0') {
            return Err("\"command\" contains a NUL byte, which no shell can take".to_owned());
        }
        let (mut pty, mut notes) = (flag(arguments, "pty")?, Vec::new());
        if pty && reads_a_token(&command) {
            pty = false;
            notes.push("no terminal was given: this command reads a token from a pipe".to_owned());
        }
        let timeout = seconds(arguments, "timeout")?;
        let mode = if flag(arguments, "background")? {
            Mode::Background { tell: tell(arguments)? }
        } else {
            Mode::Foreground { timeout: foreground_timeout(timeout, usual)? }
        };
        Ok(Self { command, workdir: text(arguments, "workdir")?, pty, mode, notes })
    }
}

fn foreground_timeout(asked: Option<u64>, usual: Duration) -> Result<Duration, String> {
    match asked {
        Some(seconds) if seconds > LONGEST_FOREGROUND => Err(format!(
            "a timeout of {seconds} s is more than a foreground command may have ({LONGEST_FOREGROUND} s): use \
             background=true, with notify_on_complete=true to hear of its end"
        )),
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Ok(usual),
    }
}

fn tell(arguments: &Arguments) -> Result<Tell, String> {
    let ending = flag(arguments, "notify_on_complete")?;
    let patterns = match arguments.get("watch_patterns") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<Vec<String>>>()
            .ok_or("\"watch_patterns\" must be a list of strings")?,
        Some(_) => return Err("\"watch_patterns\" must be a list of strings".to_owned()),
    };
    let patterns: Vec<String> = patterns.into_iter().filter(|pattern| !pattern.is_empty()).collect();
    Ok(match (ending, patterns.is_empty()) {
        (true, true) => Tell::Ending,
        (true, false) => Tell::EndingNotLines,
        (false, false) => Tell::Lines(patterns),
        (false, true) => Tell::Nothing,
    })
}

/// `gh auth login --with-token` reads to the end of its input, which a terminal never has.
fn reads_a_token(command: &str) -> bool {
    command.contains("gh auth login") && command.contains("--with-token")
}

fn flag(arguments: &Arguments, name: &str) -> Result<bool, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => Err(format!("\"{name}\" must be true or false")),
    }
}

fn text(arguments: &Arguments, name: &str) -> Result<Option<String>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(value)) => Ok(Some(value.clone()).filter(|value| !value.trim().is_empty())),
        Some(_) => Err(format!("\"{name}\" must be a string")),
    }
}

fn seconds(arguments: &Arguments, name: &str) -> Result<Option<u64>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(seconds) if seconds > 0 => Ok(Some(seconds)),
            _ => Err(format!("\"{name}\" must be a whole number of seconds, 1 or more")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<Order, String> {
        let Value::Object(arguments) = value else { panic!("an object is needed") };
        Order::read(&arguments, Duration::from_mins(3))
    }

    #[test]
    fn defaults_are_a_foreground_command_under_the_usual_limit() {
        let order = read(json!({ "command": "ls" })).unwrap();
        assert_eq!(order.mode, Mode::Foreground { timeout: Duration::from_mins(3) });
        assert!(!order.pty && order.workdir.is_none() && order.notes.is_empty());
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        for (arguments, word) in [
            (json!({}), "missing"),
            (json!({ "command": 7 }), "string"),
            (json!({ "command": " " }), "empty"),
            (json!({ "command": "a\u{0}b" }), "NUL"),
            (json!({ "command": "ls", "timeout": 0 }), "timeout"),
            (json!({ "command": "ls", "timeout": 601 }), "background=true"),
            (json!({ "command": "ls", "pty": "yes" }), "pty"),
            (json!({ "command": "ls", "background": true, "watch_patterns": [1] }), "watch_patterns"),
        ] {
            let error = read(arguments.clone()).unwrap_err();
            assert!(error.contains(word), "{arguments}: {error}");
        }
    }

    #[test]
    fn a_background_command_tells_one_thing() {
        let both = json!({ "command": "x", "background": true, "notify_on_complete": true, "watch_patterns": ["a"] });
        let order = read(both).unwrap();
        assert_eq!(order.mode, Mode::Background { tell: Tell::EndingNotLines });
        // A background command has no limit that a timeout could exceed.
        let long =
            json!({ "command": "x", "background": true, "timeout": 6000, "watch_patterns": ["up", ""] });
        assert_eq!(read(long).unwrap().mode, Mode::Background { tell: Tell::Lines(vec!["up".into()]) });
    }
}
