//! A session as JSON, with every column under its own name, as the other program writes it.

use rusqlite::types::ValueRef;
use rusqlite::{Row, Transaction};
use serde_json::{Map, Value};

use super::SessionStore;
use super::error::SessionError;
use super::ids::SessionId;
use super::message::Body;
use super::messages::View;

impl SessionStore {
    /// A session with its messages.
    pub fn export(&mut self, id: &SessionId, view: View) -> Result<Value, SessionError> {
        let exported = self.db.read(|tx| {
            let Some(mut session) = rows(tx, "SELECT * FROM sessions WHERE id = ?1", id)?.pop() else {
                return Ok(None);
            };
            let only = if view == View::Active { " AND active = 1" } else { "" };
            let sql = format!("SELECT * FROM messages WHERE session_id = ?1{only} ORDER BY +id");
            let messages = rows(tx, &sql, id)?.into_iter().map(|message| Value::Object(decode(message)));
            session.insert("messages".to_owned(), messages.collect());
            Ok(Some(Value::Object(session)))
        })?;
        exported.ok_or_else(|| SessionError::no_session(id))
    }
}

/// The columns that hold JSON and are written as what they mean. The others stay text, as the other program has them.
fn decode(mut message: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::String(content)) = message.get("content")
        && let Body::Parts(parts) = Body::decode(content.clone())
    {
        message.insert("content".to_owned(), parts);
    }
    if let Some(Value::String(calls)) = message.get("tool_calls") {
        let calls = serde_json::from_str(calls).unwrap_or_else(|_| Value::Array(Vec::new()));
        message.insert("tool_calls".to_owned(), calls);
    }
    message
}

fn rows(tx: &Transaction<'_>, sql: &str, id: &SessionId) -> rusqlite::Result<Vec<Map<String, Value>>> {
    let mut statement = tx.prepare(sql)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let rows = statement.query_map([id.as_str()], |row| object(row, &names))?;
    rows.collect()
}

fn object(row: &Row<'_>, names: &[String]) -> rusqlite::Result<Map<String, Value>> {
    let mut object = Map::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let value = match row.get_ref(index)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::from(number),
            ValueRef::Real(number) => Value::from(number),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Value::from(String::from_utf8_lossy(bytes).into_owned())
            }
        };
        object.insert(name.clone(), value);
    }
    Ok(object)
}
