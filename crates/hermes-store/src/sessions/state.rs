//! What is there in a `state.db`, found out by reading definitions only.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension};

use super::layout::{INDEXES, TABLES, TEXT_INDEXES, TITLE_INDEX, Table, VERSION};

/// The definitions in a file.
#[derive(Debug)]
pub(super) struct Found {
    /// Names of tables, indexes and triggers.
    names: BTreeSet<String>,
    /// The version it calls itself.
    pub version: Option<i64>,
}

impl Found {
    pub fn look(db: &Connection) -> rusqlite::Result<Self> {
        let mut statement = db.prepare("SELECT name FROM sqlite_schema")?;
        let names: BTreeSet<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let version = if names.contains("schema_version") {
            db.query_row("SELECT version FROM schema_version LIMIT 1", [], |row| row.get(0)).optional()?
        } else {
            None
        };
        Ok(Self { names, version })
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub fn is_empty(&self) -> bool {
        !self.names.iter().any(|name| !name.starts_with("sqlite_"))
    }

    /// Tables, for a message about a file that is something else.
    pub fn summary(&self) -> String {
        let names: Vec<&str> =
            self.names.iter().map(String::as_str).filter(|n| !n.starts_with("sqlite_")).take(8).collect();
        names.join(", ")
    }

    /// Whether everything is there that this version of the schema has.
    pub fn is_complete(&self, db: &Connection) -> rusqlite::Result<bool> {
        let named = self.version.is_some_and(|version| version >= VERSION)
            && INDEXES.iter().chain([&TITLE_INDEX]).all(|(name, _)| self.has(name))
            && TEXT_INDEXES.iter().all(|index| self.has_text_index(index.name));
        Ok(named && self.has_columns(db, TABLES)? && !has_unmarked(db)?)
    }

    /// Whether a full-text index and all its triggers are there.
    pub fn has_text_index(&self, name: &str) -> bool {
        self.has(name)
            && ["insert", "delete", "update"].iter().all(|event| self.has(&format!("{name}_{event}")))
    }

    pub fn has_columns(&self, db: &Connection, tables: &[&Table]) -> rusqlite::Result<bool> {
        for table in tables {
            if !self.has(table.name) || !missing_columns(db, table)?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The columns of a table that are declared and not there.
pub(super) fn missing_columns(
    db: &Connection,
    table: &Table,
) -> rusqlite::Result<Vec<(&'static str, &'static str)>> {
    let mut statement = db.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
    let there: BTreeSet<String> =
        statement.query_map([table.name], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(table.columns.iter().copied().filter(|(name, _)| !there.contains(*name)).collect())
}

/// Whether messages say neither that they count nor that they do not, as programs left them that had the column without
/// its default. There is an index of just these, so that looking costs nothing.
fn has_unmarked(db: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT \"notnull\" FROM pragma_table_info('messages') WHERE name = 'active'";
    let always_said: bool = db.query_row(sql, [], |row| row.get(0))?;
    if always_said {
        return Ok(false);
    }
    db.query_row(UNMARKED, [], |_| Ok(())).optional().map(|found| found.is_some())
}

/// The statement names its index, because without it SQLite would read every message.
const UNMARKED: &str =
    "SELECT 1 FROM messages INDEXED BY idx_messages_active_null WHERE active IS NULL LIMIT 1";
