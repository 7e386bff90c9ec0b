//! Finding what was said.

use hermes_store::sessions::{Body, Hit, Kind, NewMessage, Role, SearchQuery, SessionStore, Sort};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::support::Fixture;

fn search(fixture: &mut Fixture, text: &str) -> Vec<Hit> {
    fixture.store.search(&SearchQuery { text: text.to_owned(), ..SearchQuery::default() }).unwrap()
}

#[test]
fn a_hit_shows_the_place_and_its_surroundings() {
    let mut fixture = Fixture::new();
    let session = fixture.session_with("a", |new| new.model = Some("m".into()));
    fixture.turn(&session, "before", "the quick brown fox");
    fixture.turn(&session, "after", "end");
    let hits = search(&mut fixture, "quick");
    assert_eq!(hits.len(), 1);
    let hit = &hits[0];
    assert_eq!(hit.snippet.trim_end(), "the >>>quick<<< brown fox");
    assert_eq!((&hit.session, &hit.role, hit.source.as_str()), (&session, &Role::Assistant, "cli"));
    let context: Vec<&str> = hit.context.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(context, ["before", "the quick brown fox", "after"]);
    let view = fixture.store.anchored(&session, hit.message, 1, 3).unwrap();
    assert_eq!((view.around.before, view.around.after), (1, 1));
    assert_eq!((view.first.len(), view.last.len(), view.before, view.after), (0, 1, 0, 1));
}

#[test]
fn words_phrases_beginnings_and_operators() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    for text in ["docker deploy", "deploy the docker", "kubernetes", "my-app.config here", "it's snake_case"]
    {
        fixture.say(&session, Role::User, text);
    }
    for (text, count) in [
        ("docker deploy", 2),
        ("\"docker deploy\"", 1),
        ("deploy NOT the", 1),
        ("docker OR kubernetes", 3),
        ("kube*", 1),
        ("my-app.config", 1),
        ("it's", 1),
        ("snake_case", 1),
        ("AND OR", 0),
        ("", 0),
        ("\"", 0),
    ] {
        assert_eq!(search(&mut fixture, text).len(), count, "{text}");
    }
}

#[test]
fn scripts_without_spaces_are_found_in_long_and_short_pieces() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    fixture.say(&session, Role::User, "これは漢字テストです");
    fixture.say(&session, Role::User, "去广西旅游");
    let gone = fixture.say(&session, Role::User, "桂林山水 taken back");
    assert_eq!(search(&mut fixture, "漢字テスト").len(), 1);
    let hits = search(&mut fixture, "广西");
    assert_eq!(hits[0].snippet, "去>>>广西<<<旅游");
    assert_eq!(search(&mut fixture, "广西 OR 漢字").len(), 2);
    assert_eq!(search(&mut fixture, "广西 漢字").len(), 0);
    assert_eq!(search(&mut fixture, "桂林").len(), 1);
    fixture.store.rewind(&session, gone).unwrap();
    assert_eq!(search(&mut fixture, "桂林").len(), 0);
}

#[test]
fn roles_sources_order_and_lineages() {
    let mut fixture = Fixture::new();
    let parent = fixture.session("parent");
    fixture.turn(&parent, "zebra one", "zebra two");
    let helper = fixture.child("helper", &parent, Kind::Delegated);
    fixture.say(&helper, Role::User, "zebra three");
    let other = fixture.session_with("other", |new| new.source = "tool".into());
    fixture.say(&other, Role::Tool, "zebra four");
    let base = SearchQuery { text: "zebra".into(), ..SearchQuery::default() };
    let mut texts = |query: &SearchQuery| -> Vec<String> {
        let hits = fixture.store.search(query).unwrap();
        hits.iter().map(|hit| hit.snippet.replace(">>>zebra<<< ", "").trim().to_owned()).collect()
    };
    let newest = SearchQuery { sort: Sort::Newest, ..base.clone() };
    assert_eq!(texts(&newest), ["four", "three", "two", "one"]);
    assert_eq!(texts(&SearchQuery { sort: Sort::Oldest, limit: Some(1), ..base.clone() }), ["one"]);
    assert_eq!(texts(&SearchQuery { offset: 1, limit: Some(2), ..newest.clone() }), ["three", "two"]);
    assert_eq!(
        texts(&SearchQuery { roles: vec![Role::Assistant, Role::Tool], ..newest.clone() }),
        ["four", "two"]
    );
    assert_eq!(texts(&SearchQuery { exclude_sources: vec!["tool".into()], ..newest.clone() }).len(), 3);
    assert_eq!(texts(&SearchQuery { sources: vec!["tool".into()], ..newest.clone() }), ["four"]);
    assert_eq!(texts(&SearchQuery { exclude_lineage: Some(helper), ..newest.clone() }), ["four"]);
    assert_eq!(texts(&SearchQuery { one_per_lineage: true, ..newest }), ["four", "three"]);
}

#[test]
fn messages_of_parts_are_found_after_every_change() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    let parts = Body::Parts(serde_json::json!([{"type": "text", "text": "これは漢字テストです zebra"}]));
    let at = fixture.now();
    let number = fixture.store.append(&session, &NewMessage::new(Role::User, parts, at)).unwrap();
    let both = |fixture: &mut Fixture| ["zebra", "漢字テスト"].map(|text| search(fixture, text).len());
    assert_eq!(both(&mut fixture), [1, 1]);
    fixture.store.set_api_content(&session, number, "sent").unwrap();
    fixture.store.rewind(&session, number).unwrap();
    assert_eq!(both(&mut fixture), [0, 0]);
    fixture.store.restore(&session).unwrap();
    assert_eq!(both(&mut fixture), [1, 1]);
    let (first, second) = fixture.turn(&session, "x", "y");
    fixture.store.compact(&session, &[first, second], &[], at).unwrap();
    fixture.store.compact(&session, &[number], &[], at).unwrap();
    assert_eq!(both(&mut fixture), [1, 1]);
    assert!(fixture.store.check().unwrap().is_good());
    fixture.store.delete(&session).unwrap();
    assert_eq!(both(&mut fixture), [0, 0]);
    assert!(fixture.store.check().unwrap().is_good());
}

#[test]
fn whatever_is_typed_is_a_question() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    fixture.turn(&session, "some words: 漢字テスト", "and an answer");
    let piece = prop_oneof![
        Just("\"".to_owned()),
        "AND|OR|NOT|NEAR|and|words|answer|漢字|漢字テスト",
        "[-+*^:(){}.,'\"_ /%\\\\#@!&|~\u{0}]{1,3}",
        any::<String>(),
    ];
    let typed = prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.join(" "));
    let mut runner = TestRunner::default();
    runner
        .run(&typed, |text| {
            let query = SearchQuery { text, ..SearchQuery::default() };
            let found = fixture_search(&fixture.path(), &query);
            prop_assert!(found.is_ok(), "{:?}", found);
            Ok(())
        })
        .unwrap();
}

/// A search on a connection of its own, because a property may not hold on to the fixture.
fn fixture_search(path: &std::path::Path, query: &SearchQuery) -> Result<usize, String> {
    let mut store = SessionStore::open_read_only(path).map_err(|error| error.to_string())?;
    store.search(query).map(|hits| hits.len()).map_err(|error| error.to_string())
}

#[test]
fn what_matters_less_comes_last() {
    let mut fixture = Fixture::new();
    let job = fixture.session_with("job", |new| new.source = "cron".into());
    fixture.say(&job, Role::User, "zebra zebra zebra");
    let talk = fixture.session("talk");
    fixture.say(&talk, Role::User, "once there was a zebra among many other words");
    let query = SearchQuery {
        text: "zebra".into(),
        last_sources: vec!["cron".into()],
        one_per_lineage: true,
        ..SearchQuery::default()
    };
    let sessions = |query: &SearchQuery, fixture: &mut Fixture| -> Vec<String> {
        let hits = fixture.store.search(query).unwrap();
        hits.iter().map(|hit| hit.session.to_string()).collect()
    };
    assert_eq!(sessions(&query, &mut fixture), ["talk", "job"]);
    let plain = SearchQuery { last_sources: Vec::new(), ..query };
    assert_eq!(sessions(&plain, &mut fixture), ["job", "talk"]);
}

#[test]
fn an_excerpt_has_both_ends_and_no_message_twice() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    let ids: Vec<_> = (0..6).map(|n| fixture.say(&session, Role::User, &format!("message {n}"))).collect();
    let mut seen = |first: usize, last: usize| {
        let excerpt = fixture.store.excerpt(&session, first, last).unwrap();
        assert_eq!(excerpt.total, 6);
        excerpt.messages.iter().map(|message| message.id).collect::<Vec<_>>()
    };
    assert_eq!(seen(2, 1), [ids[0], ids[1], ids[5]]);
    assert_eq!(seen(4, 4), ids);
    assert_eq!(fixture.store.session_of(ids[3]).unwrap(), Some(session));
    assert_eq!(fixture.store.session_of(hermes_store::sessions::MessageId(999)).unwrap(), None);
}
