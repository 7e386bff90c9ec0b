//! Messages are indexed after they are stored, whoever does it.

use hermes_store::sessions::{Role, SearchQuery, SessionStore};
use rusqlite::Connection;

use crate::support::{Fixture, id};

fn waiting(db: &Connection) -> i64 {
    db.query_row("SELECT count(*) FROM hermes_rs_unindexed", [], |row| row.get(0)).unwrap()
}

fn indexed(db: &Connection) -> i64 {
    db.query_row("SELECT count(*) FROM messages_fts_docsize", [], |row| row.get(0)).unwrap()
}

fn hits(store: &mut SessionStore, text: &str) -> usize {
    store.search(&SearchQuery { text: text.into(), ..SearchQuery::default() }).unwrap().len()
}

#[test]
fn what_is_stored_is_indexed_a_little_at_a_time() {
    let mut fixture = Fixture::new();
    let session = fixture.session("s");
    let other = Connection::open(fixture.path()).unwrap();
    for n in 0..3 {
        fixture.say(&session, Role::User, &format!("word{n} {}", "filler ".repeat(4000)));
    }
    assert_eq!((waiting(&other), indexed(&other)), (3, 0));
    assert!(fixture.store.index_next().unwrap(), "not all at once");
    assert!(waiting(&other) < 3 && indexed(&other) > 0);
    while fixture.store.index_next().unwrap() {}
    assert_eq!((waiting(&other), indexed(&other)), (0, 3));
    assert!(fixture.store.check().unwrap().is_good());
}

#[test]
fn searching_finds_what_was_just_said_and_what_a_dead_process_left() {
    let mut fixture = Fixture::new();
    let session = fixture.session("s");
    fixture.say(&session, Role::User, "heron");
    assert_eq!(hits(&mut fixture.store, "heron"), 1);
    fixture.say(&session, Role::User, "egret");
    let mut next = SessionStore::open(&fixture.path()).unwrap();
    assert!(next.check().unwrap().is_good(), "waiting is not damage");
    assert_eq!(hits(&mut next, "egret"), 1);
}

#[test]
fn a_store_that_is_closed_leaves_nothing_behind() {
    let mut fixture = Fixture::new();
    let session = fixture.session("s");
    fixture.say(&session, Role::User, "heron");
    let path = fixture.path();
    let store = std::mem::replace(&mut fixture.store, SessionStore::open(&path).unwrap());
    drop(store);
    let other = Connection::open(&path).unwrap();
    assert_eq!((waiting(&other), indexed(&other)), (0, 1));
}

#[test]
fn other_programs_change_and_remove_what_waits() {
    let mut fixture = Fixture::new();
    let session = fixture.session("s");
    let first = fixture.say(&session, Role::User, "heron one");
    let second = fixture.say(&session, Role::User, "heron two");
    fixture.say(&session, Role::User, "heron three");
    // Their triggers work on every change.
    let other = Connection::open(fixture.path()).unwrap();
    other.execute("UPDATE messages SET content = 'heron four' WHERE id = ?1", [first.0]).unwrap();
    other.execute("DELETE FROM messages WHERE id = ?1", [second.0]).unwrap();
    assert_eq!((waiting(&other), indexed(&other)), (3, 1));
    assert_eq!(hits(&mut fixture.store, "heron"), 2);
    assert_eq!(hits(&mut fixture.store, "four"), 1);
    assert_eq!((waiting(&other), indexed(&other)), (0, 2));
    assert!(fixture.store.check().unwrap().is_good());
    other.execute_batch("INSERT INTO messages_fts(messages_fts) VALUES ('integrity-check')").unwrap();
}

#[test]
fn a_session_goes_with_its_entries() {
    let mut fixture = Fixture::new();
    let (one, two) = (fixture.session("one"), fixture.session("two"));
    fixture.say(&one, Role::User, "heron");
    fixture.store.index_all().unwrap();
    fixture.say(&one, Role::User, "heron that waits");
    fixture.say(&two, Role::User, "heron that stays");
    fixture.store.delete(&id("one")).unwrap();
    assert_eq!(hits(&mut fixture.store, "heron"), 1);
    assert!(fixture.store.check().unwrap().is_good());
}

#[test]
fn triggers_nobody_knows_are_left_to_do_their_work() {
    let mut fixture = Fixture::new();
    let session = fixture.session("s");
    let other = Connection::open(fixture.path()).unwrap();
    other
        .execute_batch(
            "CREATE TABLE seen (id INTEGER);
             CREATE TRIGGER of_a_later_program AFTER INSERT ON messages BEGIN INSERT INTO seen VALUES (new.id); END",
        )
        .unwrap();
    let path = fixture.path();
    fixture.store = SessionStore::open(&path).unwrap();
    fixture.say(&session, Role::User, "heron");
    let seen: i64 = other.query_row("SELECT count(*) FROM seen", [], |row| row.get(0)).unwrap();
    assert_eq!((seen, indexed(&other)), (1, 1));
    assert_eq!(hits(&mut fixture.store, "heron"), 1);
    assert!(fixture.store.check().unwrap().is_good());
}
