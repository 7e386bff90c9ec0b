//! Making a card.

use hermes_store::rusqlite::{self, OptionalExtension, Transaction, params};
use serde_json::json;

use crate::board::{Board, Trouble};
use crate::card::{Card, CardId, GoalMode, Seconds, Status, WorkspaceKind, assignee};
use crate::error::BoardError;
use crate::event::record;
use crate::rows;

/// A card to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCard {
    /// What it is about.
    pub title: String,
    /// What is to be done.
    pub body: Option<String>,
    /// Who should do it.
    pub assignee: Option<String>,
    /// Who makes it.
    pub created_by: Option<String>,
    /// Where it is worked on.
    pub workspace_kind: WorkspaceKind,
    /// The directory of that.
    pub workspace_path: Option<String>,
    /// The branch of that.
    pub branch_name: Option<String>,
    /// A name space of its own.
    pub tenant: Option<String>,
    /// Larger comes sooner.
    pub priority: i64,
    /// What it waits for.
    pub parents: Vec<CardId>,
    /// Where it begins.
    pub beginning: Beginning,
    /// What tells it from a second card for the same thing.
    pub idempotency_key: Option<String>,
    /// How long one attempt may take.
    pub max_runtime_seconds: Option<i64>,
    /// Skills the worker loads.
    pub skills: Vec<String>,
    /// Failures in a row before nobody tries any more.
    pub max_retries: Option<i64>,
    /// Whether a judge looks at every answer.
    pub goal_mode: GoalMode,
    /// Most turns of that.
    pub goal_max_turns: Option<i64>,
    /// The project it belongs to.
    pub project_id: Option<String>,
    /// The conversation it is made in.
    pub session_id: Option<String>,
    /// The model the worker uses.
    pub model: Option<String>,
    /// What only this program knows about it.
    pub extras: crate::extras::Extras,
}

/// Where a card begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Beginning {
    /// Ready, or waiting for what it waits for.
    #[default]
    Usual,
    /// In triage.
    Triage,
    /// Blocked, until somebody lets it go.
    Blocked,
    /// Waiting, whether or not there is something to wait for: whoever makes it lets it go.
    Todo,
}

impl NewCard {
    /// A card with a title and nothing else.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            body: None,
            assignee: None,
            created_by: None,
            workspace_kind: WorkspaceKind::Scratch,
            workspace_path: None,
            branch_name: None,
            tenant: None,
            priority: 0,
            parents: Vec::new(),
            beginning: Beginning::Usual,
            idempotency_key: None,
            max_runtime_seconds: None,
            skills: Vec::new(),
            max_retries: None,
            goal_mode: GoalMode::Off,
            goal_max_turns: None,
            project_id: None,
            session_id: None,
            model: None,
            extras: crate::extras::Extras::default(),
        }
    }
}

/// What came of making a card.
#[derive(Debug, Clone, PartialEq)]
pub struct Created {
    /// The card.
    pub card: Card,
    /// Whether it was made just now.
    pub made: Made,
}

/// Whether a card was made just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// It was.
    New,
    /// There was one with the same key.
    Before,
}

/// Whether git takes this for the name of a branch, and for nothing else.
pub(crate) fn check_branch(name: &str) -> Result<(), BoardError> {
    let odd = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    let part_is_odd =
        |part: &str| part.is_empty() || part.starts_with('.') || part.strip_suffix(".lock").is_some();
    let wrong = name.starts_with('-')
        || name.ends_with('.')
        || name.contains("..")
        || name.contains("@{")
        || name == "@"
        || name.contains(odd)
        || name.split('/').any(part_is_odd);
    if wrong {
        let text = format!("\"{}\" is no name of a branch: git would not take it", name.escape_debug());
        return Err(BoardError::Input(text));
    }
    Ok(())
}

/// Names that cannot be tried in vain for ever.
const TRIES: usize = 4;

impl Board {
    /// Makes a card, or finds the one with the same key.
    pub fn create(&mut self, new: &NewCard, now: Seconds) -> Result<Created, BoardError> {
        let new = self.checked(new)?;
        self.write(|tx| create(tx, &new, now))
    }

    /// Puts in what was left open, and refuses what makes no sense.
    fn checked(&self, new: &NewCard) -> Result<NewCard, BoardError> {
        let wrong = |text: String| Err(BoardError::Input(text));
        let mut new = new.clone();
        new.title = new.title.trim().to_owned();
        if new.title.is_empty() {
            return wrong("a card needs a title".to_owned());
        }
        if let Some(name) = &new.assignee {
            let Some(name) = assignee(name) else {
                return wrong("the assignee is empty: name a profile, or leave it out".to_owned());
            };
            new.assignee = Some(name);
        }
        if new.branch_name.is_some() && new.workspace_kind != WorkspaceKind::Worktree {
            return wrong("a branch needs a worktree: add --workspace worktree".to_owned());
        }
        if let Some(branch) = &new.branch_name {
            check_branch(branch)?;
        }
        check_limits(&Limits {
            max_runtime: new.max_runtime_seconds,
            max_retries: new.max_retries,
            goal_max_turns: new.goal_max_turns,
            max_tokens: new.extras.max_tokens,
            max_cost: new.extras.max_cost,
        })?;
        check_reviewer(new.extras.reviewer.as_deref(), new.assignee.as_deref())?;
        new.skills = skills(&new.skills)?;
        if new.workspace_path.is_none() && new.workspace_kind != WorkspaceKind::Scratch {
            new.workspace_path = crate::boards::describe(&self.root, &self.slug).default_workdir;
        }
        new.idempotency_key = new.idempotency_key.filter(|key| !key.trim().is_empty());
        Ok(new)
    }
}

/// Numbers that limit a card.
pub(crate) struct Limits {
    pub(crate) max_runtime: Option<i64>,
    pub(crate) max_retries: Option<i64>,
    pub(crate) goal_max_turns: Option<i64>,
    pub(crate) max_tokens: Option<i64>,
    pub(crate) max_cost: Option<f64>,
}

/// Refuses limits that make no sense.
pub(crate) fn check_limits(limits: &Limits) -> Result<(), BoardError> {
    let counts = [
        ("the longest run must be a second or more", limits.max_runtime),
        ("max retries must be 1 or more", limits.max_retries),
        ("the most turns must be 1 or more", limits.goal_max_turns),
        ("the most tokens must be 1 or more", limits.max_tokens),
    ];
    for (must, number) in counts {
        if let Some(number) = number.filter(|number| *number < 1) {
            return Err(BoardError::Input(format!("{must}, not {number}")));
        }
    }
    match limits.max_cost.filter(|cost| !cost.is_finite() || *cost <= 0.0) {
        Some(cost) => {
            Err(BoardError::Input(format!("the most money must be more than 0 dollars, not {cost}")))
        }
        None => Ok(()),
    }
}

/// Refuses a reviewer that is none: nobody, an empty command, or the one who does the work.
pub(crate) fn check_reviewer(reviewer: Option<&str>, worker: Option<&str>) -> Result<(), BoardError> {
    let Some(reviewer) = reviewer else { return Ok(()) };
    let empty = reviewer.strip_prefix("command:").unwrap_or(reviewer).trim().is_empty();
    if empty {
        return Err(BoardError::Input(
            "the reviewer is empty: name a profile, or say \"human\" or \"command:...\"".to_owned(),
        ));
    }
    if assignee(reviewer) == worker.and_then(assignee) {
        return Err(BoardError::Input(format!(
            "\"{reviewer}\" would look at its own work: name another profile, or \"human\""
        )));
    }
    Ok(())
}

/// Names of skills, each once.
pub(crate) fn skills(names: &[String]) -> Result<Vec<String>, BoardError> {
    let mut kept: Vec<String> = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if name.contains(',') {
            return Err(BoardError::Input(format!(
                "the skill \"{name}\" has a comma in its name: give each skill on its own"
            )));
        }
        if !kept.iter().any(|other| other == name) {
            kept.push(name.to_owned());
        }
    }
    Ok(kept)
}

pub(crate) fn create(tx: &Transaction<'_>, new: &NewCard, now: Seconds) -> Result<Created, Trouble> {
    create_as(tx, new, &json!({}), now)
}

/// Makes a card that was checked, with more in the record of it.
pub(crate) fn create_as(
    tx: &Transaction<'_>,
    new: &NewCard,
    more: &serde_json::Value,
    now: Seconds,
) -> Result<Created, Trouble> {
    // Looked up under the write lock: two that come at once make one card.
    if let Some(key) = &new.idempotency_key
        && let Some(card) = by_key(tx, key)?
    {
        return Ok(Created { card, made: Made::Before });
    }
    let missing: Vec<CardId> = missing(tx, &new.parents)?;
    if !missing.is_empty() {
        return Err(BoardError::NoCard(missing).into());
    }
    let id = fresh_id(tx)?;
    let status = match new.beginning {
        Beginning::Blocked => Status::Blocked,
        Beginning::Triage => Status::Triage,
        Beginning::Usual if new.extras.run_at.is_some_and(|at| at > now) => Status::Scheduled,
        Beginning::Todo => Status::Todo,
        Beginning::Usual if open_parents(tx, &new.parents)? => Status::Todo,
        Beginning::Usual => Status::Ready,
    };
    insert(tx, new, &id, status, now)?;
    for parent in &new.parents {
        tx.prepare_cached("INSERT OR IGNORE INTO task_links (parent_id, child_id) VALUES (?1, ?2)")?
            .execute(params![parent, id])?;
    }
    new.extras.store(tx, &id)?;
    let mut payload = json!({
        "assignee": new.assignee,
        "status": status,
        "parents": new.parents,
        "tenant": new.tenant,
        "branch_name": new.branch_name,
        "skills": (!new.skills.is_empty()).then_some(&new.skills),
        "goal_mode": (new.goal_mode == GoalMode::On).then_some(true),
    });
    if let (Some(payload), Some(more)) = (payload.as_object_mut(), more.as_object()) {
        payload.extend(more.clone());
    }
    record(tx, &id, None, "created", &payload, now)?;
    if status == Status::Blocked {
        // Without it the other program lets the card go at once.
        let by = new.created_by.as_deref().unwrap_or("user");
        record(tx, &id, None, "blocked", &json!({ "reason": format!("made blocked by {by}") }), now)?;
    }
    if status == Status::Scheduled {
        record(tx, &id, None, "scheduled", &json!({ "reason": null, "run_at": new.extras.run_at }), now)?;
    }
    let card = rows::find(tx, &id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(Created { card, made: Made::New })
}

fn by_key(tx: &Transaction<'_>, key: &str) -> rusqlite::Result<Option<Card>> {
    let sql = format!(
        "SELECT {} FROM tasks WHERE idempotency_key = ?1 AND status != 'archived' \
         ORDER BY created_at DESC, rowid DESC LIMIT 1",
        rows::CARD
    );
    tx.prepare_cached(&sql)?.query_row([key], rows::card).optional()
}

/// Those of the names that no card has.
pub(crate) fn missing(tx: &Transaction<'_>, ids: &[CardId]) -> rusqlite::Result<Vec<CardId>> {
    let mut missing = Vec::new();
    for id in ids {
        if !tx.prepare_cached("SELECT 1 FROM tasks WHERE id = ?1")?.exists([id])? {
            missing.push(id.clone());
        }
    }
    Ok(missing)
}

fn open_parents(tx: &Transaction<'_>, parents: &[CardId]) -> rusqlite::Result<bool> {
    for parent in parents {
        let status: Status = tx
            .prepare_cached("SELECT status FROM tasks WHERE id = ?1")?
            .query_row([parent], |row| row.get(0))?;
        if !status.frees_children() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn fresh_id(tx: &Transaction<'_>) -> Result<CardId, Trouble> {
    for _ in 0..TRIES {
        let mut bytes = [0; 4];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| BoardError::Input(format!("no random numbers: {error}")))?;
        let id = CardId::from_random(bytes);
        if !tx.prepare_cached("SELECT 1 FROM tasks WHERE id = ?1")?.exists([&id])? {
            return Ok(id);
        }
    }
    Err(BoardError::Input("no free name for the card was found: try again".to_owned()).into())
}

fn insert(
    tx: &Transaction<'_>,
    new: &NewCard,
    id: &CardId,
    status: Status,
    now: Seconds,
) -> rusqlite::Result<()> {
    let skills = (!new.skills.is_empty()).then(|| ascii(&serde_json::Value::from(new.skills.clone())));
    tx.prepare_cached(
        "INSERT INTO tasks (id, title, body, assignee, status, priority, created_by, created_at, workspace_kind, \
         workspace_path, branch_name, project_id, tenant, idempotency_key, max_runtime_seconds, skills, model_override, \
         max_retries, goal_mode, goal_max_turns, session_id) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
    )?
    .execute(params![
        id,
        new.title,
        new.body,
        new.assignee,
        status,
        new.priority,
        new.created_by,
        now,
        new.workspace_kind,
        new.workspace_path,
        new.branch_name,
        new.project_id,
        new.tenant,
        new.idempotency_key,
        new.max_runtime_seconds,
        skills,
        new.model,
        new.max_retries,
        i64::from(new.goal_mode == GoalMode::On),
        new.goal_max_turns,
        new.session_id,
    ])?;
    Ok(())
}

/// JSON without characters beyond ASCII, as the other program writes lists of names.
pub(crate) fn ascii(value: &serde_json::Value) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for c in value.to_string().chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::check_branch;

    #[test]
    fn only_names_of_branches_are_branches() {
        for name in ["main", "wt/t_1a2b3c4d", "feature/größe", "v1.2"] {
            assert!(check_branch(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "-D",
            "--unset-upstream",
            "a..b",
            "a b",
            "a\nb",
            "x.lock",
            "/a",
            "a/",
            ".a",
            "a~1",
            "@",
            "a@{1}",
            "a.",
        ] {
            assert!(check_branch(name).is_err(), "{name}");
        }
    }
}
