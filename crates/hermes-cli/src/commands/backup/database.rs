//! Copying databases: by `SQLite`, and as they are only when `SQLite` finds them damaged.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hermes_store::{AnySchema, Database, Error, OpenMode};

use super::rules;

/// What a copy is worth.
#[derive(Debug, PartialEq, Eq)]
pub enum Copied {
    /// It is what a reader saw at one moment.
    Consistent,
    /// `SQLite` refused, for this reason. The file and its log were copied byte by byte, so that nothing is lost.
    Damaged(String),
}

/// Copies the database at `from`, called `name` in the home, to `to`, which does not exist.
pub fn copy(name: &str, from: &Path, to: &Path) -> anyhow::Result<Copied> {
    let made = Database::open(from, OpenMode::ReadOnly, &AnySchema).and_then(|mut db| db.backup_to(to));
    let worth = match made {
        Ok(()) => return Ok(Copied::Consistent),
        Err(Error::Damaged { detail, .. }) => Copied::Damaged(detail),
        Err(Error::NotADatabase { .. }) if is_ours(name, from) => {
            Copied::Damaged("it is not a database any more".to_owned())
        }
        Err(Error::Empty { .. }) if has_log(from) => {
            Copied::Damaged("it is empty, but its log is not".to_owned())
        }
        // Somebody else's file with such a name, or a database that was never used: the bytes are all there is.
        Err(Error::NotADatabase { .. } | Error::Empty { .. }) => Copied::Consistent,
        Err(e) => return Err(e.into()),
    };
    for (suffix, file) in files(from).into_iter().filter(|(suffix, _)| *suffix != "-shm") {
        copy_raw(&file, &with_suffix(to, suffix))?;
    }
    Ok(worth)
}

/// Both programs keep databases in a home and below its boards; elsewhere files may be called anything.
fn is_ours(name: &str, path: &Path) -> bool {
    rules::is_in_home(Path::new(name)) || name.contains("kanban/") || files(path).len() > 1
}

fn has_log(path: &Path) -> bool {
    fs::metadata(with_suffix(path, "-wal")).is_ok_and(|meta| meta.len() > 0)
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

/// Lets `SQLite` merge the log of a database that nobody uses into it. One that cannot be read is left alone: opening
/// it for writing might cost the log.
pub fn settle(path: &Path) {
    if has_log(path) && Database::open(path, OpenMode::ReadOnly, &AnySchema).is_ok() {
        // The last one who closes it merges the log.
        drop(Database::open(path, OpenMode::ReadWrite, &AnySchema));
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
