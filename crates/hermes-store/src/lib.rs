//! One way to open SQLite: safe beside other processes, honest about damage, never recreating what it cannot read.
//!
//! ```
//! use hermes_store::{Database, Migration, Migrations, Newer, OpenMode, VersionIn};
//!
//! const NOTES: Migrations = Migrations {
//!     name: "notes",
//!     version: VersionIn::Header { application_id: 0x4e4f_5445 },
//!     steps: &[Migration::sql(1, "CREATE TABLE note (text TEXT NOT NULL)")],
//!     newer: Newer::Refuse,
//! };
//!
//! # fn main() -> Result<(), hermes_store::Error> {
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("notes.db");
//! let mut db = Database::open(&path, OpenMode::Create, &NOTES)?;
//! db.write(|tx| tx.execute("INSERT INTO note VALUES (?1)", ["hello"]))?;
//! let count: i64 = db.read(|tx| tx.query_row("SELECT count(*) FROM note", [], |row| row.get(0)))?;
//! assert_eq!(count, 1);
//! # Ok(())
//! # }
//! ```

mod backup;
mod database;
mod error;
mod files;
mod journal;
mod open;
mod options;
mod retry;
mod schema;
pub mod sessions;

pub use backup::Snapshot;
pub use database::Database;
pub use error::Error;
pub use journal::{Journal, Warning};
pub use options::{OpenMode, Options, Synchronous};
pub use retry::Patience;
/// The SQLite binding whose transactions and rows appear in this crate's signatures.
pub use rusqlite;
pub use schema::{AnySchema, Migration, Migrations, Newer, Schema, SchemaState, Step, VersionIn};
