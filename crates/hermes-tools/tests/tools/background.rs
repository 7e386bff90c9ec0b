//! Commands that go on by themselves.

use hermes_tools::{News, Terminal};
use serde_json::json;

use crate::fixture::{Fixture, Talk, eventually};

crate::everywhere!(the_end_is_told_when_it_was_asked_for, lines_that_are_waited_for_are_told);

async fn the_end_is_told_when_it_was_asked_for(fixture: &Fixture) {
    let place = fixture.place();
    let talk = Talk::new(Terminal::new(place.clone()));
    let told = |notify: bool| json!({ "command": "echo did it; exit 4", "background": true, "notify_on_complete": notify });
    let silent = talk.call(told(false)).await;
    assert!(silent["hint"].is_string(), "{silent}");
    let started = talk.call(told(true)).await;
    assert_eq!((&started["exit_code"], &started["notify_on_complete"]), (&json!(0), &json!(true)));
    tokio::time::timeout(std::time::Duration::from_mins(1), place.notifications().changed()).await.unwrap();
    let notes = place.notifications().drain("conversation");
    assert_eq!(notes.len(), 1);
    assert_eq!(json!(notes[0].process), started["session_id"]);
    assert_eq!(notes[0].news, News::Ended { exit_code: Some(4), output: "did it".into() });
}

async fn lines_that_are_waited_for_are_told(fixture: &Fixture) {
    let place = fixture.place();
    let talk = Talk::new(Terminal::new(place.clone()));
    let command =
        "export MARK=ready; cd /; printf 'server is re'; sleep 0.2; echo ady; echo more; sleep 7130";
    let order = json!({ "command": command, "background": true, "watch_patterns": ["is ready"] });
    let started = talk.call(order).await;
    assert_eq!(started["watch_patterns"], json!(["is ready"]), "{started}");
    let mut notes = Vec::new();
    eventually("the line is told", || {
        notes.extend(place.notifications().drain_all());
        !notes.is_empty()
    })
    .await;
    assert_eq!(notes[0].news, News::Matched { lines: vec!["server is ready".into()], left_out: 0 });
}
