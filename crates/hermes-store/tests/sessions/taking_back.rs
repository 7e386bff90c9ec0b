//! What was said is taken back, summarised, and brought back.

use hermes_store::sessions::{Body, MessageId, NewMessage, Role, SearchQuery, SessionError, Standing, View};
use jiff::Timestamp;

use crate::support::Fixture;

fn summary(text: &str) -> Vec<NewMessage> {
    vec![NewMessage::new(Role::User, text, Timestamp::UNIX_EPOCH)]
}

fn found(fixture: &mut Fixture, text: &str) -> Vec<MessageId> {
    let query = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
    fixture.store.search(&query).unwrap().into_iter().map(|hit| hit.message).collect()
}

#[test]
fn undo_hides_and_restore_brings_back() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    fixture.turn(&session, "one", "1");
    let (second, answer) = fixture.turn(&session, "two zebra", "2");
    fixture.turn(&session, "three", "3");

    let rewound = fixture.store.rewind(&session, second).unwrap();
    assert_eq!(rewound.hidden.len(), 4);
    assert_eq!(rewound.prompt, Some(Body::from("two zebra")));
    assert_eq!(fixture.seen(&session), ["one", "1"]);
    assert_eq!(fixture.store.row(&session).unwrap().rewind_count, 1);
    assert_eq!(fixture.texts(&session, View::All).len(), 6);
    assert!(found(&mut fixture, "zebra").is_empty(), "what was taken back is not found");

    assert_eq!(fixture.store.restore(&session).unwrap(), rewound.hidden);
    assert_eq!(fixture.seen(&session).len(), 6);
    let error = fixture.store.restore(&session).unwrap_err();
    assert!(matches!(error, SessionError::NothingTakenBack { .. }));
    let error = fixture.store.rewind(&session, answer).unwrap_err();
    assert!(matches!(error, SessionError::NotUsers { .. }));
    let error = fixture.store.rewind(&session, MessageId(999)).unwrap_err();
    assert!(matches!(error, SessionError::NoMessage { .. }));
}

#[test]
fn several_turns_are_undone_at_once_and_later_words_end_the_way_back() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    assert_eq!(fixture.store.undo(&session, 1).unwrap(), None);
    for n in ["one", "two", "three"] {
        fixture.turn(&session, n, "answer");
    }
    let rewound = fixture.store.undo(&session, 2).unwrap().unwrap();
    assert_eq!((rewound.hidden.len(), rewound.prompt), (4, Some(Body::from("two"))));
    fixture.say(&session, Role::User, "instead");
    assert_eq!(fixture.seen(&session), ["one", "answer", "instead"]);
    assert!(matches!(fixture.store.restore(&session), Err(SessionError::NothingTakenBack { .. })));
    assert_eq!(fixture.seen(&session), ["one", "answer", "instead"]);
}

#[test]
fn a_summary_takes_the_place_of_the_middle() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    fixture.turn(&session, "head", "h");
    let (first, second) = fixture.turn(&session, "middle zebra", "m");
    let (tail, _) = fixture.turn(&session, "tail quagga", "t");
    let at = fixture.now();
    let done = fixture.store.compact(&session, &[first, second], &summary("summary"), at).unwrap();
    assert_eq!(fixture.seen(&session), ["head", "h", "summary", "tail quagga", "t"]);
    assert_eq!((done.inserted.len(), done.moved.len()), (1, 2));
    assert_eq!(done.moved[0].0, tail);
    assert_eq!(fixture.store.row(&session).unwrap().message_count, 5);
    assert_eq!(found(&mut fixture, "zebra"), [first], "what was summarised is found");
    assert_eq!(found(&mut fixture, "quagga"), [done.moved[0].1], "what was moved is found once");
    let all = fixture.store.messages(&session, View::All).unwrap();
    let standing = |id| all.iter().find(|message| message.id == id).unwrap().standing;
    assert_eq!((standing(first), standing(tail)), (Standing::Compacted, Standing::TakenBack));

    fixture.turn(&session, "later", "l");
    let back = fixture.store.uncompact(&session).unwrap();
    assert_eq!((back.restored.len(), back.removed.len()), (4, 3));
    assert_eq!(fixture.seen(&session), ["head", "h", "middle zebra", "m", "tail quagga", "t", "later", "l"]);
    assert_eq!(fixture.store.row(&session).unwrap().message_count, 8);
    assert!(found(&mut fixture, "summary").is_empty());
    assert!(matches!(fixture.store.uncompact(&session), Err(SessionError::NothingCompacted { .. })));
}

#[test]
fn compactions_are_taken_back_one_after_the_other() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    let (first, second) = fixture.turn(&session, "one", "1");
    let at = fixture.now();
    let once = fixture.store.compact(&session, &[first, second], &summary("s1"), at).unwrap();
    let (third, fourth) = fixture.turn(&session, "two", "2");
    let hidden = [once.inserted[0], third, fourth];
    fixture.store.compact(&session, &hidden, &summary("s2"), at).unwrap();
    assert_eq!(fixture.seen(&session), ["s2"]);
    assert_eq!(fixture.store.compactions(&session).unwrap(), 2);
    fixture.store.uncompact(&session).unwrap();
    assert_eq!(fixture.seen(&session), ["s1", "two", "2"]);
    fixture.store.uncompact(&session).unwrap();
    assert_eq!(fixture.seen(&session), ["one", "1", "two", "2"]);
}

#[test]
fn what_was_undone_after_a_compaction_stays_undone() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    let (first, second) = fixture.turn(&session, "one", "1");
    fixture.turn(&session, "two", "2");
    let at = fixture.now();
    let done = fixture.store.compact(&session, &[first, second], &summary("s"), at).unwrap();
    fixture.store.rewind(&session, done.moved[0].1).unwrap();
    assert_eq!(fixture.seen(&session), ["s"]);
    fixture.store.uncompact(&session).unwrap();
    assert_eq!(fixture.seen(&session), ["one", "1"]);
}

#[test]
fn a_compaction_of_what_is_not_there_changes_nothing() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    let (first, _) = fixture.turn(&session, "one", "1");
    let at = fixture.now();
    let error = fixture.store.compact(&session, &[first, MessageId(99)], &summary("s"), at).unwrap_err();
    assert!(matches!(error, SessionError::NoMessage { message: MessageId(99), .. }));
    assert_eq!(fixture.seen(&session), ["one", "1"]);
}

#[test]
fn one_program_compacts_at_a_time() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    let hold = std::time::Duration::from_secs(10);
    let now = Timestamp::from_second(1000).unwrap();
    let store = &mut fixture.store;
    assert!(store.lock_compaction(&session, "one", now, hold).unwrap());
    assert!(store.lock_compaction(&session, "one", now, hold).unwrap(), "the holder may hold longer");
    assert!(!store.lock_compaction(&session, "two", now, hold).unwrap());
    store.unlock_compaction(&session, "two").unwrap();
    assert!(!store.lock_compaction(&session, "two", now, hold).unwrap());
    assert!(store.lock_compaction(&session, "two", now + hold, hold).unwrap(), "it ran out");
    store.unlock_compaction(&session, "two").unwrap();
    assert!(store.lock_compaction(&session, "one", now, hold).unwrap());
}
