//! Cards, attempts, comments and events as rows.

use hermes_store::rusqlite::{self, Connection, OptionalExtension, Row};
use serde_json::Value;

use crate::card::{Card, CardId, GoalMode, Outcome, RunId, Seconds};

/// The columns of a card, in the order [`card`] reads them.
pub(crate) const CARD: &str = "id, title, body, assignee, status, coalesce(priority, 0), created_by, created_at, \
     started_at, completed_at, workspace_kind, workspace_path, branch_name, project_id, claim_lock, claim_expires, tenant, \
     result, idempotency_key, consecutive_failures, worker_pid, last_failure_error, max_runtime_seconds, \
     last_heartbeat_at, current_run_id, skills, model_override, max_retries, goal_mode, goal_max_turns, session_id, \
     block_kind, block_recurrences, workflow_template_id, current_step_key";

/// Reads a card.
pub(crate) fn card(row: &Row<'_>) -> rusqlite::Result<Card> {
    let skills: Option<String> = row.get(25)?;
    let goal: i64 = row.get(28)?;
    Ok(Card {
        id: row.get(0)?,
        title: row.get(1)?,
        body: row.get(2)?,
        assignee: row.get::<_, Option<String>>(3)?.filter(|name| !name.trim().is_empty()),
        status: row.get(4)?,
        priority: row.get(5)?,
        created_by: row.get(6)?,
        created_at: row.get(7)?,
        started_at: row.get(8)?,
        completed_at: row.get(9)?,
        workspace_kind: row.get(10)?,
        workspace_path: row.get(11)?,
        branch_name: row.get(12)?,
        project_id: row.get(13)?,
        claim_lock: row.get(14)?,
        claim_expires: row.get(15)?,
        tenant: row.get(16)?,
        result: row.get(17)?,
        idempotency_key: row.get(18)?,
        failures: row.get(19)?,
        worker_pid: row.get(20)?,
        last_error: row.get(21)?,
        max_runtime_seconds: row.get(22)?,
        last_heartbeat_at: row.get(23)?,
        current_run: row.get(24)?,
        skills: skills.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        model: row.get(26)?,
        max_retries: row.get(27)?,
        goal_mode: if goal == 0 { GoalMode::Off } else { GoalMode::On },
        goal_max_turns: row.get(29)?,
        session_id: row.get(30)?,
        block_kind: row.get(31)?,
        block_recurrences: row.get(32)?,
        workflow_template_id: row.get(33)?,
        current_step_key: row.get(34)?,
    })
}

/// One card.
pub(crate) fn find(db: &Connection, id: &CardId) -> rusqlite::Result<Option<Card>> {
    db.prepare_cached(&format!("SELECT {CARD} FROM tasks WHERE id = ?1"))?.query_row([id], card).optional()
}

/// An attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Its number.
    pub id: RunId,
    /// Whose it is.
    pub task_id: CardId,
    /// Who worked.
    pub profile: Option<String>,
    /// Kept for another program.
    pub step_key: Option<String>,
    /// `running`, or how it ended.
    pub status: String,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// What the worker said of it.
    pub summary: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// What else the worker left.
    pub metadata: Option<Value>,
    /// The worker's process.
    pub worker_pid: Option<i64>,
    /// When it began.
    pub started_at: Seconds,
    /// When it ended.
    pub ended_at: Option<Seconds>,
}

pub(crate) const ATTEMPT: &str = "id, task_id, profile, step_key, status, outcome, summary, error, metadata, \
     worker_pid, started_at, ended_at";

pub(crate) fn attempt(row: &Row<'_>) -> rusqlite::Result<Attempt> {
    Ok(Attempt {
        id: row.get(0)?,
        task_id: row.get(1)?,
        profile: row.get(2)?,
        step_key: row.get(3)?,
        status: row.get(4)?,
        outcome: row.get(5)?,
        summary: row.get(6)?,
        error: row.get(7)?,
        metadata: json(row.get(8)?),
        worker_pid: row.get(9)?,
        started_at: row.get(10)?,
        ended_at: row.get(11)?,
    })
}

/// Something that happened to a card.
#[derive(Debug, Clone, PartialEq)]
pub struct Happened {
    /// Its number; later ones are larger.
    pub id: i64,
    /// To which card.
    pub task_id: CardId,
    /// In which attempt.
    pub run_id: Option<RunId>,
    /// What.
    pub kind: String,
    /// More about it.
    pub payload: Option<Value>,
    /// When.
    pub created_at: Seconds,
}

pub(crate) const HAPPENED: &str = "id, task_id, run_id, kind, payload, created_at";

pub(crate) fn happened(row: &Row<'_>) -> rusqlite::Result<Happened> {
    Ok(Happened {
        id: row.get(0)?,
        task_id: row.get(1)?,
        run_id: row.get(2)?,
        kind: row.get(3)?,
        payload: json(row.get(4)?),
        created_at: row.get(5)?,
    })
}

/// Something somebody said about a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Its number.
    pub id: i64,
    /// Who said it.
    pub author: String,
    /// What.
    pub body: String,
    /// When.
    pub created_at: Seconds,
}

pub(crate) fn comment(row: &Row<'_>) -> rusqlite::Result<Comment> {
    Ok(Comment { id: row.get(0)?, author: row.get(1)?, body: row.get(2)?, created_at: row.get(3)? })
}

/// What is no JSON is left out: another program may have written it.
fn json(text: Option<String>) -> Option<Value> {
    text.and_then(|text| serde_json::from_str(&text).ok())
}
