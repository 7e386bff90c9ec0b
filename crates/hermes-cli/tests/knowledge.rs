//! `hermes memory` and `hermes skills` as a user runs them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hermes_testkit::{Finished, Hermes, TestHome};

fn hermes(home: &TestHome, args: &[&str]) -> Finished {
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).args(args).run()
}

#[test]
fn notes_are_shown_and_taken_away() {
    let home = TestHome::new();
    hermes(&home, &["memory"]).success().stdout_has("0 of 2200 characters");
    assert!(!home.path().join("memories").exists(), "looking must not write");
    home.config("memory:\n  memory_char_limit: 100\n  user_profile_enabled: false\n");
    home.write("memories/MEMORY.md", "uses vim\n§\nworks\nin Berlin");
    home.write("memories/USER.md", "is called Ada");
    let shown = hermes(&home, &["memory", "status"]);
    shown.success().stdout_has("26 of 100 characters, 26%").stdout_has("- works\n    in Berlin");
    shown.stdout_has("USER.md, switched off");
    let json = hermes(&home, &["memory", "--json"]).success().json();
    assert_eq!(json[0]["entries"], serde_json::json!(["uses vim", "works\nin Berlin"]));
    hermes(&home, &["memory", "reset", "--target", "memory"]).code(1).stderr_has("--yes");
    assert_eq!(home.read("memories/MEMORY.md"), "uses vim\n§\nworks\nin Berlin");
    hermes(&home, &["memory", "reset", "--target", "memory", "--yes"]).success().stderr_has("2 notes");
    assert_eq!(
        (home.read("memories/MEMORY.md").as_str(), home.read("memories/USER.md").as_str()),
        ("", "is called Ada")
    );
    hermes(&home, &["memory", "reset", "-y"]).success();
    assert_eq!(home.read("memories/USER.md"), "");
    hermes(&home, &["memory", "reset", "-y"]).success().stderr_has("Nothing is noted");
}

#[test]
fn keys_in_notes_do_not_show() {
    let home = TestHome::new();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    home.write("memories/MEMORY.md", format!("the token is {key}"));
    for args in [&["memory"][..], &["memory", "--json"]] {
        hermes(&home, args).success().stdout_has("the token is ghp_a1...a1B2");
    }
}

#[test]
fn a_further_service_is_switched_off() {
    let home = TestHome::new();
    home.config("# mine\nmemory:\n  provider: mem0\n");
    hermes(&home, &["memory"]).success().stderr_has("mem0");
    hermes(&home, &["memory", "off"]).success().stderr_has("mem0");
    hermes(&home, &["config", "get", "memory.provider"]).success().stdout_lacks("mem0");
    assert!(home.read("config.yaml").starts_with("# mine\n"));
    hermes(&home, &["memory", "off"]).success();
}

#[test]
fn skills_are_listed_with_what_is_wrong_and_shown() {
    let home = TestHome::new();
    hermes(&home, &["skills"]).success().stderr_has("There are no skills");
    home.config("skills:\n  disabled: [secret]\n");
    home.write(
        "skills/ops/deploy/SKILL.md",
        "---\nname: deploy\ndescription: ship it\n---\nPush the button.",
    );
    home.write("skills/ops/deploy/references/more.md", "more");
    home.write("skills/secret/SKILL.md", "---\nname: secret\ndescription: no\n---\n");
    home.write("skills/broken/SKILL.md", "no header");
    let before = home.snapshot();
    let listed = hermes(&home, &["skills", "list"]);
    listed.success().stdout_has("deploy").stdout_has("ship it").stderr_has("has no header");
    let json = hermes(&home, &["skills", "list", "--json"]).success().json();
    let state = |name: &str| {
        json.as_array().unwrap().iter().find(|skill| skill["name"] == name).unwrap()["state"].clone()
    };
    assert_eq!((state("secret"), state("deploy")), ("off".into(), "on".into()));
    hermes(&home, &["skills", "list", "--enabled-only"]).success().stdout_lacks("secret");
    let shown = hermes(&home, &["skills", "show", "ops/deploy"]);
    shown.success().stdout_has("Push the button.").stderr_has("references/more.md");
    hermes(&home, &["skills", "show", "nope"]).code(1).stderr_has("deploy");
    assert_eq!(home.snapshot(), before, "looking must not write");
}
