//! The `session_search` tool: what was said in earlier conversations, without a model.

mod order;
mod show;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hermes_guard::{Policy, Redactor};
use hermes_model::ToolSpec;
use hermes_store::sessions::{
    ListFilter, MessageId, Order as ListOrder, SearchQuery, SessionError, SessionId, SessionStore,
};
use serde_json::{Value, json};

use crate::fields;
use crate::masked;
use crate::thread;
use crate::tool::{Arguments, Run, Running, Sharing, Tool, ToolOutput};
use crate::workplace::lock;
use order::Order;
use show::Shown;

/// See the module.
#[derive(Clone)]
pub struct SessionSearch {
    path: PathBuf,
    /// Opened by the first call, to look only.
    store: Arc<Mutex<Option<SessionStore>>>,
    redactor: Arc<Redactor>,
}

/// What is not a conversation of the user's.
const HIDDEN: [&str; 2] = ["tool", "subagent"];
/// What seldom is what is looked for.
const LAST: &str = "cron";
/// How many messages of both ends are shown with a hit, and how many around it.
const ENDS: usize = 3;
const AROUND: usize = 5;
/// How much of a session is read at once.
const HEAD: usize = 20;
const TAIL: usize = 10;

impl SessionSearch {
    /// The tool for a `state.db`. Nothing is opened before the first call.
    pub fn new(path: &Path, redactor: Arc<Redactor>) -> Self {
        Self { path: path.to_owned(), store: Arc::default(), redactor }
    }

    async fn work(&self, run: Run<'_>) -> ToolOutput {
        let order = match Order::read(run.arguments) {
            Ok(order) => order,
            Err(problem) => return wrong(&problem),
        };
        let (tool, current) = (self.clone(), SessionId::from(run.session));
        match thread::run(run.cancel, move |_| tool.look(&order, &current)).await {
            thread::Outcome::Done(Ok(mut value)) => {
                // Titles and beginnings, too.
                masked::value(&mut value, &self.redactor, Policy::File);
                ToolOutput::json(&value)
            }
            thread::Outcome::Done(Err(trouble)) => wrong(&trouble.to_string()),
            thread::Outcome::Abandoned => ToolOutput::json(&json!({ "status": "interrupted" })),
            thread::Outcome::Broken => ToolOutput::error("the tool itself failed: see the log"),
        }
    }

    fn look(&self, order: &Order, current: &SessionId) -> Result<Value, Trouble> {
        let mut guard = lock(&self.store);
        if guard.is_none() && !self.path.exists() {
            return Ok(show::nothing(order));
        }
        let mut store = match guard.take() {
            Some(store) => store,
            None => SessionStore::open_read_only(&self.path)?,
        };
        let shown = Shown { redactor: &self.redactor };
        let found = match order {
            Order::Browse { limit } => browse(&mut store, *limit, current),
            Order::Discover(query) => discover(&mut store, query, current, &shown),
            Order::Scroll { session, message, window } => {
                scroll(&mut store, session, *message, *window, current, &shown)
            }
            Order::Read { session } => read(&mut store, session, current, &shown),
        };
        *guard = Some(store);
        found
    }
}

/// Why nothing can be shown.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Store(#[from] SessionError),
    #[error("that session is this conversation: you have it before you")]
    ThisConversation,
    #[error("session {session} has no message {message}: take an id from a result")]
    NoMessage { session: SessionId, message: MessageId },
}

/// The newest conversations.
fn browse(store: &mut SessionStore, limit: usize, current: &SessionId) -> Result<Value, Trouble> {
    let filter = ListFilter {
        exclude_sources: HIDDEN.iter().map(|source| (*source).to_owned()).collect(),
        order: ListOrder::LastActive,
        min_messages: 1,
        limit: Some(limit + 1),
        ..ListFilter::default()
    };
    let rows = store.list(&filter)?;
    let own = lineage(store, current)?;
    let mut others = Vec::new();
    for row in rows {
        if lineage(store, &row.id)? != own {
            others.push(show::row(&row));
        }
    }
    others.truncate(limit);
    Ok(json!({ "success": true, "mode": "browse", "count": others.len(), "results": others }))
}

/// Conversations in which something was said, one hit each.
fn discover(
    store: &mut SessionStore,
    query: &order::Query,
    current: &SessionId,
    shown: &Shown<'_>,
) -> Result<Value, Trouble> {
    let search = SearchQuery {
        text: query.text.clone(),
        limit: Some(query.limit),
        sort: query.sort,
        roles: query.roles.clone(),
        exclude_sources: HIDDEN.iter().map(|source| (*source).to_owned()).collect(),
        last_sources: vec![LAST.to_owned()],
        exclude_lineage: Some(current.clone()),
        one_per_lineage: true,
        ..SearchQuery::default()
    };
    let hits = store.search(&search)?;
    let mut results = Vec::new();
    let mut seen = Vec::new();
    for hit in &hits {
        let place = store.anchored(&hit.session, hit.message, AROUND, ENDS)?;
        results.push(shown.hit(hit, &place));
        seen.push(lineage(store, &hit.session)?);
    }
    seen.push(lineage(store, current)?);
    results.extend(by_title(store, query, query.limit - hits.len().min(query.limit), &mut seen, shown)?);
    let count = results.len();
    let mut value = json!({ "success": true, "mode": "discover", "query": query.text, "results": results, "count": count });
    if count == 0 {
        value["message"] = Value::from(
            "Nothing found. Try fewer or other words, word* for beginnings, or OR between words.",
        );
    }
    Ok(value)
}

/// Conversations whose title has the words, where hits alone are too few.
fn by_title(
    store: &mut SessionStore,
    query: &order::Query,
    room: usize,
    seen: &mut Vec<SessionId>,
    shown: &Shown<'_>,
) -> Result<Vec<Value>, Trouble> {
    if room == 0 {
        return Ok(Vec::new());
    }
    let filter = ListFilter {
        exclude_sources: HIDDEN.iter().map(|source| (*source).to_owned()).collect(),
        title: Some(query.text.trim_matches('"').to_owned()),
        limit: Some(room + seen.len()),
        ..ListFilter::default()
    };
    let mut results = Vec::new();
    for row in store.list(&filter)? {
        let top = lineage(store, &row.id)?;
        let first = store.excerpt(&row.id, 1, 0)?.messages.into_iter().next();
        let Some(first) = first else { continue };
        if results.len() < room && !seen.contains(&top) {
            let place = store.anchored(&row.id, first.id, AROUND, ENDS)?;
            results.push(shown.titled(&row, &first, &place));
            seen.push(top);
        }
    }
    Ok(results)
}

/// The messages around one.
fn scroll(
    store: &mut SessionStore,
    session: &str,
    message: MessageId,
    window: usize,
    current: &SessionId,
    shown: &Shown<'_>,
) -> Result<Value, Trouble> {
    let mut session = other_session(store, session, current)?;
    let mut warning = None;
    match store.session_of(message)? {
        Some(owner) if owner == session => {}
        Some(owner) if lineage(store, &owner)? == lineage(store, &session)? => {
            warning = Some(format!("message {message} is in {owner}, a part of the same conversation"));
            session = owner;
        }
        _ => return Err(Trouble::NoMessage { session, message }),
    }
    let around = store.around(&session, message, window)?;
    let row = store.row(&session)?;
    let mut value = json!({
        "success": true,
        "mode": "scroll",
        "session_id": session.as_str(),
        "around_message_id": message.0,
        "session_meta": show::meta(&row),
        "window": window,
        "messages": shown.messages(&around.messages, Some(message), show::LONG),
        "messages_before": around.before,
        "messages_after": around.after,
    });
    if let Some(warning) = warning {
        value["warning"] = Value::from(warning);
    }
    Ok(value)
}

/// The beginning and the end of a session.
fn read(
    store: &mut SessionStore,
    session: &str,
    current: &SessionId,
    shown: &Shown<'_>,
) -> Result<Value, Trouble> {
    let session = other_session(store, session, current)?;
    let excerpt = store.excerpt(&session, HEAD, TAIL)?;
    let row = store.row(&session)?;
    let truncated = excerpt.messages.len() < excerpt.total;
    let mut value = json!({
        "success": true,
        "mode": "read",
        "session_id": session.as_str(),
        "session_meta": show::meta(&row),
        "message_count": excerpt.total,
        "truncated": truncated,
        "messages": shown.messages(&excerpt.messages, None, show::LONG),
    });
    if truncated {
        let text = format!(
            "The first {HEAD} and the last {TAIL} of {} messages; around_message_id shows those between.",
            excerpt.total
        );
        value["message"] = Value::from(text);
    }
    Ok(value)
}

/// A session that is not part of the conversation itself.
fn other_session(store: &mut SessionStore, name: &str, current: &SessionId) -> Result<SessionId, Trouble> {
    let session = store.resolve(name)?;
    if lineage(store, &session)? == lineage(store, current)? {
        return Err(Trouble::ThisConversation);
    }
    Ok(session)
}

fn lineage(store: &mut SessionStore, session: &SessionId) -> Result<SessionId, Trouble> {
    Ok(store.lineage_root(session)?)
}

fn wrong(problem: &str) -> ToolOutput {
    ToolOutput::json(&json!({ "success": false, "error": problem })).failed()
}

impl Tool for SessionSearch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "session_search".to_owned(),
            description: DESCRIPTION.to_owned(),
            parameters: parameters(),
        }
    }

    fn toolset(&self) -> &'static str {
        "session_search"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        let word = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        fields::beginning(if word("query").is_empty() { word("session_id") } else { word("query") })
    }

    fn sharing(&self, _: &Arguments) -> Sharing {
        Sharing::Freely
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(self.work(run))
    }
}

const DESCRIPTION: &str = "Earlier conversations. query finds places by words (\"phrases\", word*, AND OR NOT), one per \
conversation; session_id alone reads one, with around_message_id it shows the messages around a place; without \
arguments the newest are listed.";

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string" },
            "limit": { "type": "integer", "description": "1-10, default 3" },
            "sort": { "type": "string", "enum": ["newest", "oldest"] },
            "session_id": { "type": "string" },
            "around_message_id": { "type": "integer" },
            "window": { "type": "integer", "description": "1-20, default 5" },
            "role_filter": { "type": "string", "description": "Default user,assistant; also tool" }
        }
    })
}
