//! Backups and snapshots travel between both programs.

use std::path::Path;

use hermes_store::rusqlite::Connection;
use hermes_testkit::TestHome;

use super::support::{ours, reference, their_script, theirs};

/// A home with a profile and a board that the Python program made, and settings.
fn used_home(program: &Path) -> TestHome {
    let home = TestHome::new();
    home.config("model: some-model\n").env_file("SOME_API_KEY=made-up\n");
    home.write("skills/x/SKILL.md", "---\nname: x\n---\ntext\n");
    theirs(program, &home, &["profile", "create", "work", "--no-alias"]).success();
    theirs(program, &home, &["kanban", "init"]).success();
    theirs(program, &home, &["kanban", "create", "a card"]).success();
    home
}

fn cards(home: &TestHome) -> i64 {
    let db = Connection::open(home.path().join("kanban.db")).unwrap();
    db.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap()
}

#[test]
fn the_reference_imports_our_backup() {
    let Some(program) = reference() else { return };
    let old = used_home(&program);
    std::fs::create_dir_all(old.path().join("profiles/empty")).unwrap();
    let archive = old.work_dir().join("b.zip");
    ours(&old, &["backup", "-o", "b.zip"]).success();
    let new = TestHome::new();
    theirs(&program, &new, &["import", "--force", archive.to_str().unwrap()]).success();
    for name in ["config.yaml", ".env", "skills/x/SKILL.md", "profiles/work/SOUL.md"] {
        assert_eq!(new.read(name), old.read(name), "{name}");
    }
    assert_eq!(cards(&new), 1);
    theirs(&program, &new, &["kanban", "list"]).success().stdout_has("a card");
    theirs(&program, &new, &["profile", "list"]).success().stdout_has("work");
}

#[test]
fn we_import_a_backup_of_the_reference() {
    let Some(program) = reference() else { return };
    let old = used_home(&program);
    let archive = old.work_dir().join("theirs.zip");
    theirs(&program, &old, &["backup", "-o", archive.to_str().unwrap()]).success();
    let new = TestHome::new();
    ours(&new, &["import", archive.to_str().unwrap()]).success();
    for name in ["config.yaml", ".env", "skills/x/SKILL.md", "profiles/work/SOUL.md"] {
        assert_eq!(new.read(name), old.read(name), "{name}");
    }
    assert_eq!((cards(&new), new.mode("kanban.db"), new.mode(".env")), (1, 0o600, 0o600));
    theirs(&program, &new, &["kanban", "list"]).success().stdout_has("a card");
}

#[test]
fn snapshots_of_either_are_snapshots_of_both() {
    let Some(program) = reference() else { return };
    let home = used_home(&program);
    theirs(&program, &home, &["backup", "-q", "-l", "theirs"]).success();
    ours(&home, &["backup", "-q", "-l", "ours"]).success();
    // Both are counted by the Python program, with the third it makes now.
    theirs(&program, &home, &["backup", "-q", "-l", "again"]).success().stdout_has("3 snapshot(s)");
    let snapshots = std::fs::read_dir(home.path().join("state-snapshots")).unwrap();
    let theirs =
        snapshots.map(|e| e.unwrap().path()).find(|p| p.to_string_lossy().ends_with("-theirs")).unwrap();
    home.config("model: broken\n");
    ours(&home, &["import", "-f", theirs.to_str().unwrap()]).success();
    assert_eq!(home.read("config.yaml"), "model: some-model\n");
    assert_eq!(cards(&home), 1);
}

#[test]
fn both_read_what_either_logs() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    let script = "import logging, hermes_logging\nhermes_logging.setup_logging()\n\
        hermes_logging.set_session_context('20260101_abc')\nlog = logging.getLogger('gateway.run')\n\
        log.info('from python')\ntry:\n    1/0\nexcept Exception:\n    log.exception('boom')\n\
        hermes_logging.flush_log_queue()\n";
    their_script(&program, &home, script).run().success();
    let seen = ours(&home, &["logs", "--session", "20260101_abc", "--component", "gateway"]);
    seen.success().stdout_has("from python").stdout_has("ZeroDivisionError: division by zero");
    let json = ours(&home, &["logs", "errors", "--json"]).success().json();
    assert_eq!((&json["level"], &json["logger"]), (&"ERROR".into(), &"gateway.run".into()));
    assert!(json["message"].as_str().unwrap().starts_with("boom\nTraceback"));
    let line = "2026-11-15 20:54:14,735 WARNING [20260101_abc] tools.x: from us\n";
    home.write("logs/agent.log", line);
    let filtered = theirs(&program, &home, &["logs", "--component", "tools", "--level", "WARNING"]);
    filtered.success().stdout_has(line.trim_end());
}
