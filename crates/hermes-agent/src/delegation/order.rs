//! What a call of `delegate_task` asks for. Pure.

use hermes_tools::Arguments;
use serde_json::Value;

/// One task for one helper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    pub goal: String,
    pub context: Option<String>,
    /// Toolsets the helper is to have; none means all it may have.
    pub toolsets: Vec<String>,
    pub role: Role,
}

/// What a helper may do besides its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing.
    Leaf,
    /// Hand parts of it to helpers of its own.
    Orchestrator,
}

/// Whether the conversation waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Foreground,
    Background,
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// Starts helpers.
    Start { tasks: Vec<Task>, mode: Mode },
    /// How work in the background goes; without an id, all of it.
    Status { id: Option<String> },
    /// Waits for work in the background.
    Wait { id: String },
    /// Ends work in the background.
    Cancel { id: String },
}

const NEEDS_ID: &str = "'id' is missing: give the id that the call with background=true returned";

impl Order {
    /// Reads the arguments of a call; the error says what to change.
    pub fn read(arguments: &Arguments) -> Result<Self, String> {
        let set = |name: &&str| arguments.get(*name).is_some_and(|value| !is_empty(value));
        if let Some(name) = ["acp_command", "acp_args"].iter().find(|name| set(name)) {
            return Err(format!(
                "'{name}' is not supported: helpers run inside this program. Leave it out, or run the other agent as a \
                 command in the terminal"
            ));
        }
        let id = text(arguments, "id");
        match text(arguments, "action").as_deref() {
            None | Some("run") => Self::start(arguments),
            Some("status") => Ok(Self::Status { id }),
            Some("wait") => Ok(Self::Wait { id: id.ok_or(NEEDS_ID)? }),
            Some("cancel") => Ok(Self::Cancel { id: id.ok_or(NEEDS_ID)? }),
            Some(other) => Err(format!("'{other}' is no action: use run, status, wait or cancel")),
        }
    }

    fn start(arguments: &Arguments) -> Result<Self, String> {
        let wants = arguments.get("background") == Some(&Value::Bool(true));
        let mode = if wants { Mode::Background } else { Mode::Foreground };
        let shared = Shared::read(arguments)?;
        let tasks = match arguments.get("tasks").filter(|tasks| !is_empty(tasks)) {
            None => vec![task(arguments, &shared).ok_or("'goal' is missing: say what is to be done")??],
            Some(tasks) => {
                let one = |(place, value): (usize, &Value)| {
                    let missing = || format!("task {} of 'tasks' has no 'goal'", place + 1);
                    match value {
                        Value::String(goal) if !goal.trim().is_empty() => Ok(shared.task(goal.trim())),
                        Value::Object(object) => task(object, &shared).ok_or_else(missing)?,
                        _ => Err(missing()),
                    }
                };
                list(tasks)?.iter().enumerate().map(one).collect::<Result<_, String>>()?
            }
        };
        Ok(Self::Start { tasks, mode })
    }
}

/// What counts for every task that does not say otherwise.
struct Shared {
    context: Option<String>,
    toolsets: Vec<String>,
    role: Role,
}

impl Shared {
    fn read(arguments: &Arguments) -> Result<Self, String> {
        Ok(Self {
            context: text(arguments, "context"),
            toolsets: toolsets(arguments)?,
            role: role(arguments)?.unwrap_or(Role::Leaf),
        })
    }

    fn task(&self, goal: &str) -> Task {
        let (context, toolsets) = (self.context.clone(), self.toolsets.clone());
        Task { goal: goal.to_owned(), context, toolsets, role: self.role }
    }
}

/// A task as an object says it; nothing without a goal.
fn task(object: &Arguments, shared: &Shared) -> Option<Result<Task, String>> {
    let goal = text(object, "goal")?;
    Some((|| {
        let mut task = shared.task(&goal);
        task.context = text(object, "context").or(task.context);
        let own = toolsets(object)?;
        if !own.is_empty() {
            task.toolsets = own;
        }
        task.role = role(object)?.unwrap_or(task.role);
        Ok(task)
    })())
}

/// A list, also one that was written as a text.
fn list(value: &Value) -> Result<Vec<Value>, String> {
    let wrong = || "'tasks' must be a list of objects with a 'goal' each".to_owned();
    match value {
        Value::Array(items) => Ok(items.clone()),
        Value::Object(_) => Ok(vec![value.clone()]),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => Ok(items),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

fn toolsets(object: &Arguments) -> Result<Vec<String>, String> {
    let names = match object.get("toolsets") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(text)) => text.split(',').map(|name| name.trim().to_owned()).collect(),
        Some(Value::Array(items)) => {
            let name = |item: &Value| item.as_str().map(|name| name.trim().to_owned());
            items
                .iter()
                .map(name)
                .collect::<Option<Vec<String>>>()
                .ok_or("'toolsets' must be a list of names")?
        }
        Some(_) => return Err("'toolsets' must be a list of names".to_owned()),
    };
    Ok(names.into_iter().filter(|name| !name.is_empty()).collect())
}

fn role(object: &Arguments) -> Result<Option<Role>, String> {
    match text(object, "role").as_deref() {
        None => Ok(None),
        Some("leaf") => Ok(Some(Role::Leaf)),
        Some("orchestrator") => Ok(Some(Role::Orchestrator)),
        Some(other) => Err(format!("'{other}' is no role: use leaf or orchestrator")),
    }
}

fn text(object: &Arguments, name: &str) -> Option<String> {
    let text = object.get(name)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// A few words of a goal, to tell helpers apart.
pub(super) fn label(place: usize, of: usize, goal: &str) -> String {
    const LONGEST: usize = 24;
    let mut words = String::new();
    for word in goal.split_whitespace().take(4) {
        if !words.is_empty() && words.chars().count() + word.chars().count() >= LONGEST {
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    // A bracket would end the label where it is shown.
    let words: String = words.replace(['[', ']'], "").chars().take(LONGEST).collect();
    if of > 1 { format!("{} {words}", place + 1) } else { words }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(value: Value) -> Result<Order, String> {
        let Value::Object(arguments) = value else { panic!("an object") };
        Order::read(&arguments)
    }

    fn goals(order: Order) -> Vec<String> {
        let Order::Start { tasks, .. } = order else { panic!("{order:?}") };
        tasks.into_iter().map(|task| task.goal).collect()
    }

    #[test]
    fn one_task_or_several_in_any_spelling() {
        assert_eq!(goals(read(json!({"goal": " look "})).unwrap()), ["look"]);
        let written = json!([{"goal": "a"}, "b"]);
        assert_eq!(goals(read(json!({"tasks": written})).unwrap()), ["a", "b"]);
        assert_eq!(goals(read(json!({"tasks": written.to_string()})).unwrap()), ["a", "b"]);
        assert_eq!(goals(read(json!({"goal": "all", "tasks": []})).unwrap()), ["all"]);
    }

    #[test]
    fn what_is_said_once_counts_for_every_task() {
        let order = read(json!({"context": "c", "toolsets": ["file"], "role": "orchestrator",
            "tasks": [{"goal": "a"}, {"goal": "b", "context": "d", "toolsets": "web, file", "role": "leaf"}]}));
        let Order::Start { tasks, mode } = order.unwrap() else { panic!("a start") };
        assert_eq!((tasks[0].context.as_deref(), tasks[0].role), (Some("c"), Role::Orchestrator));
        assert_eq!((tasks[1].context.as_deref(), tasks[1].role), (Some("d"), Role::Leaf));
        assert_eq!(tasks[1].toolsets, ["web", "file"]);
        assert_eq!(mode, Mode::Foreground);
    }

    #[test]
    fn mistakes_are_named() {
        for (arguments, word) in [
            (json!({}), "'goal'"),
            (json!({"tasks": [{"goal": ""}]}), "task 1"),
            (json!({"tasks": "nonsense"}), "'tasks'"),
            (json!({"goal": "x", "role": "boss"}), "'boss'"),
            (json!({"goal": "x", "acp_command": "claude"}), "'acp_command'"),
            (json!({"action": "wait"}), "'id'"),
            (json!({"action": "dance"}), "'dance'"),
            (json!({"goal": "x", "toolsets": 5}), "'toolsets'"),
        ] {
            let error = read(arguments.clone()).unwrap_err();
            assert!(error.contains(word), "{arguments}: {error}");
        }
        assert!(read(json!({"goal": "x", "acp_command": "", "acp_args": []})).is_ok(), "empty is left out");
    }

    #[test]
    fn labels_are_short_and_tell_helpers_apart() {
        assert_eq!(label(0, 1, "Fix the [login] page today"), "Fix the login page");
        assert_eq!(label(1, 2, "Fix the login page"), "2 Fix the login page");
    }

    proptest! {
        #[test]
        fn no_goal_makes_a_long_label(goal in "\\PC{0,200}") {
            prop_assert!(label(9, 10, &goal).chars().count() <= 27);
        }
    }
}
