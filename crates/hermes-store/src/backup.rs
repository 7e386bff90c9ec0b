//! Consistent copies of a live database, through SQLite's own backup interface.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::database::{Database, complaints};
use crate::error::Error;
use crate::files;
use crate::open;
use crate::retry::busy;

/// Pages per step. Between steps a copy can find out that it should stop.
const PAGES: i32 = 1024;

/// A consistent copy in a temporary file, removed with this value. For putting a database into an archive.
#[derive(Debug)]
pub struct Snapshot {
    path: PathBuf,
}

impl Snapshot {
    /// The copy. It is nobody's live database, so it may be read like any file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

impl Database {
    /// Makes a consistent copy while others go on writing. The copy is one file, only its owner may read it, it is checked
    /// before it gets its name, and it never replaces a file.
    pub fn backup_to(&mut self, destination: impl AsRef<Path>) -> Result<(), Error> {
        let destination = open::absolute(destination.as_ref())?;
        if destination.exists() {
            return Err(Error::CopyExists { path: destination });
        }
        let copy = self.copy_beside(&destination)?;
        files::publish(copy.path(), &destination).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::CopyExists { path: destination.clone() },
            _ => Error::io(&destination, "write the copy", error),
        })?;
        files::sync_directory(&destination).map_err(|error| Error::io(&destination, "write the copy", error))
    }

    /// Makes a consistent copy in a temporary file in `directory`.
    pub fn snapshot(&mut self, directory: impl AsRef<Path>) -> Result<Snapshot, Error> {
        let name = self.path.file_name().unwrap_or_default();
        let near = open::absolute(&directory.as_ref().join(name))?;
        self.copy_beside(&near)
    }

    fn copy_beside(&mut self, path: &Path) -> Result<Snapshot, Error> {
        let copy = self.copy_once(path);
        // A database at rest that somebody opened meanwhile: the copy may be torn.
        if self.freshen()? { self.copy_once(path) } else { copy }
    }

    fn copy_once(&self, path: &Path) -> Result<Snapshot, Error> {
        let copy = Snapshot { path: files::beside(path)? };
        files::create_new(copy.path()).map_err(|error| Error::io(path, "write the copy", error))?;
        let explain = |source| Error::explain(&self.path, "copy", source);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut target = Connection::open_with_flags(copy.path(), flags).map_err(explain)?;
        self.copy_pages(&mut target).map_err(explain)?;
        // A single file, whatever the original has beside it.
        let set = target.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()));
        set.map_err(explain)?;
        check(&target, &self.path)?;
        target.close().map_err(|(_, source)| explain(source))?;
        Ok(copy)
    }

    fn copy_pages(&self, target: &mut Connection) -> rusqlite::Result<()> {
        // One snapshot for all steps: otherwise each write by another process would make the copy start again.
        let snapshot = Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
        self.options
            .patience
            .run(|| snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())))?;
        let backup = Backup::new(&self.connection, target)?;
        loop {
            let step = || match backup.step(PAGES)? {
                StepResult::Busy | StepResult::Locked => Err(busy()),
                step => Ok(step),
            };
            if self.options.patience.run(step)? == StepResult::Done {
                return Ok(());
            }
        }
    }
}

/// A copy of a damaged database is refused here, not when somebody needs it.
fn check(copy: &Connection, original: &Path) -> Result<(), Error> {
    let found = complaints(copy, "PRAGMA quick_check(10)")
        .map_err(|source| Error::explain(original, "check the copy of", source))?;
    match found.damage.into_iter().next() {
        None => Ok(()),
        Some(detail) => Err(Error::Damaged { path: original.to_owned(), detail }),
    }
}

/// Removes a temporary copy and what SQLite may have put beside it. Nobody else knows these names.
fn remove(path: &Path) {
    let sidecars = ["-journal", "-wal", "-shm"].map(|suffix| files::sidecar(path, suffix));
    for file in sidecars.iter().map(PathBuf::as_path).chain([path]) {
        // Most of them do not exist.
        let _ = fs::remove_file(file);
    }
}
