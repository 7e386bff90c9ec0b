//! What can go wrong with a database, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why a database could not be opened, read, written or copied.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such file.
    #[error("there is no database at \"{path}\": check the path, or let the program that owns it create it", path = path.display())]
    Missing {
        /// The database.
        path: PathBuf,
    },
    /// The file has no content, which a database that was ever used cannot have.
    #[error(
        "\"{path}\" is empty, so what it held is gone: restore it from a backup, or remove it to start afresh",
        path = path.display()
    )]
    Empty {
        /// The database.
        path: PathBuf,
    },
    /// The file is missing or empty, and its log still holds data. A new database would destroy that.
    #[error(
        "\"{path}\" is missing or empty while its log \"{path}-wal\" still holds data: restore \"{path}\" from a backup, \
         or move the log away to start afresh",
        path = path.display()
    )]
    OrphanedLog {
        /// The database.
        path: PathBuf,
    },
    /// The file is something else.
    #[error(
        "\"{path}\" is not a SQLite database; it was left as it is: restore it from a backup, or move it away to start afresh",
        path = path.display()
    )]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// SQLite found the content to be inconsistent.
    #[error("\"{path}\" is damaged ({detail}); it was not repaired: restore it from a backup", path = path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What SQLite found.
        detail: String,
    },
    /// The database belongs to something else.
    #[error("\"{path}\" is not a {wanted} database ({found}); it was left as it is: check the path", path = path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
        /// The name of the schema that was expected.
        wanted: String,
        /// What was found instead.
        found: String,
    },
    /// A later version of the program changed the schema.
    #[error(
        "\"{path}\" has {name} schema version {found}, this program knows up to {known}: update this program",
        path = path.display()
    )]
    TooNew {
        /// The database.
        path: PathBuf,
        /// The name of the schema.
        name: String,
        /// The version in the file.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// The schema has to be brought up to date first, which reading must not do.
    #[error(
        "\"{path}\" has an older {name} schema: open it once for writing, which brings it up to date",
        path = path.display()
    )]
    Outdated {
        /// The database.
        path: PathBuf,
        /// The name of the schema.
        name: String,
    },
    /// Somebody else holds a lock, and kept it for longer than we wait.
    #[error(
        "could not {doing} \"{path}\": another process or thread keeps it locked; try again, or end the one that uses it",
        path = path.display()
    )]
    Busy {
        /// The database.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
    },
    /// A write through a database that was opened for reading, or a file we may not write.
    #[error("could not {doing} \"{path}\": it is open for reading only, or its permissions forbid writing", path = path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
    },
    /// The disk is full.
    #[error("could not {doing} \"{path}\": the disk is full; make room and try again, nothing was lost", path = path.display())]
    DiskFull {
        /// The database.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
    },
    /// A copy must not replace a file: it might be a database in use.
    #[error("\"{path}\" exists already: choose another name for the copy, or remove it", path = path.display())]
    CopyExists {
        /// Where the copy should have gone.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("could not {doing} \"{path}\": {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// SQLite refused for another reason, most often a statement of ours.
    #[error("could not {doing} \"{path}\": {source}", path = path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// Why not.
        source: rusqlite::Error,
    },
}

impl Error {
    /// Says what an error of SQLite means for this database.
    pub fn explain(path: &Path, doing: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, detail: source.to_string() },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path, doing },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path, doing },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path, doing },
            _ => Self::Sqlite { path, doing, source },
        }
    }

    pub(crate) fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), doing, source }
    }
}
