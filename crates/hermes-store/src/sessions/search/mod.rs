//! Finding what was said, in all sessions.

mod query;
mod view;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Row, Transaction, params_from_iter};

use query::{Plan, plan};
pub use view::{Anchored, Excerpt};

use super::SessionStore;
use super::error::SessionError;
use super::find::root;
use super::ids::{MessageId, SessionId, timestamp};
use super::message::{Body, Loose, Role};
use super::row::preview;
use super::titles::escape_like;

/// Which hits come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Those that fit best.
    #[default]
    Fit,
    /// The newest.
    Newest,
    /// The oldest.
    Oldest,
}

/// What to look for.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    /// Words, `"phrases"`, `beginnings*`, joined by `AND`, `OR`, `NOT`.
    pub text: String,
    /// How many hits; 20 if nothing is said.
    pub limit: Option<usize>,
    /// How many are left out at the start.
    pub offset: usize,
    /// Which come first.
    pub sort: Sort,
    /// Only what these said; everybody if empty.
    pub roles: Vec<Role>,
    /// Only through these doors; all if empty.
    pub sources: Vec<String>,
    /// Not through these.
    pub exclude_sources: Vec<String>,
    /// Those through these doors come last, whatever they fit.
    pub last_sources: Vec<String>,
    /// Not in this session, nor in those above and below it.
    pub exclude_lineage: Option<SessionId>,
    /// One hit per conversation, the first.
    pub one_per_lineage: bool,
    /// Also what was taken back.
    pub taken_back: bool,
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The message.
    pub message: MessageId,
    /// Its session.
    pub session: SessionId,
    /// Who said it.
    pub role: Role,
    /// The place that was found, between `>>>` and `<<<`.
    pub snippet: String,
    /// When.
    pub timestamp: Timestamp,
    /// The tool whose result it is.
    pub tool_name: Option<String>,
    /// Through which door its session came.
    pub source: String,
    /// The model of its session.
    pub model: Option<String>,
    /// What its session is called.
    pub title: Option<String>,
    /// When its session began.
    pub session_started: Timestamp,
    /// The message before, itself, and the one after, shortened.
    pub context: Vec<Line>,
}

/// A shortened message.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Who says it.
    pub role: Role,
    /// The beginning of what is said.
    pub text: String,
}

const LIMIT: usize = 20;
/// How many hits are looked at where some are left out afterwards.
const RAW: usize = 300;
/// How much of a neighbouring message is shown.
const CONTEXT: usize = 200;

impl SessionStore {
    /// Looks for messages.
    pub fn search(&mut self, query: &SearchQuery) -> Result<Vec<Hit>, SessionError> {
        let Some((sql, values)) = statement(query) else { return Ok(Vec::new()) };
        let pieces = match plan(&query.text) {
            Plan::Pieces { pieces, .. } => pieces,
            _ => Vec::new(),
        };
        // What cannot be indexed right now is found the next time.
        let _ = self.index_all();
        Ok(self.db.read(|tx| {
            let mut statement = tx.prepare_cached(&sql)?;
            let rows = statement.query_map(params_from_iter(values.iter()), |row| read(row, &pieces))?;
            let hits = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            let mut hits = choose(tx, query, hits)?;
            for hit in &mut hits {
                hit.context = context(tx, hit)?;
            }
            Ok(hits)
        })?)
    }
}

/// The statement for a query, with its values; nothing if it asks for nothing.
pub(super) fn statement(query: &SearchQuery) -> Option<(String, Vec<Value>)> {
    let (from, snippet, mut clauses, mut values, order) = match plan(&query.text) {
        Plan::Nothing => return None,
        Plan::Words(text) => in_index("messages_fts", text, query.sort),
        Plan::Trigrams(text) => in_index("messages_fts_trigram", text, query.sort),
        Plan::Pieces { pieces, any } => in_every_message(&pieces, any, query.sort),
    };
    if !query.taken_back {
        clauses.push("(m.active = 1 OR m.compacted = 1)".to_owned());
    }
    let mut among = |column: &str, verb: &str, list: Vec<String>| {
        if !list.is_empty() {
            clauses.push(format!("{column} {verb} ({})", vec!["?"; list.len()].join(", ")));
            values.extend(list.into_iter().map(Value::from));
        }
    };
    among("m.role", "IN", query.roles.iter().map(|role| role.as_str().to_owned()).collect());
    among("s.source", "IN", query.sources.clone());
    among("s.source", "NOT IN", query.exclude_sources.clone());
    let limit = query.limit.unwrap_or(LIMIT);
    let chosen = query.one_per_lineage || query.exclude_lineage.is_some();
    let (limit, offset) = if chosen { (RAW.max(limit), 0) } else { (limit, query.offset) };
    values.extend([Value::from(limit as i64), Value::from(offset as i64)]);
    let sql = format!(
        "SELECT m.id, m.session_id, m.role, {snippet}, m.timestamp, m.tool_name, s.source, s.model, s.title, s.started_at
         FROM {from} JOIN sessions s ON s.id = m.session_id
         WHERE {} ORDER BY {order} LIMIT ? OFFSET ?",
        clauses.join(" AND ")
    );
    Some((sql, values))
}

type Parts = (String, String, Vec<String>, Vec<Value>, &'static str);

fn in_index(index: &str, text: String, sort: Sort) -> Parts {
    let order = match sort {
        Sort::Fit => "rank",
        Sort::Newest => "m.timestamp DESC, rank",
        Sort::Oldest => "m.timestamp, rank",
    };
    (
        format!("{index} JOIN messages m ON m.id = {index}.rowid"),
        format!("snippet({index}, 0, '>>>', '<<<', '...', 40)"),
        vec![format!("{index} MATCH ?")],
        vec![Value::from(text)],
        order,
    )
}

fn in_every_message(pieces: &[String], any: bool, sort: Sort) -> Parts {
    let mut values = Vec::new();
    let mut each = Vec::new();
    for piece in pieces {
        let pattern = Value::from(format!("%{}%", escape_like(piece)));
        let like =
            ["content", "tool_name", "tool_calls"].map(|column| format!("m.{column} LIKE ? ESCAPE '\\'"));
        each.push(format!("({})", like.join(" OR ")));
        values.extend([pattern.clone(), pattern.clone(), pattern]);
    }
    let all = each.join(if any { " OR " } else { " AND " });
    // Newest first lets it stop as soon as it has enough.
    let order = if sort == Sort::Oldest { "m.id" } else { "m.id DESC" };
    ("messages m".to_owned(), "m.content".to_owned(), vec![format!("({all})")], values, order)
}

fn read(row: &Row<'_>, pieces: &[String]) -> rusqlite::Result<Hit> {
    let text = |index: usize| row.get::<_, Loose>(index).map(Loose::text);
    let found = text(3)?.unwrap_or_default();
    Ok(Hit {
        message: MessageId(row.get(0)?),
        session: SessionId::from(row.get::<_, String>(1)?),
        role: Role::from(text(2)?.unwrap_or_default().as_str()),
        snippet: if pieces.is_empty() { found } else { cut_out(&found, pieces) },
        timestamp: timestamp(row.get(4)?),
        tool_name: text(5)?,
        source: text(6)?.unwrap_or_default(),
        model: text(7)?,
        title: text(8)?,
        session_started: timestamp(row.get(9)?),
        context: Vec::new(),
    })
}

/// The surroundings of the first piece in a text.
fn cut_out(text: &str, pieces: &[String]) -> String {
    let place = pieces.iter().find_map(|piece| text.find(piece.as_str()).map(|at| (at, piece.len())));
    let Some((at, length)) = place else { return preview(text, 120) };
    let before: Vec<char> = text[..at].chars().rev().take(40).collect();
    let before: String = before.into_iter().rev().collect();
    let after: String = text[at + length..].chars().take(80).collect();
    let dots = |cut: bool| if cut { "..." } else { "" };
    format!(
        "{}{before}>>>{}<<<{after}{}",
        dots(before.len() < at),
        &text[at..at + length],
        dots(at + length + after.len() < text.len())
    )
}

/// Leaves out what the query does not want, which only a look at the parents of sessions can tell.
fn choose(tx: &Transaction<'_>, query: &SearchQuery, hits: Vec<Hit>) -> rusqlite::Result<Vec<Hit>> {
    if query.exclude_lineage.is_none() && !query.one_per_lineage {
        return Ok(hits);
    }
    let excluded = query.exclude_lineage.as_ref().map(|id| root(tx, id)).transpose()?;
    let (mut seen, mut roots) = (BTreeSet::new(), BTreeMap::new());
    let mut kept = Vec::new();
    let (first, last): (Vec<Hit>, Vec<Hit>) =
        hits.into_iter().partition(|hit| !query.last_sources.contains(&hit.source));
    for hit in first.into_iter().chain(last) {
        if !roots.contains_key(&hit.session) {
            roots.insert(hit.session.clone(), root(tx, &hit.session)?);
        }
        let top = roots[&hit.session].clone();
        let wanted = excluded.as_ref() != Some(&top) && (!query.one_per_lineage || seen.insert(top));
        if wanted {
            kept.push(hit);
        }
    }
    Ok(kept.into_iter().skip(query.offset).take(query.limit.unwrap_or(LIMIT)).collect())
}

/// The message before a hit, itself, and the one after.
fn context(tx: &Transaction<'_>, hit: &Hit) -> rusqlite::Result<Vec<Line>> {
    let one = |sql: &str| {
        let mut statement = tx.prepare_cached(sql)?;
        let mut rows = statement.query((hit.session.as_str(), hit.message.0))?;
        rows.next()?.map(line).transpose()
    };
    let itself = "SELECT role, content FROM messages WHERE session_id = ?1 AND id = ?2";
    let side = |compare: &str, direction: &str| {
        format!(
            "SELECT m.role, m.content FROM messages t CROSS JOIN messages m
                 ON m.session_id = ?1 AND m.timestamp {compare}= t.timestamp AND (m.timestamp, m.id) {compare} (t.timestamp, t.id)
             WHERE t.id = ?2 AND (m.active = 1 OR m.compacted = 1)
             ORDER BY m.timestamp {direction}, m.id {direction} LIMIT 1"
        )
    };
    let lines = [one(&side("<", "DESC"))?, one(itself)?, one(&side(">", "ASC"))?];
    Ok(lines.into_iter().flatten().collect())
}

fn line(row: &Row<'_>) -> rusqlite::Result<Line> {
    let role = Role::from(row.get::<_, Loose>(0)?.text().unwrap_or_default().as_str());
    let text = row.get::<_, Loose>(1)?.text().map(|content| Body::decode(content).text()).unwrap_or_default();
    Ok(Line { role, text: text.chars().take(CONTEXT).collect() })
}
