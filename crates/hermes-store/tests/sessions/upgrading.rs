//! Old, new and strange files, and putting right what is wrong.

use hermes_store::rusqlite::Connection;
use hermes_store::sessions::{Kind, Resume, Role, SearchQuery, SessionError, SessionStore, View};
use hermes_store::{AnySchema, Database, Error, OpenMode};
use serde_json::json;

use crate::support::{Fixture, id};

/// The tables as version 13 had them.
const THIRTEEN: &str = "
    CREATE TABLE schema_version (version INTEGER NOT NULL);
    INSERT INTO schema_version VALUES (13);
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
        parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
        message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
        output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0,
        reasoning_tokens INTEGER DEFAULT 0, billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT,
        estimated_cost_usd REAL, actual_cost_usd REAL, cost_status TEXT, cost_source TEXT, pricing_version TEXT,
        title TEXT, api_call_count INTEGER DEFAULT 0, handoff_state TEXT, handoff_platform TEXT, handoff_error TEXT,
        FOREIGN KEY (parent_session_id) REFERENCES sessions(id));
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
        content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
        token_count INTEGER, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT,
        codex_reasoning_items TEXT, codex_message_items TEXT, platform_message_id TEXT, observed INTEGER DEFAULT 0);
    CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT);
    INSERT INTO sessions (id, source, model, started_at, input_tokens, title) VALUES ('p', 'cli', 'm', 1.5, 7, 't');
    INSERT INTO sessions (id, source, parent_session_id, started_at, title) VALUES ('c', 'cli', 'p', 2.5, 't');
    INSERT INTO messages (session_id, role, content, timestamp) VALUES ('p', 'user', 'old zebra', 2.0);
    INSERT INTO messages (session_id, role, content, timestamp) VALUES ('c', 'user', 'helper', 3.0);";

fn old_file() -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    Connection::open(&path).unwrap().execute_batch(THIRTEEN).unwrap();
    (directory, path)
}

fn search(store: &mut SessionStore, text: &str) -> usize {
    store.search(&SearchQuery { text: text.into(), ..SearchQuery::default() }).unwrap().len()
}

#[test]
fn an_old_file_is_completed_and_nothing_is_lost() {
    let (_directory, path) = old_file();
    assert!(matches!(SessionStore::open_read_only(&path), Err(SessionError::Store(Error::Outdated { .. }))));
    let mut store = SessionStore::open(&path).unwrap();
    assert_eq!(search(&mut store, "zebra"), 1);
    assert_eq!(store.messages(&id("p"), View::Active).unwrap().len(), 1);
    assert_eq!(store.usage(&id("p")).unwrap()[0].input, 7);
    assert_eq!(store.row(&id("c")).unwrap().kind, Kind::Delegated);
    assert_eq!(store.find(&Resume::Latest { source: "cli".into() }).unwrap(), Some(id("p")));
    let titles = [store.title(&id("p")).unwrap(), store.title(&id("c")).unwrap()];
    assert_eq!(titles, [None, Some("t".to_owned())], "the newest keeps a title that two had");
    assert!(store.check().unwrap().is_good());
    drop(store);
    let mut again = SessionStore::open_read_only(&path).unwrap();
    assert_eq!(search(&mut again, "zebra"), 1);
}

#[test]
fn a_later_version_is_used_as_it_is_or_refused() {
    let fixture = Fixture::new();
    let path = fixture.path();
    let db = Connection::open(&path).unwrap();
    db.execute_batch("UPDATE schema_version SET version = 99; DROP TABLE gateway_routing").unwrap();
    SessionStore::open(&path).unwrap();
    let back: i64 = db
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'gateway_routing'", [], |r| r.get(0))
        .unwrap();
    assert_eq!(back, 0, "what a later program dropped stays dropped");
    db.execute_batch("ALTER TABLE sessions DROP COLUMN rewind_count").unwrap();
    assert!(matches!(SessionStore::open(&path), Err(SessionError::Store(Error::TooNew { found: 99, .. }))));
}

#[test]
fn another_programs_file_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE songs (x)").unwrap();
    assert!(matches!(SessionStore::open(&path), Err(SessionError::Store(Error::Foreign { .. }))));
}

#[test]
fn a_lost_trigger_is_mended() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    let path = fixture.path();
    let db = Connection::open(&path).unwrap();
    db.execute_batch("DROP TRIGGER messages_fts_insert").unwrap();
    let said = "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?1, 'user', 'unheard zebra', 4.0)";
    db.execute(said, [session.as_str()]).unwrap();
    assert_eq!(search(&mut fixture.store, "zebra"), 0);
    let mut store = SessionStore::open(&path).unwrap();
    assert_eq!(search(&mut store, "zebra"), 1);
}

#[test]
fn messages_without_a_mark_count_again() {
    let (_directory, path) = old_file();
    let db = Connection::open(&path).unwrap();
    db.execute_batch("ALTER TABLE messages ADD COLUMN active INTEGER").unwrap();
    let mut store = SessionStore::open(&path).unwrap();
    assert_eq!(store.messages(&id("p"), View::Active).unwrap().len(), 1);
    db.execute_batch(
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('p', 'user', 'x', 4.0)",
    )
    .unwrap();
    assert_eq!(store.messages(&id("p"), View::Active).unwrap().len(), 1);
    let mut store = SessionStore::open(&path).unwrap();
    assert_eq!(store.messages(&id("p"), View::Active).unwrap().len(), 2);
}

#[test]
fn repair_makes_a_copy_and_puts_right() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    fixture.turn(&session, "zebra", "1");
    fixture.store.index_all().unwrap();
    let db = Connection::open(fixture.path()).unwrap();
    db.execute_batch(
        "PRAGMA foreign_keys = OFF; DELETE FROM messages_fts WHERE rowid = 1;
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('gone', 'user', 'lost words', 5.0);
         UPDATE sessions SET message_count = 77, parent_session_id = 'nobody'",
    )
    .unwrap();
    let health = fixture.store.check().unwrap();
    assert_eq!(health.stale_indexes, ["messages_fts"]);
    assert_eq!((health.lost_messages, health.lost_children), (1, 1));
    let copy = fixture.path().with_extension("bak");
    let done = fixture.store.repair(&copy).unwrap();
    assert_eq!((done.sessions, done.children, done.counts), (1, 1, 2));
    assert!(fixture.store.check().unwrap().is_good());
    assert_eq!(fixture.store.row(&session).unwrap().message_count, 2);
    assert_eq!(search(&mut fixture.store, "zebra"), 1);
    assert_eq!(fixture.seen(&id("gone")), ["lost words"]);
    assert!(matches!(fixture.store.repair(&copy), Err(SessionError::Store(Error::CopyExists { .. }))));
    fixture.store.optimize().unwrap();
}

#[test]
fn an_index_that_disagrees_is_no_damage() {
    let mut fixture = Fixture::new();
    let session = fixture.session("a");
    fixture.turn(&session, "zebra", "1");
    fixture.store.index_all().unwrap();
    let db = Connection::open(fixture.path()).unwrap();
    db.execute_batch("UPDATE messages_fts_content SET c0 = 'something else' WHERE id = 1").unwrap();
    assert_eq!(fixture.store.check().unwrap().stale_indexes, ["messages_fts"]);
    // A copy can be made, and the file is as good as any to those who only look at its structure.
    let copy = fixture.path().with_extension("copy");
    let mut plain = Database::open(fixture.path(), OpenMode::ReadOnly, &AnySchema).unwrap();
    plain.quick_check().unwrap();
    plain.backup_to(&copy).unwrap();
    fixture.store.repair(&fixture.path().with_extension("bak")).unwrap();
    assert!(fixture.store.check().unwrap().is_good());
}

#[test]
fn an_export_has_every_column_and_the_messages() {
    let mut fixture = Fixture::new();
    let session = fixture.session_with("a", |new| new.model_config = Some(json!({"x": 1})));
    fixture.turn(&session, "q", "a");
    fixture.store.undo(&session, 1).unwrap();
    fixture.say(&session, Role::User, "q2");
    let exported = fixture.store.export(&session, View::Active).unwrap();
    assert_eq!(exported["id"], "a");
    assert_eq!(exported["model_config"], "{\"x\":1}", "as the column has it");
    assert_eq!(exported["messages"].as_array().unwrap().len(), 1);
    assert_eq!(exported["messages"][0]["content"], "q2");
    assert_eq!(exported["messages"][0]["active"], 1);
    assert_eq!(fixture.store.export(&session, View::All).unwrap()["messages"].as_array().unwrap().len(), 3);
    assert!(fixture.store.export(&id("b"), View::All).is_err());
}

#[test]
fn single_values_are_kept() {
    let mut fixture = Fixture::new();
    let store = &mut fixture.store;
    assert_eq!(store.meta("k").unwrap(), None);
    store.set_meta("k", Some("1")).unwrap();
    store.set_meta("k", Some("2")).unwrap();
    assert_eq!(store.meta("k").unwrap().as_deref(), Some("2"));
    store.set_meta("k", None).unwrap();
    assert_eq!(store.meta("k").unwrap(), None);
}
