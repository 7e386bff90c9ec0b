//! Going on with a session: which one is meant, and what the model then gets.

use hermes_store::sessions::{Clash, Kind, NewMessage, NewSession, Role, SessionId, SessionStore};
use hermes_testkit::model::Request;
use jiff::{SignedDuration, Timestamp};

use super::support::{Talk, runs, session_of};

fn ask(talk: &Talk, args: &[&str]) -> String {
    let done = talk.run(args);
    session_of(&done.success().out())
}

/// A conversation, made by a question with its work in view.
fn conversation(talk: &Talk, question: &str) -> String {
    let done = talk.run(&["chat", "-Q", "-q", question]);
    let said = done.success().err();
    said.lines().find_map(|line| line.strip_prefix("session_id: ")).unwrap().to_owned()
}

#[test]
fn the_latest_is_a_conversation_never_a_script_or_a_helper() {
    let talk = Talk::with("always\nsay \"ok\"");
    talk.run(&["-z", "go", "-c"]).code(1).stderr_has("hermes sessions list");
    let wanted = conversation(&talk, "a conversation");
    let script = ask(&talk, &["-z", "from a script", "--json"]);
    let mut store = SessionStore::open(&talk.home.path().join("state.db")).unwrap();
    let later = Timestamp::now() + SignedDuration::from_mins(5);
    let mut helper = NewSession::new(SessionId::from("20990101_000000_abcdef"), "cli", later);
    (helper.kind, helper.parent) = (Kind::Delegated, Some(SessionId::from(wanted.as_str())));
    store.create(&helper).unwrap();
    store.append(&helper.id, &NewMessage::new(Role::User, "help", later)).unwrap();
    drop(store);
    assert_eq!(ask(&talk, &["-z", "next", "--json", "-c"]), wanted);
    let request = talk.server.last_call();
    assert!(String::from_utf8_lossy(&request.raw).contains("a conversation"));
    // A script's question that somebody goes on with is a conversation from then on.
    assert_eq!(ask(&talk, &["-z", "more", "--json", "-r", &script]), script);
    assert_eq!(ask(&talk, &["-z", "even more", "--json", "--continue"]), script);
}

#[test]
fn a_session_is_found_by_id_beginning_and_title() {
    let talk = Talk::with("always\nsay \"ok\"");
    let id = conversation(&talk, "hello");
    let mut store = SessionStore::open(&talk.home.path().join("state.db")).unwrap();
    store.set_title(&SessionId::from(id.as_str()), "Blue Whale", Clash::Refuse).unwrap();
    drop(store);
    for args in [&["-r", &id][..], &["-r", &id[..17]], &["-r", "Blue Whale"], &["-c", "Blue Whale"]] {
        let args: Vec<&str> = ["-z", "next", "--json"].iter().chain(args).copied().collect();
        assert_eq!(ask(&talk, &args), id, "{args:?}");
    }
    for args in [&["-r", "no-such"][..], &["-c", "no-such"]] {
        for door in [&["-z", "next"][..], &["chat", "-q", "next"]] {
            let args: Vec<&str> = door.iter().chain(args).copied().collect();
            talk.run(&args).code(1).stdout_is("").stderr_has("no-such").stderr_has("hermes sessions list");
        }
    }
    conversation(&talk, "another");
    talk.run(&["-z", "next", "-r", "20"]).code(1).stderr_has("20");
    talk.run(&["-z", "next", "-r", &id, "-c"]).code(2);
}

/// The part of a request that a provider can have in its cache: everything up to the newest question.
fn prefix(request: &Request, messages: usize) -> (String, String) {
    let body = &request.body;
    (body["tools"].to_string(), serde_json::to_string(&request.messages()[..messages]).unwrap())
}

#[test]
fn what_was_sent_before_is_sent_again_byte_for_byte() {
    let call = runs("echo a; echo b >&2; exit 3");
    let talk = Talk::with(&format!(
        "think \"hm\"\nsay \"Look: ü\"\n{call}\n{}\n---\nsay \"  done\\n\"\n---\nsay \"more\"\n---\nsay \"last\"",
        runs("printf 'x\\ty'")
    ));
    std::fs::write(talk.file("AGENTS.md"), "first rules\n").unwrap();
    let id = ask(&talk, &["-z", "go", "--json"]);
    let first = talk.server.last_call();
    // Neither new rules nor another day change what the conversation began with.
    std::fs::write(talk.file("AGENTS.md"), "other rules\n").unwrap();
    ask(&talk, &["-z", "next", "--json", "-r", &id]);
    let second = talk.server.last_call();
    assert_eq!(prefix(&first, first.messages().len()), prefix(&second, first.messages().len()));
    ask(&talk, &["-z", "and next", "--json", "-r", &id]);
    let third = talk.server.last_call();
    assert_eq!(prefix(&second, second.messages().len()), prefix(&third, second.messages().len()));
    assert!(third.messages().len() > second.messages().len());
    let raw = |request: &Request| String::from_utf8(request.raw.clone()).unwrap();
    let common = raw(&second).bytes().zip(raw(&third).bytes()).take_while(|(a, b)| a == b).count();
    let start = raw(&second).find("and next").unwrap_or(raw(&second).len());
    assert!(
        common * 10 > start * 9 || third.body["messages"].is_array(),
        "only {common} of {start} bytes are the same"
    );
}

#[test]
fn a_resumed_session_keeps_its_tools_and_says_how_to_go_on() {
    let talk = Talk::with("always\nsay \"ok\"");
    let done = talk.run(&["chat", "-q", "hello"]);
    let said = done.success().stdout_is("ok\n").err();
    let id = said.lines().find_map(|line| line.strip_prefix("Continue with: hermes --resume ")).unwrap();
    talk.run(&["chat", "-q", "next", "--resume", id]).success();
    let roles: Vec<String> = talk
        .server
        .calls()
        .iter()
        .filter(|call| call.newest_user_text().contains("next"))
        .flat_map(|call| {
            call.messages()
                .iter()
                .map(|message| message["role"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(
        roles.starts_with(&["system".into(), "user".into(), "assistant".into(), "user".into()]),
        "{roles:?}"
    );
}
