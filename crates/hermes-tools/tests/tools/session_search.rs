//! `session_search` on a `state.db` that is being written to.

use hermes_store::sessions::{Kind, NewMessage, NewSession, Role, SessionId, SessionStore};
use hermes_tools::SessionSearch;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::Talk;

/// Sessions of some messages each; time goes on by a second with each.
struct Past {
    dir: TempDir,
    store: SessionStore,
    now: i64,
}

impl Past {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = SessionStore::open(&dir.path().join("state.db")).unwrap();
        Self { dir, store, now: 1_800_000_000 }
    }

    fn at(&mut self) -> Timestamp {
        self.now += 1;
        Timestamp::from_second(self.now).unwrap()
    }

    fn session(&mut self, name: &str, change: impl FnOnce(&mut NewSession)) -> SessionId {
        let mut new = NewSession::new(SessionId::from(name), "cli", self.at());
        change(&mut new);
        self.store.create(&new).unwrap();
        new.id
    }

    fn say(&mut self, session: &SessionId, role: Role, text: &str) -> i64 {
        let message = NewMessage::new(role, text, self.at());
        let said = self.store.append(session, &message).unwrap().0;
        // Others find it when the writer had time to index it.
        self.store.index_all().unwrap();
        said
    }

    /// A session with a word in the middle; the number of that message.
    fn about(&mut self, name: &str, word: &str) -> i64 {
        let session = self.session(name, |_| ());
        for n in 0..8 {
            self.say(&session, Role::User, &format!("{name} message {n}"));
        }
        let hit = self.say(&session, Role::Assistant, &format!("here is the {word} you want"));
        for n in 8..16 {
            self.say(&session, Role::User, &format!("{name} message {n}"));
        }
        hit
    }

    fn talk(&self, current: &str) -> Talk {
        Talk::with(SessionSearch::new(&self.dir.path().join("state.db"), redactor()), current)
    }
}

fn redactor() -> std::sync::Arc<hermes_guard::Redactor> {
    std::sync::Arc::new(hermes_guard::Redactor::new([]))
}

#[tokio::test]
async fn keys_of_earlier_conversations_do_not_show() {
    let mut past = Past::new();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let session = past.session("20260101_120000_aaaaaa", |_| ());
    past.say(&session, Role::User, &format!("deploy {}with {key} zebra", "word ".repeat(80)));
    let hit = past.say(&session, Role::Assistant, &format!("zebra {} {key}", "x".repeat(1_480)));
    let talk = past.talk("now");
    for order in [
        json!({ "query": "zebra" }),
        json!({ "query": format!("{key}") }),
        json!({ "session_id": session.as_str() }),
        json!({ "session_id": session.as_str(), "around_message_id": hit }),
        json!({}),
    ] {
        let found = talk.call(order).await;
        assert_eq!(found["success"], true, "{found}");
        assert!(
            !found["results"].to_string().contains("a1B2a1B2")
                && !found["messages"].to_string().contains("a1B2"),
            "{found}"
        );
    }
}

fn sessions(result: &Value) -> Vec<&str> {
    let results = result["results"].as_array().unwrap();
    results.iter().map(|found| found["session_id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_word_is_found_with_its_surroundings() {
    let mut past = Past::new();
    let hit = past.about("old", "zebra");
    past.session("now", |_| ());
    let found = past.talk("now").call(json!({ "query": "zebra" })).await;
    assert_eq!((&found["mode"], &found["count"]), (&json!("discover"), &json!(1)));
    let place = &found["results"][0];
    assert_eq!(place["match_message_id"], hit);
    assert_eq!(place["snippet"].as_str().unwrap().trim(), "here is the >>>zebra<<< you want");
    let contents = |name: &str| -> Vec<&str> {
        place[name].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap()).collect()
    };
    assert_eq!(contents("messages").len(), 11);
    assert_eq!(place["messages"][5]["anchor"], true);
    assert_eq!(contents("bookend_start"), ["old message 0", "old message 1", "old message 2"]);
    assert_eq!(contents("bookend_end"), ["old message 13", "old message 14", "old message 15"]);
    assert_eq!((&place["messages_before"], &place["messages_after"]), (&json!(5), &json!(5)));
}

#[tokio::test]
async fn one_hit_per_conversation_and_none_from_this_one() {
    let mut past = Past::new();
    past.about("first", "zebra");
    past.about("second", "zebra");
    let helper = past.session("helper", |new| {
        new.parent = Some(SessionId::from("first"));
        new.kind = Kind::Delegated;
    });
    past.say(&helper, Role::User, "zebra again");
    let hidden = past.session("hidden", |new| new.source = "tool".into());
    past.say(&hidden, Role::User, "zebra of a tool");
    let job = past.session("job", |new| new.source = "cron".into());
    past.say(&job, Role::User, "zebra");
    past.about("now", "zebra");
    let talk = past.talk("now");
    let found = talk.call(json!({ "query": "zebra", "limit": 10, "sort": "newest" })).await;
    assert_eq!(sessions(&found), ["helper", "second", "job"]);
    let told = past.talk("helper").call(json!({ "query": "zebra", "limit": 10, "sort": "oldest" })).await;
    assert_eq!(sessions(&told), ["second", "now", "job"]);
    assert_eq!(sessions(&talk.call(json!({ "query": "zebra", "limit": 1 })).await).len(), 1);
    let tools = talk.call(json!({ "query": "zebra", "role_filter": "tool" })).await;
    assert_eq!(tools["count"], 0);
    assert!(tools["message"].is_string());
}

#[tokio::test]
async fn whatever_is_typed_is_a_question_and_titles_count() {
    let mut past = Past::new();
    past.about("old", "zebra");
    let said = past.session("said", |_| ());
    past.say(&said, Role::User, "去广西旅游");
    past.store.set_title(&said, "The quagga plan", hermes_store::sessions::Clash::Number).unwrap();
    let talk = past.talk("now");
    for query in ["\"zebra you", "AND zebra OR", "zebra*", "zebra (", "zebra:", "广西"] {
        assert_eq!(talk.call(json!({ "query": query })).await["count"], 1, "{query}");
    }
    let titled = talk.call(json!({ "query": "quagga" })).await;
    assert_eq!((sessions(&titled), &titled["results"][0]["matched_role"]), (vec!["said"], &json!("title")));
}

#[tokio::test]
async fn a_conversation_is_read_and_scrolled() {
    let mut past = Past::new();
    let hit = past.about("old", "zebra");
    let long = past.session("long", |new| new.parent = Some(SessionId::from("old")));
    let ids: Vec<i64> = (0..40).map(|n| past.say(&long, Role::User, &format!("long {n}"))).collect();
    past.session("now", |_| ());
    let talk = past.talk("now");
    let read = talk.call(json!({ "session_id": "long" })).await;
    assert_eq!(
        (&read["mode"], &read["message_count"], &read["truncated"]),
        (&json!("read"), &json!(40), &json!(true))
    );
    assert_eq!(read["messages"].as_array().unwrap().len(), 30);
    let scroll = talk.call(json!({ "session_id": "old", "around_message_id": hit, "window": 2 })).await;
    assert_eq!((&scroll["mode"], scroll["messages"].as_array().unwrap().len()), (&json!("scroll"), 5));
    assert_eq!(scroll["warning"], Value::Null);
    let moved = talk.call(json!({ "session_id": "old", "around_message_id": ids[3], "window": 1 })).await;
    assert_eq!(moved["session_id"], "long");
    assert!(moved["warning"].is_string());
    let lost = talk.call(json!({ "session_id": "old", "around_message_id": 99_999 })).await;
    assert!(lost["error"].as_str().unwrap().contains("99999"));
    assert!(talk.call(json!({ "session_id": "nowhere" })).await["error"].is_string());
    let own = past.talk("long").call(json!({ "session_id": "old", "around_message_id": hit })).await;
    assert!(own["error"].as_str().unwrap().contains("this conversation"));
}

#[tokio::test]
async fn the_newest_are_listed_and_what_is_written_later_is_seen() {
    let mut past = Past::new();
    let talk = past.talk("now");
    assert_eq!(talk.call(json!({})).await["count"], 0);
    past.about("one", "zebra");
    past.about("two", "yak");
    assert_eq!(sessions(&talk.call(json!({})).await), ["two", "one"]);
    past.about("three", "gnu");
    past.about("now", "okapi");
    assert_eq!(sessions(&talk.call(json!({ "limit": 2 })).await), ["three", "two"]);
    assert_eq!(talk.call(json!({ "query": "gnu" })).await["count"], 1);
    let nowhere = Talk::new(SessionSearch::new(std::path::Path::new("/nowhere/state.db"), redactor()));
    assert_eq!(nowhere.call(json!({ "query": "x" })).await["count"], 0);
}
