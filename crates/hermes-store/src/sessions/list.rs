//! Lists of sessions.

use jiff::Timestamp;
use rusqlite::Transaction;
use rusqlite::types::Value;

use super::SessionStore;
use super::error::SessionError;
use super::find::tip;
use super::ids::seconds;
use super::marks::is_hidden_child;
use super::row::{self, SessionRow};
use super::titles::escape_like;

/// Whether sessions under others are listed: the work of helpers, and the later parts of a conversation that an older
/// program cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Children {
    /// No; a conversation that was cut is listed once, as its last part.
    #[default]
    Hide,
    /// Yes, each row as it is.
    Show,
}

/// Whether sessions that were put away are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Archived {
    /// No.
    #[default]
    Hide,
    /// Also.
    Show,
    /// Only these.
    Only,
}

/// Which comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The one that began last. Takes as long as the list is, however many sessions there are.
    #[default]
    Started,
    /// The one in which something was said last. Looks at every session.
    LastActive,
}

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    /// Through this door.
    pub source: Option<String>,
    /// Not through these.
    pub exclude_sources: Vec<String>,
    /// In this directory or below.
    pub cwd: Option<String>,
    /// The model's name contains this.
    pub model: Option<String>,
    /// The branch's name contains this.
    pub branch: Option<String>,
    /// The title contains this.
    pub title: Option<String>,
    /// The title or the id contains this.
    pub search: Option<String>,
    /// Ended for this reason.
    pub end_reason: Option<String>,
    /// On the bill of this provider.
    pub provider: Option<String>,
    /// Began before this.
    pub started_before: Option<Timestamp>,
    /// Began at this time or later.
    pub started_after: Option<Timestamp>,
    /// Has at least so many messages.
    pub min_messages: u64,
    /// Has at most so many messages.
    pub max_messages: Option<u64>,
    /// Sent and received at least so many tokens.
    pub min_tokens: Option<u64>,
    /// Sent and received at most so many tokens.
    pub max_tokens: Option<u64>,
    /// Costs at least so many dollars.
    pub min_cost: Option<f64>,
    /// Costs at most so many dollars.
    pub max_cost: Option<f64>,
    /// Has at least so many calls of tools.
    pub min_tool_calls: Option<u64>,
    /// Has at most so many calls of tools.
    pub max_tool_calls: Option<u64>,
    /// Whether sessions under others are listed.
    pub children: Children,
    /// Whether sessions that were put away are listed.
    pub archived: Archived,
    /// Which comes first.
    pub order: Order,
    /// How many; all if nothing is said.
    pub limit: Option<usize>,
    /// How many are left out at the start.
    pub offset: usize,
}

impl SessionStore {
    /// The sessions of a filter.
    pub fn list(&mut self, filter: &ListFilter) -> Result<Vec<SessionRow>, SessionError> {
        let (sql, values) = statement(filter);
        Ok(self.db.read(|tx| {
            let mut statement = tx.prepare_cached(&sql)?;
            let rows = statement.query_map(rusqlite::params_from_iter(values.iter()), row::read)?;
            let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            match filter.children {
                Children::Show => Ok(rows),
                Children::Hide => rows.into_iter().map(|row| project(tx, row)).collect(),
            }
        })?)
    }
}

/// The statement of a filter and its values. Only the sessions that are shown are read; the others are only ordered.
pub(super) fn statement(filter: &ListFilter) -> (String, Vec<Value>) {
    let Joined { sql, mut values } = Clauses::of(filter);
    let order = match filter.order {
        Order::Started => "s.started_at DESC",
        Order::LastActive => {
            "ifnull((SELECT max(m.timestamp) FROM messages m WHERE m.session_id = s.id), s.started_at) DESC,
             s.started_at DESC"
        }
    };
    let limit = filter.limit.map_or(-1, |limit| limit as i64);
    values.extend([Value::from(limit), Value::from(filter.offset as i64)]);
    let chosen = format!("SELECT s.id FROM sessions s WHERE {sql} ORDER BY {order} LIMIT ? OFFSET ?");
    let text = format!("SELECT {} FROM ({chosen}) c CROSS JOIN sessions s ON s.id = c.id", row::columns());
    (text, values)
}

/// A condition on `sessions s` with its values.
pub(super) struct Joined {
    pub sql: String,
    pub values: Vec<Value>,
}

/// Conditions on `sessions s` with their values.
pub(super) struct Clauses {
    sql: Vec<String>,
    values: Vec<Value>,
}

impl Clauses {
    /// The conditions of a filter, as one.
    pub fn of(filter: &ListFilter) -> Joined {
        let mut clauses = Self { sql: vec!["1".to_owned()], values: Vec::new() };
        clauses.filter(filter);
        Joined { sql: clauses.sql.join(" AND "), values: clauses.values }
    }

    /// Adds a condition with one value.
    fn with(&mut self, sql: &str, value: impl Into<Value>) {
        self.sql.push(sql.to_owned());
        self.values.push(value.into());
    }

    /// A column contains a text, in whatever case.
    fn containing(&mut self, column: &str, text: &str) {
        self.with(&format!("{column} LIKE ? ESCAPE '\\'"), format!("%{}%", escape_like(text)));
    }

    /// A directory or below.
    fn under(&mut self, cwd: &str) {
        let cwd = match cwd.trim_end_matches('/') {
            "" => "/",
            cwd => cwd,
        };
        let below = if cwd == "/" { "/%".to_owned() } else { format!("{}/%", escape_like(cwd)) };
        self.sql.push("(s.cwd = ? OR s.cwd LIKE ? ESCAPE '\\')".to_owned());
        self.values.extend([Value::from(cwd.to_owned()), Value::from(below)]);
    }

    fn filter(&mut self, filter: &ListFilter) {
        if filter.children == Children::Hide {
            self.sql.push(format!("NOT {}", is_hidden_child("s")));
        }
        match filter.archived {
            Archived::Hide => self.sql.push("s.archived = 0".to_owned()),
            Archived::Only => self.sql.push("s.archived = 1".to_owned()),
            Archived::Show => {}
        }
        // The plus keeps SQLite with the index on the time, which gives the order and lets it stop early.
        if let Some(source) = &filter.source {
            self.with("+s.source = ?", source.clone());
        }
        for source in &filter.exclude_sources {
            self.with("+s.source <> ?", source.clone());
        }
        if let Some(cwd) = &filter.cwd {
            self.under(cwd);
        }
        self.words(filter);
        self.amounts(filter);
    }

    fn words(&mut self, filter: &ListFilter) {
        let parts =
            [("s.model", &filter.model), ("s.git_branch", &filter.branch), ("s.title", &filter.title)];
        for (column, text) in parts {
            if let Some(text) = text {
                self.containing(column, text);
            }
        }
        if let Some(reason) = &filter.end_reason {
            self.with("s.end_reason = ?", reason.clone());
        }
        if let Some(provider) = &filter.provider {
            self.with("s.billing_provider = ? COLLATE NOCASE", provider.clone());
        }
        if let Some(text) = &filter.search {
            let pattern = Value::from(format!("%{}%", escape_like(text)));
            self.sql.push("(s.title LIKE ? ESCAPE '\\' OR s.id LIKE ? ESCAPE '\\')".to_owned());
            self.values.extend([pattern.clone(), pattern]);
        }
    }

    fn amounts(&mut self, filter: &ListFilter) {
        const TOKENS: &str = "ifnull(s.input_tokens, 0) + ifnull(s.output_tokens, 0)";
        const COST: &str = "coalesce(s.actual_cost_usd, s.estimated_cost_usd, 0)";
        let whole = |number: Option<u64>| number.map(|number| Value::from(number as i64));
        let least = (filter.min_messages > 0).then_some(filter.min_messages);
        let bounds = [
            ("s.started_at", "<", filter.started_before.map(|at| Value::from(seconds(at)))),
            ("s.started_at", ">=", filter.started_after.map(|at| Value::from(seconds(at)))),
            ("ifnull(s.message_count, 0)", ">=", whole(least)),
            ("ifnull(s.message_count, 0)", "<=", whole(filter.max_messages)),
            (TOKENS, ">=", whole(filter.min_tokens)),
            (TOKENS, "<=", whole(filter.max_tokens)),
            (COST, ">=", filter.min_cost.map(Value::from)),
            (COST, "<=", filter.max_cost.map(Value::from)),
            ("ifnull(s.tool_call_count, 0)", ">=", whole(filter.min_tool_calls)),
            ("ifnull(s.tool_call_count, 0)", "<=", whole(filter.max_tool_calls)),
        ];
        for (what, compare, bound) in bounds {
            if let Some(bound) = bound {
                self.with(&format!("{what} {compare} ?"), bound);
            }
        }
    }
}

/// The last part of a conversation that was cut, with the time the first part began.
fn project(tx: &Transaction<'_>, first: SessionRow) -> rusqlite::Result<SessionRow> {
    if first.end_reason.as_deref() != Some("compression") {
        return Ok(first);
    }
    let last = tip(tx, first.id.clone())?;
    if last == first.id {
        return Ok(first);
    }
    Ok(match row::fetch(tx, &last)? {
        None => first,
        Some(last) => SessionRow {
            root: Some(first.id),
            started_at: first.started_at,
            preview: if last.preview.is_empty() { first.preview } else { last.preview },
            ..last
        },
    })
}
