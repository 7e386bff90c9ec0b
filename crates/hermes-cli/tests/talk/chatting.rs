//! `hermes` at a terminal: a conversation with the real agent behind it.

use std::time::Duration;

use hermes_testkit::command::poll_until;
use hermes_testkit::model::{Answer, Matcher, Request};
use hermes_testkit::{TestHome, wait_until};
use serde_json::json;

use super::support::{LIMIT, Talk, runs};
use super::terminal::Terminal;

/// Titles are asked for whenever the model is free; this answers them all.
const TITLE: &str = "when system \"a title\"\nalways\nsay \"A title\"\n---\n";

fn talk(script: &str) -> Talk {
    Talk::with(&format!("{TITLE}{script}"))
}

fn start(talk: &Talk, args: &[&str]) -> Terminal {
    let mut terminal = Terminal::start(&talk.home, args);
    terminal.expect("Write a message");
    terminal
}

/// Gives a command that works between turns, until the turn whose answer is on the screen has ended.
#[track_caller]
fn between_turns(terminal: &mut Terminal, command: &str, shows: &str) {
    let before = terminal.shown().len();
    wait_until(LIMIT, shows, || {
        terminal.keys(command);
        let done = || terminal.shown().get(before..).is_some_and(|new| new.contains(shows));
        poll_until(Duration::from_secs(1), || done().then_some(())).is_some()
    });
    terminal.expect(shows);
}

/// The newest request that asked about `question`.
#[track_caller]
fn asked(talk: &Talk, question: &str) -> Request {
    let asks =
        |call: &Request| call.newest_user_text().contains(question) && !call.system().contains("a title");
    talk.server.calls().into_iter().rfind(asks).expect("it was asked")
}

fn texts(request: &Request) -> String {
    request.messages().iter().skip(1).map(ToString::to_string).collect()
}

#[test]
fn a_conversation_is_stored_shown_again_and_gone_on_with() {
    let talk = talk("say \"Whales are large.\"\n---\nsay \"Some are blue.\"");
    let mut terminal = start(&talk, &[]);
    terminal.keys("tell me of whales\r").expect("Whales are large.").keys("/quit\r").expect("--resume");
    assert!(terminal.end().success());
    let mut terminal = start(&talk, &["-c"]);
    assert!(terminal.shown().contains("tell me of whales") && terminal.shown().contains("Whales are large."));
    terminal.keys("which colour\r").expect("Some are blue.").keys("/quit\r").expect("--resume");
    assert!(terminal.end().success());
    let request = asked(&talk, "which colour");
    assert!(texts(&request).contains("tell me of whales") && texts(&request).contains("Whales are large."));
}

#[test]
fn ctrl_c_ends_the_tool_and_the_conversation_goes_on() {
    let command = "bash -c '(setsid sleep 6543211 </dev/null >/dev/null 2>&1 &)'; touch begun; sleep 6543212";
    let talk = talk(&format!("{}\n---\nsay \"Then not.\"", runs(command)));
    let mut terminal = start(&talk, &["--yolo"]);
    terminal.keys("wait for it\r");
    wait_until(LIMIT, "the command runs", || talk.file("begun").exists());
    terminal.keys("\x03").expect("interrupted");
    talk.nothing_runs_with("654321");
    terminal.keys("leave it\r").expect("Then not.").keys("/quit\r");
    assert!(terminal.end().success());
    assert!(texts(&asked(&talk, "leave it")).contains("wait for it"));
}

#[test]
fn what_is_taken_back_stays_taken_back() {
    let talk = talk(
        "say \"First answer.\"\n---\nsay \"Second answer.\"\n---\nsay \"Third answer.\"\n---\nsay \"Fourth answer.\"",
    );
    let mut terminal = start(&talk, &[]);
    terminal.keys("first question\r").expect("First answer.");
    terminal.keys("second question\r").expect("Second answer.");
    between_turns(&mut terminal, "/undo\r", "Taken back");
    // The question comes back to be changed; it is cleared here.
    terminal.expect("second question").keys("\x15").keys("third question\r").expect("Third answer.");
    terminal.keys("/quit\r").expect("--resume");
    assert!(terminal.end().success());
    assert!(!texts(&asked(&talk, "third question")).contains("second question"));
    talk.run(&["chat", "-Q", "-q", "fourth question", "-c"]).success().stdout_is("Fourth answer.\n");
    let again = texts(&asked(&talk, "fourth question"));
    assert!(!again.contains("second question") && again.contains("third question"), "{again}");
}

#[test]
fn a_retry_asks_the_same_again() {
    let talk = talk("say \"Poor answer.\"\n---\nsay \"Better answer.\"");
    let mut terminal = start(&talk, &[]);
    terminal.keys("a question\r").expect("Poor answer.");
    between_turns(&mut terminal, "/retry\r", "Better answer.");
    terminal.keys("/quit\r").expect("--resume");
    assert!(terminal.end().success());
    let request = asked(&talk, "a question");
    assert!(!texts(&request).contains("Poor answer."), "{}", texts(&request));
}

#[test]
fn a_message_while_it_works_takes_over() {
    let talk = talk("say \"Well, \"\nstall\n---\nsay \"About cats instead.\"");
    let mut terminal = start(&talk, &[]);
    terminal.keys("about dogs\r").expect("Well,").keys("no, cats\r").expect("About cats instead.");
    terminal.keys("/quit\r");
    assert!(terminal.end().success());
    let request = asked(&talk, "no, cats");
    assert!(
        texts(&request).contains("about dogs") && texts(&request).contains("Well,"),
        "{}",
        texts(&request)
    );
}

#[test]
fn guidance_reaches_a_running_turn() {
    let talk = talk("");
    let question = || Matcher::User("look around".into());
    talk.server.add(
        Answer::new()
            .call("terminal", json!({"command": "touch begun; while ! test -e go-on; do sleep 0.05; done"}))
            .when(question()),
    );
    talk.server.add(Answer::new().say("Looked.").when(question()));
    let mut terminal = start(&talk, &["--yolo"]);
    terminal.keys("look around\r");
    wait_until(LIMIT, "the command runs", || talk.file("begun").exists());
    terminal.keys("/steer only the first floor\r").expect("only the first floor");
    std::fs::write(talk.file("go-on"), "").unwrap();
    terminal.expect("Looked.").keys("/quit\r");
    assert!(terminal.end().success());
    let results = asked(&talk, "look around").tool_results();
    assert!(results[0].1.contains("only the first floor"), "{results:?}");
}

#[test]
fn a_new_session_knows_nothing_of_the_old_one() {
    let talk = talk("say \"Noted.\"\n---\nsay \"Fresh.\"");
    let mut terminal = start(&talk, &[]);
    terminal.keys("remember the number 4711\r").expect("Noted.");
    between_turns(&mut terminal, "/new\r", "A new session,");
    terminal.keys("which number\r").expect("Fresh.").keys("/quit\r");
    assert!(terminal.end().success());
    assert!(!texts(&asked(&talk, "which number")).contains("4711"));
}

#[test]
fn a_failure_is_shown_and_the_conversation_goes_on() {
    let talk = talk("status 401\n---\nsay \"Now it works.\"");
    let mut terminal = start(&talk, &[]);
    terminal.keys("hello\r").expect("401").keys("again\r").expect("Now it works.").keys("/quit\r");
    assert!(terminal.end().success());
}

#[test]
fn what_was_shown_survives_a_kill() {
    let talk = talk("say \"These words were shown.\"\nstall\n---\nsay \"Back again.\"");
    let mut terminal = start(&talk, &[]);
    terminal.keys("begin\r").expect("shown.");
    drop(terminal);
    let mut terminal = start(&talk, &["-c"]);
    assert!(terminal.shown().contains("These words were shown."), "{}", terminal.shown());
    terminal.keys("go on\r").expect("Back again.").keys("/quit\r");
    assert!(terminal.end().success());
    assert!(texts(&asked(&talk, "go on")).contains("These words were shown."));
}

#[test]
fn without_a_model_the_terminal_says_what_to_do() {
    let home = TestHome::new();
    let mut terminal = Terminal::start(&home, &[]);
    terminal.expect("hermes setup");
    assert_eq!(terminal.end().code(), Some(1));
}

#[test]
fn the_board_can_be_used_from_the_chat() {
    let talk = talk("say \"hi\"");
    let mut terminal = start(&talk, &[]);
    terminal.keys("/kanban create \"Paint; it\" --assignee default\r").expect("Created t_");
    terminal.keys("/kanban list\r").expect("Paint; it");
    terminal.keys("/kanban show t_00000000\r").expect("no card");
    terminal.keys("/quit\r").expect("hermes");
    assert!(terminal.end().success());
}
