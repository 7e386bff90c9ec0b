//! Several real processes on one database: nothing is lost, nothing is torn, whatever is killed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::collections::HashSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use hermes_store::{AnySchema, Database, Error, Migration, Migrations, Newer, OpenMode, VersionIn};

const LEDGER: Migrations = Migrations {
    name: "ledger",
    version: VersionIn::Header { application_id: 0x4c44_4752 },
    steps: &[Migration::sql(
        1,
        "CREATE TABLE entry (writer INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (writer, number));
         CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL, padding TEXT NOT NULL);
         INSERT INTO account WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
             SELECT i, 100, hex(randomblob(200)) FROM n",
    )],
    newer: Newer::Refuse,
};

const DATABASE: &str = "STORE_TEST_DATABASE";
const WRITER: &str = "STORE_TEST_WRITER";

/// Starts one of the child tests below in a process of its own.
fn child(test: &str, database: &Path, writer: u32) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(DATABASE, database)
        .env(WRITER, writer.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// What the parent of a child test asked for; nothing when it is run by hand.
fn asked() -> Option<(Database, i64)> {
    let path = env::var_os(DATABASE)?;
    let writer = env::var(WRITER).unwrap().parse().unwrap();
    Some((Database::open(path, OpenMode::Create, &LEDGER).unwrap(), writer))
}

/// The numbers a child acknowledged, one per line among the test harness's own lines.
fn acknowledged(child: &mut Child) -> impl Iterator<Item = i64> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("written ")?.parse().ok())
}

fn acknowledge(number: i64) {
    let mut out = std::io::stdout().lock();
    // The parent may have gone; then nobody counts on this number.
    let _ = writeln!(out, "written {number}").and_then(|()| out.flush());
}

/// Does nothing by itself: the tests below start it as a process of its own.
#[test]
fn child_that_appends() {
    let Some((mut db, writer)) = asked() else { return };
    let next = "SELECT coalesce(max(number), 0) + 1 FROM entry WHERE writer = ?1";
    for _ in 0..400 {
        let number = db
            .write(|tx| {
                let number: i64 = tx.query_row(next, [writer], |row| row.get(0))?;
                tx.execute("INSERT INTO entry VALUES (?1, ?2)", [writer, number])?;
                tx.execute("UPDATE account SET amount = amount + 1 WHERE id = 1", [])?;
                Ok(number)
            })
            .unwrap();
        acknowledge(number);
    }
}

/// Does nothing by itself: the tests below start it as a process of its own.
#[test]
fn child_that_moves_money() {
    let Some((mut db, writer)) = asked() else { return };
    for round in 0.. {
        let (from, to) = ((round * 7 + writer) % 500 + 1, (round * 13 + writer * 3) % 500 + 1);
        let moved = db.write(|tx| {
            tx.execute("UPDATE account SET amount = amount - 5 WHERE id = ?1", [from])?;
            tx.execute(
                "UPDATE account SET amount = amount + 5, padding = hex(randomblob(200)) WHERE id = ?1",
                [to],
            )
        });
        moved.unwrap();
        acknowledge(round);
    }
}

#[test]
fn two_processes_that_write_at_once_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    // Not created beforehand: they also meet in making the file and its schema.
    let children: Vec<Child> = (1..=3).map(|writer| child("child_that_appends", &path, writer)).collect();
    for mut child in children {
        assert_eq!(acknowledged(&mut child).count(), 400);
        assert!(child.wait().unwrap().success());
    }
    let mut db = Database::open(&path, OpenMode::ReadOnly, &LEDGER).unwrap();
    let rows: i64 = db.read(|tx| tx.query_row("SELECT count(*) FROM entry", [], |row| row.get(0))).unwrap();
    let sum: i64 =
        db.read(|tx| tx.query_row("SELECT amount FROM account WHERE id = 1", [], |row| row.get(0))).unwrap();
    assert_eq!((rows, sum), (1200, 1300));
    db.integrity_check().unwrap();
}

#[test]
fn a_killed_writer_leaves_every_acknowledged_row() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let mut kept = HashSet::new();
    for round in 0..25 {
        let mut child = child("child_that_appends", &path, 1);
        let mut numbers = acknowledged(&mut child);
        // Another moment each time, from right after the first write to far into the run.
        kept.extend(numbers.by_ref().take(1 + round * round % 97));
        child.kill().unwrap();
        child.wait().unwrap();
        // What was in the pipe when it died was acknowledged too.
        kept.extend(numbers);
        let mut db = Database::open(&path, OpenMode::ReadWrite, &LEDGER).unwrap();
        db.integrity_check().unwrap();
        let rows: HashSet<i64> = db
            .read(|tx| {
                let mut statement = tx.prepare("SELECT number FROM entry WHERE writer = 1")?;
                statement.query_map([], |row| row.get(0))?.collect()
            })
            .unwrap();
        assert!(
            kept.is_subset(&rows),
            "round {round}: {:?} were acknowledged and are gone",
            kept.difference(&rows)
        );
        let applied: i64 = db
            .read(|tx| tx.query_row("SELECT amount FROM account WHERE id = 1", [], |row| row.get(0)))
            .unwrap();
        assert_eq!(applied, 100 + rows.len() as i64, "round {round}: half a transaction was kept");
    }
    assert!(kept.len() >= 25);
}

#[test]
fn a_reader_finds_everything_after_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let mut child = child("child_that_appends", &path, 1);
    let mut numbers = acknowledged(&mut child);
    let mut kept: Vec<i64> = numbers.by_ref().take(20).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    kept.extend(numbers);
    // The log is still there, and reading must look into it.
    let mut db = Database::open(&path, OpenMode::ReadOnly, &LEDGER).unwrap();
    let last: i64 =
        db.read(|tx| tx.query_row("SELECT max(number) FROM entry", [], |row| row.get(0))).unwrap();
    assert!(last >= *kept.last().unwrap());
}

#[test]
fn copies_made_while_others_write_are_consistent() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let mut db = Database::open(&path, OpenMode::Create, &LEDGER).unwrap();
    let mut children: Vec<Child> =
        (1..=2).map(|writer| child("child_that_moves_money", &path, writer)).collect();
    let readers: Vec<_> = children
        .iter_mut()
        .map(|child| {
            let mut numbers = acknowledged(child);
            assert!(numbers.next().is_some(), "it writes by now");
            // Empty the pipe, so that it never waits for us.
            thread::spawn(move || numbers.count())
        })
        .collect();
    let mut seen = HashSet::new();
    for round in 0..15 {
        let copy = directory.path().join(format!("copy-{round}.db"));
        db.backup_to(&copy).unwrap();
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        let mut copied = Database::open(&copy, OpenMode::ReadOnly, &LEDGER).unwrap();
        copied.integrity_check().unwrap();
        let (total, state): (i64, String) = copied
            .read(|tx| {
                let sql =
                    "SELECT sum(amount), group_concat(amount) FROM (SELECT amount FROM account ORDER BY id)";
                tx.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            })
            .unwrap();
        assert_eq!(total, 500 * 100, "copy {round} holds half a transfer");
        seen.insert(state);
    }
    assert!(seen.len() > 1, "nobody wrote while the copies were made");
    for child in &mut children {
        assert!(child.try_wait().unwrap().is_none(), "a writer failed because of the copies");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    for reader in readers {
        reader.join().unwrap();
    }
    let left = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let odd: Vec<String> = left
        .filter(|name| name.starts_with('.') || name.starts_with("copy-") && name.contains(".db-"))
        .collect();
    assert!(odd.is_empty(), "left behind: {odd:?}");
}

#[test]
fn a_copy_never_replaces_a_file_and_a_snapshot_removes_itself() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let mut db = Database::open(&path, OpenMode::Create, &LEDGER).unwrap();
    let taken = directory.path().join("taken.db");
    fs::write(&taken, b"precious").unwrap();
    let error = db.backup_to(&taken).unwrap_err();
    assert!(matches!(error, Error::CopyExists { .. }), "{error}");
    assert_eq!(fs::read(&taken).unwrap(), b"precious");
    let other = tempfile::tempdir().unwrap();
    let snapshot = db.snapshot(other.path()).unwrap();
    assert!(fs::read(snapshot.path()).unwrap().starts_with(b"SQLite format 3\0"));
    let mut copy = Database::open(snapshot.path(), OpenMode::ReadOnly, &AnySchema).unwrap();
    copy.quick_check().unwrap();
    drop(copy);
    drop(snapshot);
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
}
