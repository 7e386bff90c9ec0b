//! What a database is expected to hold, and how an older one is brought up to date.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The owner of a database describes it with this. [`Migrations`] is the usual implementation; a database whose layout
/// belongs to another program may need one of its own.
pub trait Schema {
    /// What the database is called in messages, as in `sessions`.
    fn name(&self) -> &str;

    /// What state the database is in. Must only read.
    fn state(&self, db: &Connection) -> rusqlite::Result<SchemaState>;

    /// Brings it up to date. Runs in an immediate transaction, after another look at [`Schema::state`]: of two processes that
    /// start at once only one gets here.
    fn upgrade(&self, tx: &Transaction<'_>) -> rusqlite::Result<()>;
}

/// What a schema found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaState {
    /// Nothing to do.
    Current,
    /// New or older: [`Schema::upgrade`] mends it.
    Old,
    /// Made by a later version.
    TooNew {
        /// The version in the file.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// Not ours.
    Foreign {
        /// What it looks like instead.
        found: String,
    },
}

/// Accepts any database as it is, for tools that only look at or copy it.
#[derive(Clone, Copy, Debug)]
pub struct AnySchema;

impl Schema for AnySchema {
    fn name(&self) -> &'static str {
        "SQLite"
    }

    fn state(&self, _db: &Connection) -> rusqlite::Result<SchemaState> {
        Ok(SchemaState::Current)
    }

    fn upgrade(&self, _tx: &Transaction<'_>) -> rusqlite::Result<()> {
        Ok(())
    }
}

/// A schema built by ordered steps, each of which leads to a version number.
#[derive(Clone, Copy, Debug)]
pub struct Migrations {
    /// What the database is called in messages.
    pub name: &'static str,
    /// Where the version number is kept.
    pub version: VersionIn,
    /// The steps, in ascending order of version.
    pub steps: &'static [Migration],
    /// What to do with a version later than the last step's.
    pub newer: Newer,
}

/// Where a database keeps the version of its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionIn {
    /// In the file's header, beside a number that says which program the file belongs to.
    Header {
        /// That number, the same in all versions.
        application_id: i32,
    },
    /// In the single row of a table, as other programs do.
    Table {
        /// The table's name.
        table: &'static str,
        /// The column's name.
        column: &'static str,
    },
}

/// What to do with a schema of a later version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newer {
    /// Refuse: we could damage what we do not know.
    Refuse,
    /// Go on: later versions are known to only add to what we use.
    Accept,
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// The version the step leads to.
    pub to: i64,
    /// What it does.
    pub step: Step,
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Runs statements.
    Sql(&'static str),
    /// Calls a function, for what statements alone cannot do.
    Code(fn(&Transaction<'_>) -> rusqlite::Result<()>),
}

impl Migration {
    /// A step of SQL statements.
    pub const fn sql(to: i64, statements: &'static str) -> Self {
        Self { to, step: Step::Sql(statements) }
    }
}

impl Schema for Migrations {
    fn name(&self) -> &str {
        self.name
    }

    fn state(&self, db: &Connection) -> rusqlite::Result<SchemaState> {
        let tables = tables(db)?;
        if tables.is_empty() {
            return Ok(if self.steps.is_empty() { SchemaState::Current } else { SchemaState::Old });
        }
        if let VersionIn::Header { application_id } = self.version {
            let found: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
            if found != application_id {
                let found = format!("application id {found:#x}, tables {}", tables.join(", "));
                return Ok(SchemaState::Foreign { found });
            }
        }
        Ok(match self.version(db)? {
            None => {
                SchemaState::Foreign { found: format!("no schema version, tables {}", tables.join(", ")) }
            }
            Some(found) => self.compare(found),
        })
    }

    fn upgrade(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        let found = self.version(tx)?.unwrap_or(0);
        for migration in self.steps.iter().filter(|migration| migration.to > found) {
            match migration.step {
                Step::Sql(statements) => tx.execute_batch(statements)?,
                Step::Code(run) => run(tx)?,
            }
        }
        self.set_version(tx)
    }
}

impl Migrations {
    fn newest(&self) -> i64 {
        self.steps.iter().map(|migration| migration.to).max().unwrap_or(0)
    }

    fn compare(&self, found: i64) -> SchemaState {
        let known = self.newest();
        if found < known {
            SchemaState::Old
        } else if found == known || self.newer == Newer::Accept {
            SchemaState::Current
        } else {
            SchemaState::TooNew { found, known }
        }
    }

    /// The version in the file; nothing where there is no place for one yet.
    fn version(&self, db: &Connection) -> rusqlite::Result<Option<i64>> {
        match self.version {
            VersionIn::Header { .. } => {
                db.pragma_query_value(None, "user_version", |row| row.get(0)).map(Some)
            }
            VersionIn::Table { table, .. } if !tables(db)?.iter().any(|name| name == table) => Ok(None),
            VersionIn::Table { table, column } => {
                db.query_row(&format!("SELECT max(\"{column}\") FROM \"{table}\""), [], |row| row.get(0))
            }
        }
    }

    fn set_version(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        let newest = self.newest();
        match self.version {
            VersionIn::Header { application_id } => {
                tx.pragma_update(None, "application_id", application_id)?;
                tx.pragma_update(None, "user_version", newest)
            }
            VersionIn::Table { table, column } => {
                tx.execute_batch(&format!(
                    "CREATE TABLE IF NOT EXISTS \"{table}\" (\"{column}\" INTEGER NOT NULL)"
                ))?;
                if tx.execute(&format!("UPDATE \"{table}\" SET \"{column}\" = ?1"), [newest])? == 0 {
                    tx.execute(&format!("INSERT INTO \"{table}\" (\"{column}\") VALUES (?1)"), [newest])?;
                }
                Ok(())
            }
        }
    }
}

/// The tables of a database, without SQLite's own.
fn tables(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut statement = db.prepare(sql)?;
    let names = statement.query_map([], |row| row.get(0))?;
    names.collect()
}

/// Brings a database up to date if it still needs it once we hold the write lock.
pub(crate) fn upgrade(schema: &dyn Schema, db: &Connection) -> rusqlite::Result<()> {
    let tx = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    if schema.state(&tx)? == SchemaState::Old {
        schema.upgrade(&tx)?;
    }
    tx.commit()
}
