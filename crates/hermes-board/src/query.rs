//! Looking at a board.

use std::collections::BTreeMap;

use hermes_store::rusqlite::types::Value as Sql;
use hermes_store::rusqlite::{self, Connection, params_from_iter};

use crate::board::Board;
use crate::card::{Card, CardId, Seconds, Status};
use crate::error::BoardError;
use crate::extras::Extras;
use crate::links::LinkKind;
use crate::rows::{self, Attempt, Comment, Happened};

/// Which cards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this profile.
    pub assignee: Option<String>,
    /// That stand here.
    pub status: Option<Status>,
    /// Of this name space.
    pub tenant: Option<String>,
    /// Made in this conversation.
    pub session: Option<String>,
    /// Of this template.
    pub template: Option<String>,
    /// At this step.
    pub step: Option<String>,
    /// Those put away too.
    pub archived: Archived,
    /// At most so many.
    pub limit: Option<usize>,
}

/// Whether cards that were put away are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Archived {
    /// They are not.
    #[default]
    Hidden,
    /// They are.
    Shown,
}

/// In which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Those that come first, first.
    #[default]
    Urgency,
    /// The oldest first.
    Created,
    /// The newest first.
    CreatedDesc,
    /// Those that come last, first.
    PriorityDesc,
    /// By where they stand.
    Status,
    /// By profile.
    Assignee,
    /// By title.
    Title,
    /// Those started last, first.
    Updated,
}

impl Sort {
    /// All of them, by their names.
    pub const ALL: &[(&str, Self)] = &[
        ("priority", Self::Urgency),
        ("created", Self::Created),
        ("created-desc", Self::CreatedDesc),
        ("priority-desc", Self::PriorityDesc),
        ("status", Self::Status),
        ("assignee", Self::Assignee),
        ("title", Self::Title),
        ("updated", Self::Updated),
    ];

    /// Cards made in the same second stand in the order they were made.
    fn sql(self) -> &'static str {
        match self {
            Self::Urgency => "priority DESC, created_at ASC, rowid",
            Self::Created => "created_at ASC, rowid",
            Self::CreatedDesc => "created_at DESC, rowid",
            Self::PriorityDesc => "priority ASC, created_at ASC, rowid",
            Self::Status => "status, priority DESC, created_at ASC, rowid",
            Self::Assignee => "assignee, priority DESC, created_at ASC, rowid",
            Self::Title => "title COLLATE NOCASE, rowid",
            Self::Updated => "started_at DESC NULLS LAST, rowid",
        }
    }
}

/// A card with all that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// The card.
    pub card: Card,
    /// What only this program knows.
    pub extras: Extras,
    /// What it waits for.
    pub parents: Vec<CardId>,
    /// How it waits for each, and where that stands; in the same order.
    pub parent_links: Vec<(CardId, LinkKind, Option<Status>)>,
    /// What waits for it.
    pub children: Vec<CardId>,
    /// What all attempts used up.
    pub usage: crate::workers::Usage,
    /// What was said.
    pub comments: Vec<Comment>,
    /// What happened.
    pub events: Vec<Happened>,
    /// Attempts.
    pub attempts: Vec<Attempt>,
}

impl Details {
    /// What was said of the newest attempt that says something.
    pub fn latest_summary(&self) -> Option<&str> {
        self.attempts.iter().rev().find_map(|attempt| attempt.summary.as_deref())
    }
}

/// How many cards there are of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// By where they stand; those put away not counted.
    pub by_status: BTreeMap<Status, i64>,
    /// By profile, and where they stand.
    pub by_assignee: BTreeMap<String, BTreeMap<Status, i64>>,
    /// How long the oldest ready card waits.
    pub oldest_ready: Option<Seconds>,
}

impl Board {
    /// Cards.
    pub fn list(&mut self, filter: &Filter, sort: Sort) -> Result<Vec<Card>, BoardError> {
        self.read(|tx| list(tx, filter, sort))
    }

    /// One card with all that belongs to it.
    pub fn details(&mut self, id: &CardId) -> Result<Details, BoardError> {
        self.read(|tx| details(tx, id))?.ok_or_else(|| BoardError::NoCard(vec![id.clone()]))
    }

    /// One card.
    pub fn card(&mut self, id: &CardId) -> Result<Card, BoardError> {
        self.read(|tx| rows::find(tx, id))?.ok_or_else(|| BoardError::NoCard(vec![id.clone()]))
    }

    /// How many cards there are.
    pub fn stats(&mut self, now: Seconds) -> Result<Stats, BoardError> {
        self.read(|tx| {
            let mut counts = Stats::default();
            let sql = "SELECT assignee, status, count(*), min(CASE WHEN status = 'ready' THEN created_at END) FROM tasks \
                       WHERE status != 'archived' GROUP BY assignee, status";
            let mut statement = tx.prepare_cached(sql)?;
            let mut rows = statement.query([])?;
            let mut oldest: Option<Seconds> = None;
            while let Some(row) = rows.next()? {
                let (status, count): (Status, i64) = (row.get(1)?, row.get(2)?);
                *counts.by_status.entry(status).or_default() += count;
                if let Some(name) = row.get::<_, Option<String>>(0)?.filter(|name| !name.is_empty()) {
                    *counts.by_assignee.entry(name).or_default().entry(status).or_default() += count;
                }
                let made: Option<Seconds> = row.get(3)?;
                oldest = oldest.into_iter().chain(made).min();
            }
            counts.oldest_ready = oldest.map(|made| (now - made).max(0));
            Ok(counts)
        })
    }

    /// What only this program knows, of every card of which it knows something.
    pub fn extras(&mut self) -> Result<BTreeMap<CardId, Extras>, BoardError> {
        self.read(|tx| Extras::load_all(tx))
    }

    /// What waits for what, as pairs of the one that comes first and the one that waits.
    pub fn links(&mut self) -> Result<Vec<(CardId, CardId)>, BoardError> {
        self.read(|tx| {
            let sql = "SELECT parent_id, child_id FROM task_links UNION SELECT parent_id, child_id FROM hx_links ORDER BY 1, 2";
            tx.prepare_cached(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// What happened after an event, on one card or on all.
    pub fn events_after(
        &mut self,
        after: i64,
        card: Option<&CardId>,
        most: usize,
    ) -> Result<Vec<Happened>, BoardError> {
        self.read(|tx| {
            let which = if card.is_some() { "task_id = ?2 AND id > ?1" } else { "id > ?1 AND ?2 IS NULL" };
            let sql =
                format!("SELECT {} FROM task_events WHERE {which} ORDER BY id LIMIT {most}", rows::HAPPENED);
            let mut statement = tx.prepare_cached(&sql)?;
            statement.query_map(rusqlite::params![after, card], rows::happened)?.collect()
        })
    }

    /// The number of the newest event.
    pub fn newest_event(&mut self) -> Result<i64, BoardError> {
        self.read(|tx| tx.query_row("SELECT coalesce(max(id), 0) FROM task_events", [], |row| row.get(0)))
    }
}

fn list(db: &Connection, filter: &Filter, sort: Sort) -> rusqlite::Result<Vec<Card>> {
    let mut conditions = Vec::new();
    let mut values: Vec<Sql> = Vec::new();
    let texts = [
        ("assignee", filter.assignee.clone()),
        ("status", filter.status.map(|status| status.as_str().to_owned())),
        ("tenant", filter.tenant.clone()),
        ("session_id", filter.session.clone()),
        ("workflow_template_id", filter.template.clone()),
        ("current_step_key", filter.step.clone()),
    ];
    for (column, wanted) in texts {
        if let Some(text) = wanted {
            values.push(Sql::Text(text));
            conditions.push(format!("{column} = ?{}", values.len()));
        }
    }
    if filter.archived == Archived::Hidden && filter.status != Some(Status::Archived) {
        conditions.push("status != 'archived'".to_owned());
    }
    let which =
        if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
    let limit = filter.limit.map(|most| format!("LIMIT {most}")).unwrap_or_default();
    let sql = format!("SELECT {} FROM tasks {which} ORDER BY {} {limit}", rows::CARD, sort.sql());
    db.prepare_cached(&sql)?.query_map(params_from_iter(values), rows::card)?.collect()
}

fn details(db: &Connection, id: &CardId) -> rusqlite::Result<Option<Details>> {
    let Some(card) = rows::find(db, id)? else { return Ok(None) };
    let ids = |sql: &str| -> rusqlite::Result<Vec<CardId>> {
        db.prepare_cached(sql)?.query_map([id], |row| row.get(0))?.collect()
    };
    let parent_links = parent_links(db, id)?;
    let parents = parent_links.iter().map(|(parent, ..)| parent.clone()).collect();
    let children = ids("SELECT child_id FROM task_links WHERE parent_id = ?1 UNION \
                        SELECT child_id FROM hx_links WHERE parent_id = ?1 ORDER BY 1")?;
    let comments = db
        .prepare_cached(
            "SELECT id, author, body, created_at FROM task_comments WHERE task_id = ?1 ORDER BY id",
        )?
        .query_map([id], rows::comment)?
        .collect::<Result<_, _>>()?;
    let events = db
        .prepare_cached(&format!(
            "SELECT {} FROM task_events WHERE task_id = ?1 ORDER BY id",
            rows::HAPPENED
        ))?
        .query_map([id], rows::happened)?
        .collect::<Result<_, _>>()?;
    let attempts = db
        .prepare_cached(&format!("SELECT {} FROM task_runs WHERE task_id = ?1 ORDER BY id", rows::ATTEMPT))?
        .query_map([id], rows::attempt)?
        .collect::<Result<_, _>>()?;
    let extras = Extras::load(db, id)?;
    let usage = crate::workers::usage_of(db, id)?;
    Ok(Some(Details { card, extras, parents, parent_links, children, usage, comments, events, attempts }))
}

/// What a card waits for, how, and where that stands.
pub(crate) fn parent_links(
    db: &Connection,
    id: &CardId,
) -> rusqlite::Result<Vec<(CardId, LinkKind, Option<Status>)>> {
    let sql = "SELECT both.parent_id, coalesce(max(h.kind), 'hard'), p.status FROM \
               (SELECT parent_id FROM task_links WHERE child_id = ?1 UNION \
                SELECT parent_id FROM hx_links WHERE child_id = ?1) both \
               LEFT JOIN hx_links h ON h.parent_id = both.parent_id AND h.child_id = ?1 \
               LEFT JOIN tasks p ON p.id = both.parent_id GROUP BY both.parent_id ORDER BY 1";
    db.prepare_cached(sql)?
        .query_map([id], |row| {
            let kind: String = row.get(1)?;
            Ok((row.get(0)?, LinkKind::parse(&kind).unwrap_or_default(), row.get(2)?))
        })?
        .collect()
}
