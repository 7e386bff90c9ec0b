//! Opening: what is refused, that refusing changes nothing, whose database it is, and who may read it.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use hermes_store::{
    AnySchema, Database, Error, Journal, Migration, Migrations, Newer, OpenMode, Options, Patience, Step,
    VersionIn,
};

const NOTES: Migrations = Migrations {
    name: "notes",
    version: VersionIn::Header { application_id: 0x4e4f_5445 },
    steps: &[Migration::sql(1, "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")],
    newer: Newer::Refuse,
};

const LATER: Migrations = Migrations {
    steps: &[
        NOTES.steps[0],
        Migration::sql(2, "ALTER TABLE note ADD COLUMN tag TEXT"),
        Migration { to: 3, step: Step::Code(|tx| tx.execute("UPDATE note SET tag = 'old'", []).map(drop)) },
    ],
    ..NOTES
};

/// As the other program keeps it: a table with one row.
const SHARED: Migrations = Migrations {
    name: "sessions",
    version: VersionIn::Table { table: "schema_version", column: "version" },
    steps: &[
        Migration::sql(6, "CREATE TABLE session (id TEXT PRIMARY KEY)"),
        Migration::sql(7, "CREATE TABLE extra (x)"),
    ],
    newer: Newer::Accept,
};

/// Every file in a directory with its content.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn count(db: &mut Database) -> i64 {
    db.read(|tx| tx.query_row("SELECT count(*) FROM note", [], |row| row.get(0))).unwrap()
}

fn add(db: &mut Database, text: &str) {
    db.write(|tx| tx.execute("INSERT INTO note (text) VALUES (?1)", [text])).unwrap();
}

#[test]
fn a_new_database_is_private_and_has_a_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.db");
    let mut db = Database::open(&path, OpenMode::Create, &NOTES).unwrap();
    add(&mut db, "one");
    assert_eq!(db.journal(), Some(Journal::Wal));
    assert_eq!(db.warning(), None);
    for suffix in ["", "-wal", "-shm"] {
        assert_eq!(mode(&directory.path().join(format!("notes.db{suffix}"))), 0o600, "{suffix}");
    }
    drop(db);
    assert_eq!(
        contents(directory.path()).into_keys().collect::<Vec<_>>(),
        ["notes.db"],
        "nothing is left behind"
    );
}

#[test]
fn foreign_keys_hold() {
    let directory = tempfile::tempdir().unwrap();
    let mut db = Database::open(directory.path().join("a.db"), OpenMode::Create, &AnySchema).unwrap();
    db.write(|tx| {
        tx.execute_batch("CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a (id))")
    })
    .unwrap();
    let orphan = db.write(|tx| tx.execute("INSERT INTO b VALUES (5)", []));
    assert!(orphan.unwrap_err().to_string().contains("FOREIGN KEY"));
}

#[test]
fn what_is_not_there_is_not_created_by_reading_or_writing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("missing.db");
    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite] {
        let error = Database::open(&path, mode, &NOTES).unwrap_err();
        assert!(matches!(error, Error::Missing { .. }), "{error}");
        assert!(error.to_string().contains("missing.db"));
    }
    assert!(contents(directory.path()).is_empty());
    let error =
        Database::open(directory.path().join("no/such/dir.db"), OpenMode::Create, &NOTES).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    let error = Database::open(directory.path(), OpenMode::Create, &NOTES).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_unchanged() {
    let samples: [&[u8]; 5] =
        [b"x", b"hello, this is text\n", &[0; 4096], &[0xff; 9000], b"SQLite format 3 but not quite"];
    for sample in samples {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        fs::write(&path, sample).unwrap();
        let before = contents(directory.path());
        for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite, OpenMode::Create] {
            let error = Database::open(&path, mode, &NOTES).unwrap_err();
            assert!(matches!(error, Error::NotADatabase { .. }), "{mode:?}: {error}");
            let message = error.to_string();
            assert!(message.contains("a.db") && message.contains("restore"), "{message}");
            assert_eq!(contents(directory.path()), before, "{mode:?}");
        }
    }
}

#[test]
fn an_empty_file_is_initialised_only_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    fs::write(&path, b"").unwrap();
    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite] {
        assert!(matches!(Database::open(&path, mode, &NOTES).unwrap_err(), Error::Empty { .. }));
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    let mut db = Database::open(&path, OpenMode::Create, &NOTES).unwrap();
    assert_eq!(count(&mut db), 0);
}

#[test]
fn a_log_without_its_database_is_not_thrown_away() {
    for leave_empty in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        fs::write(directory.path().join("a.db-wal"), b"perhaps all that is left").unwrap();
        if leave_empty {
            fs::write(&path, b"").unwrap();
        }
        let before = contents(directory.path());
        let error = Database::open(&path, OpenMode::Create, &NOTES).unwrap_err();
        assert!(matches!(error, Error::OrphanedLog { .. }), "{error}");
        assert_eq!(contents(directory.path()), before);
    }
}

/// A database of several pages, closed.
fn filled(path: &Path) {
    let mut db = Database::open(path, OpenMode::Create, &NOTES).unwrap();
    for number in 0..200 {
        add(&mut db, &format!("{number} {}", "text ".repeat(50)));
    }
}

#[test]
fn damage_is_reported_and_not_repaired() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    filled(&path);
    let mut bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 5 * 4096);
    for byte in &mut bytes[2 * 4096..5 * 4096] {
        *byte = 0x5a;
    }
    fs::write(&path, &bytes).unwrap();
    let before = contents(directory.path());
    let mut db = Database::open(&path, OpenMode::ReadOnly, &NOTES).unwrap();
    for error in [db.quick_check().unwrap_err(), db.integrity_check().unwrap_err()] {
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("restore"), "{error}");
    }
    let copy = db.backup_to(directory.path().join("copy.db")).unwrap_err();
    assert!(matches!(copy, Error::Damaged { .. }), "{copy}");
    drop(db);
    assert_eq!(contents(directory.path()), before);
}

#[test]
fn a_damaged_first_page_is_refused_in_every_mode() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    filled(&path);
    let mut bytes = fs::read(&path).unwrap();
    for byte in &mut bytes[100..4096] {
        *byte = 0xee;
    }
    fs::write(&path, &bytes).unwrap();
    let before = contents(directory.path());
    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite, OpenMode::Create] {
        let error = Database::open(&path, mode, &NOTES).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{mode:?}: {error}");
        assert_eq!(contents(directory.path())["a.db"], before["a.db"], "{mode:?}");
    }
}

#[test]
fn reading_creates_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("with space & ?.db");
    filled(&path);
    let before = contents(directory.path());
    let mut db = Database::open(&path, OpenMode::ReadOnly, &NOTES).unwrap();
    assert_eq!(count(&mut db), 200);
    db.integrity_check().unwrap();
    assert_eq!(contents(directory.path()), before);
    let refused = db.write(|tx| tx.execute("DELETE FROM note", []));
    assert!(matches!(refused.unwrap_err(), Error::ReadOnly { .. }));
    let refused = db.read(|tx| tx.execute("DELETE FROM note", []));
    assert!(matches!(refused.unwrap_err(), Error::ReadOnly { .. }));
    drop(db);
    assert_eq!(contents(directory.path()), before);
}

#[test]
fn a_reader_sees_what_is_written_after_it_opened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    filled(&path);
    let mut reader = Database::open(&path, OpenMode::ReadOnly, &NOTES).unwrap();
    assert_eq!(count(&mut reader), 200);
    // Opened, written and closed while the reader holds no lock.
    let mut writer = Database::open(&path, OpenMode::ReadWrite, &NOTES).unwrap();
    add(&mut writer, "more");
    drop(writer);
    assert_eq!(count(&mut reader), 201);
    // And again beside it.
    let mut writer = Database::open(&path, OpenMode::ReadWrite, &NOTES).unwrap();
    let version = reader.data_version().unwrap();
    add(&mut writer, "more");
    assert_ne!(reader.data_version().unwrap(), version);
    assert_eq!(count(&mut reader), 202);
}

#[test]
fn a_link_leads_to_the_same_database() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let mut writer = Database::open(&path, OpenMode::Create, &NOTES).unwrap();
    add(&mut writer, "in the log, not yet in the file");
    let mut reader = Database::open(&link, OpenMode::ReadOnly, &NOTES).unwrap();
    assert_eq!(count(&mut reader), 1);
    assert_eq!(contents(elsewhere.path()).len(), 1);
}

#[test]
fn a_change_during_a_read_makes_it_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    filled(&path);
    let mut reader = Database::open(&path, OpenMode::ReadOnly, &NOTES).unwrap();
    let mut writer = None;
    let counts = reader.read(|tx| {
        let count = || tx.query_row("SELECT count(*) FROM note", [], |row| row.get::<_, i64>(0));
        let first = count()?;
        if writer.is_none() {
            let mut db = Database::open(&path, OpenMode::ReadWrite, &NOTES).unwrap();
            db.write(|tx| tx.execute("DELETE FROM note", [])).unwrap();
            writer = Some(db);
        }
        Ok((first, count()?))
    });
    assert_eq!(counts.unwrap(), (0, 0), "one state, and the present one");
}

#[test]
fn reading_is_one_snapshot() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let mut writer = Database::open(&path, OpenMode::Create, &NOTES).unwrap();
    let mut reader = Database::open(&path, OpenMode::ReadOnly, &NOTES).unwrap();
    let counts = reader.read(|tx| {
        let count = || tx.query_row("SELECT count(*) FROM note", [], |row| row.get::<_, i64>(0));
        let before = count()?;
        add(&mut writer, "meanwhile");
        Ok((before, count()?))
    });
    assert_eq!(counts.unwrap(), (0, 0));
    assert_eq!(count(&mut reader), 1);
}

#[test]
fn a_failed_write_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut db = Database::open(directory.path().join("a.db"), OpenMode::Create, &NOTES).unwrap();
    let failed = db.write(|tx| {
        tx.execute("INSERT INTO note (text) VALUES ('half')", [])?;
        tx.execute("INSERT INTO nowhere VALUES (1)", [])
    });
    assert!(matches!(failed.unwrap_err(), Error::Sqlite { .. }));
    let refused: Result<(), Box<dyn std::error::Error>> = db.transact(|tx| {
        tx.execute("INSERT INTO note (text) VALUES ('half')", [])?;
        Err("a reason of its own".into())
    });
    assert_eq!(refused.unwrap_err().to_string(), "a reason of its own");
    assert_eq!(count(&mut db), 0);
    add(&mut db, "whole");
    assert_eq!(count(&mut db), 1);
}

#[test]
fn a_locked_database_is_named_after_a_bounded_wait() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let mut holder = Database::open(&path, OpenMode::Create, &NOTES).unwrap();
    let patience = Patience { retries: 2, shortest: Duration::ZERO, longest: Duration::from_millis(1) };
    let options = Options { busy: Duration::ZERO, patience, ..Options::default() };
    let mut other = Database::open_with(&path, OpenMode::ReadWrite, &NOTES, options).unwrap();
    holder
        .write(|_| {
            let error = other.write(|tx| tx.execute("DELETE FROM note", [])).unwrap_err();
            assert!(matches!(error, Error::Busy { .. }), "{error}");
            assert!(error.to_string().contains("a.db"), "{error}");
            // Reading is not disturbed.
            assert_eq!(count(&mut other), 0);
            Ok(())
        })
        .unwrap();
    add(&mut other, "now it works");
}

#[test]
fn steps_are_applied_in_order_and_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    add(&mut Database::open(&path, OpenMode::Create, &NOTES).unwrap(), "first");
    let error = Database::open(&path, OpenMode::ReadOnly, &LATER).unwrap_err();
    assert!(matches!(error, Error::Outdated { .. }), "{error}");
    for _ in 0..2 {
        let mut db = Database::open(&path, OpenMode::ReadWrite, &LATER).unwrap();
        let tag: String =
            db.read(|tx| tx.query_row("SELECT tag FROM note WHERE id = 1", [], |row| row.get(0))).unwrap();
        assert_eq!(tag, "old");
        db.write(|tx| tx.execute("INSERT INTO note (text, tag) VALUES ('x', 'new')", [])).unwrap();
    }
    let mut db = Database::open(&path, OpenMode::ReadOnly, &LATER).unwrap();
    let kept: i64 = db
        .read(|tx| tx.query_row("SELECT count(*) FROM note WHERE tag = 'new'", [], |row| row.get(0)))
        .unwrap();
    assert_eq!(kept, 2, "the last step ran only once");
    drop(db);
    let error = Database::open(&path, OpenMode::ReadWrite, &NOTES).unwrap_err();
    assert!(matches!(error, Error::TooNew { found: 3, known: 1, .. }), "{error}");
}

#[test]
fn a_step_that_fails_takes_all_steps_back() {
    const BROKEN: Migrations = Migrations {
        steps: &[NOTES.steps[0], Migration::sql(2, "CREATE TABLE extra (x)"), Migration::sql(3, "NOT SQL")],
        ..NOTES
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    drop(Database::open(&path, OpenMode::Create, &NOTES).unwrap());
    assert!(Database::open(&path, OpenMode::ReadWrite, &BROKEN).is_err());
    let mut db = Database::open(&path, OpenMode::ReadOnly, &NOTES).unwrap();
    let tables: i64 = db
        .read(|tx| {
            tx.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'", [], |row| row.get(0))
        })
        .unwrap();
    assert_eq!(tables, 0);
}

#[test]
fn a_database_of_something_else_is_refused_and_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let foreign = hermes_store::rusqlite::Connection::open(&path).unwrap();
    foreign.execute_batch("CREATE TABLE bookmark (x); PRAGMA user_version = 1").unwrap();
    drop(foreign);
    let before = contents(directory.path());
    for schema in [&NOTES, &SHARED] {
        for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite, OpenMode::Create] {
            let error = Database::open(&path, mode, schema).unwrap_err();
            assert!(matches!(error, Error::Foreign { .. }), "{mode:?}: {error}");
            assert!(error.to_string().contains("bookmark"), "{error}");
            assert_eq!(contents(directory.path()), before);
        }
    }
    Database::open(&path, OpenMode::ReadWrite, &AnySchema).unwrap();
}

#[test]
fn a_write_while_reading_is_refused_and_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let mut db = Database::open(directory.path().join("a.db"), OpenMode::Create, &NOTES).unwrap();
    add(&mut db, "kept");
    let refused = db.read(|tx| tx.execute("DELETE FROM note", []));
    assert!(matches!(refused.unwrap_err(), Error::ReadOnly { .. }));
    assert_eq!(count(&mut db), 1);
    add(&mut db, "goes on");
    assert_eq!(count(&mut db), 2);
}

#[test]
fn a_version_in_a_table_is_read_kept_and_raised() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let version = |db: &mut Database| -> (i64, i64) {
        db.read(|tx| {
            tx.query_row("SELECT max(version), count(*) FROM schema_version", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
        })
        .unwrap()
    };
    // Made by the other program at an older version.
    let other = hermes_store::rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch(
            "CREATE TABLE schema_version (version INTEGER NOT NULL); INSERT INTO schema_version VALUES (6);
             CREATE TABLE session (id TEXT PRIMARY KEY)",
        )
        .unwrap();
    drop(other);
    let mut db = Database::open(&path, OpenMode::ReadWrite, &SHARED).unwrap();
    assert_eq!(version(&mut db), (7, 1));
    // The other program goes on to a version we do not know, which only adds.
    db.write(|tx| tx.execute("UPDATE schema_version SET version = 12", [])).unwrap();
    drop(db);
    let mut db = Database::open(&path, OpenMode::ReadWrite, &SHARED).unwrap();
    assert_eq!(version(&mut db), (12, 1));
    // A new one of ours looks the same.
    let mut fresh = Database::open(directory.path().join("b.db"), OpenMode::Create, &SHARED).unwrap();
    assert_eq!(version(&mut fresh), (7, 1));
}
