//! Commands on the user's own machine need a yes; nobody to ask is a no.

use std::time::Duration;

use hermes_testkit::command::poll_until;
use hermes_testkit::wait_until;

use super::support::{LIMIT, Talk, runs};
use super::terminal::Terminal;

fn talk() -> Talk {
    Talk::with(&format!(
        "{}\n---\nsay \"noted\"\n---\nalways\nsay \"A title\"",
        runs("touch made-by-command")
    ))
}

#[test]
fn without_a_terminal_a_command_is_refused_with_a_reason() {
    let talk = talk();
    talk.run(&["chat", "-q", "go"]).success().stdout_is("noted\n").stderr_has("failed");
    assert!(!talk.file("made-by-command").exists());
    let results = talk.server.calls()[1].tool_results();
    assert!(results[0].1.contains("nobody"), "{results:?}");
}

#[test]
fn yolo_asks_nobody() {
    let talk = talk();
    talk.run(&["chat", "-q", "go", "--yolo"]).success();
    assert!(talk.file("made-by-command").exists());
    let talk = self::talk();
    let config = talk.home.read("config.yaml");
    talk.home.config(format!("{config}approvals:\n  deny: ['touch *']\n"));
    talk.run(&["-z", "go", "--yolo"]).success();
    assert!(!talk.file("made-by-command").exists(), "what is forbidden is forbidden");
}

#[test]
fn enter_alone_never_agrees() {
    let talk = talk();
    let mut terminal = Terminal::start(&talk.home, &["chat", "-q", "go"]);
    terminal.expect("touch made-by-command").expect("Run this command").expect("> ");
    terminal.line("").expect("Type a number").expect("> ");
    assert!(!talk.file("made-by-command").exists());
    terminal.line("1").expect("noted");
    assert!(terminal.end().success());
    assert!(talk.file("made-by-command").exists());
}

#[test]
fn a_no_reaches_the_model() {
    let talk = talk();
    let mut terminal = Terminal::start(&talk.home, &["chat", "-q", "go"]);
    terminal.expect("Run this command").expect(") No").expect("> ").line("4").expect("noted");
    assert!(terminal.end().success(), "{}", terminal.shown());
    assert!(!talk.file("made-by-command").exists());
    let results = talk.server.calls()[1].tool_results();
    assert!(results[0].1.contains("said no"), "{results:?}");
}

#[test]
fn ctrl_c_at_the_question_ends_the_turn() {
    let talk = talk();
    let mut terminal = Terminal::start(&talk.home, &["chat", "-q", "go"]);
    terminal.expect("Run this command").expect("> ").interrupt();
    assert_eq!(terminal.end().code(), Some(130), "{}", terminal.shown());
    assert!(!talk.file("made-by-command").exists());
}

#[test]
fn the_chat_asks_in_its_own_way() {
    let talk = talk();
    let mut terminal = Terminal::start(&talk.home, &[]);
    terminal.expect("Hermes").keys("go\r").expect("Run this command").expect("Esc refuses");
    // Keys that were meant for the message do not count for a question that has just come up.
    wait_until(LIMIT, "the question takes a key", || {
        terminal.keys("\r4");
        poll_until(Duration::from_secs(1), || terminal.shown().contains("noted").then_some(())).is_some()
    });
    assert!(!talk.file("made-by-command").exists(), "Enter alone never agrees");
    let results = talk.server.calls()[1].tool_results();
    assert!(results[0].1.contains("said no"), "{results:?}");
    terminal.keys("\x15/quit\r").expect("--resume");
    assert!(terminal.end().success());
}
