//! Opening: look, ask SQLite, check whose it is, and only then change anything.

use std::fmt::Write;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::Error;
use crate::files::{self, Presence, Stamp};
use crate::journal::{self, Journal, Warning};
use crate::options::{OpenMode, Options};
use crate::schema::{self, Schema, SchemaState};

/// How the connection reaches the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reading and writing.
    Write,
    /// Reading beside others, with SQLite's locks.
    Shared,
    /// Reading a file that nobody had open. No locks and no sidecars, and so only good while the stamp holds.
    AtRest(Stamp),
}

/// A connection that was checked and set up.
pub(crate) struct Opened {
    pub connection: Connection,
    pub access: Access,
    pub journal: Option<Journal>,
    pub warning: Option<Warning>,
}

/// The log may grow to this while readers keep it from being reset, and is cut back to it afterwards.
const LOG_LIMIT: i64 = 64 * 1024 * 1024;

/// Opens an absolute path.
pub(crate) fn open(
    path: &Path,
    mode: OpenMode,
    schema: &dyn Schema,
    options: &Options,
) -> Result<Opened, Error> {
    match mode {
        OpenMode::ReadOnly => open_for_reading(path, schema, options),
        OpenMode::ReadWrite | OpenMode::Create => open_for_writing(path, mode, schema, options),
    }
}

/// The path SQLite will use. Names such as `:memory:` and `file:…` mean something else to it, an absolute path never does;
/// and it puts the sidecars beside the file itself, not beside a link to it.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, Error> {
    let found = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    found.map_err(|error| Error::io(path, "find", error))
}

fn open_for_writing(
    path: &Path,
    mode: OpenMode,
    schema: &dyn Schema,
    options: &Options,
) -> Result<Opened, Error> {
    let presence = files::presence(path)?;
    match (presence, mode) {
        (Presence::Filled, _) => {}
        // SQLite throws away the log of an empty database. Perhaps it is all that is left.
        (_, OpenMode::Create) if files::has_log(path) => {
            return Err(Error::OrphanedLog { path: path.to_owned() });
        }
        (Presence::Missing, OpenMode::Create) => files::create_private(path)?,
        (Presence::Empty, OpenMode::Create) => {}
        (Presence::Missing, _) => return Err(Error::Missing { path: path.to_owned() }),
        (Presence::Empty, _) => return Err(Error::Empty { path: path.to_owned() }),
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, options)?;
    // Before anything is written we know that it is a database, and whose.
    let state = inspect(&connection, path, schema, options)?;
    let explain = |source| Error::explain(path, "set up", source);
    configure(&connection).map_err(explain)?;
    let network = journal::is_on_network(path);
    let (journal, warning) =
        journal::choose(&connection, path, network, options.synchronous, &options.patience)?;
    if state == SchemaState::Old {
        let upgrade = || schema::upgrade(schema, &connection);
        options.patience.run(upgrade).map_err(|source| Error::explain(path, "bring up to date", source))?;
    }
    Ok(Opened { connection, access: Access::Write, journal: Some(journal), warning })
}

fn open_for_reading(path: &Path, schema: &dyn Schema, options: &Options) -> Result<Opened, Error> {
    match files::presence(path)? {
        Presence::Missing => return Err(Error::Missing { path: path.to_owned() }),
        Presence::Empty => return Err(Error::Empty { path: path.to_owned() }),
        Presence::Filled => {}
    }
    let (connection, access) = connect_for_reading(path, options)?;
    let state = match inspect(&connection, path, schema, options) {
        // Somebody started to write while we looked without locks.
        outcome if is_stale(access, path) => {
            drop(outcome);
            return open_shared(path, schema, options);
        }
        outcome => outcome?,
    };
    finish_reading(connection, access, path, schema, &state)
}

/// Opens for reading with locks, whoever else has it open.
fn open_shared(path: &Path, schema: &dyn Schema, options: &Options) -> Result<Opened, Error> {
    let connection = connect_shared(path, options)?;
    let state = inspect(&connection, path, schema, options)?;
    finish_reading(connection, Access::Shared, path, schema, &state)
}

fn finish_reading(
    connection: Connection,
    access: Access,
    path: &Path,
    schema: &dyn Schema,
    state: &SchemaState,
) -> Result<Opened, Error> {
    if *state == SchemaState::Old {
        return Err(Error::Outdated { path: path.to_owned(), name: schema.name().to_owned() });
    }
    let journal = match access {
        // SQLite does not look at the journal of a file that does not change.
        Access::AtRest(_) => None,
        Access::Shared | Access::Write => {
            let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
            let mode = mode.map_err(|source| Error::explain(path, "read", source))?;
            Some(if mode.eq_ignore_ascii_case("wal") { Journal::Wal } else { Journal::Delete })
        }
    };
    Ok(Opened { connection, access, journal, warning: None })
}

/// A connection for reading. Opening a database with a log creates the log's files, even for reading, and leaves them
/// behind; a database at rest is therefore opened as a file that does not change, and watched.
pub(crate) fn connect_for_reading(path: &Path, options: &Options) -> Result<(Connection, Access), Error> {
    let stamp = if journal::is_on_network(path) { None } else { files::settled(path) };
    let Some(stamp) = stamp else {
        return Ok((connect_shared(path, options)?, Access::Shared));
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Ok((connect(Path::new(&unchanging(path)), flags, options)?, Access::AtRest(stamp)))
}

/// Whether a file that was read as unchanging has changed.
pub(crate) fn is_stale(access: Access, path: &Path) -> bool {
    matches!(access, Access::AtRest(stamp) if files::at_rest(path) != Some(stamp))
}

/// A connection with SQLite's locks, for reading.
pub(crate) fn connect_shared(path: &Path, options: &Options) -> Result<Connection, Error> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, options)
}

fn connect(path: &Path, flags: OpenFlags, options: &Options) -> Result<Connection, Error> {
    let explain = |source: rusqlite::Error| match source {
        // SQLite cannot take a path that is not text.
        rusqlite::Error::InvalidPath(path) => Error::io(
            &path,
            "open",
            io::Error::new(io::ErrorKind::InvalidInput, "the path is not valid UTF-8"),
        ),
        source => Error::explain(path, "open", source),
    };
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(path, flags).map_err(explain)?;
    connection.busy_timeout(options.busy).map_err(explain)?;
    Ok(connection)
}

/// The address that tells SQLite to read a file without locks and sidecars.
fn unchanging(path: &Path) -> String {
    let mut address = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            address.push(char::from(*byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address + "?immutable=1"
}

/// Asks SQLite whether it is a database, and the schema whether it is ours. Only reads.
fn inspect(
    db: &Connection,
    path: &Path,
    schema: &dyn Schema,
    options: &Options,
) -> Result<SchemaState, Error> {
    let look = || {
        // Reads the first page, and then every definition in the file.
        db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        schema.state(db)
    };
    let state = options.patience.run(look).map_err(|source| Error::explain(path, "open", source))?;
    let path = path.to_owned();
    match state {
        SchemaState::Foreign { found } => {
            Err(Error::Foreign { path, wanted: schema.name().to_owned(), found })
        }
        SchemaState::TooNew { found, known } => {
            Err(Error::TooNew { path, name: schema.name().to_owned(), found, known })
        }
        state => Ok(state),
    }
}

fn configure(db: &Connection) -> rusqlite::Result<()> {
    // Statements that could damage the file, by mistake or by a planted schema, are refused.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update(None, "cell_size_check", true)?;
    db.pragma_update_and_check(None, "journal_size_limit", LOG_LIMIT, |_| Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_survive_as_addresses() {
        assert_eq!(unchanging(Path::new("/a b/ü?#%.db")), "file:///a%20b/%C3%BC%3F%23%25.db?immutable=1");
    }
}
