//! Copying databases: by `SQLite`, and as they are only when `SQLite` finds them damaged.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// What a copy is worth.
#[derive(Debug, PartialEq, Eq)]
pub enum Copied {
    /// It is what a reader saw at one moment.
    Consistent,
    /// `SQLite` refused, for this reason. The file and its log were copied byte by byte, so that nothing is lost.
    Damaged(String),
}

/// Copies the database at `from` to `to`, which does not exist.
pub fn copy(from: &Path, to: &Path) -> anyhow::Result<Copied> {
    let why = match by_sqlite(from, to) {
        Ok(()) => return Ok(Copied::Consistent),
        Err(rusqlite::Error::SqliteFailure(e, why))
            if matches!(e.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) =>
        {
            why.unwrap_or_default()
        }
        Err(e) => return Err(e.into()),
    };
    remove_all(to)?;
    for (suffix, file) in files(from) {
        if suffix != "-shm" {
            copy_raw(&file, &with_suffix(to, suffix))?;
        }
    }
    Ok(Copied::Damaged(why))
}

fn by_sqlite(from: &Path, to: &Path) -> rusqlite::Result<()> {
    let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    source.busy_timeout(std::time::Duration::from_secs(5))?;
    source.backup("main", to, None::<fn(rusqlite::backup::Progress)>)
}

/// Copies a file byte by byte; the copy is private.
pub fn copy_raw(from: &Path, to: &Path) -> anyhow::Result<()> {
    let copy = || -> io::Result<()> {
        let mut source = fs::File::open(from)?;
        let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        io::copy(&mut source, &mut target)?;
        Ok(())
    };
    copy().with_context(|| format!("cannot copy {}", from.display()))
}

/// The files of a database that exist, with what their names add to its own.
pub fn files(database: &Path) -> Vec<(&'static str, PathBuf)> {
    let all = ["", "-wal", "-journal", "-shm"].map(|suffix| (suffix, with_suffix(database, suffix)));
    all.into_iter().filter(|(_, path)| path.exists()).collect()
}

/// Lets `SQLite` merge the log of a database that nobody uses into it.
pub fn settle(path: &Path) {
    if let Ok(db) = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE) {
        let _ = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn remove_all(database: &Path) -> io::Result<()> {
    files(database).into_iter().try_for_each(|(_, path)| fs::remove_file(path))
}
