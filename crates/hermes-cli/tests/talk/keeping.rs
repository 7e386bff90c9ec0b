//! What the agent keeps from one conversation to the next, and what a first request weighs.

use hermes_store::sessions::{NewMessage, NewSession, Role, SessionId, SessionStore};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::support::{LIMIT, Talk, session_of};
use super::terminal::Terminal;

/// What a model does when it calls a tool once and then says "done".
fn calls(tool: &str, arguments: &Value) -> String {
    format!("call {tool} {arguments}\n---\nsay \"done\"\n---\nalways\nsay \"ok\"")
}

/// The result of the first call.
fn first_result(talk: &Talk) -> Value {
    let results = talk.server.calls()[1].tool_results();
    serde_json::from_str(&results[0].1).unwrap()
}

/// Bytes of the first request, as it left.
fn first_request(toolsets: &[&str]) -> (usize, Vec<String>) {
    let talk = Talk::with("always\nsay \"ok\"");
    let mut args = vec!["-z", "hi"];
    args.extend(toolsets);
    talk.run(&args).success();
    let request = &talk.server.calls()[0];
    (request.raw.len(), request.tool_names().into_iter().map(str::to_owned).collect())
}

#[test]
fn the_first_request_is_small() {
    let (usual, tools) = first_request(&[]);
    assert!(usual < 18_000, "{usual} bytes for {tools:?}");
    for tool in ["terminal", "memory", "session_search", "skill_view", "todo", "clarify"] {
        assert!(tools.iter().any(|name| name == tool), "{tool} is missing among {tools:?}");
    }
    let (lite, tools) = first_request(&["-t", "lite"]);
    assert!(lite < 8_000, "{lite} bytes for {tools:?}");
    assert!(tools.iter().any(|name| name == "terminal") && !tools.iter().any(|name| name == "memory"));
}

#[test]
fn a_note_is_in_the_next_prompt_and_never_in_this_one() {
    let add = json!({ "action": "add", "target": "memory", "content": "the cat is called Schnurr" });
    let talk = Talk::with(&calls("memory", &add));
    let session = session_of(&talk.run(&["-z", "remember", "--json"]).success().out());
    assert_eq!(first_result(&talk)["success"], true);
    assert_eq!(talk.home.read("memories/MEMORY.md"), "the cat is called Schnurr");
    talk.run(&["-z", "go on", "-r", &session]).success();
    let calls = talk.server.calls();
    assert_eq!(calls[0].system(), calls.last().unwrap().system(), "the prompt of a session never changes");
    talk.run(&["-z", "new"]).success();
    let system = talk.server.last_call().system();
    assert!(system.contains("(25 of 2200 characters, 1%)\nthe cat is called Schnurr"), "{system}");
    talk.run(&["-z", "new", "--ignore-rules"]).success();
    assert!(!talk.server.last_call().system().contains("Schnurr"));
}

#[test]
fn programs_that_note_at_the_same_time_lose_nothing() {
    let many = |who: &str| {
        let note = |n| json!({ "action": "add", "target": "memory", "content": format!("{who} note {n}.") });
        let call = |n| format!("when \"{who}\"\ncall memory {}\n---\n", note(n));
        (0..10).map(call).collect::<Vec<_>>().concat()
    };
    let talk = Talk::with(&format!("{}{}always\nsay \"done\"", many("Ada"), many("Grace")));
    let running = ["Ada", "Grace"].map(|who| talk.command(&["-z", who]).spawn());
    for program in running {
        program.wait(LIMIT).success();
    }
    let kept = talk.home.read("memories/MEMORY.md");
    for who in ["Ada", "Grace"] {
        for n in 0..10 {
            assert!(kept.contains(&format!("{who} note {n}.")), "{who} {n} is missing in:\n{kept}");
        }
    }
}

#[test]
fn skills_are_in_the_prompt_and_can_be_read() {
    let talk = Talk::with(&calls("skill_view", &json!({ "name": "deploy" })));
    talk.home.write(
        "skills/ops/deploy/SKILL.md",
        "---\nname: deploy\ndescription: ship it\n---\nPush the button.",
    );
    talk.run(&["-z", "deploy"]).success();
    let system = talk.server.calls()[0].system();
    assert!(system.contains("ops:\n- deploy: ship it"), "{system}");
    assert!(first_result(&talk)["content"].as_str().unwrap().contains("Push the button."));
}

#[test]
fn earlier_conversations_are_found() {
    let talk = Talk::with(&calls("session_search", &json!({ "query": "schnurr" })));
    let mut store = SessionStore::open(&talk.home.path().join("state.db")).unwrap();
    let old = NewSession::new(SessionId::from("20250101_000000_aaaaaa"), "cli", Timestamp::now());
    store.create(&old).unwrap();
    store.append(&old.id, &NewMessage::new(Role::User, "my cat Schnurr is ill", Timestamp::now())).unwrap();
    drop(store);
    talk.run(&["-z", "what about schnurr?"]).success();
    let found = first_result(&talk);
    assert_eq!(found["results"][0]["session_id"], "20250101_000000_aaaaaa", "{found}");
    assert_eq!(found["count"], 1, "this conversation is not among them");
}

#[test]
fn a_task_list_is_there_when_the_conversation_goes_on() {
    let todos = json!({ "todos": [{ "id": "1", "content": "paint", "status": "in_progress" }] });
    let talk = Talk::with(&format!(
        "call todo {todos}\n---\nsay \"ok\"\n---\ncall todo {{}}\n---\nalways\nsay \"ok\""
    ));
    let session = session_of(&talk.run(&["-z", "plan", "--json"]).success().out());
    talk.run(&["-z", "go on", "-r", &session]).success();
    let results = talk.server.last_call().tool_results();
    let listed: Value = serde_json::from_str(&results.last().unwrap().1).unwrap();
    assert_eq!(listed["todos"][0]["content"], "paint", "{listed}");
}

#[test]
fn a_script_has_nobody_to_ask() {
    let talk = Talk::with(&calls("clarify", &json!({ "question": "Which?", "choices": ["a", "b"] })));
    talk.run(&["-z", "go"]).success().stdout_is("done\n");
    let answer = first_result(&talk);
    assert!(answer["user_response"].as_str().unwrap().contains("Decide yourself"), "{answer}");
}

#[test]
fn a_question_is_answered_at_the_terminal_in_own_words() {
    let question = json!({ "question": "Which colour?", "choices": ["red", "blue"] });
    let talk = Talk::with(&calls("clarify", &question));
    let mut terminal = Terminal::start(&talk.home, &["chat", "-q", "go"]);
    terminal.expect("Which colour?").expect("3) Something else").expect("> ").line("3");
    terminal
        .expect("Which colour?")
        .expect("> ")
        .line("")
        .expect("Type an answer")
        .expect("> ")
        .line("green");
    terminal.expect("done");
    assert!(terminal.end().success(), "{}", terminal.shown());
    assert_eq!(first_result(&talk)["user_response"], "green");
}
