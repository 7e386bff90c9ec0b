//! One home, two programs: a conversation one began the other goes on with.

use std::path::Path;

use hermes_testkit::{ModelServer, TestHome};

use super::support::{ours, reference, theirs};

/// A model that uses the terminal once when it is asked to look.
fn model() -> ModelServer {
    ModelServer::scripted(
        "call terminal {\"command\": \"echo seen\"}\n---\nsay \"I saw it.\"\n---\nsay \"The second.\"\n---\nsay \"The third.\"\n---\nalways\nsay \"more\"",
    )
}

fn home(server: &ModelServer) -> TestHome {
    let home = TestHome::new();
    home.config(format!(
        "model:\n  default: mock-model\n  provider: custom\n  base_url: {}\n  api_key: sk-test\n  context_length: 128000\n",
        server.openai_url()
    ));
    home
}

/// The id of the only session.
fn only_session(home: &TestHome) -> String {
    let listed = ours(home, &["sessions", "list", "--json"]).success().json();
    let sessions = listed.get("sessions").unwrap_or(&listed).as_array().unwrap().clone();
    assert_eq!(sessions.len(), 1, "{listed}");
    sessions[0]["id"].as_str().unwrap().to_owned()
}

fn ask_theirs(program: &Path, home: &TestHome, arguments: &[&str]) {
    theirs(program, home, &[&["chat", "-Q", "--yolo"], arguments].concat()).success();
}

/// What was said before, as the model got it last: user, answers and results, without the prompt.
fn conversation(server: &ModelServer) -> Vec<(String, String)> {
    let asked = server.calls().into_iter().filter(|call| !call.tool_names().is_empty());
    let last = asked.collect::<Vec<_>>().pop().unwrap();
    let said = |message: &serde_json::Value| {
        let text = message["content"].as_str().unwrap_or_default().to_owned();
        (message["role"].as_str().unwrap_or_default().to_owned(), text)
    };
    let spoken = |(role, _): &(String, String)| role != "system" && role != "developer";
    last.messages().iter().map(said).filter(spoken).collect()
}

#[test]
fn the_reference_goes_on_with_a_session_of_ours_and_we_with_its() {
    let Some(program) = reference() else { return };
    let server = model();
    let home = home(&server);
    ours(&home, &["-z", "look at it"]).success();
    let id = only_session(&home);
    ask_theirs(&program, &home, &["--resume", &id, "-q", "what was the second?"]);
    ours(&home, &["-r", &id, "-z", "and the third?"]).success();
    let said = conversation(&server);
    let roles: Vec<&str> = said.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user", "assistant", "user"], "{said:?}");
    assert!(said[2].1.contains("seen"), "{said:?}");
    assert_eq!((said[3].1.as_str(), said[5].1.as_str()), ("I saw it.", "The second."));
    assert_eq!(only_session(&home), id, "it is still one session");
}

#[test]
fn we_go_on_with_a_session_of_the_reference() {
    let Some(program) = reference() else { return };
    let server = model();
    let home = home(&server);
    ask_theirs(&program, &home, &["-q", "look at it"]);
    let id = only_session(&home);
    ours(&home, &["-r", &id, "-z", "what was the second?"]).success();
    let said = conversation(&server);
    let roles: Vec<&str> = said.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"], "{said:?}");
    assert!(said[2].1.contains("seen") && said[3].1 == "I saw it.", "{said:?}");
}
