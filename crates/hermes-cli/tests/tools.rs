//! `hermes tools` as a user runs it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hermes_testkit::{Finished, Hermes, TestHome};

fn hermes(home: &TestHome, args: &[&str]) -> Finished {
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).args(args).run()
}

/// Whether a toolset is on, as the listing says.
fn is_on(home: &TestHome, platform: &str, name: &str) -> bool {
    let listed = hermes(home, &["tools", "list", "--platform", platform, "--json"]).success().json();
    let set = listed["toolsets"].as_array().unwrap().iter().find(|set| set["name"] == name).unwrap().clone();
    set["on"].as_bool().unwrap()
}

#[test]
fn the_listing_says_what_is_on_and_what_is_not_there() {
    let home = TestHome::new();
    let listed = hermes(&home, &["tools"]);
    listed.success().stdout_has("process, terminal").stdout_has("image_gen       not here ");
    for line in listed.out().lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(is_on(&home, "cli", "terminal") && !is_on(&home, "cli", "video"));
    assert!(!is_on(&home, "webhook", "terminal"));
    hermes(&home, &["tools", "--summary"]).success().stdout_has("api_server");
    assert!(!home.path().join("config.yaml").exists(), "looking must not write");
}

#[test]
fn tools_that_cannot_work_say_why() {
    let home = TestHome::new();
    hermes(&home, &["tools"])
        .success()
        .stderr_has("send_message is unavailable: messages are delivered by the gateway");
    let sets = |platform: &str| {
        hermes(&home, &["tools", "list", "--platform", platform, "--json"]).success().json()["toolsets"]
            .clone()
    };
    let state = |platform: &str, name: &str| {
        sets(platform).as_array().unwrap().iter().find(|set| set["name"] == name).unwrap()["state"].clone()
    };
    assert_eq!((state("cli", "cronjob"), state("cli", "memory")), ("unavailable".into(), "on".into()));
    assert_eq!((state("cli", "clarify"), state("cron", "clarify")), ("on".into(), "unavailable".into()));
    assert_eq!(state("cli", "video"), "off");
    home.config("memory: {memory_enabled: false, user_profile_enabled: false}\n");
    assert_eq!(state("cli", "memory"), "unavailable");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1, "nothing was made");
}

#[test]
fn switching_keeps_comments_and_other_platforms() {
    let home = TestHome::new();
    home.config("# mine\nplatform_toolsets:\n  # small\n  telegram: [web, my-server]\nmodel: opus\n");
    hermes(&home, &["tools", "disable", "terminal", "browser"]).success();
    assert!(!is_on(&home, "cli", "terminal") && is_on(&home, "cli", "file"));
    hermes(&home, &["tools", "enable", "terminal", "--platform", "telegram"]).success();
    assert!(is_on(&home, "telegram", "terminal") && is_on(&home, "telegram", "web"));
    let text = home.read("config.yaml");
    assert!(text.starts_with("# mine\n") && text.contains("my-server") && text.contains("# small"), "{text}");
    assert!(text.ends_with("model: opus\n"), "{text}");
    hermes(&home, &["config", "check"]).success();
}

#[test]
fn slips_change_nothing() {
    let home = TestHome::new();
    let wrong = hermes(&home, &["tools", "enable", "terminl"]);
    wrong.code(2).stderr_has("did you mean terminal?");
    hermes(&home, &["tools", "list", "--platform", "fax"]).code(2).stderr_has("telegram");
    assert!(!home.path().join("config.yaml").exists());
}

#[test]
fn what_is_disabled_for_good_is_said() {
    let home = TestHome::new();
    home.config("agent:\n  disabled_toolsets: [terminal]\n");
    assert!(!is_on(&home, "cli", "terminal"));
    hermes(&home, &["tools", "enable", "terminal"]).success().stderr_has("agent.disabled_toolsets");
}
