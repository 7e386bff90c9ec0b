//! The tables of a board. They are shared with another program, which declares them the same way and adds what it finds
//! missing; what only we need has tables of its own (`hx_`), without which the other goes on as before.

use hermes_store::rusqlite::{self, Connection, Transaction};
use hermes_store::{Schema, SchemaState};

/// A table: its columns with their declarations, and what comes after them.
struct Table {
    name: &'static str,
    columns: &'static [(&'static str, &'static str)],
    rest: &'static str,
}

const COUNT: &str = "INTEGER NOT NULL DEFAULT 0";
const NUMBER: &str = "INTEGER PRIMARY KEY AUTOINCREMENT";

const TABLES: &[Table] = &[
    Table {
        name: "tasks",
        columns: &[
            ("id", "TEXT PRIMARY KEY"),
            ("title", "TEXT NOT NULL"),
            ("body", "TEXT"),
            ("assignee", "TEXT"),
            ("status", "TEXT NOT NULL"),
            ("priority", "INTEGER DEFAULT 0"),
            ("created_by", "TEXT"),
            ("created_at", "INTEGER NOT NULL"),
            ("started_at", "INTEGER"),
            ("completed_at", "INTEGER"),
            ("workspace_kind", "TEXT NOT NULL DEFAULT 'scratch'"),
            ("workspace_path", "TEXT"),
            ("branch_name", "TEXT"),
            ("project_id", "TEXT"),
            ("claim_lock", "TEXT"),
            ("claim_expires", "INTEGER"),
            ("tenant", "TEXT"),
            ("result", "TEXT"),
            ("idempotency_key", "TEXT"),
            ("consecutive_failures", COUNT),
            ("worker_pid", "INTEGER"),
            ("last_failure_error", "TEXT"),
            ("max_runtime_seconds", "INTEGER"),
            ("last_heartbeat_at", "INTEGER"),
            ("current_run_id", "INTEGER"),
            ("workflow_template_id", "TEXT"),
            ("current_step_key", "TEXT"),
            ("skills", "TEXT"),
            ("model_override", "TEXT"),
            ("max_retries", "INTEGER"),
            ("goal_mode", COUNT),
            ("goal_max_turns", "INTEGER"),
            ("session_id", "TEXT"),
            ("block_kind", "TEXT"),
            ("block_recurrences", COUNT),
        ],
        rest: "",
    },
    Table {
        name: "task_links",
        columns: &[("parent_id", "TEXT NOT NULL"), ("child_id", "TEXT NOT NULL")],
        rest: "PRIMARY KEY (parent_id, child_id)",
    },
    Table {
        name: "task_comments",
        columns: &[
            ("id", NUMBER),
            ("task_id", "TEXT NOT NULL"),
            ("author", "TEXT NOT NULL"),
            ("body", "TEXT NOT NULL"),
            ("created_at", "INTEGER NOT NULL"),
        ],
        rest: "",
    },
    Table {
        name: "task_events",
        columns: &[
            ("id", NUMBER),
            ("task_id", "TEXT NOT NULL"),
            ("run_id", "INTEGER"),
            ("kind", "TEXT NOT NULL"),
            ("payload", "TEXT"),
            ("created_at", "INTEGER NOT NULL"),
        ],
        rest: "",
    },
    Table {
        name: "task_runs",
        columns: &[
            ("id", NUMBER),
            ("task_id", "TEXT NOT NULL"),
            ("profile", "TEXT"),
            ("step_key", "TEXT"),
            ("status", "TEXT NOT NULL"),
            ("claim_lock", "TEXT"),
            ("claim_expires", "INTEGER"),
            ("worker_pid", "INTEGER"),
            ("max_runtime_seconds", "INTEGER"),
            ("last_heartbeat_at", "INTEGER"),
            ("started_at", "INTEGER NOT NULL"),
            ("ended_at", "INTEGER"),
            ("outcome", "TEXT"),
            ("summary", "TEXT"),
            ("metadata", "TEXT"),
            ("error", "TEXT"),
        ],
        rest: "",
    },
    Table {
        name: "task_attachments",
        columns: &[
            ("id", NUMBER),
            ("task_id", "TEXT NOT NULL"),
            ("filename", "TEXT NOT NULL"),
            ("stored_path", "TEXT NOT NULL"),
            ("content_type", "TEXT"),
            ("size", COUNT),
            ("uploaded_by", "TEXT"),
            ("created_at", "INTEGER NOT NULL"),
        ],
        rest: "",
    },
    Table {
        name: "kanban_notify_subs",
        columns: &[
            ("task_id", "TEXT NOT NULL"),
            ("platform", "TEXT NOT NULL"),
            ("chat_id", "TEXT NOT NULL"),
            ("thread_id", "TEXT NOT NULL DEFAULT ''"),
            ("user_id", "TEXT"),
            ("notifier_profile", "TEXT"),
            ("created_at", "INTEGER NOT NULL"),
            ("last_event_id", COUNT),
        ],
        rest: "PRIMARY KEY (task_id, platform, chat_id, thread_id)",
    },
];

/// Names and columns of the indexes both programs make.
const INDEXES: &[(&str, &str)] = &[
    ("idx_tasks_assignee_status", "tasks(assignee, status)"),
    ("idx_tasks_status", "tasks(status)"),
    ("idx_tasks_tenant", "tasks(tenant)"),
    ("idx_tasks_idempotency", "tasks(idempotency_key)"),
    ("idx_tasks_session_id", "tasks(session_id)"),
    ("idx_links_child", "task_links(child_id)"),
    ("idx_links_parent", "task_links(parent_id)"),
    ("idx_comments_task", "task_comments(task_id, created_at)"),
    ("idx_events_task", "task_events(task_id, created_at)"),
    ("idx_events_run", "task_events(run_id, id)"),
    ("idx_runs_task", "task_runs(task_id, started_at)"),
    ("idx_runs_status", "task_runs(status)"),
    ("idx_notify_task", "kanban_notify_subs(task_id)"),
    ("idx_attachments_task", "task_attachments(task_id, created_at)"),
    // Ours: the order in which the dispatcher looks at cards.
    ("hx_tasks_order", "tasks(status, priority DESC, created_at)"),
];

/// What only we need: beside the tables of both, never in them.
const OWN: &[Table] = &[
    Table { name: "hx_board", columns: &[("key", "TEXT PRIMARY KEY"), ("value", "TEXT NOT NULL")], rest: "" },
    Table {
        name: "hx_cards",
        columns: &[
            ("task_id", "TEXT PRIMARY KEY"),
            ("run_at", "INTEGER"),
            ("deadline", "INTEGER"),
            ("not_before", "INTEGER"),
            ("provider", "TEXT"),
            ("toolsets", "TEXT"),
            ("max_tokens", "INTEGER"),
            ("max_cost_usd", "REAL"),
            ("reviewer", "TEXT"),
            ("acceptance", "TEXT"),
            ("skip_reason", "TEXT"),
            ("editing_until", "INTEGER"),
            ("sticky", COUNT),
            // Failures in a row that were not the card's own fault, each with a budget of its own.
            ("infra_failures", COUNT),
            ("quota_hits", COUNT),
            ("no_verdicts", COUNT),
            // Why nobody tries any more, and the settings it was decided under.
            ("tripped", "TEXT"),
            ("tripped_rules", "TEXT"),
            // Who did the work that is looked at, and in which attempt.
            ("produced_by", "TEXT"),
            ("produced_run", "INTEGER"),
            // Who looks at it now, in which attempt, and how often it was sent back.
            ("review_by", "TEXT"),
            ("review_run", "INTEGER"),
            ("review_rounds", COUNT),
            // The attempt that a dispatcher of ours took it for.
            ("launched_run", "INTEGER"),
            // A signal to the worker of another program: in which attempt, when, why.
            ("signalled_run", "INTEGER"),
            ("signalled_at", "INTEGER"),
            ("signalled_for", "TEXT"),
            // Who may clear a block: "operator" or nobody in particular.
            ("cleared_by", "TEXT"),
        ],
        rest: "",
    },
    Table {
        name: "hx_checks",
        columns: &[
            ("run_id", "INTEGER PRIMARY KEY"),
            ("task_id", "TEXT NOT NULL"),
            // What the worker said of finished work, and which commands have succeeded: JSON.
            ("work", "TEXT NOT NULL"),
            ("passed", "TEXT NOT NULL"),
            ("asked_at", "INTEGER NOT NULL"),
        ],
        rest: "",
    },
    Table {
        name: "hx_links",
        columns: &[("parent_id", "TEXT NOT NULL"), ("child_id", "TEXT NOT NULL"), ("kind", "TEXT NOT NULL")],
        rest: "PRIMARY KEY (parent_id, child_id)",
    },
    // Cards that were made to split others.
    Table {
        name: "hx_jobs",
        columns: &[("task_id", "TEXT PRIMARY KEY"), ("splits", "TEXT NOT NULL")],
        rest: "",
    },
    Table {
        name: "hx_workers",
        columns: &[
            ("run_id", "INTEGER PRIMARY KEY"),
            ("task_id", "TEXT NOT NULL"),
            ("pid", "INTEGER NOT NULL"),
            ("started_ticks", "INTEGER NOT NULL"),
            ("boot_id", "TEXT NOT NULL"),
            ("last_output_at", "INTEGER"),
            ("input_tokens", COUNT),
            ("output_tokens", COUNT),
            ("cost_usd", "REAL NOT NULL DEFAULT 0"),
            ("last_line", "TEXT"),
            ("session_id", "TEXT"),
            // Somebody wants it to end: a `Stop` as JSON.
            ("stop", "TEXT"),
            // What the worker's own program said before it ended: a `Verdict` as JSON.
            ("verdict", "TEXT"),
            ("ended_at", "INTEGER"),
        ],
        rest: "",
    },
];

/// Indexes of our own tables.
const OWN_INDEXES: &[(&str, &str)] = &[
    ("hx_cards_run_at", "hx_cards(run_at)"),
    ("hx_cards_not_before", "hx_cards(not_before) WHERE not_before IS NOT NULL"),
    ("hx_cards_tripped", "hx_cards(tripped_rules) WHERE tripped IS NOT NULL"),
    ("hx_tasks_queue", "tasks(status, assignee, priority DESC, created_at)"),
    ("hx_links_child", "hx_links(child_id)"),
    ("hx_workers_task", "hx_workers(task_id)"),
    ("hx_workers_open", "hx_workers(run_id) WHERE ended_at IS NULL"),
    ("hx_jobs_splits", "hx_jobs(splits)"),
    ("hx_runs_open", "task_runs(task_id) WHERE ended_at IS NULL"),
];

/// The layout of a board.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoardSchema;

impl Schema for BoardSchema {
    fn name(&self) -> &'static str {
        "board"
    }

    fn state(&self, db: &Connection) -> rusqlite::Result<SchemaState> {
        let mut tables = db.prepare_cached(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
        )?;
        let names: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        if !names.is_empty() && !names.iter().any(|name| name == "tasks") {
            return Ok(SchemaState::Foreign { found: format!("tables {}", names.join(", ")) });
        }
        for table in TABLES.iter().chain(OWN) {
            let columns = columns(db, table.name)?;
            if table.columns.iter().any(|(name, _)| !columns.iter().any(|found| found == name)) {
                return Ok(SchemaState::Old);
            }
        }
        Ok(SchemaState::Current)
    }

    fn upgrade(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        for table in TABLES.iter().chain(OWN) {
            let present = columns(tx, table.name)?;
            if present.is_empty() {
                tx.execute_batch(&table.create())?;
                continue;
            }
            for (name, declaration) in table.columns {
                if !present.iter().any(|found| found == name) {
                    tx.execute_batch(&format!("ALTER TABLE {} ADD COLUMN {name} {declaration}", table.name))?;
                }
            }
            take_over_old_columns(tx, table.name, &present)?;
        }
        for (name, on) in INDEXES.iter().chain(OWN_INDEXES) {
            tx.execute_batch(&format!("CREATE INDEX IF NOT EXISTS {name} ON {on}"))?;
        }
        rename_old_events(tx)?;
        adopt_running(tx)
    }
}

impl Table {
    fn create(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
        let rest = if self.rest.is_empty() { String::new() } else { format!(", {}", self.rest) };
        format!("CREATE TABLE IF NOT EXISTS {} ({}{rest})", self.name, columns.join(", "))
    }
}

/// The columns of a table; none if there is no such table.
fn columns(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

/// Columns that early versions called otherwise.
fn take_over_old_columns(tx: &Transaction<'_>, table: &str, present: &[String]) -> rusqlite::Result<()> {
    if table != "tasks" {
        return Ok(());
    }
    for (old, new) in [("spawn_failures", "consecutive_failures"), ("last_spawn_error", "last_failure_error")]
    {
        let has = |name: &str| present.iter().any(|found| found == name);
        if has(old) && !has(new) {
            tx.execute_batch(&format!("UPDATE tasks SET {new} = {old} WHERE {old} IS NOT NULL"))?;
        }
    }
    Ok(())
}

/// Events that early versions called otherwise.
fn rename_old_events(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    for (old, new) in
        [("ready", "promoted"), ("priority", "reprioritized"), ("spawn_auto_blocked", "gave_up")]
    {
        tx.execute("UPDATE task_events SET kind = ?2 WHERE kind = ?1", [old, new])?;
    }
    Ok(())
}

/// Cards that run since before attempts were kept get one.
fn adopt_running(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let sql = "SELECT id, assignee, current_step_key, claim_lock, claim_expires, worker_pid, max_runtime_seconds, \
               last_heartbeat_at, coalesce(started_at, created_at) FROM tasks \
               WHERE status = 'running' AND current_run_id IS NULL";
    let mut statement = tx.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        tx.execute(
            "INSERT INTO task_runs (task_id, profile, step_key, status, claim_lock, claim_expires, worker_pid, \
             max_runtime_seconds, last_heartbeat_at, started_at) VALUES (?1, ?2, ?3, 'running', ?4, ?5, ?6, ?7, ?8, ?9)",
            rusqlite::params![
                id,
                row.get::<_, Option<String>>(1)?,
                row.get::<_, Option<String>>(2)?,
                row.get::<_, Option<String>>(3)?,
                row.get::<_, Option<i64>>(4)?,
                row.get::<_, Option<i64>>(5)?,
                row.get::<_, Option<i64>>(6)?,
                row.get::<_, Option<i64>>(7)?,
                row.get::<_, i64>(8)?,
            ],
        )?;
        let run = tx.last_insert_rowid();
        tx.execute(
            "UPDATE tasks SET current_run_id = ?2 WHERE id = ?1 AND current_run_id IS NULL",
            rusqlite::params![id, run],
        )?;
    }
    Ok(())
}
