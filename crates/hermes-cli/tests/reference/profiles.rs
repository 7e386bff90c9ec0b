//! One home, two programs: profiles that one made the other uses, renames, exports, imports and removes.
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_store::rusqlite::Connection;
use hermes_testkit::{Finished, TestHome};

use super::support::{self, reference, their_script};

fn ours(home: &TestHome, args: &[&str]) -> Finished {
    support::ours(home, &[&["profile"], args].concat())
}

fn theirs(program: &Path, home: &TestHome, args: &[&str]) -> Finished {
    support::theirs(program, home, &[&["profile"], args].concat())
}

fn alias_path(home: &TestHome, name: &str) -> PathBuf {
    home.user_home().join(".local/bin").join(name)
}

/// A profile of ours, or of theirs, with files that are hard to carry.
fn fill(home: &TestHome, name: &str) -> String {
    let long = format!("skills/{}/{}/SKILL.md", "a".repeat(90), "ü".repeat(60));
    for (path, text) in [
        ("config.yaml", "model: x\n"),
        ("memories/MEMORY.md", "ümlaut"),
        (".env", "K=secret\n"),
        (&long, "s"),
    ] {
        home.write(format!("profiles/{name}/{path}"), text);
    }
    let database = Connection::open(home.path().join("profiles").join(name).join("state.db")).unwrap();
    database.execute_batch("PRAGMA journal_mode=wal; CREATE TABLE t(x); INSERT INTO t VALUES (42);").unwrap();
    long
}

#[track_caller]
fn arrived(home: &TestHome, name: &str, long: &str) {
    assert_eq!(home.read(format!("profiles/{name}/config.yaml")), "model: x\n");
    assert_eq!(home.read(format!("profiles/{name}/memories/MEMORY.md")), "ümlaut");
    assert_eq!(home.read(format!("profiles/{name}/{long}")), "s");
    let env = fs::read_to_string(home.path().join("profiles").join(name).join(".env")).unwrap_or_default();
    assert!(!env.contains("secret"));
    let database = Connection::open(home.path().join("profiles").join(name).join("state.db")).unwrap();
    assert_eq!(database.query_row("SELECT x FROM t", [], |row| row.get::<_, i64>(0)), Ok(42));
}

#[test]
fn the_reference_uses_profiles_we_made() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    home.config("model:\n  default: big-model\n");
    ours(&home, &["create", "work", "--clone", "--description", "it's: \"odd\" #1 ü"]).success();
    ours(&home, &["create", "other", "--no-alias"]).success();
    ours(&home, &["alias", "work", "--name", "wk"]).success();
    ours(&home, &["use", "work"]).success();
    let listed = theirs(&program, &home, &["list"]);
    let line = |name: &str| listed.lines().into_iter().find(|l| l.contains(name)).unwrap_or_default();
    listed.success();
    assert!(line("◆work").contains("big-model") && line("◆work").contains("wk"), "{}", listed.out());
    assert!(line("other").contains("stopped"), "{}", listed.out());
    theirs(&program, &home, &["describe", "work"]).success().stdout_has("it's: \"odd\" #1 ü");
    theirs(&program, &home, &["show", "work"]).success().stdout_has("hermes -p work");
    theirs(&program, &home, &["alias", "work", "--name", "wk", "--remove"]).success();
    assert!(!alias_path(&home, "wk").exists());
    theirs(&program, &home, &["rename", "work", "moved"]).success();
    ours(&home, &[]).success().stdout_has("moved");
    theirs(&program, &home, &["delete", "moved", "-y"]).success();
    ours(&home, &["list"]).success().stdout_lacks("moved").stdout_has("other");
}

#[test]
fn we_use_profiles_the_reference_made() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    home.config("model: big-model\n");
    let long =
        "what this profile is good at, in a sentence that is so long that it takes: more than one line #1";
    theirs(&program, &home, &["create", "work", "--clone", "--description", long]).success();
    theirs(&program, &home, &["use", "work"]).success();
    let shown = ours(&home, &["show", "--json"]).success().json();
    assert_eq!((&shown["name"], &shown["description"]), (&"work".into(), &long.into()));
    assert_eq!((&shown["model"], &shown["aliases"]), (&"big-model".into(), &serde_json::json!(["work"])));
    ours(&home, &["describe", "--text", "short"]).success();
    theirs(&program, &home, &["describe", "work"]).success().stdout_has("short");
    ours(&home, &["rename", "work", "moved"]).success();
    assert!(alias_path(&home, "moved").exists() && !alias_path(&home, "work").exists());
    theirs(&program, &home, &[]).success().stdout_has("Active profile: moved");
    theirs(&program, &home, &["use", "default"]).success();
    ours(&home, &["delete", "moved", "-y"]).success();
    assert!(!alias_path(&home, "moved").exists());
    theirs(&program, &home, &["list"]).success().stdout_lacks("moved");
}

#[test]
fn the_reference_imports_what_we_export() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    ours(&home, &["create", "work", "--no-alias"]).success();
    let long = fill(&home, "work");
    home.config("model: root\n");
    ours(&home, &["export", "work"]).success();
    ours(&home, &["export", "default"]).success();
    theirs(&program, &home, &["import", "work.tar.gz", "--name", "back"]).success();
    arrived(&home, "back", &long);
    theirs(&program, &home, &["import", "default.tar.gz", "--name", "rooted"]).success();
    assert_eq!(home.read("profiles/rooted/config.yaml"), "model: root\n");
}

#[test]
fn we_import_what_the_reference_exports() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    theirs(&program, &home, &["create", "work", "--no-alias", "--no-skills"]).success();
    let long = fill(&home, "work");
    home.config("model: root\n");
    theirs(&program, &home, &["export", "work"]).success();
    theirs(&program, &home, &["export", "default"]).success();
    ours(&home, &["import", "work.tar.gz"]).code(1).stderr_has("already exists");
    ours(&home, &["import", "work.tar.gz", "--name", "back"]).success();
    arrived(&home, "back", &long);
    assert!(home.path().join("profiles/back/.no-bundled-skills").exists());
    ours(&home, &["import", "default.tar.gz"]).code(1).stderr_has("--name");
    ours(&home, &["import", "default.tar.gz", "--name", "rooted"]).success();
    assert_eq!(home.read("profiles/rooted/config.yaml"), "model: root\n");
}

#[test]
fn we_see_a_gateway_as_the_reference_records_it() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    ours(&home, &["create", "work", "--no-alias"]).success();
    let script = "import sys, time\nfrom gateway.status import write_pid_file\nwrite_pid_file()\nprint('up', flush=True)\nsys.stdin.read()";
    let mut gateway =
        their_script(&program, &home, script).env("HERMES_HOME", home.path().join("profiles/work")).spawn();
    gateway.line_with("up", Duration::from_mins(1));
    let refused = ours(&home, &["delete", "work", "-y"]);
    refused.code(1).stderr_has("is running").stderr_has(&gateway.pid().to_string());
    gateway.kill9();
    ours(&home, &["delete", "work", "-y"]).success();
}
