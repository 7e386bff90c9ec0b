//! An open database: snapshots to read, transactions to write, checks.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior, TransactionState, ffi};

use crate::error::Error;
use crate::journal::{Journal, Warning};
use crate::open::{self, Access, Opened};
use crate::options::{OpenMode, Options};
use crate::schema::Schema;

/// A SQLite database that other processes may use at the same time.
///
/// One `Database` is for one thread at a time; open another for a second thread.
#[derive(Debug)]
pub struct Database {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) access: Access,
    pub(crate) options: Options,
    journal: Option<Journal>,
    warning: Option<Warning>,
}

impl Database {
    /// Opens a database with the usual options.
    pub fn open(path: impl AsRef<Path>, mode: OpenMode, schema: &dyn Schema) -> Result<Self, Error> {
        Self::open_with(path, mode, schema, Options::default())
    }

    /// Opens a database.
    pub fn open_with(
        path: impl AsRef<Path>,
        mode: OpenMode,
        schema: &dyn Schema,
        options: Options,
    ) -> Result<Self, Error> {
        let path = open::absolute(path.as_ref())?;
        let Opened { connection, access, journal, warning } = open::open(&path, mode, schema, &options)?;
        Ok(Self { connection, path, access, options, journal, warning })
    }

    /// The absolute path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was opened to be written to.
    pub fn is_writable(&self) -> bool {
        self.access == Access::Write
    }

    /// How it keeps its writes safe. Unknown where it was opened for reading while nobody else had it open.
    pub fn journal(&self) -> Option<Journal> {
        self.journal
    }

    /// What is not as it should be, to be shown once.
    pub fn warning(&self) -> Option<&Warning> {
        self.warning.as_ref()
    }

    /// Reads from one snapshot: whatever others write meanwhile, all queries of `body` see the same state.
    ///
    /// `body` may be called again if the snapshot could not be had at once, so it must do nothing but read.
    pub fn read<T>(
        &mut self,
        mut body: impl FnMut(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let outcome = self.read_once(&mut body);
        if self.freshen()? { self.read_once(&mut body) } else { outcome }
    }

    /// Writes in one transaction, which holds the write lock from its start. When this returns the change is kept; if
    /// `body` fails nothing of it is.
    pub fn write<T>(
        &mut self,
        body: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let path = self.path.clone();
        self.transact(|tx| body(tx).map_err(|source| Error::explain(&path, "write to", source)))
    }

    /// As [`Database::write`], for a `body` with errors of its own, each of which takes the whole change back.
    pub fn transact<T, E: From<Error>>(
        &mut self,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let explain = |source| Error::explain(&self.path, "write to", source);
        if self.access != Access::Write {
            return Err(Error::ReadOnly { path: self.path.clone(), doing: "write to" }.into());
        }
        let begin = || Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let tx = self.options.patience.run(begin).map_err(explain)?;
        let value = body(&tx)?;
        // The transaction stays open when a commit finds the file busy, so the commit alone is tried again.
        self.options.patience.run(|| tx.execute_batch("COMMIT")).map_err(explain)?;
        Ok(value)
    }

    /// Changes whenever another connection has written, for those who wait for news.
    pub fn data_version(&mut self) -> Result<i64, Error> {
        self.freshen()?;
        let version = self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
        version.map_err(|source| Error::explain(&self.path, "read", source))
    }

    /// Looks for damage in the structure of the file. Fast, and finds nearly all there is to find.
    pub fn quick_check(&mut self) -> Result<(), Error> {
        self.check("PRAGMA quick_check(10)")
    }

    /// Looks for damage, with every index compared with its table. Slow on large databases.
    pub fn integrity_check(&mut self) -> Result<(), Error> {
        self.check("PRAGMA integrity_check(10)")
    }

    fn check(&mut self, pragma: &str) -> Result<(), Error> {
        let found = self.read(|tx| complaints(tx, pragma))?;
        if found.damage.is_empty() {
            return Ok(());
        }
        Err(Error::Damaged { path: self.path.clone(), detail: found.damage.join("; ") })
    }

    fn read_once<T>(
        &self,
        body: &mut impl FnMut(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let attempt = || {
            let tx = Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
            let value = body(&tx)?;
            // What is written here is not kept, and waiting for a lock would not have helped it: a snapshot that turns into
            // a writer fails as soon as another process has written. `PRAGMA query_only` would refuse it earlier, but
            // setting it makes SQLite prepare every statement anew.
            match tx.transaction_state(None::<&str>)? {
                TransactionState::Write => Err(refused()),
                _ => Ok(value),
            }
        };
        self.options.patience.run(attempt).map_err(|source| Error::explain(&self.path, "read", source))
    }

    /// Reconnects with locks if the file was read as unchanging and did change. Whether it did: what was read in between
    /// must be read again.
    pub(crate) fn freshen(&mut self) -> Result<bool, Error> {
        if !open::is_stale(self.access, &self.path) {
            return Ok(false);
        }
        self.connection = open::connect_shared(&self.path, &self.options)?;
        self.access = Access::Shared;
        Ok(true)
    }
}

/// What SQLite finds wrong with a database.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    /// With the file.
    pub damage: Vec<String>,
    /// With a full-text index, which can be made anew from what it indexes. It is no damage: other versions of SQLite cut
    /// some texts into words differently, and complain about each other's indexes.
    pub text_indexes: Vec<String>,
}

/// Runs a check of SQLite's.
pub(crate) fn complaints(db: &Connection, pragma: &str) -> rusqlite::Result<Complaints> {
    let mut statement = db.prepare(pragma)?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut found = Complaints::default();
    for line in lines {
        match line? {
            line if line == "ok" => {}
            line if line.contains("inverted index for FTS5 table") => found.text_indexes.push(line),
            line => found.damage.push(line),
        }
    }
    Ok(found)
}

/// What SQLite answers to a write where only reading is allowed.
fn refused() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_READONLY), None)
}
