//! Write-ahead log where the filesystem can carry one, a rollback journal where it cannot.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode};
use rustix::fs::statfs;

use crate::error::Error;
use crate::options::Synchronous;
use crate::retry::Patience;

/// How a database keeps its writes safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journal {
    /// Write-ahead log: readers and a writer do not wait for each other.
    Wal,
    /// Rollback journal: slower, and a writer waits for readers. Works on filesystems without shared memory.
    Delete,
}

/// Something that works, but not as it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// The log needs memory shared between processes, which the filesystem does not offer.
    #[error(
        "\"{path}\" cannot use a write-ahead log here ({reason}): it works with a rollback journal, which is slower; \
         keep it on a local disk",
        path = path.display()
    )]
    NoLog {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// The log of a database that is used from two hosts is not safe, and was not started.
    #[error(
        "\"{path}\" is on a network filesystem: it works with a rollback journal, which is slower; keep it on a local disk",
        path = path.display()
    )]
    Network {
        /// The database.
        path: PathBuf,
    },
    /// The database has a log already. It is not taken away, because others may be using it.
    #[error(
        "\"{path}\" is on a network filesystem and uses a write-ahead log: use it from one host at a time, or move it to a \
         local disk",
        path = path.display()
    )]
    LogOnNetwork {
        /// The database.
        path: PathBuf,
    },
}

/// Numbers of filesystems whose files may be open on several hosts.
const NETWORK: [u64; 8] = [
    0x6969,      // NFS
    0x517b,      // SMB
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB2
    0x5346_414f, // AFS
    0x0102_1997, // 9P
    0x00c3_6400, // Ceph
    0x0bd0_0bd0, // Lustre
];

/// Whether the file is on a filesystem that several hosts may use. What cannot be found out is taken for local.
pub(crate) fn is_on_network(path: &Path) -> bool {
    // The magic number is 32 bits wide; some platforms sign-extend it.
    statfs(path).is_ok_and(|found| NETWORK.contains(&(found.f_type as u64 & 0xffff_ffff)))
}

/// Chooses the journal of an open database, and how safe a write is to be.
pub(crate) fn choose(
    db: &Connection,
    path: &Path,
    network: bool,
    synchronous: Synchronous,
    patience: &Patience,
) -> Result<(Journal, Option<Warning>), Error> {
    let explain = |source| Error::explain(path, "set the journal of", source);
    let path_buf = || path.to_owned();
    let present: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(explain)?;
    let (journal, warning) = match (present.eq_ignore_ascii_case("wal"), network) {
        (true, false) => (Journal::Wal, None),
        (true, true) => (Journal::Wal, Some(Warning::LogOnNetwork { path: path_buf() })),
        (false, true) => (Journal::Delete, Some(Warning::Network { path: path_buf() })),
        (false, false) => match start_log(db, patience).map_err(explain)? {
            None => (Journal::Wal, None),
            Some(reason) => (Journal::Delete, Some(Warning::NoLog { path: path_buf(), reason })),
        },
    };
    let level = match (journal, synchronous) {
        (Journal::Wal, Synchronous::Normal) => "NORMAL",
        // With a rollback journal NORMAL can lose more than the last write.
        _ => "FULL",
    };
    db.pragma_update(None, "synchronous", level).map_err(explain)?;
    Ok((journal, warning))
}

/// Turns the log on; the reason if that cannot be done here.
fn start_log(db: &Connection, patience: &Patience) -> rusqlite::Result<Option<String>> {
    let set = || db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
    match patience.run(set) {
        Ok(mode) if mode.eq_ignore_ascii_case("wal") => Ok(None),
        Ok(mode) => Ok(Some(format!("SQLite stayed with journal mode {mode}"))),
        Err(error) if is_unsupported(&error) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

/// What SQLite answers where shared memory or byte-range locks do not work.
fn is_unsupported(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::FileLockingProtocolFailed | ErrorCode::SystemIoFailure | ErrorCode::CannotOpen)
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use rusqlite::OpenFlags;

    use super::*;

    fn journal_mode(db: &Connection) -> String {
        db.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap()
    }

    #[test]
    fn without_shared_memory_a_rollback_journal_is_used_and_said() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        // Locking by lock files, as on filesystems that have nothing better: SQLite has no log there.
        let db = Connection::open_with_flags_and_vfs(&path, OpenFlags::default(), c"unix-dotfile").unwrap();
        let (journal, warning) =
            choose(&db, &path, false, Synchronous::Normal, &Patience::default()).unwrap();
        assert_eq!(journal, Journal::Delete);
        assert!(matches!(warning, Some(Warning::NoLog { .. })), "{warning:?}");
        let synchronous: i64 = db.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
        assert_eq!(synchronous, 2, "FULL");
        db.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
    }

    #[test]
    fn on_a_network_a_new_database_gets_no_log_and_an_old_one_keeps_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        let db = Connection::open(&path).unwrap();
        let (journal, warning) = choose(&db, &path, true, Synchronous::Normal, &Patience::default()).unwrap();
        assert_eq!((journal, journal_mode(&db).as_str()), (Journal::Delete, "delete"));
        assert!(matches!(warning, Some(Warning::Network { .. })));

        choose(&db, &path, false, Synchronous::Normal, &Patience::default()).unwrap();
        let (journal, warning) = choose(&db, &path, true, Synchronous::Normal, &Patience::default()).unwrap();
        assert_eq!((journal, journal_mode(&db).as_str()), (Journal::Wal, "wal"));
        assert!(matches!(warning, Some(Warning::LogOnNetwork { .. })));
    }

    #[test]
    fn the_root_directory_is_local() {
        assert!(!is_on_network(Path::new("/proc")));
        assert!(!is_on_network(Path::new("/no/such/path")));
    }
}
