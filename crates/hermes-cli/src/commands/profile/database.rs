//! Copying databases for clones and exports: through `SQLite`, which sees what others are writing.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use hermes_home::profiles::{CopyDatabase, DatabaseCopy};
use rusqlite::backup::Backup;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// Copies with `SQLite`'s own backup.
#[derive(Debug)]
pub struct Sqlite;

const PATIENCE: Duration = Duration::from_secs(10);

impl CopyDatabase for Sqlite {
    fn copy(&self, from: &Path, to: &Path) -> Result<DatabaseCopy, Box<dyn Error + Send + Sync>> {
        let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        source.busy_timeout(PATIENCE)?;
        match source.query_row("PRAGMA schema_version", [], |_| Ok(())) {
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
                return Ok(DatabaseCopy::NotADatabase);
            }
            result => result?,
        }
        let mut target = Connection::open(to)?;
        Backup::new(&source, &mut target)?.run_to_completion(1000, Duration::from_millis(5), None)?;
        Ok(DatabaseCopy::Made)
    }
}
