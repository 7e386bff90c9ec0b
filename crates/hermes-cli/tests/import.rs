//! `hermes import` as a user runs it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_store::rusqlite::Connection;
use hermes_testkit::home::{Entry, EntryKind};
use hermes_testkit::{Hermes, TestHome};

const SOON: Duration = Duration::from_secs(30);

fn hermes(home: &TestHome, args: &[&str]) -> Hermes {
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).args(args)
}

fn import(home: &TestHome, archive: &Path, flags: &[&str]) -> Hermes {
    hermes(home, &["import", archive.to_str().unwrap()]).args(flags)
}

/// A backup of a small home with a profile, a database and a program.
fn backup() -> (TestHome, PathBuf) {
    let home = TestHome::new();
    home.config("new: config\n").env_file("KEY=new\n");
    home.write("profiles/work/config.yaml", "new: work\n");
    fs::create_dir_all(home.path().join("profiles/empty")).unwrap();
    home.write("skills/x/SKILL.md", "new skill");
    let tool = home.write("bin/tool", "#!/bin/sh\n");
    fs::set_permissions(tool, fs::Permissions::from_mode(0o775)).unwrap();
    home.write("gateway_state.json", "{\"new\":1}");
    write_database(&home.path().join("state.db"), "new");
    let archive = home.work_dir().join("b.zip");
    hermes(&home, &["backup", "-o", "b.zip"]).run().success();
    (home, archive)
}

fn write_database(path: &Path, word: &str) -> Connection {
    let db = Connection::open(path).unwrap();
    db.execute_batch("PRAGMA journal_mode=wal; CREATE TABLE t(word)").unwrap();
    db.execute("INSERT INTO t VALUES(?)", [word]).unwrap();
    db
}

fn read_database(path: &Path) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let check: String = db.query_row("PRAGMA integrity_check", [], |r| r.get(0)).unwrap();
    assert_eq!(check, "ok");
    let mut query = db.prepare("SELECT word FROM t").unwrap();
    query.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The home without what imports keep there.
fn outside_snapshots(home: &TestHome) -> BTreeMap<PathBuf, Entry> {
    let mut all = home.snapshot();
    all.retain(|path, _| !path.starts_with("state-snapshots"));
    all
}

#[test]
fn a_new_home_gets_everything_with_safe_modes() {
    let (_old, archive) = backup();
    let home = TestHome::new();
    fs::remove_dir(home.path()).unwrap();
    let done = import(&home, &archive, &["--json"]).run().success().json();
    assert_eq!((&done["restored"], &done["replaced"]), (&6.into(), &serde_json::json!([])));
    assert_eq!(done["kept"], serde_json::json!(["gateway_state.json"]));
    assert_eq!(home.read("profiles/work/config.yaml"), "new: work\n");
    assert_eq!(read_database(&home.path().join("state.db")), ["new"]);
    assert!(home.path().join("profiles/empty").is_dir());
    for (name, mode) in [("", 0o700), ("profiles/empty", 0o700), ("skills", 0o700), (".env", 0o600)] {
        assert_eq!(home.mode(name), mode, "{name}");
    }
    assert_eq!(
        (home.mode("state.db"), home.mode("config.yaml"), home.mode("bin/tool")),
        (0o600, 0o600, 0o755)
    );
    assert!(!home.path().join("gateway_state.json").exists());
    assert_eq!(done["aliases"], serde_json::json!(["empty", "work"]));
    let alias = Hermes::new(home.user_home().join(".local/bin/work"), &home).args(["config", "path"]).run();
    alias.success().stdout_has("profiles/work/config.yaml");
}

#[test]
fn nothing_is_replaced_without_being_told_to() {
    let (_old, archive) = backup();
    let home = TestHome::new();
    home.config("old: config\n").write("skills/x/SKILL.md", "new skill");
    let before = outside_snapshots(&home);
    let refused = import(&home, &archive, &[]).run();
    refused.code(1).stderr_has("  config.yaml").stderr_has("--force").stderr_lacks("SKILL.md");
    assert_eq!(outside_snapshots(&home), before);
    assert!(!home.path().join("state-snapshots").exists(), "not even a lock is left");
    import(&home, &archive, &["--dry-run"]).run().success().stdout_has("replaces config.yaml");
    assert_eq!(outside_snapshots(&home), before);
    let done = import(&home, &archive, &["--force"]).run();
    done.success().stdout_has("4 new, 1 replaced, 1 already the same").stdout_has("what was replaced is in ");
    assert_eq!(home.read("config.yaml"), "new: config\n");
}

#[test]
fn a_dry_run_does_not_even_make_the_home() {
    let (_old, archive) = backup();
    let home = TestHome::new();
    fs::remove_dir(home.path()).unwrap();
    let done = import(&home, &archive, &["--dry-run", "--json"]).run().success().json();
    assert_eq!((&done["dry_run"], &done["restored"]), (&true.into(), &6.into()));
    assert!(!home.path().exists());
}

#[test]
fn what_was_replaced_can_be_brought_back() {
    let (_old, archive) = backup();
    let home = TestHome::new();
    home.config("old: config\n").write("mine", "stays");
    drop(write_database(&home.path().join("state.db"), "old"));
    let done = import(&home, &archive, &["-f", "--json"]).run().success().json();
    assert_eq!(
        (read_database(&home.path().join("state.db")), home.read("mine")),
        (vec!["new".into()], "stays".into())
    );
    let kept = PathBuf::from(done["kept_in"].as_str().unwrap());
    assert_eq!(read_database(&kept.join("state.db")), ["old"]);
    import(&home, &kept, &["-f"]).run().success();
    assert_eq!(home.read("config.yaml"), "old: config\n");
    assert_eq!(read_database(&home.path().join("state.db")), ["old"]);
}

#[test]
fn a_snapshot_goes_back_into_the_home_it_lies_in() {
    let home = TestHome::new();
    home.config("root: 1\n");
    home.write("profiles/work/config.yaml", "good: 1\n");
    let made = hermes(&home, &["-p", "work", "backup", "-q", "--json"]).run().success().json();
    let snapshot = PathBuf::from(made["path"].as_str().unwrap());
    assert!(snapshot.starts_with(fs::canonicalize(home.path().join("profiles/work")).unwrap()));
    let again = import(&home, &snapshot, &["--json"]).run().success().json();
    assert_eq!((&again["replaced"], &again["unchanged"]), (&serde_json::json!([]), &1.into()));
    home.write("profiles/work/config.yaml", "bad: 1\n");
    import(&home, &snapshot, &["-f"]).run().success();
    assert_eq!(home.read("profiles/work/config.yaml"), "good: 1\n");
    assert_eq!(home.read("config.yaml"), "root: 1\n");
    import(&home, &home.work_dir(), &[]).run().code(2).stderr_has("not a snapshot");
}

/// What is in the log of the replaced database must not get into the new one.
#[test]
fn the_log_of_an_old_database_is_not_applied_to_the_new_one() {
    let (_old, archive) = backup();
    let crashed = TestHome::new();
    let home = TestHome::new();
    let db = write_database(&crashed.path().join("state.db"), "checkpointed");
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint=0;").unwrap();
    db.execute("INSERT INTO t VALUES('only in the log')", []).unwrap();
    for name in ["state.db", "state.db-wal"] {
        home.write(name, fs::read(crashed.path().join(name)).unwrap());
    }
    let done = import(&home, &archive, &["-f", "--json"]).run().success().json();
    assert_eq!(read_database(&home.path().join("state.db")), ["new"]);
    let kept = PathBuf::from(done["kept_in"].as_str().unwrap());
    assert_eq!(read_database(&kept.join("state.db")), ["checkpointed", "only in the log"]);
}

#[test]
fn a_damaged_database_comes_back_as_it_was_with_its_log() {
    let home = TestHome::new();
    home.config("").write("state.db", "damaged".repeat(1000));
    home.write("state.db-wal", "log");
    hermes(&home, &["backup", "-o", "b.zip"]).run().code(1);
    let other = TestHome::new();
    import(&other, &home.work_dir().join("b.zip"), &[]).run().success();
    assert_eq!((other.read("state.db"), other.read("state.db-wal")), (home.read("state.db"), "log".into()));
}

#[test]
fn a_home_in_use_is_not_touched() {
    let (_old, archive) = backup();
    let home = TestHome::new();
    home.config("old: 1\n");
    let before = outside_snapshots(&home);
    let open = write_database(&home.path().join("kanban.db"), "in use");
    let refused = import(&home, &archive, &["--force"]).run();
    refused.code(1).stderr_has(&format!("process {}", std::process::id())).stderr_has("kanban.db open");
    drop(open);
    fs::remove_file(home.path().join("kanban.db")).unwrap();
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let started = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap();
    let record = format!("{{\"pid\": {}, \"start_time\": {started}}}", std::process::id());
    home.write("profiles/work/gateway.pid", record);
    import(&home, &archive, &["-f"]).run().code(1).stderr_has("the gateway of profile \"work\" runs");
    fs::remove_dir_all(home.path().join("profiles")).unwrap();
    assert_eq!(outside_snapshots(&home), before);
    import(&home, &archive, &["--force"]).run().success();
}

#[test]
fn links_and_directories_in_the_way_are_named_before_anything_changes() {
    let (_old, archive) = backup();
    let outside = tempfile::tempdir().unwrap();
    let home = TestHome::new();
    symlink(outside.path(), home.path().join("skills")).unwrap();
    import(&home, &archive, &["-f"]).run().code(1).stderr_has("skills is a symbolic link");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    fs::remove_file(home.path().join("skills")).unwrap();
    fs::create_dir(home.path().join("config.yaml")).unwrap();
    import(&home, &archive, &["-f"]).run().code(1).stderr_has("config.yaml is a directory here");
    fs::remove_dir(home.path().join("config.yaml")).unwrap();
    home.write("profiles", "a file");
    import(&home, &archive, &["-f"]).run().code(1).stderr_has("profiles is a file here");
    assert!(!home.path().join(".env").exists());
    fs::remove_file(home.path().join("profiles")).unwrap();
    let dotfiles = outside.path().join("my-config.yaml");
    fs::write(&dotfiles, "mine\n").unwrap();
    symlink(&dotfiles, home.path().join("config.yaml")).unwrap();
    import(&home, &archive, &["-f"]).run().success();
    assert_eq!(
        (home.read("config.yaml"), fs::read_to_string(dotfiles).unwrap()),
        ("new: config\n".into(), "mine\n".into())
    );
}

/// A home large enough that an import takes a while, in an old and a new version.
fn many(word: &str) -> TestHome {
    let home = TestHome::new();
    home.config(format!("version: {word}\n"));
    for n in 0..150 {
        home.write(format!("skills/s{n}/SKILL.md"), format!("{word} {n}"));
    }
    drop(write_database(&home.path().join("state.db"), word));
    home
}

/// Everything but the database, which is compared by what is in it, and the logs, which tell of the imports.
fn texts(home: &TestHome) -> BTreeMap<PathBuf, Entry> {
    let mut all = outside_snapshots(home);
    all.retain(|path, entry| {
        let database = path.to_string_lossy().starts_with("state.db");
        !database && !path.starts_with("logs") && matches!(entry.kind, EntryKind::File(_))
    });
    all
}

/// What must have happened before the program is killed: it has begun to unpack, or has put so many files in place.
fn moment(home: &TestHome, round: usize) -> Box<dyn Fn() -> bool> {
    let unpacking =
        home.path().join(format!("state-snapshots/.importing/new/skills/s{}/SKILL.md", round * 4));
    let skill = home.path().join(format!("skills/s{}/SKILL.md", 10 + round * 2));
    match round % 4 {
        0 => Box::new(move || unpacking.exists()),
        _ => Box::new(move || fs::read(&skill).is_ok_and(|text| text.starts_with(b"new"))),
    }
}

#[test]
fn killed_at_any_moment_it_leaves_the_old_or_the_new_or_what_can_be_finished_or_undone() {
    let new = many("new");
    hermes(&new, &["backup", "-o", "b.zip"]).run().success();
    let archive = new.work_dir().join("b.zip");
    let home = many("old");
    hermes(&home, &["backup", "-o", "old.zip"]).run().success();
    let old_archive = home.work_dir().join("old.zip");
    let (old_texts, new_texts) = (texts(&home), texts(&new));
    let mut outcomes = BTreeMap::new();
    for round in 0..32_usize {
        let mut running = import(&home, &archive, &["-f"]).spawn();
        let moment = moment(&home, round);
        while !moment() && running.is_running() {
            std::hint::spin_loop();
        }
        running.kill9();
        let pending = home.path().join("state-snapshots/.importing/plan.json").exists();
        if pending {
            import(&home, &archive, &["-f"]).run().code(1).stderr_has("was interrupted");
            hermes(&home, &["backup"]).run().code(1).stderr_has("was interrupted");
        }
        let (outcome, word) = match (pending, (round / 4) % 2) {
            (true, 0) => {
                hermes(&home, &["import", "--finish"]).run().success().stdout_has("completed");
                ("finished", "new")
            }
            (true, _) => {
                hermes(&home, &["import", "--undo"]).run().success().stdout_has("put everything back");
                ("undone", "old")
            }
            (false, _) if home.read("config.yaml").contains("new") => ("whole", "new"),
            (false, _) => ("untouched", "old"),
        };
        *outcomes.entry(outcome).or_insert(0) += 1;
        assert_eq!(read_database(&home.path().join("state.db")), [word], "round {round}: {outcome}");
        let expected = if word == "new" { &new_texts } else { &old_texts };
        assert!(&texts(&home) == expected, "round {round}: {outcome}, but not all of {word}");
        if word == "new" {
            import(&home, &old_archive, &["-f"]).run().success();
        }
    }
    let interrupted = outcomes.get("finished").unwrap_or(&0) + outcomes.get("undone").unwrap_or(&0);
    assert!(interrupted > 0, "never killed half-way: {outcomes:?}");
    hermes(&home, &["import", "--finish"]).limit(SOON).run().success().stderr_has("no import");
    let snapshots = fs::read_dir(home.path().join("state-snapshots")).unwrap();
    let left: Vec<_> = snapshots.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert!(
        left.iter().all(|n| n.starts_with("pre-import-") || n == ".import.lock" || n == ".importing"),
        "{left:?}"
    );
}
