//! The tables of `state.db`, as the other program declares them in its version 22.

use rusqlite::Transaction;

use super::indexing::without_zero;

/// The version of the schema that these tables are.
pub(super) const VERSION: i64 = 22;

/// A table: its columns in order with their declarations, and what comes after them.
pub(super) struct Table {
    pub name: &'static str,
    pub columns: &'static [(&'static str, &'static str)],
    pub rest: &'static str,
}

impl Table {
    /// The statement that makes the table.
    pub fn create(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
        let rest = if self.rest.is_empty() { String::new() } else { format!(", {}", self.rest) };
        format!("CREATE TABLE IF NOT EXISTS {} ({}{rest})", self.name, columns.join(", "))
    }
}

const COUNT: &str = "INTEGER NOT NULL DEFAULT 0";
const KEY: &str = "TEXT NOT NULL DEFAULT ''";

const SCHEMA_VERSION: Table =
    Table { name: "schema_version", columns: &[("version", "INTEGER NOT NULL")], rest: "" };

const SESSIONS: Table = Table {
    name: "sessions",
    columns: &[
        ("id", "TEXT PRIMARY KEY"),
        ("source", "TEXT NOT NULL"),
        ("user_id", "TEXT"),
        ("session_key", "TEXT"),
        ("chat_id", "TEXT"),
        ("chat_type", "TEXT"),
        ("thread_id", "TEXT"),
        ("display_name", "TEXT"),
        ("origin_json", "TEXT"),
        ("expiry_finalized", "INTEGER DEFAULT 0"),
        ("model", "TEXT"),
        ("model_config", "TEXT"),
        ("system_prompt", "TEXT"),
        ("parent_session_id", "TEXT"),
        ("started_at", "REAL NOT NULL"),
        ("ended_at", "REAL"),
        ("end_reason", "TEXT"),
        ("message_count", "INTEGER DEFAULT 0"),
        ("tool_call_count", "INTEGER DEFAULT 0"),
        ("input_tokens", "INTEGER DEFAULT 0"),
        ("output_tokens", "INTEGER DEFAULT 0"),
        ("cache_read_tokens", "INTEGER DEFAULT 0"),
        ("cache_write_tokens", "INTEGER DEFAULT 0"),
        ("reasoning_tokens", "INTEGER DEFAULT 0"),
        ("cwd", "TEXT"),
        ("git_branch", "TEXT"),
        ("git_repo_root", "TEXT"),
        ("billing_provider", "TEXT"),
        ("billing_base_url", "TEXT"),
        ("billing_mode", "TEXT"),
        ("estimated_cost_usd", "REAL"),
        ("actual_cost_usd", "REAL"),
        ("cost_status", "TEXT"),
        ("cost_source", "TEXT"),
        ("pricing_version", "TEXT"),
        ("title", "TEXT"),
        ("api_call_count", "INTEGER DEFAULT 0"),
        ("handoff_state", "TEXT"),
        ("handoff_platform", "TEXT"),
        ("handoff_error", "TEXT"),
        ("compression_failure_cooldown_until", "REAL"),
        ("compression_failure_error", "TEXT"),
        ("compression_fallback_streak", COUNT),
        ("profile_name", "TEXT"),
        ("rewind_count", COUNT),
        ("archived", COUNT),
    ],
    rest: "FOREIGN KEY (parent_session_id) REFERENCES sessions(id)",
};

const MESSAGES: Table = Table {
    name: "messages",
    columns: &[
        ("id", "INTEGER PRIMARY KEY AUTOINCREMENT"),
        ("session_id", "TEXT NOT NULL REFERENCES sessions(id)"),
        ("role", "TEXT NOT NULL"),
        ("content", "TEXT"),
        ("tool_call_id", "TEXT"),
        ("tool_calls", "TEXT"),
        ("tool_name", "TEXT"),
        ("effect_disposition", "TEXT"),
        ("timestamp", "REAL NOT NULL"),
        ("token_count", "INTEGER"),
        ("finish_reason", "TEXT"),
        ("reasoning", "TEXT"),
        ("reasoning_content", "TEXT"),
        ("reasoning_details", "TEXT"),
        ("codex_reasoning_items", "TEXT"),
        ("codex_message_items", "TEXT"),
        ("platform_message_id", "TEXT"),
        ("observed", "INTEGER DEFAULT 0"),
        ("active", "INTEGER NOT NULL DEFAULT 1"),
        ("compacted", COUNT),
        ("api_content", "TEXT"),
    ],
    rest: "",
};

const USAGE: Table = Table {
    name: "session_model_usage",
    columns: &[
        ("session_id", "TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE"),
        ("model", "TEXT NOT NULL"),
        ("billing_provider", KEY),
        ("billing_base_url", KEY),
        ("billing_mode", KEY),
        ("task", KEY),
        ("api_call_count", COUNT),
        ("input_tokens", COUNT),
        ("output_tokens", COUNT),
        ("cache_read_tokens", COUNT),
        ("cache_write_tokens", COUNT),
        ("reasoning_tokens", COUNT),
        ("estimated_cost_usd", "REAL NOT NULL DEFAULT 0"),
        ("actual_cost_usd", "REAL NOT NULL DEFAULT 0"),
        ("cost_status", "TEXT"),
        ("cost_source", "TEXT"),
        ("first_seen", "REAL"),
        ("last_seen", "REAL"),
    ],
    rest: "PRIMARY KEY (session_id, model, billing_provider, billing_base_url, billing_mode, task)",
};

const META: Table =
    Table { name: "state_meta", columns: &[("key", "TEXT PRIMARY KEY"), ("value", "TEXT")], rest: "" };

const ROUTING: Table = Table {
    name: "gateway_routing",
    columns: &[
        ("scope", KEY),
        ("session_key", "TEXT NOT NULL"),
        ("entry_json", "TEXT NOT NULL"),
        ("updated_at", "REAL NOT NULL"),
    ],
    rest: "PRIMARY KEY (scope, session_key)",
};

const LOCKS: Table = Table {
    name: "compression_locks",
    columns: &[
        ("session_id", "TEXT PRIMARY KEY"),
        ("holder", "TEXT NOT NULL"),
        ("acquired_at", "REAL NOT NULL"),
        ("expires_at", "REAL NOT NULL"),
    ],
    rest: "",
};

const DELEGATIONS: Table = Table {
    name: "async_delegations",
    columns: &[
        ("delegation_id", "TEXT PRIMARY KEY"),
        ("origin_session", "TEXT NOT NULL"),
        ("origin_ui_session_id", KEY),
        ("parent_session_id", "TEXT"),
        ("state", "TEXT NOT NULL"),
        ("dispatched_at", "REAL NOT NULL"),
        ("completed_at", "REAL"),
        ("updated_at", "REAL NOT NULL"),
        ("event_json", "TEXT"),
        ("result_json", "TEXT"),
        ("delivery_state", "TEXT NOT NULL DEFAULT 'pending'"),
        ("delivery_attempts", COUNT),
        ("delivered_at", "REAL"),
        ("owner_pid", "INTEGER"),
        ("owner_started_at", "INTEGER"),
        ("task_json", "TEXT"),
        ("delivery_claim", "TEXT"),
        ("delivery_claimed_at", "REAL"),
    ],
    rest: "",
};

/// All tables, each after those it refers to.
pub(super) const TABLES: &[&Table] =
    &[&SCHEMA_VERSION, &SESSIONS, &MESSAGES, &USAGE, &META, &ROUTING, &LOCKS, &DELEGATIONS];

/// The tables we cannot do without. The others are there for the other program.
pub(super) const NEEDED: &[&Table] = &[&SCHEMA_VERSION, &SESSIONS, &MESSAGES, &USAGE, &META];

/// The table that is made anew where an older program keyed it differently.
pub(super) const USAGE_TABLE: &Table = &USAGE;

/// Names and definitions of the indexes, but for the one on titles, which may have to be made room for.
pub(super) const INDEXES: &[(&str, &str)] = &[
    ("idx_sessions_source", "sessions(source)"),
    ("idx_sessions_source_id", "sessions(source, id)"),
    ("idx_sessions_parent", "sessions(parent_session_id)"),
    ("idx_sessions_started", "sessions(started_at DESC)"),
    ("idx_messages_session", "messages(session_id, timestamp)"),
    ("idx_compression_locks_expires", "compression_locks(expires_at)"),
    ("idx_session_model_usage_session", "session_model_usage(session_id)"),
    ("idx_session_model_usage_model", "session_model_usage(model)"),
    ("idx_async_delegations_delivery", "async_delegations(delivery_state, completed_at)"),
    (
        "idx_messages_platform_msg_id",
        "messages(session_id, platform_message_id) WHERE platform_message_id IS NOT NULL",
    ),
    ("idx_messages_session_active", "messages(session_id, active, timestamp)"),
    ("idx_messages_active_null", "messages(active) WHERE active IS NULL"),
    ("idx_sessions_session_key", "sessions(session_key, started_at DESC)"),
    (
        "idx_sessions_gateway_peer",
        "sessions(source, user_id, chat_id, chat_type, thread_id, started_at DESC)",
    ),
    ("idx_sessions_handoff_state", "sessions(handoff_state, started_at)"),
];

/// The index that makes titles unique.
pub(super) const TITLE_INDEX: (&str, &str) =
    ("idx_sessions_title_unique", "sessions(title) WHERE title IS NOT NULL");

/// A full-text index: its table, and how it cuts text into words.
pub(super) struct TextIndex {
    pub name: &'static str,
    pub tokenizer: &'static str,
}

/// The full-text indexes: by words, and by any three characters in a row.
pub(super) const TEXT_INDEXES: [TextIndex; 2] = [
    TextIndex { name: "messages_fts", tokenizer: "" },
    TextIndex { name: "messages_fts_trigram", tokenizer: ", tokenize='trigram'" },
];

/// What of a message can be found: what was said, and the name and arguments of tools.
fn searchable(row: &str) -> String {
    let part = |column: &str| format!("COALESCE({row}{column}, '')");
    format!("{} || ' ' || {} || ' ' || {}", part("content"), part("tool_name"), part("tool_calls"))
}

impl TextIndex {
    fn create(&self) -> String {
        format!("CREATE VIRTUAL TABLE IF NOT EXISTS {} USING fts5(content{})", self.name, self.tokenizer)
    }

    /// The triggers that keep it up to date, with their names.
    fn triggers(&self) -> [(String, String); 3] {
        let Self { name, .. } = self;
        let insert = format!("INSERT INTO {name}(rowid, content) VALUES (new.id, {});", searchable("new."));
        let delete = format!("DELETE FROM {name} WHERE rowid = old.id;");
        let trigger = |event: &str, body: &str| {
            let verb = event.to_uppercase();
            let label = format!("{name}_{event}");
            let sql =
                format!("CREATE TRIGGER IF NOT EXISTS {label} AFTER {verb} ON messages BEGIN {body} END");
            (label, sql)
        };
        [
            trigger("insert", &insert),
            trigger("delete", &delete),
            trigger("update", &format!("{delete} {insert}")),
        ]
    }

    /// The statement that indexes one message, unless somebody did.
    pub fn add_one(&self) -> String {
        let (name, text) = (self.name, Self::text());
        format!(
            "INSERT INTO {name}(rowid, content) SELECT id, {text} FROM messages
             WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM {name}_docsize d WHERE d.id = ?1)"
        )
    }

    /// What of a message is indexed, as every version of SQLite cuts it alike.
    fn text() -> String {
        searchable("").replace("content", &without_zero("content"))
    }

    /// Makes the index anew from the messages.
    pub fn rebuild(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        let triggers = self.triggers();
        for (name, _) in &triggers {
            tx.execute_batch(&format!("DROP TRIGGER IF EXISTS {name}"))?;
        }
        tx.execute_batch(&format!("DROP TABLE IF EXISTS {}", self.name))?;
        tx.execute_batch(&self.create())?;
        let text = Self::text();
        let fill = format!("INSERT INTO {}(rowid, content) SELECT id, {text} FROM messages", self.name);
        tx.execute_batch(&fill)?;
        triggers.iter().try_for_each(|(_, sql)| tx.execute_batch(sql))
    }
}
