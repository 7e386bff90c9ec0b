//! `hermes auth`.

use super::{KEY, WRONG, command, hermes, openrouter};
use hermes_testkit::model::KeyFor;
use hermes_testkit::{Finished, Hermes, TestHome, need};
use std::path::PathBuf;

const SECOND: &str = "sk-or-v1-second-0123456789abcdef01234567";

fn add(home: &TestHome, key: &str, more: &[&str]) -> Finished {
    let args: Vec<&str> = ["auth", "add", "openrouter"].iter().chain(more).copied().collect();
    command(home, &args).stdin(format!("{key}\n")).run()
}

#[test]
fn keys_are_tested_stored_privately_and_used() {
    let home = TestHome::new();
    let _server = openrouter(&home, "say \"unused\"", KeyFor::All);
    add(&home, WRONG, &[]).code(1).stderr_has("refuses the key").output_lacks(WRONG);
    assert!(!home.path().join("auth.json").exists());
    add(&home, KEY, &["--label", "work"]).success().output_lacks(KEY);
    assert_eq!(home.mode("auth.json"), 0o600);
    add(&home, KEY, &[]).code(1).stderr_has("stored already as #1 (work)");
    add(&home, SECOND, &["--no-test"]).success();
    hermes(&home, &["auth", "list"])
        .success()
        .output_lacks(KEY)
        .stdout_has("work")
        .stdout_has("sk-or-...cdef");
    let keys = hermes(&home, &["auth", "list", "openrouter", "--json"]).success().json();
    assert_eq!((&keys[1]["label"], &keys[1]["state"]), (&"api-key-2".into(), &"ready".into()));
    let status = hermes(&home, &["auth", "status", "openrouter"]);
    status.success().output_lacks(KEY).stdout_has("auth.json, work").stdout_has("auth.json, api-key-2");
    // The stored key opens the door.
    hermes(&home, &["model", "alpha/one", "--provider", "openrouter"]).success();
    hermes(&home, &["auth", "remove", "openrouter", "work"]).success();
    hermes(&home, &["auth", "remove", "openrouter", "work"]).code(1).stderr_has("no key 'work'");
    hermes(&home, &["auth", "reset", "openrouter"]).success().stderr_has("0 keys");
    hermes(&home, &["auth", "remove", "openrouter", "1"]).success();
    hermes(&home, &["auth", "status", "openrouter"]).code(1).stderr_has("OPENROUTER_API_KEY");
}

#[test]
fn a_key_on_the_command_line_is_refused() {
    let home = TestHome::new();
    let refused = hermes(&home, &["auth", "add", "openrouter", "--api-key", KEY]);
    refused.code(2).output_lacks(KEY).stderr_has("hermes auth add openrouter < FILE");
    hermes(&home, &["auth", "add", "nous"]).code(1).stderr_has("login of another program");
    hermes(&home, &["auth", "add", "zai", "--type", "oauth"]).code(2).stderr_has("only keys");
    assert!(home.snapshot().is_empty());
}

#[test]
fn the_python_program_lists_the_keys_we_store() {
    let found = std::env::var_os("HERMES_REFERENCE").map(PathBuf::from).filter(|program| program.exists());
    let found = found.ok_or("HERMES_REFERENCE does not name it (scripts/test --reference installs it)");
    let Some(reference) = need("the Python program", found) else { return };
    let home = TestHome::new();
    add(&home, KEY, &["--label", "work", "--no-test"]).success();
    let listed = Hermes::new(&reference, &home).args(["auth", "list", "openrouter"]).run();
    listed.success().stdout_has("work").stdout_has("api_key");
    let added = Hermes::new(&reference, &home)
        .args(["auth", "add", "openrouter", "--type", "api-key", "--api-key", SECOND, "--label", "theirs"])
        .run();
    added.success();
    hermes(&home, &["auth", "list"]).success().stdout_has("work").stdout_has("theirs");
    Hermes::new(&reference, &home).args(["auth", "remove", "openrouter", "1"]).run().success();
    hermes(&home, &["auth", "list"]).success().stdout_lacks("work").stdout_has("theirs");
}
