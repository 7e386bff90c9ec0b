//! What a call of `memory` asks for, checked.

use hermes_skills::memory::{About, Operation};
use serde_json::Value;

use crate::fields::{beginning, needed, text};
use crate::tool::Arguments;

/// Changes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) about: About,
    pub(super) operations: Vec<Operation>,
    /// Whether they came as a list.
    pub(super) batch: bool,
}

impl Order {
    pub(super) fn read(arguments: &Arguments) -> Result<Self, String> {
        let target = text(arguments, "target")?.unwrap_or_else(|| "memory".to_owned());
        let about = About::named(target.trim())
            .ok_or_else(|| format!("there is no target \"{target}\": use memory or user"))?;
        let list = match arguments.get("operations") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => items.clone(),
            Some(_) => return Err("\"operations\" must be a list of objects".to_owned()),
        };
        if list.is_empty() {
            return Ok(Self { about, operations: vec![operation(arguments)?], batch: false });
        }
        let mut operations = Vec::with_capacity(list.len());
        for (place, item) in list.iter().enumerate() {
            let at = |problem: String| format!("operation {}: {problem}; nothing was changed", place + 1);
            let item = item.as_object().ok_or_else(|| at("must be an object".to_owned()))?;
            operations.push(operation(item).map_err(at)?);
        }
        Ok(Self { about, operations, batch: true })
    }

    /// The texts that would be kept.
    pub(super) fn contents(&self) -> impl Iterator<Item = &str> {
        self.operations.iter().filter_map(|operation| match operation {
            Operation::Add { content } | Operation::Replace { content, .. } => Some(content.as_str()),
            Operation::Remove { .. } => None,
        })
    }

    /// For a person who watches.
    pub(super) fn brief(&self) -> String {
        let first = self.operations.first().map(said).unwrap_or_default();
        let more = match self.operations.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        format!("{}: {}{more}", self.about.as_str(), beginning(&first))
    }

    /// For a person who has to agree.
    pub(super) fn describe(&self) -> String {
        self.operations.iter().map(said).collect::<Vec<_>>().join("\n")
    }
}

fn operation(fields: &Arguments) -> Result<Operation, String> {
    let action = needed(fields, "action", "use add, replace or remove, or give \"operations\"")?;
    let content = || needed(fields, "content", "give the text of the entry");
    let old_text = || needed(fields, "old_text", "give a piece of the entry that only it contains");
    match action.trim() {
        "add" => Ok(Operation::Add { content: content()? }),
        "replace" => Ok(Operation::Replace { old_text: old_text()?, content: content()? }),
        "remove" => Ok(Operation::Remove { old_text: old_text()? }),
        other => Err(format!("there is no action \"{other}\": use add, replace or remove")),
    }
}

fn said(operation: &Operation) -> String {
    match operation {
        Operation::Add { content } => format!("add: {content}"),
        Operation::Replace { old_text, content } => format!("replace \"{old_text}\" by: {content}"),
        Operation::Remove { old_text } => format!("remove: {old_text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<Order, String> {
        let Value::Object(arguments) = value else { panic!("an object is needed") };
        Order::read(&arguments)
    }

    #[test]
    fn one_change_or_a_list() {
        let one = read(json!({ "target": "user", "action": "add", "content": "x" })).unwrap();
        assert_eq!((one.about, one.operations.len(), one.batch), (About::User, 1, false));
        let list = json!([{ "action": "remove", "old_text": "a" }, { "action": "add", "content": "b" }]);
        let two = read(json!({ "target": "memory", "operations": list })).unwrap();
        assert_eq!((two.operations.len(), two.batch), (2, true));
        assert_eq!(two.brief(), "memory: remove: a (and 1 more)");
    }

    #[test]
    fn mistakes_are_named() {
        for (arguments, word) in [
            (json!({ "target": "diary", "action": "add", "content": "x" }), "diary"),
            (json!({ "target": "memory" }), "action"),
            (json!({ "target": "memory", "action": "add" }), "content"),
            (json!({ "target": "memory", "action": "remove", "content": "x" }), "old_text"),
            (json!({ "target": "memory", "action": "append", "content": "x" }), "append"),
            (
                json!({ "target": "memory", "operations": [{ "action": "add", "content": "x" }, {}] }),
                "operation 2",
            ),
        ] {
            let error = read(arguments.clone()).unwrap_err();
            assert!(error.contains(word), "{arguments}: {error}");
        }
    }
}
