//! The items of a task list.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// A task list, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Items(Vec<Item>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    id: String,
    /// Nothing where only the state was given.
    content: Option<String>,
    state: Option<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

/// The names of the states.
pub(super) const STATES: [&str; 4] = ["pending", "in_progress", "completed", "cancelled"];

/// What becomes of the items that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Replace,
    Merge,
}

/// How many items a list may have, and how long one may be.
const MOST: usize = 200;
const LONGEST: usize = 2000;

impl State {
    fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase().replace([' ', '-'], "_");
        match name.as_str() {
            "pending" | "todo" | "open" => Some(Self::Pending),
            "in_progress" | "active" => Some(Self::InProgress),
            "completed" | "complete" | "done" => Some(Self::Completed),
            "cancelled" | "canceled" => Some(Self::Cancelled),
            _ => None,
        }
    }

    fn as_str(self) -> &'static str {
        STATES[self as usize]
    }
}

impl Items {
    /// Reads what a call gives. Of two with one id the later counts.
    pub(super) fn read(values: &[Value]) -> Result<Self, String> {
        let mut items: Vec<Item> = Vec::new();
        for (place, value) in values.iter().enumerate() {
            let item = item(value, place)?;
            items.retain(|known| known.id != item.id);
            items.push(item);
        }
        Ok(Self(items))
    }

    /// Reads a result back.
    pub(super) fn from_result(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        Self::read(value.get("todos")?.as_array()?).ok()
    }

    /// Takes items in. Nothing is changed where they do not fit.
    pub(super) fn take(&mut self, given: Self, way: Way) -> Result<(), String> {
        let mut new = match way {
            Way::Replace => Vec::new(),
            Way::Merge => self.0.clone(),
        };
        for item in given.0 {
            match new.iter_mut().find(|known| known.id == item.id) {
                Some(known) => {
                    known.content = item.content.or_else(|| known.content.take());
                    known.state = item.state.or(known.state);
                }
                None if item.content.is_none() => {
                    return Err(format!("there is no item \"{}\": a new one needs its content", item.id));
                }
                None => new.push(item),
            }
        }
        if new.len() > MOST {
            return Err(format!("a list may have {MOST} items: drop what is done"));
        }
        self.0 = new;
        Ok(())
    }

    /// The whole list, with counts.
    pub(super) fn result(&self) -> Value {
        let show = |item: &Item| json!({ "id": item.id, "content": item.content(), "status": item.state().as_str() });
        let count = |state: State| self.0.iter().filter(|item| item.state() == state).count();
        json!({
            "todos": self.0.iter().map(show).collect::<Vec<Value>>(),
            "summary": {
                "total": self.0.len(),
                "pending": count(State::Pending),
                "in_progress": count(State::InProgress),
                "completed": count(State::Completed),
                "cancelled": count(State::Cancelled),
            }
        })
    }

    /// What is still to be done, in words; nothing if that is nothing.
    pub(super) fn open(&self) -> Option<String> {
        let mut text = "[Your task list: what is not done yet]".to_owned();
        let before = text.len();
        for item in &self.0 {
            if matches!(item.state(), State::Pending | State::InProgress) {
                let _ = write!(text, "\n- {} ({}): {}", item.id, item.state().as_str(), item.content());
            }
        }
        (text.len() > before).then_some(text)
    }
}

impl Item {
    fn content(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }

    fn state(&self) -> State {
        self.state.unwrap_or(State::Pending)
    }
}

fn item(value: &Value, place: usize) -> Result<Item, String> {
    let at = |problem: &str| format!("item {}: {problem}", place + 1);
    if let Value::String(content) = value {
        return Ok(Item { id: (place + 1).to_string(), content: said(Some(content)), state: None });
    }
    let fields = value.as_object().ok_or_else(|| at("must be an object"))?;
    let id = match fields.get("id") {
        Some(Value::String(id)) if !id.trim().is_empty() => id.trim().to_owned(),
        Some(Value::Number(id)) => id.to_string(),
        _ => (place + 1).to_string(),
    };
    let state = match fields.get("status").and_then(Value::as_str) {
        None => None,
        Some(name) => Some(State::named(name).ok_or_else(|| {
            at(&format!("there is no status \"{name}\": use one of {}", STATES.join(", ")))
        })?),
    };
    let content = said(fields.get("content").and_then(Value::as_str).map(str::to_owned).as_ref());
    Ok(Item { id, content, state })
}

fn said(content: Option<&String>) -> Option<String> {
    let content: String = content?.trim().chars().take(LONGEST).collect();
    (!content.is_empty()).then_some(content)
}

/// What a call changes, for a person: the item that is worked on, and how far things are.
pub(super) fn brief(values: &[Value]) -> String {
    let state = |value: &Value| value.get("status").and_then(Value::as_str).and_then(State::named);
    let done = values.iter().filter(|value| state(value) == Some(State::Completed)).count();
    let active = values.iter().find(|value| state(value) == Some(State::InProgress));
    let active = active.and_then(|value| value.get("content")?.as_str()).unwrap_or_default();
    format!("{done}/{} {}", values.len(), crate::fields::beginning(active)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(value: &Value) -> Items {
        Items::read(value.as_array().unwrap()).unwrap()
    }

    #[test]
    fn a_list_is_replaced_or_merged() {
        let mut list = Items::default();
        let first =
            json!([{"id": "1", "content": "a", "status": "in_progress"}, {"id": "2", "content": "b"}]);
        list.take(items(&first), Way::Replace).unwrap();
        let second = json!([{"id": "2", "status": "completed"}, {"id": 3, "content": "c", "status": "todo"}]);
        list.take(items(&second), Way::Merge).unwrap();
        let result = list.result();
        assert_eq!(
            result["todos"],
            json!([
                {"id": "1", "content": "a", "status": "in_progress"},
                {"id": "2", "content": "b", "status": "completed"},
                {"id": "3", "content": "c", "status": "pending"}
            ])
        );
        assert_eq!(
            result["summary"],
            json!({"total": 3, "pending": 1, "in_progress": 1, "completed": 1, "cancelled": 0})
        );
        assert_eq!(Items::from_result(&result.to_string()).unwrap().result(), result);
        let open = list.open().unwrap();
        assert!(open.contains("1 (in_progress): a") && !open.contains(": b"), "{open}");
        list.take(items(&json!([{"id": "x", "content": "only"}])), Way::Replace).unwrap();
        assert_eq!(list.result()["summary"]["total"], 1);
    }

    #[test]
    fn of_two_with_one_id_the_later_counts() {
        let list = items(&json!([{"id": "1", "content": "a"}, {"id": "1", "content": "b"}]));
        assert_eq!(list.result()["todos"], json!([{"id": "1", "content": "b", "status": "pending"}]));
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let mut list = items(&json!([{"id": "1", "content": "a"}]));
        let before = list.clone();
        let unknown = list.take(items(&json!([{"id": "1", "status": "done"}, {"id": "9"}])), Way::Merge);
        assert!(unknown.unwrap_err().contains("\"9\""));
        assert_eq!(list, before);
        let odd = Items::read(&[json!({"id": "1", "content": "a", "status": "soon"})]).unwrap_err();
        assert!(odd.contains("soon") && odd.contains("in_progress"), "{odd}");
        let done = items(&json!([{"id": "1", "content": "a", "status": "completed"}]));
        assert_eq!(done.open(), None);
    }
}
