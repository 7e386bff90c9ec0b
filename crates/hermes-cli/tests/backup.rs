//! `hermes backup` as a user runs it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hermes_store::rusqlite::Connection;
use hermes_testkit::{Hermes, TestHome, wait_until};

const SOON: Duration = Duration::from_secs(30);

fn hermes(home: &TestHome, args: &[&str]) -> Hermes {
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).args(args)
}

/// Makes a backup in the work directory and gives its path.
fn back_up(home: &TestHome) -> PathBuf {
    let made = hermes(home, &["backup", "-o", "b.zip", "--json"]).run();
    PathBuf::from(made.success().json()["path"].as_str().unwrap())
}

/// The files of an archive by name.
fn contents(archive: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut zip = zip::ZipArchive::new(File::open(archive).unwrap()).unwrap();
    (0..zip.len())
        .map(|i| {
            let mut file = zip.by_index(i).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            (file.name().unwrap().into_owned(), bytes)
        })
        .collect()
}

fn names(archive: &Path) -> Vec<String> {
    contents(archive).into_keys().collect()
}

fn make_database(path: &Path) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let db = Connection::open(path).unwrap();
    db.execute_batch("PRAGMA journal_mode=wal; CREATE TABLE a(n); CREATE TABLE b(n);").unwrap();
    db
}

#[test]
fn everything_of_the_root_and_all_profiles_is_saved() {
    let home = TestHome::new();
    home.config("model: {}\n").env_file("KEY=1\n");
    home.write("profiles/work/config.yaml", "x: 1\n");
    home.write("skills/a b/ä.md", "text");
    fs::create_dir_all(home.path().join("profiles/empty")).unwrap();
    let script = home.write("bin/tool", "#!/bin/sh\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let made = hermes(&home, &["-p", "work", "backup", "-o", "b.zip"]).run();
    made.success().stdout_has("5 files").stdout_has("hermes import");
    let archive = home.work_dir().join("b.zip");
    assert_eq!(fs::metadata(&archive).unwrap().permissions().mode() & 0o777, 0o600);
    let expected = [
        ".env",
        "bin/tool",
        "config.yaml",
        "profiles/empty/",
        "profiles/work/config.yaml",
        "skills/a b/ä.md",
    ];
    assert_eq!(names(&archive), expected.map(str::to_owned));
    let mut zip = zip::ZipArchive::new(File::open(&archive).unwrap()).unwrap();
    assert_eq!(zip.by_name("bin/tool").unwrap().unix_mode().unwrap() & 0o777, 0o755);
}

#[test]
fn what_is_not_data_is_left_out_and_named() {
    let home = TestHome::new();
    home.config("");
    for name in [
        "node_modules/x",
        "skills/s/.git/config",
        "hermes-agent/x",
        "backups/x",
        "checkpoints/x",
        "profiles/p/checkpoints/x",
        "state-snapshots/x/y",
        "gateway.pid",
        "cron.pid",
        "x.pyc",
        "old.db-wal",
        ".hermes-write-x",
        "hermes-backup-old.zip",
        "workspace/backups/kept",
    ] {
        home.write(name, "x");
    }
    symlink("/etc/passwd", home.path().join("link")).unwrap();
    symlink(home.path().join("skills"), home.path().join("dirlink")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(home.path().join("socket")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        home.path().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let made = hermes(&home, &["backup", "-o", "b.zip", "--json"]).limit(SOON).run();
    let json = made.success().json();
    assert_eq!(names(&home.work_dir().join("b.zip")), ["config.yaml", "workspace/backups/kept"]);
    let left_out: Vec<&str> =
        json["left_out"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    for name in ["node_modules/", "skills/s/.git/", "state-snapshots/", "profiles/p/checkpoints/"] {
        assert!(left_out.contains(&name), "{name} in {left_out:?}");
    }
    assert!(left_out.contains(&"hermes-backup-old.zip"));
    let reasons: Vec<String> = json["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| format!("{} {}", s["path"].as_str().unwrap(), s["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(reasons, ["dirlink symbolic link", "link symbolic link", "pipe pipe", "socket socket"]);
    assert_eq!(json["problems"], serde_json::json!([]));
}

#[test]
fn a_backup_inside_the_home_does_not_hold_itself_or_older_ones() {
    let home = TestHome::new();
    home.config("");
    let dir = home.path().to_str().unwrap();
    for _ in 0..2 {
        let made = hermes(&home, &["backup", "-o", dir, "--json"]).run();
        let archive = PathBuf::from(made.success().json()["path"].as_str().unwrap());
        assert_eq!(data(&archive), ["config.yaml"]);
    }
    hermes(&home, &["backup", "-o", home.path().join("mine.zip").to_str().unwrap()]).run().success();
    assert_eq!(data(&home.path().join("mine.zip")), ["config.yaml"]);
}

/// The names without the logs, which grow with every backup.
fn data(archive: &Path) -> Vec<String> {
    names(archive).into_iter().filter(|name| !name.starts_with("logs/")).collect()
}

#[test]
fn backups_are_logged_with_the_settings_of_the_home() {
    let home = TestHome::new();
    home.config("logging: {level: WARNING}\n").env_file("SOME_API_KEY=abcdefgh-secret-0123456789\n");
    hermes(&home, &["backup", "-o", "b.zip"]).run().success();
    assert!(!home.path().join("logs").exists(), "nothing above the level happened");
    home.config("logging: {level: INFO}\n").write("abcdefgh-secret-0123456789.db", "not a database");
    hermes(&home, &["backup", "-o", "b.zip"]).run().code(1);
    let logged = hermes(&home, &["logs", "--component", "cli"]).run();
    logged.success().stdout_has(" INFO cli.commands.backup.report: wrote the backup ").stdout_has("files=");
    logged.stdout_has(" WARNING ").stdout_lacks("abcdefgh-secret-0123456789");
    hermes(&home, &["logs", "errors"]).run().success().stdout_has("is damaged").stdout_lacks(" INFO ");
    assert_eq!((home.mode("logs"), home.mode("logs/agent.log")), (0o700, 0o600));
}

#[test]
fn a_log_that_cannot_be_written_does_not_fail_the_command() {
    let home = TestHome::new();
    home.config("").write("logs", "a file in the way");
    let made = hermes(&home, &["backup", "-o", "b.zip"]).run();
    made.success().stderr_has("cannot write to the log");
}

#[test]
fn the_default_name_is_dated_and_in_the_users_home() {
    let home = TestHome::new();
    home.config("");
    let json = hermes(&home, &["backup", "--json"]).run().success().json();
    let path = PathBuf::from(json["path"].as_str().unwrap());
    assert_eq!(path.parent().unwrap(), fs::canonicalize(home.user_home()).unwrap());
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("hermes-backup-20"), "{name}");
}

#[test]
fn wrong_requests_write_nothing() {
    let home = TestHome::new();
    home.config("");
    fs::write(home.work_dir().join("notes.txt"), "mine").unwrap();
    hermes(&home, &["backup", "-o", "notes.txt"]).run().code(1).stderr_has("is not a backup");
    assert_eq!(fs::read_to_string(home.work_dir().join("notes.txt")).unwrap(), "mine");
    hermes(&home, &["backup", "-o", "missing/x.zip"]).run().code(1).stderr_has("missing");
    hermes(&home, &["backup", "-l", "x"]).run().code(2).stderr_has("--quick");
    hermes(&home, &["backup", "-q", "-o", "x"]).run().code(2);
    assert_eq!(fs::read_dir(home.work_dir()).unwrap().count(), 1);
    let nothing = TestHome::new();
    fs::remove_dir(nothing.path()).unwrap();
    hermes(&nothing, &["backup"]).run().code(1).stderr_has("there is no home at");
}

#[test]
fn a_database_is_consistent_while_others_write_it() {
    let home = TestHome::new();
    home.config("");
    let path = home.path().join("state.db");
    let db = make_database(&path);
    // The last checkpoint lies far back: what is only in the log must be in the copy too.
    db.execute_batch("PRAGMA wal_autocheckpoint=0; INSERT INTO a VALUES(1); INSERT INTO b VALUES(1);")
        .unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                db_step(&db_again(&path));
            }
        });
        for _ in 0..5 {
            let archive = back_up(&home);
            let copy = home.temp_dir().join("copy.db");
            fs::write(&copy, &contents(&archive)["state.db"]).unwrap();
            let copied = Connection::open(&copy).unwrap();
            let check: String = copied.query_row("PRAGMA integrity_check", [], |r| r.get(0)).unwrap();
            let counts: (i64, i64) = copied
                .query_row("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)", [], |r| {
                    Ok((r.get(0)?, r.get(1)?))
                })
                .unwrap();
            assert_eq!(check, "ok");
            assert!(counts.0 == counts.1 && counts.0 >= 1, "{counts:?}");
            drop(copied);
            fs::remove_file(copy).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(
        names(&home.work_dir().join("b.zip")).iter().all(|n| !n.ends_with("-wal") && !n.ends_with("-shm"))
    );
}

fn db_again(path: &Path) -> Connection {
    let db = Connection::open(path).unwrap();
    db.busy_timeout(SOON).unwrap();
    db
}

/// Both tables grow together or not at all.
fn db_step(db: &Connection) {
    db.execute_batch("BEGIN IMMEDIATE; INSERT INTO a VALUES(1); INSERT INTO b VALUES(1); COMMIT;").unwrap();
}

#[test]
fn a_damaged_database_is_saved_as_it_is_and_said_aloud() {
    let home = TestHome::new();
    home.config("");
    drop(make_database(&home.path().join("good.db")));
    let damaged = "this was state.db once".repeat(500);
    home.write("state.db", &damaged);
    home.write("state.db-wal", "its log");
    let made = hermes(&home, &["backup", "-o", "b.zip"]).run();
    made.code(1)
        .stdout_has("wrote")
        .stderr_has("state.db: the database is damaged")
        .stderr_lacks("incomplete");
    let saved = contents(&home.work_dir().join("b.zip"));
    assert_eq!(saved["state.db"], damaged.as_bytes());
    assert_eq!(saved["state.db-wal"], b"its log");
    assert!(saved["good.db"].starts_with(b"SQLite format 3\0"));
    assert_eq!(home.read("state.db"), damaged, "the original is untouched");
    assert_eq!(home.read("state.db-wal"), "its log");
}

#[test]
fn a_broken_page_inside_a_database_is_noticed() {
    let home = TestHome::new();
    let path = home.path().join("state.db");
    let db = make_database(&path);
    db.execute_batch(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) INSERT INTO a SELECT i FROM n;
         PRAGMA journal_mode=delete;",
    )
    .unwrap();
    drop(db);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 4096 / 2 * 4096;
    bytes[middle..middle + 100].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    hermes(&home, &["backup", "-o", "b.zip"]).run().code(1).stderr_has("state.db: the database is damaged");
    assert_eq!(contents(&home.work_dir().join("b.zip"))["state.db"], bytes);
}

#[test]
fn files_that_are_only_called_like_databases_are_no_problem() {
    let home = TestHome::new();
    home.config("").write("workspace/Thumbs.db", "something else");
    home.write("state.db", "");
    hermes(&home, &["backup", "-o", "b.zip"]).run().success();
    let saved = contents(&home.work_dir().join("b.zip"));
    assert_eq!(
        (saved["workspace/Thumbs.db"].as_slice(), saved["state.db"].len()),
        (&b"something else"[..], 0)
    );
}

#[test]
fn what_a_home_cannot_do_without_is_saved_from_behind_links() {
    let home = TestHome::new();
    let away = home.work_dir().join("dotfiles");
    fs::create_dir_all(away.join("memories/deep")).unwrap();
    for (name, text) in
        [("c", "model: x\n"), ("e", "KEY=1\n"), ("memories/USER.md", "me"), ("memories/deep/x", "x")]
    {
        fs::write(away.join(name), text).unwrap();
    }
    let database = make_database(&away.join("s.db"));
    database.execute_batch("INSERT INTO a VALUES(7)").unwrap();
    fs::create_dir_all(home.path().join("profiles/work")).unwrap();
    for (to, name) in [
        ("c", "config.yaml"),
        ("e", "profiles/work/.env"),
        ("memories", "memories"),
        ("s.db", "state.db"),
        ("c", "other"),
    ] {
        symlink(away.join(to), home.path().join(name)).unwrap();
    }
    symlink(away.join("nothing"), home.path().join("SOUL.md")).unwrap();
    home.write("skills/a.md", "x");
    let archive = back_up(&home);
    let expected = ["config.yaml", "memories/USER.md", "profiles/work/.env", "skills/a.md", "state.db"];
    assert_eq!(names(&archive), expected);
    let fresh = TestHome::new();
    hermes(&fresh, &["import", archive.to_str().unwrap()]).run().success();
    assert_eq!(
        (fresh.read("config.yaml"), fresh.read("profiles/work/.env")),
        ("model: x\n".into(), "KEY=1\n".into())
    );
    let n: i64 =
        db_again(&fresh.path().join("state.db")).query_row("SELECT n FROM a", [], |r| r.get(0)).unwrap();
    assert_eq!(n, 7);
    hermes(&home, &["backup", "--quick"]).run().success();
}

/// Whatever is in it, an import takes what a backup wrote.
#[test]
fn a_backup_without_any_settings_can_be_imported() {
    let home = TestHome::new();
    fs::create_dir_all(home.path().join("profiles/work/skills")).unwrap();
    home.write(".settings.lock", "");
    home.write("profiles/.lock", "");
    let archive = back_up(&home);
    assert_eq!(names(&archive), ["profiles/work/skills/"]);
    let fresh = TestHome::new();
    hermes(&fresh, &["import", archive.to_str().unwrap()]).run().success();
    assert!(fresh.path().join("profiles/work/skills").is_dir());
}

#[test]
fn a_backup_leaves_nothing_beside_the_databases() {
    let home = TestHome::new();
    drop(make_database(&home.path().join("state.db")));
    let names = || home.snapshot().into_keys().filter(|p| !p.starts_with("logs")).collect::<Vec<_>>();
    let before = names();
    hermes(&home, &["backup", "-o", "b.zip"]).run().success();
    assert_eq!(names(), before);
}

#[test]
fn a_killed_backup_leaves_no_archive_and_the_next_one_cleans_up() {
    let home = TestHome::new();
    home.config("");
    let noise: Vec<u8> = (0..4_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for n in 0..8 {
        home.write(format!("data/{n}"), &noise);
    }
    let work = home.work_dir();
    let hidden = || {
        let entries = fs::read_dir(&work).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        entries.filter(|n| n.starts_with(".hermes-backup-")).collect::<Vec<_>>()
    };
    let mut running = hermes(&home, &["backup", "-o", "b.zip"]).spawn();
    wait_until(SOON, "the backup to start", || !hidden().is_empty());
    running.kill9();
    assert!(!work.join("b.zip").exists());
    assert_eq!(hidden().len(), 1);
    hermes(&home, &["backup", "-o", "b.zip"]).run().success();
    assert_eq!((hidden().len(), names(&work.join("b.zip")).len()), (0, 9));
}

#[test]
fn a_snapshot_holds_what_matters_and_twenty_are_kept() {
    let home = TestHome::new();
    home.config("a: 1\n").env_file("KEY=1\n");
    home.write("cron/jobs.json", "[]");
    home.write("pairing/telegram.json", "{}");
    home.write("workspace/big", "not this");
    drop(make_database(&home.path().join("kanban/boards/b/kanban.db")));
    let made = hermes(&home, &["backup", "-q", "-l", "before update/1", "--json"]).run().success().json();
    let dir = PathBuf::from(made["path"].as_str().unwrap());
    let id = made["id"].as_str().unwrap();
    assert!(id.ends_with("-before-update-1"), "{id}");
    let manifest: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.join("manifest.json")).unwrap()).unwrap();
    let listed: Vec<&String> = manifest["files"].as_object().unwrap().keys().collect();
    assert_eq!(
        listed,
        [".env", "config.yaml", "cron/jobs.json", "kanban/boards/b/kanban.db", "pairing/telegram.json"]
    );
    assert_eq!((&manifest["id"], &manifest["file_count"]), (&id.into(), &5.into()));
    assert_eq!(fs::metadata(dir.join(".env")).unwrap().permissions().mode() & 0o777, 0o600);
    home.write("state-snapshots/pre-import-20200101-000000/manifest.json", "{}");
    home.write("state-snapshots/notes", "mine");
    for n in 0..25 {
        home.write(format!("state-snapshots/20200101-0000{n:02}/manifest.json"), "{}");
    }
    hermes(&home, &["backup", "-q"]).run().success().stdout_has("removed the oldest: 20200101-000000");
    let dated = fs::read_dir(home.path().join("state-snapshots")).unwrap().map(|e| e.unwrap().file_name());
    assert_eq!(dated.filter(|n| n.to_string_lossy().starts_with("20")).count(), 20);
    assert!(home.path().join("state-snapshots/pre-import-20200101-000000").exists());
    assert_eq!(home.read("state-snapshots/notes"), "mine");
}
