//! Dangerous commands on the user's own machine need a yes; nobody to ask is a no.

use std::time::Duration;

use hermes_testkit::command::poll_until;
use hermes_testkit::wait_until;

use super::support::{LIMIT, Talk, runs};
use super::terminal::Terminal;

const COMMAND: &str = "rm -r victim";

/// A model that deletes a directory, and somebody who decides.
fn talk() -> Talk {
    talk_with(&runs(COMMAND), "approvals:\n  mode: manual\n")
}

fn talk_with(call: &str, settings: &str) -> Talk {
    let script = format!("{call}\n---\nsay \"noted\"\n---\nalways\nsay \"A title\"");
    let talk = Talk::with_settings(&script, settings);
    std::fs::create_dir(talk.file("victim")).unwrap();
    talk
}

/// What the model was told of its call.
fn told(talk: &Talk) -> String {
    talk.server.calls()[1].tool_results()[0].1.clone()
}

#[test]
fn harmless_commands_need_nobody() {
    let talk = talk_with(&runs("touch made && ls"), "");
    talk.run(&["-z", "go"]).success().stdout_is("noted\n");
    assert!(talk.file("made").exists());
}

#[test]
fn without_anybody_to_ask_a_dangerous_command_is_refused_with_a_reason() {
    for arguments in [["chat", "-q", "go"].as_slice(), &["-z", "go"]] {
        let talk = talk();
        talk.run(arguments).success().stdout_is("noted\n");
        assert!(talk.file("victim").exists());
        let told = told(&talk);
        assert!(told.contains("nobody") && told.contains("deletes a directory"), "{told}");
    }
}

#[test]
fn the_background_is_no_way_around() {
    let call = format!("call terminal {}", serde_json::json!({ "command": COMMAND, "background": true }));
    let talk = talk_with(&call, "");
    talk.run(&["-z", "go"]).success();
    assert!(told(&talk).contains("nobody"), "{}", told(&talk));
    assert!(talk.file("victim").exists());
}

#[test]
fn yolo_asks_nobody() {
    for arguments in [["chat", "-q", "go", "--yolo"].as_slice(), &["-z", "go", "--yolo"]] {
        let talk = talk();
        talk.run(arguments).success();
        assert!(!talk.file("victim").exists());
    }
    let talk = talk_with(&runs(COMMAND), "approvals:\n  mode: off\n");
    talk.run(&["-z", "go"]).success();
    assert!(!talk.file("victim").exists());
}

#[test]
fn what_is_forbidden_and_the_worst_are_refused_with_yolo_too() {
    let talk = talk_with(&runs("r''m -r \"victim\""), "approvals:\n  deny: ['rm -r *']\n");
    talk.run(&["-z", "go", "--yolo"]).success();
    assert!(talk.file("victim").exists(), "however it is spelled");
    assert!(told(&talk).contains("approvals.deny"), "{}", told(&talk));
    let talk = talk_with(&runs("sudo -n mkfs.ext4 /dev/sd-not-there"), "");
    talk.run(&["-z", "go", "--yolo"]).success();
    assert!(told(&talk).contains("format-disk"), "{}", told(&talk));
}

#[test]
fn an_agreement_for_good_is_kept_until_it_is_taken_back() {
    let talk = talk();
    let mut terminal = Terminal::start(&talk.home, &["chat", "-q", "go"]);
    terminal.expect("Run this command").expect("always").expect("> ").line("4").expect("noted");
    assert!(terminal.end().success(), "{}", terminal.shown());
    assert!(!talk.file("victim").exists());
    let config = talk.home.read("config.yaml");
    assert!(config.contains("command_allowlist") && config.contains(COMMAND), "{config}");
    let listed = talk.run(&["approvals", "list", "--json"]).success().json();
    assert_eq!(listed[0]["command"], COMMAND);
    assert_eq!(listed[0]["rules"][0], "delete-recursive");

    // The same agreement in another conversation: it counts in the directory it was given in, and nowhere else.
    let given_in = listed[0]["directory"].as_str().unwrap();
    let asked_again_in = |directory: &dyn Fn(&Talk) -> String| {
        let again = self::talk();
        let kept = again.home.read("config.yaml") + "command_allowlist:\n  - \"rm -r victim\"\n";
        again.home.config(kept);
        let records = talk.home.read("approvals.json").replace(given_in, &directory(&again));
        std::fs::write(again.home.path().join("approvals.json"), records).unwrap();
        again.run(&["-z", "go"]).success();
        again.file("victim").exists()
    };
    let here =
        |talk: &Talk| talk.file("victim").parent().unwrap().canonicalize().unwrap().display().to_string();
    assert_eq!(given_in, here(&talk));
    assert!(!asked_again_in(&here), "nobody is asked twice");
    assert!(asked_again_in(&|_| "/somewhere/else".to_owned()), "another directory is another question");

    let id = listed[0]["id"].as_str().unwrap();
    talk.run(&["approvals", "revoke", "nonsense"]).code(1).stderr_has("approvals list");
    talk.run(&["approvals", "revoke", id]).success().stderr_has("1 agreement");
    assert_eq!(talk.run(&["approvals", "list", "--json"]).success().json(), serde_json::json!([]));
    assert!(!talk.home.read("config.yaml").contains(COMMAND));
}

#[test]
fn taking_back_reaches_the_conversation_that_agreed() {
    let title = "when system \"a title\"\nalways\nsay \"A title\"";
    let call = runs(COMMAND);
    let script = format!("{title}\n---\n{call}\n---\nsay \"noted\"\n---\n{call}\n---\nsay \"seen\"");
    let talk = Talk::with_settings(&script, "approvals:\n  mode: manual\n");
    std::fs::create_dir(talk.file("victim")).unwrap();
    let mut terminal = Terminal::start(&talk.home, &[]);
    terminal.expect("Hermes").keys("go\r").expect("Run this command").expect("Esc refuses");
    wait_until(LIMIT, "the question takes a key", || {
        terminal.keys("\r4");
        poll_until(Duration::from_secs(1), || terminal.shown().contains("noted").then_some(())).is_some()
    });
    assert!(!talk.file("victim").exists());
    std::fs::create_dir(talk.file("victim")).unwrap();
    talk.run(&["approvals", "revoke", "--all"]).success().stderr_has("1 agreement");
    let asked = |terminal: &Terminal| terminal.shown().matches("Run this command").count();
    let before = asked(&terminal);
    terminal.keys("\x15again\r");
    wait_until(LIMIT, "it is asked again", || asked(&terminal) > before);
    assert!(talk.file("victim").exists());
    wait_until(LIMIT, "the question is turned away", || {
        terminal.keys("\x1b");
        poll_until(Duration::from_secs(1), || terminal.shown().contains("seen").then_some(())).is_some()
    });
    assert!(talk.file("victim").exists());
    terminal.keys("/quit\r").expect("--resume");
    assert!(terminal.end().success());
}

#[test]
fn a_model_may_decide_first() {
    let script = |word: &str| {
        format!("{}\n---\nsay \"{word}\"\n---\nsay \"noted\"\n---\nalways\nsay \"A title\"", runs(COMMAND))
    };
    for (word, exists) in [("APPROVE", false), ("DENY", true)] {
        let talk = Talk::with_settings(&script(word), "approvals:\n  mode: smart\n");
        std::fs::create_dir(talk.file("victim")).unwrap();
        let mut terminal = Terminal::start(&talk.home, &["chat", "-q", "go"]);
        terminal.expect("noted");
        assert!(terminal.end().success(), "{}", terminal.shown());
        assert_eq!(talk.file("victim").exists(), exists, "{word}");
    }
    let talk = Talk::with_settings(&script("APPROVE, it is only a directory"), "approvals:\n  mode: smart\n");
    std::fs::create_dir(talk.file("victim")).unwrap();
    let mut terminal = Terminal::start(&talk.home, &["chat", "-q", "go"]);
    terminal.expect("Run this command").expect("> ").line("0").expect("noted");
    assert!(terminal.end().success(), "{}", terminal.shown());
    assert!(talk.file("victim").exists(), "more than a word is no approval");
}

#[test]
fn explaining_runs_nothing() {
    let talk = talk();
    let explain = |command: &str| talk.run(&["guard", "explain", command]);
    explain("ls -la").success().stdout_has("allow").stdout_has("ls -la");
    explain(COMMAND).code(1).stdout_has("ask").stdout_has("delete-recursive");
    explain("cd / && sudo r''m -rf *")
        .code(1)
        .stdout_has("refuse")
        .stdout_has("delete-system")
        .stdout_has("[in /]");
    explain("echo \"x").code(1).stdout_has("unreadable");
    let json = talk.run(&["guard", "explain", "git push -f", "--json"]).code(1).json();
    assert_eq!(json["decision"], "ask");
    assert_eq!(json["findings"][0]["rule"], "git-push-force");
    assert_eq!(json["findings"][0]["grant_prefix"], serde_json::json!(["git", "push"]));
    assert!(json["tree"].is_string());
    talk.run(&["guard", "explain"]).code(2);
    explain(" ").code(2).stderr_has("empty");
    let piped = |text: &str| talk.command(&["guard", "explain", "-"]).stdin(text).run();
    piped("cd /\nrm -rf *\n").code(1).stdout_has("refuse");
    piped("ls\n").success();
    piped("").code(2);
    assert!(talk.file("victim").exists());
}

#[test]
fn enter_alone_never_agrees() {
    let talk = talk();
    let mut terminal = Terminal::start(&talk.home, &["chat", "-q", "go"]);
    terminal.expect(COMMAND).expect("Run this command").expect("> ");
    terminal.line("").expect("Type 1").expect("> ");
    assert!(talk.file("victim").exists());
    terminal.line("1").expect("noted");
    assert!(terminal.end().success());
    assert!(!talk.file("victim").exists());
}

#[test]
fn a_no_reaches_the_model() {
    let talk = talk();
    let mut terminal = Terminal::start(&talk.home, &["chat", "-q", "go"]);
    terminal.expect("Run this command").expect(") No").expect("> ").line("0").expect("noted");
    assert!(terminal.end().success(), "{}", terminal.shown());
    assert!(talk.file("victim").exists());
    let results = talk.server.calls()[1].tool_results();
    assert!(results[0].1.contains("said no"), "{results:?}");
}

#[test]
fn ctrl_c_at_the_question_ends_the_turn() {
    let talk = talk();
    let mut terminal = Terminal::start(&talk.home, &["chat", "-q", "go"]);
    terminal.expect("Run this command").expect("> ").interrupt();
    assert_eq!(terminal.end().code(), Some(130), "{}", terminal.shown());
    assert!(talk.file("victim").exists());
}

#[test]
fn the_chat_asks_in_its_own_way() {
    let talk = talk();
    let mut terminal = Terminal::start(&talk.home, &[]);
    terminal.expect("Hermes").keys("go\r").expect("Run this command").expect("Esc refuses");
    // Keys that were meant for the message do not count for a question that has just come up.
    wait_until(LIMIT, "the question takes a key", || {
        terminal.keys("\r0");
        poll_until(Duration::from_secs(1), || terminal.shown().contains("noted").then_some(())).is_some()
    });
    assert!(talk.file("victim").exists(), "Enter alone never agrees");
    let results = talk.server.calls()[1].tool_results();
    assert!(results[0].1.contains("said no"), "{results:?}");
    terminal.keys("\x15/quit\r").expect("--resume");
    assert!(terminal.end().success());
}
