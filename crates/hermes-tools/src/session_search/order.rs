//! What a call of `session_search` asks for, checked.

use hermes_store::sessions::{MessageId, Role, Sort};

use crate::fields::{text, whole};
use crate::tool::Arguments;

/// What is looked for.
#[derive(Debug, Clone)]
pub(super) enum Order {
    /// The newest conversations.
    Browse { limit: usize },
    /// Places where something was said.
    Discover(Query),
    /// The messages around one.
    Scroll { session: String, message: MessageId, window: usize },
    /// A conversation.
    Read { session: String },
}

/// What was said, and by whom.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) limit: usize,
    pub(super) sort: Sort,
    pub(super) roles: Vec<Role>,
}

impl Order {
    pub(super) fn read(arguments: &Arguments) -> Result<Self, String> {
        let within = |name: &str, usual: i64, most: i64| {
            let number = whole(arguments, name)?.unwrap_or(usual).clamp(1, most);
            Ok::<usize, String>(usize::try_from(number).unwrap_or_default())
        };
        let limit = within("limit", 3, 10)?;
        let session = text(arguments, "session_id")?.map(|session| session.trim().to_owned());
        let message = whole(arguments, "around_message_id")?;
        match (session, message, text(arguments, "query")?) {
            (Some(session), Some(message), _) => {
                Ok(Self::Scroll { session, message: MessageId(message), window: within("window", 5, 20)? })
            }
            (None, Some(_), None) => Err("\"around_message_id\" needs \"session_id\" as well".to_owned()),
            (Some(session), None, None) => Ok(Self::Read { session }),
            (_, _, Some(query)) => Ok(Self::Discover(Query {
                text: query.trim().to_owned(),
                limit,
                sort: sort(arguments)?,
                roles: roles(arguments)?,
            })),
            (None, None, None) => Ok(Self::Browse { limit }),
        }
    }
}

fn sort(arguments: &Arguments) -> Result<Sort, String> {
    match text(arguments, "sort")?.as_deref().map(str::trim) {
        None => Ok(Sort::Fit),
        Some("newest") => Ok(Sort::Newest),
        Some("oldest") => Ok(Sort::Oldest),
        Some(other) => Err(format!("there is no sort \"{other}\": use newest or oldest, or leave it out")),
    }
}

fn roles(arguments: &Arguments) -> Result<Vec<Role>, String> {
    let Some(list) = text(arguments, "role_filter")? else { return Ok(vec![Role::User, Role::Assistant]) };
    let role = |name: &str| match Role::from(name) {
        Role::Other(_) => Err(format!("there is no role \"{name}\": use user, assistant or tool")),
        role => Ok(role),
    };
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(role).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(value: Value) -> Result<Order, String> {
        let Value::Object(arguments) = value else { panic!("an object is needed") };
        Order::read(&arguments)
    }

    #[test]
    fn what_is_given_decides_what_is_done() {
        assert!(matches!(read(json!({})), Ok(Order::Browse { limit: 3 })));
        assert!(matches!(read(json!({ "query": " ", "limit": 99 })), Ok(Order::Browse { limit: 10 })));
        let Order::Discover(query) =
            read(json!({ "query": "zebra", "limit": -1, "sort": "newest", "role_filter": "tool, user" }))
                .unwrap()
        else {
            panic!("not a search")
        };
        assert_eq!((query.limit, query.sort, query.roles), (1, Sort::Newest, vec![Role::Tool, Role::User]));
        assert!(matches!(read(json!({ "session_id": "s" })), Ok(Order::Read { .. })));
        let scroll = read(json!({ "session_id": "s", "around_message_id": 7, "window": 50 }));
        assert!(matches!(scroll, Ok(Order::Scroll { message: MessageId(7), window: 20, .. })));
    }

    #[test]
    fn mistakes_are_named() {
        for (arguments, word) in [
            (json!({ "around_message_id": 3 }), "session_id"),
            (json!({ "query": "x", "sort": "best" }), "best"),
            (json!({ "query": "x", "role_filter": "robot" }), "robot"),
            (json!({ "query": 3 }), "query"),
        ] {
            let error = read(arguments.clone()).unwrap_err();
            assert!(error.contains(word), "{arguments}: {error}");
        }
    }
}
