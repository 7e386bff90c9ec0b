//! What is wrong with cards, worked out from what happened to them. Nothing is stored.

use std::collections::BTreeMap;

use hermes_store::rusqlite::{self, Connection, params};
use serde::Serialize;
use serde_json::{Value, json};

use crate::board::Board;
use crate::card::{Card, CardId, Outcome, RunId, Seconds, Status};
use crate::error::BoardError;
use crate::query::{Filter, Sort};
use crate::rows::{self, Happened};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Somebody should look.
    Warning,
    /// Something does not work.
    Error,
    /// It will not get better by itself.
    Critical,
}

impl Severity {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Warning, Self::Error, Self::Critical];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|severity| severity.as_str() == word)
    }
}

/// Something that could be done about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Action {
    /// What kind: `cli_hint`, `reassign`, `reclaim`, `comment`.
    pub kind: &'static str,
    /// In words, or as a command.
    pub label: String,
    /// What it needs.
    pub payload: Value,
    /// Whether it is the first thing to try.
    pub suggested: bool,
}

/// Something that is wrong with a card.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnostic {
    /// What kind.
    pub kind: &'static str,
    /// How bad.
    pub severity: Severity,
    /// In a few words.
    pub title: String,
    /// In more words.
    pub detail: String,
    /// What could be done.
    pub actions: Vec<Action>,
    /// When it was first seen.
    pub first_seen_at: Seconds,
    /// When it was last seen.
    pub last_seen_at: Seconds,
    /// How often.
    pub count: i64,
    /// In which attempt.
    pub run_id: Option<RunId>,
    /// Numbers and names.
    pub data: Value,
}

/// From when on something counts as wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// Failures in a row.
    pub failures: i64,
    /// Crashes in a row.
    pub crashes: i64,
    /// Seconds blocked without a word.
    pub blocked: Seconds,
    /// Seconds ready without being taken.
    pub stranded: Seconds,
    /// Blocks and unblocks.
    pub cycles: i64,
    /// Within so many seconds.
    pub cycle_window: Seconds,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { failures: 2, crashes: 2, blocked: 86_400, stranded: 1800, cycles: 3, cycle_window: 86_400 }
    }
}

/// What happened to a card, as far as it matters here.
#[derive(Debug, Default)]
struct Record {
    events: Vec<Happened>,
    /// Ended attempts, the newest first.
    outcomes: Vec<(RunId, Option<Outcome>, Seconds, Option<String>)>,
    newest_comment: Option<Seconds>,
}

impl Board {
    /// What is wrong, card by card, the worst of each first.
    pub fn diagnostics(
        &mut self,
        card: Option<&CardId>,
        limits: &Thresholds,
        now: Seconds,
    ) -> Result<Vec<(Card, Vec<Diagnostic>)>, BoardError> {
        let cards = match card {
            Some(id) => vec![self.card(id)?],
            None => self.list(&Filter::default(), Sort::default())?,
        };
        let mut records = self.read(|tx| records(tx, card))?;
        let found = cards.into_iter().filter_map(|card| {
            let record = records.remove(&card.id).unwrap_or_default();
            let mut wrong = judge(&card, &record, limits, now);
            wrong.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
            (!wrong.is_empty()).then_some((card, wrong))
        });
        Ok(found.collect())
    }
}

/// Kinds of events the rules look at.
const KINDS: &str = "'completion_blocked_hallucination', 'suspected_hallucinated_references', 'completed', 'edited', \
     'blocked', 'unblocked', 'promoted', 'promoted_manual', 'created', 'reclaimed', 'status'";

fn records(db: &Connection, card: Option<&CardId>) -> rusqlite::Result<BTreeMap<CardId, Record>> {
    let mut records: BTreeMap<CardId, Record> = BTreeMap::new();
    let mut statement = db.prepare_cached(&format!(
        "SELECT {} FROM task_events WHERE kind IN ({KINDS}) AND (?1 IS NULL OR task_id = ?1) ORDER BY id",
        rows::HAPPENED
    ))?;
    for event in statement.query_map(params![card], rows::happened)? {
        let event = event?;
        records.entry(event.task_id.clone()).or_default().events.push(event);
    }
    let mut statement = db.prepare_cached(
        "SELECT task_id, id, outcome, ended_at, error FROM task_runs WHERE ended_at IS NOT NULL \
         AND (?1 IS NULL OR task_id = ?1) ORDER BY id DESC",
    )?;
    let mut found = statement.query(params![card])?;
    while let Some(row) = found.next()? {
        let record = records.entry(row.get(0)?).or_default();
        record.outcomes.push((row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
    }
    let mut statement = db.prepare_cached(
        "SELECT task_id, max(created_at) FROM task_comments WHERE ?1 IS NULL OR task_id = ?1 GROUP BY task_id",
    )?;
    let mut found = statement.query(params![card])?;
    while let Some(row) = found.next()? {
        records.entry(row.get(0)?).or_default().newest_comment = row.get(1)?;
    }
    Ok(records)
}

fn judge(card: &Card, record: &Record, limits: &Thresholds, now: Seconds) -> Vec<Diagnostic> {
    let rules =
        [invented_cards, invented_words, failing, crashing, stuck_in_blocked, going_in_circles, stranded];
    rules.iter().filter_map(|rule| rule(card, record, limits, now)).collect()
}

fn hint(command: String, suggested: bool) -> Action {
    let payload = json!({ "command": command });
    Action { kind: "cli_hint", label: command, payload, suggested }
}

/// A worker said that it made cards which are not there, and has not finished since.
fn invented_cards(card: &Card, record: &Record, _: &Thresholds, _: Seconds) -> Option<Diagnostic> {
    let since = settled(record);
    let found: Vec<&Happened> = record
        .events
        .iter()
        .filter(|event| event.kind == "completion_blocked_hallucination" && event.id > since)
        .collect();
    let (first, last) = (found.first()?, found.last()?);
    let names = |event: &Happened| event.payload.as_ref().map(|payload| payload["phantom_cards"].clone());
    Some(Diagnostic {
        kind: "hallucinated_cards",
        severity: Severity::Error,
        title: "the worker named cards that it did not make".to_owned(),
        detail: "it wanted to finish and named cards that are not there; nothing was completed".to_owned(),
        actions: vec![
            hint(format!("hermes kanban show {}", card.id), true),
            hint(format!("hermes kanban complete {} --summary TEXT", card.id), false),
        ],
        first_seen_at: first.created_at,
        last_seen_at: last.created_at,
        count: count(&found),
        run_id: last.run_id,
        data: json!({ "phantom_cards": names(last) }),
    })
}

/// A summary names cards that are not there.
fn invented_words(card: &Card, record: &Record, _: &Thresholds, _: Seconds) -> Option<Diagnostic> {
    let edited = record.events.iter().rev().find(|event| event.kind == "edited").map_or(0, |event| event.id);
    let found: Vec<&Happened> = record
        .events
        .iter()
        .filter(|event| event.kind == "suspected_hallucinated_references" && event.id > edited)
        .collect();
    let (first, last) = (found.first()?, found.last()?);
    Some(Diagnostic {
        kind: "prose_phantom_refs",
        severity: Severity::Warning,
        title: "the summary names cards that are not there".to_owned(),
        detail: "the work is done; what it says about other cards may be wrong".to_owned(),
        actions: vec![hint(format!("hermes kanban show {}", card.id), true)],
        first_seen_at: first.created_at,
        last_seen_at: last.created_at,
        count: count(&found),
        run_id: last.run_id,
        data: json!({ "phantom_refs": last.payload.as_ref().map(|payload| payload["phantom_refs"].clone()) }),
    })
}

/// It failed several times in a row.
fn failing(card: &Card, record: &Record, limits: &Thresholds, now: Seconds) -> Option<Diagnostic> {
    let over = matches!(card.status, Status::Done | Status::Archived | Status::Running);
    if over || limits.failures < 1 || card.failures < limits.failures {
        return None;
    }
    let newest = record.outcomes.first();
    let mut actions = vec![hint(format!("hermes kanban log {}", card.id), true)];
    if card.status == Status::Blocked {
        actions.push(hint(format!("hermes kanban unblock {}", card.id), false));
    }
    actions.push(hint(format!("hermes kanban reassign {} PROFILE", card.id), false));
    Some(Diagnostic {
        kind: "repeated_failures",
        severity: if card.failures >= 2 * limits.failures { Severity::Critical } else { Severity::Error },
        title: format!("it failed {} times in a row", card.failures),
        detail: card.last_error.clone().unwrap_or_else(|| "no reason is known".to_owned()),
        actions,
        first_seen_at: newest.map_or(now, |(_, _, ended, _)| *ended),
        last_seen_at: newest.map_or(now, |(_, _, ended, _)| *ended),
        count: card.failures,
        run_id: newest.map(|(run, ..)| *run),
        data: json!({ "failures": card.failures, "threshold": limits.failures, "last_error": card.last_error }),
    })
}

/// Its workers died several times in a row.
fn crashing(card: &Card, record: &Record, limits: &Thresholds, _: Seconds) -> Option<Diagnostic> {
    let over = matches!(card.status, Status::Done | Status::Archived | Status::Running);
    let crashed: Vec<_> =
        record.outcomes.iter().take_while(|(_, outcome, ..)| *outcome == Some(Outcome::Crashed)).collect();
    let times = i64::try_from(crashed.len()).unwrap_or(i64::MAX);
    if over || limits.crashes < 1 || times < limits.crashes {
        return None;
    }
    let (newest, oldest) = (crashed.first()?, crashed.last()?);
    Some(Diagnostic {
        kind: "repeated_crashes",
        severity: if times >= 2 * limits.crashes { Severity::Critical } else { Severity::Error },
        title: format!("its worker died {times} times in a row"),
        detail: newest.3.clone().unwrap_or_else(|| "no reason is known".to_owned()),
        actions: vec![
            hint(format!("hermes kanban log {}", card.id), true),
            hint("hermes doctor".to_owned(), false),
        ],
        first_seen_at: oldest.2,
        last_seen_at: newest.2,
        count: times,
        run_id: Some(newest.0),
        data: json!({ "crashes": times, "threshold": limits.crashes }),
    })
}

/// It is blocked and nobody says anything.
fn stuck_in_blocked(card: &Card, record: &Record, limits: &Thresholds, now: Seconds) -> Option<Diagnostic> {
    if card.status != Status::Blocked {
        return None;
    }
    let since = record
        .events
        .iter()
        .rev()
        .find(|event| event.kind == "blocked")
        .map_or(card.created_at, |event| event.created_at);
    let heard = record.newest_comment.filter(|at| *at > since).unwrap_or(since);
    if now - heard < limits.blocked {
        return None;
    }
    Some(Diagnostic {
        kind: "stuck_in_blocked",
        severity: Severity::Warning,
        title: format!("blocked for {} hours without a word", (now - since) / 3600),
        detail: "nobody has said anything since; it goes on when somebody unblocks it".to_owned(),
        actions: vec![
            hint(format!("hermes kanban show {}", card.id), true),
            hint(format!("hermes kanban unblock {} --reason TEXT", card.id), false),
        ],
        first_seen_at: since,
        last_seen_at: now,
        count: 1,
        run_id: None,
        data: json!({ "blocked_seconds": now - since, "threshold_seconds": limits.blocked }),
    })
}

/// It is blocked and unblocked again and again.
fn going_in_circles(card: &Card, record: &Record, limits: &Thresholds, now: Seconds) -> Option<Diagnostic> {
    if matches!(card.status, Status::Done | Status::Archived) {
        return None;
    }
    let found: Vec<&Happened> = record
        .events
        .iter()
        .filter(|event| event.kind == "unblocked" && now - event.created_at <= limits.cycle_window)
        .collect();
    if limits.cycles < 1 || count(&found) < limits.cycles {
        return None;
    }
    let (first, last) = (found.first()?, found.last()?);
    Some(Diagnostic {
        kind: "block_unblock_cycling",
        severity: Severity::Warning,
        title: format!("unblocked {} times and blocked again", found.len()),
        detail: "something is missing that unblocking does not give it: change the card itself".to_owned(),
        actions: vec![
            hint(format!("hermes kanban edit {} --editor", card.id), true),
            hint(format!("hermes kanban tail {}", card.id), false),
        ],
        first_seen_at: first.created_at,
        last_seen_at: last.created_at,
        count: count(&found),
        run_id: None,
        data: json!({ "cycles": found.len(), "window_seconds": limits.cycle_window }),
    })
}

/// It has been ready for long and nobody takes it.
fn stranded(card: &Card, record: &Record, limits: &Thresholds, now: Seconds) -> Option<Diagnostic> {
    if card.status != Status::Ready || card.assignee.is_none() || limits.stranded < 1 {
        return None;
    }
    let became = ["promoted", "promoted_manual", "unblocked", "reclaimed", "status", "created"];
    let since = record
        .events
        .iter()
        .rev()
        .find(|event| became.contains(&event.kind.as_str()))
        .map_or(card.created_at, |event| event.created_at);
    let age = now - since;
    if age < limits.stranded {
        return None;
    }
    Some(Diagnostic {
        kind: "stranded_in_ready",
        severity: match age / limits.stranded {
            0 | 1 => Severity::Warning,
            2..=5 => Severity::Error,
            _ => Severity::Critical,
        },
        title: format!("ready for {} minutes and nobody takes it", age / 60),
        detail: "no dispatcher runs, the board is parked or paused, or its profile is not there".to_owned(),
        actions: vec![
            hint(format!("hermes kanban why {}", card.id), true),
            hint("hermes kanban status".to_owned(), false),
        ],
        first_seen_at: since,
        last_seen_at: now,
        count: 1,
        run_id: None,
        data: json!({ "age_seconds": age, "threshold_seconds": limits.stranded, "assignee": card.assignee }),
    })
}

/// The number of the last event that settles what a worker claimed.
fn settled(record: &Record) -> i64 {
    let settles = |event: &&Happened| matches!(event.kind.as_str(), "completed" | "edited");
    record.events.iter().rev().find(settles).map_or(0, |event| event.id)
}

fn count(events: &[&Happened]) -> i64 {
    i64::try_from(events.len()).unwrap_or(i64::MAX)
}
