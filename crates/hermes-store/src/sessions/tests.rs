//! What happens in every turn uses an index, whatever the history holds. Asked of SQLite itself, not of a clock.
#![allow(clippy::unwrap_used, reason = "a test")]

use rusqlite::Connection;
use rusqlite::types::Value;

use super::list::{self, ListFilter};
use super::message::INSERT;
use super::messages::{View, messages_sql};
use super::{SessionStore, search};

fn store() -> (tempfile::TempDir, SessionStore) {
    let directory = tempfile::tempdir().unwrap();
    let store = SessionStore::open(&directory.path().join("state.db")).unwrap();
    (directory, store)
}

/// How SQLite would run a statement.
fn plan(db: &Connection, sql: &str) -> Vec<String> {
    let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let nothing = vec![Value::Null; statement.parameter_count()];
    let rows = statement.query_map(rusqlite::params_from_iter(nothing), |row| row.get(3)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// No step may read a whole table, and none may sort but what one session has.
#[track_caller]
fn assert_bounded(db: &Connection, sql: &str, sorts: usize) {
    let steps = plan(db, sql);
    // `c` is the sessions that were chosen, no table.
    let scan =
        |step: &&String| step.starts_with("SCAN") && !step.contains("USING INDEX") && *step != "SCAN c";
    let scans = steps.iter().filter(scan);
    assert_eq!(scans.count(), 0, "{sql}\n{steps:#?}");
    let sorted = steps.iter().filter(|step| step.contains("TEMP B-TREE")).count();
    assert!(sorted <= sorts, "{sql}\n{steps:#?}");
}

#[test]
fn adding_and_reading_messages_is_bounded() {
    let (_directory, store) = store();
    let db = &store.db.connection;
    assert_bounded(db, INSERT, 0);
    for view in [View::Active, View::All] {
        // The messages of one session are sorted by their numbers.
        assert_bounded(db, &messages_sql(view), 1);
        assert!(plan(db, &messages_sql(view))[0].contains("session_id=?"));
    }
    assert_bounded(db, "UPDATE sessions SET message_count = 1 WHERE id = ?1", 0);
}

#[test]
fn a_list_of_sessions_stops_when_it_is_full() {
    let (_directory, store) = store();
    let db = &store.db.connection;
    for source in [None, Some("cli".to_owned())] {
        let filter = ListFilter { source, limit: Some(20), ..ListFilter::default() };
        let (sql, _) = list::statement(&filter);
        assert_bounded(db, &sql, 0);
        let steps = plan(db, &sql);
        assert!(steps.iter().any(|step| step.contains("idx_sessions_started")), "{steps:#?}");
    }
}

#[test]
fn a_search_goes_through_the_text_index() {
    let (_directory, store) = store();
    let query = search::SearchQuery { text: "docker deploy".into(), ..search::SearchQuery::default() };
    let (sql, _) = search::statement(&query).unwrap();
    let steps = plan(&store.db.connection, &sql);
    assert!(steps[0].contains("messages_fts VIRTUAL TABLE INDEX"), "{steps:#?}");
    assert!(steps[1..].iter().all(|step| step.starts_with("SEARCH")), "{steps:#?}");
}
