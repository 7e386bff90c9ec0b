//! Copying databases for clones and exports through the storage layer, which sees what others are writing.

use std::error::Error;
use std::path::Path;

use hermes_home::profiles::{CopyDatabase, DatabaseCopy};
use hermes_store::{AnySchema, Database, Error as StoreError, OpenMode};

/// Copies with `SQLite`'s own backup.
#[derive(Debug)]
pub struct Sqlite;

impl CopyDatabase for Sqlite {
    fn copy(&self, from: &Path, to: &Path) -> Result<DatabaseCopy, Box<dyn Error + Send + Sync>> {
        let mut database = match Database::open(from, OpenMode::ReadOnly, &AnySchema) {
            // Nothing to lose by copying such a file as it is, or by passing over one that vanished.
            Err(StoreError::NotADatabase { .. } | StoreError::Empty { .. } | StoreError::Missing { .. }) => {
                return Ok(DatabaseCopy::NotADatabase);
            }
            result => result?,
        };
        database.backup_to(to)?;
        Ok(DatabaseCopy::Made)
    }
}
