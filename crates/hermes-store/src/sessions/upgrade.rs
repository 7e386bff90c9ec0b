//! Making a `state.db`, and completing one that an older program made. Nothing is taken away.

use rusqlite::{Connection, ErrorCode, Transaction};

use super::layout::{INDEXES, NEEDED, TABLES, TEXT_INDEXES, TITLE_INDEX, USAGE_TABLE, VERSION};
use super::marks::{self, Mark};
use super::state::{Found, missing_columns};
use crate::{Schema, SchemaState};

/// The schema of `state.db`.
pub(super) struct StateSchema;

impl Schema for StateSchema {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn state(&self, db: &Connection) -> rusqlite::Result<SchemaState> {
        let found = Found::look(db)?;
        if found.is_empty() {
            return Ok(SchemaState::Old);
        }
        if !found.has("sessions") || !found.has("messages") {
            return Ok(SchemaState::Foreign { found: format!("it has {}", found.summary()) });
        }
        match found.version {
            // A later program may have dropped what we do not use. It must not be given back.
            Some(version) if version > VERSION => Ok(if found.has_columns(db, NEEDED)? {
                SchemaState::Current
            } else {
                SchemaState::TooNew { found: version, known: VERSION }
            }),
            _ if found.is_complete(db)? => Ok(SchemaState::Current),
            _ => Ok(SchemaState::Old),
        }
    }

    fn upgrade(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        let found = Found::look(tx)?;
        let version = found.version.unwrap_or(if found.has("sessions") { 0 } else { VERSION });
        add_tables_and_columns(tx)?;
        tx.execute("UPDATE messages SET active = 1 WHERE active IS NULL", [])?;
        add_indexes(tx)?;
        add_text_indexes(tx, &found, version)?;
        if version < 16 {
            mark_delegations(tx)?;
        }
        if version < 20 {
            seed_usage(tx)?;
        }
        set_version(tx)
    }
}

fn add_tables_and_columns(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    for table in TABLES {
        tx.execute_batch(&table.create())?;
        for (name, kind) in missing_columns(tx, table)? {
            tx.execute_batch(&format!("ALTER TABLE {} ADD COLUMN {name} {kind}", table.name))?;
        }
    }
    key_usage_by_task(tx)
}

/// The usage table of version 21 had no task in its key, and a key cannot be changed.
fn key_usage_by_task(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let keyed: i64 = tx.query_row(
        "SELECT count(*) FROM pragma_table_info('session_model_usage') WHERE name = 'task' AND pk > 0",
        [],
        |row| row.get(0),
    )?;
    if keyed > 0 {
        return Ok(());
    }
    let columns: Vec<&str> = USAGE_TABLE.columns.iter().map(|(name, _)| *name).collect();
    let columns = columns.join(", ");
    tx.execute_batch("ALTER TABLE session_model_usage RENAME TO session_model_usage_before")?;
    tx.execute_batch(&USAGE_TABLE.create())?;
    tx.execute_batch(&format!(
        "INSERT INTO session_model_usage ({columns}) SELECT {columns} FROM session_model_usage_before;
         DROP TABLE session_model_usage_before"
    ))
}

fn add_indexes(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    for (name, definition) in INDEXES {
        tx.execute_batch(&format!("CREATE INDEX IF NOT EXISTS {name} ON {definition}"))?;
    }
    let (name, definition) = TITLE_INDEX;
    let unique = format!("CREATE UNIQUE INDEX IF NOT EXISTS {name} ON {definition}");
    match tx.execute_batch(&unique) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            // From before titles were unique: the newest session keeps it.
            tx.execute_batch(
                "UPDATE sessions SET title = NULL WHERE title IS NOT NULL AND rowid NOT IN
                    (SELECT max(rowid) FROM sessions WHERE title IS NOT NULL GROUP BY title)",
            )?;
            tx.execute_batch(&unique)
        }
        done => done,
    }
}

/// Makes the full-text indexes that are missing, or were of another kind before version 11, or missed changes because a
/// trigger was gone.
fn add_text_indexes(tx: &Transaction<'_>, found: &Found, version: i64) -> rusqlite::Result<()> {
    for index in &TEXT_INDEXES {
        if version < 11 || !found.has_text_index(index.name) {
            index.rebuild(tx)?;
        }
    }
    Ok(())
}

/// Sessions of helpers were not marked before version 16. Those that have a parent which neither went on in them nor
/// branched into them are helpers'.
fn mark_delegations(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let (delegated, branched) = (Mark::Delegated.of("sessions"), Mark::Branched.of("sessions"));
    let key = Mark::Delegated.key();
    let config = marks::config_of("sessions");
    tx.execute_batch(&format!(
        "UPDATE sessions SET model_config = json_set({config}, '$.{key}', parent_session_id)
         WHERE parent_session_id IS NOT NULL AND {delegated} IS NULL AND {branched} IS NULL
           AND NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id = sessions.parent_session_id
               AND (p.end_reason = 'compression'
                    OR (p.end_reason = 'branched' AND sessions.started_at >= p.ended_at)))"
    ))
}

/// What was counted per session before it was counted per model as well.
fn seed_usage(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch(
        "INSERT OR IGNORE INTO session_model_usage (session_id, model, billing_provider, billing_base_url,
             billing_mode, api_call_count, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
             reasoning_tokens, estimated_cost_usd, actual_cost_usd, cost_status, cost_source, first_seen, last_seen)
         SELECT id, ifnull(model, 'unknown'), ifnull(billing_provider, ''), ifnull(billing_base_url, ''),
             ifnull(billing_mode, ''), ifnull(api_call_count, 0), ifnull(input_tokens, 0), ifnull(output_tokens, 0),
             ifnull(cache_read_tokens, 0), ifnull(cache_write_tokens, 0), ifnull(reasoning_tokens, 0),
             ifnull(estimated_cost_usd, 0), ifnull(actual_cost_usd, 0), cost_status, cost_source,
             started_at, ifnull(ended_at, started_at)
         FROM sessions
         WHERE ifnull(input_tokens, 0) > 0 OR ifnull(output_tokens, 0) > 0 OR ifnull(cache_read_tokens, 0) > 0
            OR ifnull(cache_write_tokens, 0) > 0 OR ifnull(reasoning_tokens, 0) > 0",
    )
}

fn set_version(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    if tx.execute("UPDATE schema_version SET version = ?1", [VERSION])? == 0 {
        tx.execute("INSERT INTO schema_version (version) VALUES (?1)", [VERSION])?;
    }
    Ok(())
}
