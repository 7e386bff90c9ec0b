//! Changing what a card says, and keeping it from being started while somebody does.

use hermes_store::rusqlite::types::Value as Sql;
use hermes_store::rusqlite::{params, params_from_iter};
use serde_json::json;

use crate::act;
use crate::board::Board;
use crate::card::{Card, CardId, GoalMode, Seconds, Status, WorkspaceKind};
use crate::create::{Limits, ascii, check_limits, check_reviewer, skills};
use crate::error::BoardError;
use crate::event::record;
use crate::extras::Extras;

/// What becomes of one thing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Set<T> {
    /// It stays.
    #[default]
    Keep,
    /// It is taken away.
    Clear,
    /// It becomes this.
    To(T),
}

impl<T: Clone> Set<T> {
    fn over(&self, old: Option<&T>) -> Option<T> {
        match self {
            Self::Keep => old.cloned(),
            Self::Clear => None,
            Self::To(new) => Some(new.clone()),
        }
    }
}

/// What is to be changed of a card. Everything stays unless something is said of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    /// What it is about.
    pub title: Option<String>,
    /// What is to be done.
    pub body: Set<String>,
    /// Larger comes sooner.
    pub priority: Option<i64>,
    /// A name space of its own.
    pub tenant: Set<String>,
    /// Where it is worked on, and the directory of that.
    pub workspace: Option<(WorkspaceKind, Option<String>)>,
    /// The branch of that.
    pub branch: Set<String>,
    /// The project it belongs to.
    pub project: Set<String>,
    /// What tells it from a second card for the same thing.
    pub idempotency_key: Set<String>,
    /// How long one attempt may take.
    pub max_runtime: Set<i64>,
    /// Skills the worker loads.
    pub skills: Option<Vec<String>>,
    /// Failures in a row before nobody tries any more.
    pub max_retries: Set<i64>,
    /// Whether a judge looks at every answer.
    pub goal_mode: Option<GoalMode>,
    /// Most turns of that.
    pub goal_max_turns: Set<i64>,
    /// The model the worker uses.
    pub model: Set<String>,
    /// The provider the worker uses.
    pub provider: Set<String>,
    /// The toolsets the worker has.
    pub toolsets: Option<Vec<String>>,
    /// Most tokens of all attempts.
    pub max_tokens: Set<i64>,
    /// Most money of all attempts.
    pub max_cost: Set<f64>,
    /// When it should be finished.
    pub deadline: Set<Seconds>,
    /// When a scheduled card becomes ready.
    pub run_at: Set<Seconds>,
    /// Who looks at the work.
    pub reviewer: Set<String>,
    /// A command that must succeed before the card is done.
    pub acceptance: Set<String>,
}

impl Board {
    /// Changes a card; the names of what is different now.
    pub fn change(
        &mut self,
        id: &CardId,
        change: &Change,
        now: Seconds,
    ) -> Result<Vec<&'static str>, BoardError> {
        self.write(|tx| {
            let card = act::card(tx, id)?;
            let before = Extras::load(tx, id)?;
            let (columns, extras) = changed(&card, &before, change)?;
            let mut fields: Vec<&'static str> = columns.iter().map(|(name, _)| *name).collect();
            fields.extend(different(&before, &extras));
            if fields.is_empty() {
                return Ok(fields);
            }
            if !columns.is_empty() {
                let sets: Vec<String> =
                    columns.iter().enumerate().map(|(n, (name, _))| format!("{name} = ?{}", n + 2)).collect();
                let values = std::iter::once(Sql::Text(id.as_str().to_owned()));
                let values = values.chain(columns.iter().map(|(_, value)| value.clone()));
                let sql = format!("UPDATE tasks SET {} WHERE id = ?1", sets.join(", "));
                tx.execute(&sql, params_from_iter(values))?;
            }
            extras.store(tx, id)?;
            if let Some(priority) = change.priority.filter(|_| fields.contains(&"priority")) {
                record(tx, id, None, "reprioritized", &json!({ "priority": priority }), now)?;
            }
            if fields.iter().any(|field| *field != "priority") {
                record(tx, id, None, "edited", &json!({ "fields": fields }), now)?;
            }
            Ok(fields)
        })
    }

    /// Keeps a card from being started until then, because somebody edits it. Gives what it says now.
    pub fn hold_for_edit(
        &mut self,
        id: &CardId,
        until: Seconds,
        others: Others,
        now: Seconds,
    ) -> Result<Card, BoardError> {
        self.write(|tx| {
            let card = act::card(tx, id)?;
            let held = Extras::load(tx, id)?.editing_until.filter(|until| *until > now);
            if let Some(held) = held.filter(|_| others == Others::Respected) {
                let left = held - now;
                return Err(BoardError::Input(format!(
                    "somebody edits {id} (for {left} seconds more): `hermes kanban edit {id} --unlock` takes that away"
                ))
                .into());
            }
            tx.execute(
                "INSERT INTO hx_cards (task_id, editing_until) VALUES (?1, ?2) \
                 ON CONFLICT (task_id) DO UPDATE SET editing_until = excluded.editing_until",
                params![id, until],
            )?;
            Ok(card)
        })
    }

    /// Nobody edits the card any more; whether somebody did.
    pub fn release_edit(&mut self, id: &CardId, now: Seconds) -> Result<bool, BoardError> {
        self.write(|tx| {
            act::card(tx, id)?;
            let held = Extras::load(tx, id)?.editing_until.is_some_and(|until| until > now);
            tx.execute("UPDATE hx_cards SET editing_until = NULL WHERE task_id = ?1", [id])?;
            Ok(held)
        })
    }
}

/// Whether another one's lock counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// It does.
    Respected,
    /// It is made longer or taken over.
    Overruled,
}

type Columns = Vec<(&'static str, Sql)>;

/// The columns that are different, and the extras as they become.
fn changed(card: &Card, extras: &Extras, change: &Change) -> Result<(Columns, Extras), BoardError> {
    let mut columns = Columns::new();
    let mut put = |name: &'static str, old: Sql, new: Sql| {
        if old != new {
            columns.push((name, new));
        }
    };
    let text = |text: Option<String>| text.map_or(Sql::Null, Sql::Text);
    let number = |number: Option<i64>| number.map_or(Sql::Null, Sql::Integer);
    if let Some(title) = &change.title {
        if title.trim().is_empty() {
            return Err(BoardError::Input("a card needs a title".to_owned()));
        }
        put("title", Sql::Text(card.title.clone()), Sql::Text(title.trim().to_owned()));
    }
    put("body", text(card.body.clone()), text(change.body.over(card.body.as_ref())));
    put("priority", Sql::Integer(card.priority), Sql::Integer(change.priority.unwrap_or(card.priority)));
    put("tenant", text(card.tenant.clone()), text(change.tenant.over(card.tenant.as_ref())));
    put("project_id", text(card.project_id.clone()), text(change.project.over(card.project_id.as_ref())));
    let key = &card.idempotency_key;
    put("idempotency_key", text(key.clone()), text(change.idempotency_key.over(key.as_ref())));
    let limits = Limits {
        max_runtime: change.max_runtime.over(card.max_runtime_seconds.as_ref()),
        max_retries: change.max_retries.over(card.max_retries.as_ref()),
        goal_max_turns: change.goal_max_turns.over(card.goal_max_turns.as_ref()),
        max_tokens: change.max_tokens.over(extras.max_tokens.as_ref()),
        max_cost: change.max_cost.over(extras.max_cost.as_ref()),
    };
    check_limits(&limits)?;
    put("max_runtime_seconds", number(card.max_runtime_seconds), number(limits.max_runtime));
    put("max_retries", number(card.max_retries), number(limits.max_retries));
    put("goal_max_turns", number(card.goal_max_turns), number(limits.goal_max_turns));
    if let Some(mode) = change.goal_mode {
        let sql = |mode| Sql::Integer(i64::from(mode == GoalMode::On));
        put("goal_mode", sql(card.goal_mode), sql(mode));
    }
    if let Some(names) = &change.skills {
        let json = |names: &[String]| (!names.is_empty()).then(|| ascii(&json!(names)));
        put("skills", text(json(&card.skills)), text(json(&skills(names)?)));
    }
    put("model_override", text(card.model.clone()), text(change.model.over(card.model.as_ref())));
    workspace(card, change, &mut put)?;
    let reviewer = change.reviewer.over(extras.reviewer.as_ref());
    check_reviewer(reviewer.as_deref(), card.assignee.as_deref())?;
    if change.run_at != Set::Keep && card.status != Status::Scheduled {
        return Err(BoardError::Input(format!(
            "{} is {}, and only a scheduled card has a time: `hermes kanban schedule {} --at TIME` puts it off",
            card.id, card.status, card.id
        )));
    }
    let extras = Extras {
        run_at: change.run_at.over(extras.run_at.as_ref()),
        deadline: change.deadline.over(extras.deadline.as_ref()),
        provider: change.provider.over(extras.provider.as_ref()),
        toolsets: change.toolsets.clone().unwrap_or_else(|| extras.toolsets.clone()),
        max_tokens: limits.max_tokens,
        max_cost: limits.max_cost,
        reviewer,
        acceptance: change.acceptance.over(extras.acceptance.as_ref()),
        ..extras.clone()
    };
    Ok((columns, extras))
}

/// Where it is worked on cannot change under a worker.
fn workspace(
    card: &Card,
    change: &Change,
    put: &mut impl FnMut(&'static str, Sql, Sql),
) -> Result<(), BoardError> {
    let text = |text: Option<String>| text.map_or(Sql::Null, Sql::Text);
    let (kind, path) =
        change.workspace.clone().unwrap_or_else(|| (card.workspace_kind, card.workspace_path.clone()));
    let branch = match (&change.branch, kind) {
        // A branch goes with its worktree.
        (Set::Keep, kind) if kind != WorkspaceKind::Worktree => None,
        (branch, _) => branch.over(card.branch_name.as_ref()),
    };
    if branch.is_some() && kind != WorkspaceKind::Worktree {
        return Err(BoardError::Input("a branch needs a worktree: add --workspace worktree".to_owned()));
    }
    if let Some(name) = branch.as_ref().filter(|name| Some(*name) != card.branch_name.as_ref()) {
        crate::create::check_branch(name)?;
    }
    let same = (kind, &path, &branch) == (card.workspace_kind, &card.workspace_path, &card.branch_name);
    if !same && card.status == Status::Running {
        return Err(BoardError::Input(format!(
            "a worker has {}: stop it first, then say where it is worked on",
            card.id
        )));
    }
    let word = |kind: WorkspaceKind| Sql::Text(kind.as_str().to_owned());
    put("workspace_kind", word(card.workspace_kind), word(kind));
    put("workspace_path", text(card.workspace_path.clone()), text(path));
    put("branch_name", text(card.branch_name.clone()), text(branch));
    Ok(())
}

fn different(old: &Extras, new: &Extras) -> Vec<&'static str> {
    let all = [
        ("run_at", old.run_at != new.run_at),
        ("deadline", old.deadline != new.deadline),
        ("provider", old.provider != new.provider),
        ("toolsets", old.toolsets != new.toolsets),
        ("max_tokens", old.max_tokens != new.max_tokens),
        ("max_cost", old.max_cost != new.max_cost),
        ("reviewer", old.reviewer != new.reviewer),
        ("acceptance", old.acceptance != new.acceptance),
    ];
    all.iter().filter(|(_, changed)| *changed).map(|(name, _)| *name).collect()
}
