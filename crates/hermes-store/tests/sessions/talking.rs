//! Sessions begin, messages are added, and everything is there afterwards.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::{env, thread};

use hermes_store::sessions::{
    Body, Kind, NewMessage, NewSession, Role, SessionError, SessionStore, Standing, View,
};
use jiff::Timestamp;
use serde_json::json;

use crate::support::{Fixture, id};

#[test]
fn every_part_of_a_message_comes_back() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    let written = NewMessage {
        content: Some(Body::Parts(
            json!([{"type": "text", "text": "ü"}, {"type": "image_url", "image_url": {}}]),
        )),
        api_content: Some(" as sent \n".into()),
        tool_call_id: Some("call_1".into()),
        tool_calls: Some(json!([{"id": "call_1", "function": {"name": "terminal", "arguments": "{}"}}])),
        tool_name: Some("terminal".into()),
        effect_disposition: Some("kept".into()),
        token_count: Some(7),
        finish_reason: Some("tool_calls".into()),
        reasoning: Some("hm".into()),
        reasoning_content: Some(String::new()),
        reasoning_details: Some(json!([{"type": "x"}])),
        codex_reasoning_items: Some(json!([1])),
        codex_message_items: Some(json!([{"a": null}])),
        platform_message_id: Some("p1".into()),
        observed: true,
        ..NewMessage::empty(Role::Assistant, fixture.now())
    };
    let number = fixture.store.append(&session, &written).unwrap();
    let read = fixture.store.messages(&session, View::Active).unwrap().remove(0);
    assert_eq!((read.id, &read.session, read.standing), (number, &session, Standing::Active));
    assert_eq!(read.message, written);
    assert_eq!(read.message.content.unwrap().text(), "ü");
}

#[test]
fn a_zero_byte_in_a_text_is_replaced() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    fixture.say(&session, Role::Tool, "\0json:[1] b\0c");
    assert_eq!(fixture.seen(&session), ["\u{fffd}json:[1] b\u{fffd}c"]);
}

#[test]
fn counts_are_kept_and_a_batch_is_all_or_none() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    let at = fixture.now();
    let call = NewMessage {
        tool_calls: Some(json!([{"id": "1"}, {"id": "2"}])),
        ..NewMessage::empty(Role::Assistant, at)
    };
    let result = NewMessage::new(Role::Tool, "done", at);
    let numbers = fixture.store.append_all(&session, &[call.clone(), result.clone(), result]).unwrap();
    assert!(numbers.is_sorted() && numbers.len() == 3);
    let row = fixture.store.row(&session).unwrap();
    assert_eq!((row.message_count, row.tool_call_count), (3, 2));

    let error = fixture.store.append_all(&id("nobody"), &[call]).unwrap_err();
    assert!(matches!(error, SessionError::NoSession { name } if name == "nobody"));
    assert_eq!(fixture.store.stats().unwrap().messages, 3);
}

#[test]
fn what_happens_to_a_session_is_kept() {
    let mut fixture = Fixture::new();
    let session = fixture.session_with("a", |new| {
        new.model = Some("first".into());
        new.model_config = Some(json!({"max_tokens": 5}));
        new.cwd = Some("/w".into());
        new.git_branch = Some("main".into());
        new.git_root = Some("/w".into());
        new.user_id = Some("u".into());
    });
    let store = &mut fixture.store;
    assert_eq!(store.system_prompt(&session).unwrap(), None);
    store.set_system_prompt(&session, "be\n good ").unwrap();
    assert_eq!(store.system_prompt(&session).unwrap().as_deref(), Some("be\n good "));
    store.set_model(&session, "second").unwrap();
    store.set_workspace(&session, "/x", None, None).unwrap();
    let at = Timestamp::from_second(1_900_000_000).unwrap();
    store.end(&session, "user_exit", at).unwrap();
    store.end(&session, "too late", at).unwrap();
    let row = store.row(&session).unwrap();
    assert_eq!((row.end_reason.as_deref(), row.ended_at), (Some("user_exit"), Some(at)));
    assert_eq!(
        (row.model.as_deref(), row.cwd.as_deref(), row.git_branch),
        (Some("second"), Some("/x"), None)
    );
    assert_eq!(row.user_id.as_deref(), Some("u"));
    store.reopen(&session).unwrap();
    assert_eq!(store.row(&session).unwrap().ended_at, None);
    assert!(matches!(store.set_model(&id("b"), "x"), Err(SessionError::NoSession { .. })));
}

#[test]
fn a_session_that_is_there_keeps_what_it_has() {
    let mut fixture = Fixture::new();
    let session = fixture.session_with("a", |new| new.model = Some("kept".into()));
    fixture.say(&session, Role::User, "hello");
    let mut again = NewSession::new(session.clone(), "other", fixture.now());
    again.model = Some("not this".into());
    again.cwd = Some("/new".into());
    fixture.store.create(&again).unwrap();
    let row = fixture.store.row(&session).unwrap();
    assert_eq!((row.source.as_str(), row.model.as_deref()), ("cli", Some("kept")));
    assert_eq!((row.cwd.as_deref(), row.message_count), (Some("/new"), 1));
}

#[test]
fn kinds_are_marked_and_a_question_can_become_a_conversation() {
    let mut fixture = Fixture::new();
    let parent = fixture.session("parent");
    let helper = fixture.child("helper", &parent, Kind::Delegated);
    let branch = fixture.child("branch", &parent, Kind::Branch);
    let question = fixture.session_with("question", |new| {
        new.kind = Kind::OneShot;
        new.model_config = Some(json!({"a": 1}));
    });
    let mut kind = |session| fixture.store.row(session).unwrap().kind;
    assert_eq!(kind(&parent), Kind::Conversation);
    assert_eq!(kind(&helper), Kind::Delegated);
    assert_eq!(kind(&branch), Kind::Branch);
    assert_eq!(kind(&question), Kind::OneShot);
    fixture.store.mark_conversation(&question).unwrap();
    let row = fixture.store.row(&question).unwrap();
    assert_eq!((row.kind, row.model_config.as_deref()), (Kind::Conversation, Some("{\"a\":1}")));
}

#[test]
fn several_stores_write_at_once() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    let path = fixture.path();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (path, session) = (path.clone(), session.clone());
            thread::spawn(move || {
                let mut store = SessionStore::open(&path).unwrap();
                for n in 0..25 {
                    let text = format!("{writer}-{n}");
                    store
                        .append(&session, &NewMessage::new(Role::User, text, Timestamp::UNIX_EPOCH))
                        .unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    assert_eq!(fixture.store.row(&session).unwrap().message_count, 100);
    assert_eq!(fixture.seen(&session).len(), 100);
}

/// Not a test of its own: run by the one below in a process that is killed.
#[test]
fn child_writes_until_it_is_killed() {
    let Some(path) = env::var_os("HERMES_TEST_STATE_DB") else { return };
    let mut store = SessionStore::open(path.as_ref()).unwrap();
    for n in 0.. {
        let text = format!("message {n}");
        store.append(&id("a"), &NewMessage::new(Role::User, text, Timestamp::UNIX_EPOCH)).unwrap();
        writeln!(std::io::stderr(), "kept {n}").unwrap();
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "talking::child_writes_until_it_is_killed", "--nocapture"])
        .env("HERMES_TEST_STATE_DB", fixture.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let heard = lines.by_ref().filter(|line| line.starts_with("kept")).nth(40);
    assert_eq!(heard.as_deref(), Some("kept 40"));
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = lines.filter(|line| line.starts_with("kept")).count() + 41;
    let seen = fixture.seen(&session);
    assert!(seen.len() >= kept, "{} of {kept}", seen.len());
    assert!(seen.iter().enumerate().all(|(n, text)| *text == format!("message {n}")));
    assert_eq!(fixture.store.row(&session).unwrap().message_count, seen.len() as u64);
    assert!(fixture.store.check().unwrap().is_good());
}
