//! What was found, as the model gets it.

use std::borrow::Cow;

use hermes_guard::{Policy, Redactor};
use hermes_store::sessions::{Anchored, Hit, MessageId, SessionRow, StoredMessage};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::order::Order;

/// How much of a message is shown beside a hit, and where a session is read.
const SHORT: usize = 1_500;
pub(super) const LONG: usize = 4_000;
/// How much of a message stands for the place in it.
const SNIPPET: usize = 300;

/// The answer where there is no earlier conversation at all.
pub(super) fn nothing(order: &Order) -> Value {
    let mode = match order {
        Order::Browse { .. } => "browse",
        Order::Discover(_) => "discover",
        Order::Scroll { .. } => "scroll",
        Order::Read { .. } => "read",
    };
    json!({ "success": true, "mode": mode, "results": [], "count": 0, "message": "There are no earlier conversations." })
}

/// A session in a list.
pub(super) fn row(row: &SessionRow) -> Value {
    json!({
        "session_id": row.id.as_str(),
        "title": row.title,
        "source": row.source,
        "started_at": seconds(row.started_at),
        "last_active": seconds(row.last_active),
        "message_count": row.message_count,
        "preview": row.preview,
    })
}

/// What a session is.
pub(super) fn meta(row: &SessionRow) -> Value {
    json!({ "when": when(row.started_at), "source": row.source, "model": row.model, "title": row.title })
}

/// Shows what was said without its secrets.
pub(super) struct Shown<'a> {
    pub(super) redactor: &'a Redactor,
}

impl Shown<'_> {
    /// A place where something was said.
    pub(super) fn hit(&self, hit: &Hit, place: &Anchored) -> Value {
        let mut value = json!({
            "session_id": hit.session.as_str(),
            "when": when(hit.session_started),
            "source": hit.source,
            "model": hit.model,
            "title": hit.title,
            "matched_role": hit.role.as_str(),
            "match_message_id": hit.message.0,
            "snippet": self.snippet(hit, place),
        });
        self.surround(&mut value, place, hit.message);
        value
    }

    /// What the store cut out around the words. It may be cut in the middle of a key, which nobody recognises then: of a
    /// message with a secret the beginning is shown instead.
    fn snippet(&self, hit: &Hit, place: &Anchored) -> String {
        let found = place.around.messages.iter().find(|stored| stored.id == hit.message);
        let whole = found.map(words).unwrap_or_default();
        match self.redactor.redact(&whole, Policy::File) {
            Cow::Owned(masked) if masked != whole => cut(&masked, SNIPPET),
            _ => hit.snippet.clone(),
        }
    }

    /// A session whose title was looked for.
    pub(super) fn titled(&self, row: &SessionRow, first: &StoredMessage, place: &Anchored) -> Value {
        let title = row.title.as_deref().unwrap_or_default();
        let mut value = json!({
            "session_id": row.id.as_str(),
            "when": when(row.started_at),
            "source": row.source,
            "model": row.model,
            "title": row.title,
            "matched_role": "title",
            "match_message_id": first.id.0,
            "snippet": format!(">>>{title}<<<"),
        });
        self.surround(&mut value, place, first.id);
        value
    }

    fn surround(&self, value: &mut Value, place: &Anchored, middle: MessageId) {
        value["bookend_start"] = self.messages(&place.first, None, SHORT);
        value["messages"] = self.messages(&place.around.messages, Some(middle), SHORT);
        value["bookend_end"] = self.messages(&place.last, None, SHORT);
        value["messages_before"] = Value::from(place.around.before);
        value["messages_after"] = Value::from(place.around.after);
    }

    /// Messages, the one in the middle marked.
    pub(super) fn messages(
        &self,
        messages: &[StoredMessage],
        middle: Option<MessageId>,
        longest: usize,
    ) -> Value {
        messages.iter().map(|stored| self.message(stored, middle, longest)).collect()
    }

    fn message(&self, stored: &StoredMessage, middle: Option<MessageId>, longest: usize) -> Value {
        let new = &stored.message;
        // Masked before it is cut: half a key is not recognised.
        let content = words(stored);
        let content = self.redactor.redact(&content, Policy::File);
        let mut value = json!({
            "id": stored.id.0,
            "role": new.role.as_str(),
            "content": cut(&content, longest),
            "timestamp": seconds(new.timestamp),
        });
        if let Some(name) = &new.tool_name {
            value["tool_name"] = Value::from(name.clone());
        }
        if let Some(Value::Array(calls)) = &new.tool_calls {
            let name =
                |call: &Value| call.pointer("/function/name").and_then(Value::as_str).map(str::to_owned);
            let names: Vec<String> = calls.iter().filter_map(name).collect();
            value["tool_calls"] = Value::from(names);
        }
        if Some(stored.id) == middle {
            value["anchor"] = Value::from(true);
        }
        value
    }
}

fn words(stored: &StoredMessage) -> String {
    stored.message.content.as_ref().map(hermes_store::sessions::Body::text).unwrap_or_default()
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{} [{more} more characters]", &text[..end])
        }
    }
}

fn seconds(at: Timestamp) -> f64 {
    at.as_microsecond() as f64 / 1e6
}

fn when(at: Timestamp) -> String {
    at.to_zoned(TimeZone::system()).strftime("%B %-d, %Y at %I:%M %p").to_string()
}
