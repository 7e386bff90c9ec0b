//! Making profiles: fresh ones and clones.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use hermes_store::rusqlite::Connection;
use hermes_testkit::TestHome;

use super::{dir, entries, home_with, listed, profile};

#[test]
fn a_fresh_profile_has_its_directories_and_private_modes() {
    let home = TestHome::new();
    let made = profile(&home, &["create", "work", "--no-alias"]);
    made.success().stdout_has("created profile \"work\"").stdout_has("hermes -p work");
    for name in ["memories", "sessions", "skills", "skins", "logs", "plans", "workspace", "cron", "home"] {
        assert_eq!(home.mode(format!("profiles/work/{name}")), 0o700, "{name}");
    }
    assert_eq!((home.mode("profiles"), home.mode("profiles/work")), (0o700, 0o700));
    assert_eq!(home.mode("profiles/work/.env"), 0o600);
    assert!(home.read("profiles/work/SOUL.md").contains("Hermes"));
    assert!(!dir(&home, "work").join(".no-bundled-skills").exists());
    profile(&home, &["create", "bare", "--no-skills", "--no-alias"]).success();
    assert!(dir(&home, "bare").join(".no-bundled-skills").exists());
}

#[test]
fn bad_reserved_and_taken_names_are_refused_and_nothing_is_made() {
    let home = home_with(&["work"]);
    fs::write(dir(&home, "file"), "x").unwrap();
    symlink("nowhere", dir(&home, "broken")).unwrap();
    let before = home.snapshot();
    for bad in ["Work", "../x", "a/b", "", "a b", "-x", &"x".repeat(65)] {
        profile(&home, &["create", "--no-alias", "--", bad]).code(2).stderr_has("not a profile name");
    }
    for reserved in ["default", "hermes", "test", "tmp", "root", "sudo"] {
        profile(&home, &["create", reserved]).code(2).stderr_has("reserved");
    }
    for taken in ["work", "file", "broken"] {
        profile(&home, &["create", taken]).code(1).stderr_has("already exists");
    }
    profile(&home, &["create", "x", "--clone-from", "gone"])
        .code(1)
        .stderr_has("there is no profile \"gone\"");
    profile(&home, &["create", "x", "--no-skills", "--clone"]).code(2);
    profile(&home, &["create", "x", "--clone", "--clone-all"]).code(2);
    assert_eq!(home.snapshot(), before);
}

/// A default profile with a bit of everything.
fn lived_in() -> TestHome {
    let home = TestHome::new();
    home.config("model: some-model\n").env_file("KEY=secret\n");
    for (path, text) in [
        ("SOUL.md", "me"),
        ("memories/MEMORY.md", "remember"),
        ("memories/USER.md", "the user"),
        ("memories/other.md", "more"),
        ("skills/group/one/SKILL.md", "skill"),
        ("sessions/s.json", "{}"),
        ("auth.json", "{\"token\": 1}"),
        ("gateway.pid", "1"),
        ("gateway_state.json", "{}"),
        ("processes.json", "[]"),
        ("cache/x", "x"),
        ("hermes-agent/big", "x"),
        ("node_modules/big", "x"),
        ("kanban.db", ""),
        ("workspace/cache/mine", "kept"),
        ("workspace/__pycache__/x.pyc", "x"),
    ] {
        home.write(path, text);
    }
    fs::set_permissions(home.path().join(".env"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(home.path().join("auth.json"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(home.path().join("skills"), fs::Permissions::from_mode(0o755)).unwrap();
    home
}

#[test]
fn a_clone_has_the_settings_and_not_the_life() {
    let home = lived_in();
    profile(&home, &["create", "work", "--clone"]).success().stdout_has("of \"default\"");
    assert_eq!(home.read("profiles/work/config.yaml"), "model: some-model\n");
    assert_eq!(home.read("profiles/work/.env"), "KEY=secret\n");
    assert_eq!(home.read("profiles/work/SOUL.md"), "me");
    assert_eq!(home.read("profiles/work/memories/MEMORY.md"), "remember");
    assert_eq!(home.read("profiles/work/memories/USER.md"), "the user");
    assert_eq!(home.read("profiles/work/skills/group/one/SKILL.md"), "skill");
    assert_eq!((home.mode("profiles/work/.env"), home.mode("profiles/work/skills")), (0o600, 0o700));
    for absent in ["auth.json", "sessions/s.json", "memories/other.md", "gateway.pid"] {
        assert!(!dir(&home, "work").join(absent).exists(), "{absent}");
    }
}

#[test]
fn a_clone_takes_the_active_profile_or_the_one_that_is_named() {
    let home = home_with(&["a", "b"]);
    for name in ["a", "b"] {
        home.write(format!("profiles/{name}/SOUL.md"), name);
    }
    profile(&home, &["use", "a"]).success();
    profile(&home, &["create", "from-active", "--clone"]).success();
    profile(&home, &["create", "from-b", "--clone-from", "b"]).success();
    assert_eq!(home.read("profiles/from-active/SOUL.md"), "a");
    assert_eq!(home.read("profiles/from-b/SOUL.md"), "b");
}

#[test]
fn a_linked_settings_file_is_copied_not_shared() {
    let home = home_with(&["a"]);
    let shared = home.work_dir().join("shared.yaml");
    fs::write(&shared, "model: x\n").unwrap();
    symlink(&shared, dir(&home, "a").join("config.yaml")).unwrap();
    profile(&home, &["create", "b", "--clone-from", "a"]).success();
    assert!(!fs::symlink_metadata(dir(&home, "b").join("config.yaml")).unwrap().is_symlink());
    assert_eq!(home.read("profiles/b/config.yaml"), "model: x\n");
}

#[test]
fn a_full_clone_has_everything_but_processes_caches_and_the_installation() {
    let home = lived_in();
    profile(&home, &["create", "neighbour", "--no-alias"]).success();
    let made = profile(&home, &["create", "copy", "--clone-all"]);
    made.success().stderr_has("auth.json");
    for present in [
        "config.yaml",
        "sessions/s.json",
        "memories/other.md",
        "workspace/cache/mine",
        "skills/group/one/SKILL.md",
    ] {
        assert!(dir(&home, "copy").join(present).exists(), "{present}");
    }
    let absent = [
        "gateway.pid",
        "gateway_state.json",
        "processes.json",
        "cache",
        "hermes-agent",
        "node_modules",
        "profiles",
        "kanban.db",
        "active_profile",
        "workspace/__pycache__",
    ];
    for absent in absent {
        assert!(!dir(&home, "copy").join(absent).exists(), "{absent}");
    }
    assert_eq!((home.mode("profiles/copy/.env"), home.mode("profiles/copy/auth.json")), (0o600, 0o600));
    assert_eq!(home.mode("profiles/copy/skills"), 0o700);
}

/// Opens a database the way a running agent does, with a row that is only in the write-ahead log.
pub fn live_database(path: &Path) -> Connection {
    let database = Connection::open(path).unwrap();
    database.pragma_update(None, "journal_mode", "wal").unwrap();
    database
        .execute_batch("PRAGMA wal_autocheckpoint=0; CREATE TABLE t(x); INSERT INTO t VALUES ('in the log');")
        .unwrap();
    assert!(fs::metadata(format!("{}-wal", path.display())).unwrap().len() > 0);
    database
}

/// The rows of [`live_database`]'s table, when the file is sound.
pub fn rows(path: &Path) -> Vec<String> {
    let database = Connection::open(path).unwrap();
    let check: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let mut query = database.prepare("SELECT x FROM t").unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn a_database_in_use_is_copied_with_what_is_only_in_its_log() {
    let home = home_with(&["work"]);
    let live = live_database(&dir(&home, "work").join("state.db"));
    live.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES ('not committed');").unwrap();
    home.write("profiles/work/empty.db", "");
    home.write("profiles/work/Thumbs.db", "not a database at all, but called like one");
    profile(&home, &["create", "copy", "--clone-all", "--clone-from", "work"]).success();
    assert!(
        !dir(&home, "copy").join("state.db-wal").exists()
            && !dir(&home, "copy").join("state.db-shm").exists()
    );
    assert_eq!(home.mode("profiles/copy/state.db"), 0o600);
    assert_eq!(rows(&dir(&home, "copy").join("state.db")), ["in the log"]);
    assert!(home.read("profiles/copy/Thumbs.db").starts_with("not a database"));
    // The writer was not disturbed.
    live.execute_batch("COMMIT").unwrap();
}

#[test]
fn a_profile_that_leads_above_the_profiles_is_not_copied_into_itself() {
    let home = lived_in();
    fs::create_dir(home.path().join("profiles")).unwrap();
    symlink("..", dir(&home, "root-again")).unwrap();
    symlink("../..", dir(&home, "above")).unwrap();
    profile(&home, &["create", "one", "--clone-all", "--clone-from", "root-again"]).success();
    assert!(dir(&home, "one").join("config.yaml").exists() && !dir(&home, "one").join("profiles").exists());
    profile(&home, &["create", "two", "--clone-all", "--clone-from", "above"]).success();
    let inside = fs::read_dir(dir(&home, "two").join(".hermes/profiles")).unwrap();
    assert!(inside.flatten().all(|e| !e.file_name().to_str().unwrap().starts_with(".new-")));
}

#[test]
fn sockets_are_named_and_left_out() {
    let home = home_with(&["work"]);
    let _listener = std::os::unix::net::UnixListener::bind(dir(&home, "work").join("agent")).unwrap();
    profile(&home, &["create", "copy", "--clone-all", "--clone-from", "work"]).success().stderr_has("agent");
}

#[test]
fn two_at_once_want_one_name_and_one_gets_it() {
    let home = home_with(&["source"]);
    for i in 0..200 {
        home.write(format!("profiles/source/skills/s{i}/SKILL.md"), "skill");
    }
    for round in 0..8 {
        let name = format!("n{round}");
        let create =
            super::command(&home, &["create", &name, "--no-alias", "--clone-all", "--clone-from", "source"]);
        let racers = [create.spawn(), create.spawn()];
        let ended = racers.map(|racer| racer.wait(std::time::Duration::from_mins(1)));
        let lost: Vec<_> = ended.iter().filter(|e| !e.err().is_empty()).collect();
        assert_eq!(lost.len(), 1, "one must win: {ended:?}");
        lost[0].code(1).stderr_has("already exists");
        assert!(dir(&home, &name).join("skills/s199/SKILL.md").exists());
    }
    assert_eq!(listed(&home).len(), 10);
    assert!(entries(&home).iter().all(|name| !name.starts_with('.')), "{:?}", entries(&home));
}
