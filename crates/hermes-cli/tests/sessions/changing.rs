//! The commands that change something.

use hermes_store::rusqlite::Connection;

use crate::{FRESH, OLD, home, ids, sessions};

#[test]
fn a_title_is_given_and_belongs_to_one() {
    let home = home();
    let finished = sessions(&home, &["rename", "20260105", "my", "new  title"]);
    finished.success();
    assert!(finished.out().contains("\"my new title\""));
    assert_eq!(sessions(&home, &["show", "my new title", "--json"]).json()["id"], FRESH);
    let taken = sessions(&home, &["rename", FRESH, "Old Work"]);
    taken.code(1);
    assert!(taken.err().contains("belongs to session"));
    assert!(sessions(&home, &["rename", FRESH, &"x".repeat(101)]).err().contains("shorter"));
}

#[test]
fn deleting_asks_and_takes_helpers_along() {
    let home = home();
    home.write(format!("sessions/{OLD}.jsonl"), "x");
    home.write(format!("sessions/request_dump_{OLD}_1.json"), "x");
    home.write("sessions/other.jsonl", "x");
    let refused = sessions(&home, &["delete", "Old Work"]);
    refused.code(1);
    assert!(refused.err().contains("nothing was deleted"));
    assert_eq!(ids(&sessions(&home, &["delete", "Old Work", "--dry-run", "--json"])), [OLD]);
    assert_eq!(ids(&sessions(&home, &["list", "--children", "--json"])).len(), 3);
    let gone = sessions(&home, &["delete", "Old Work", "-y", "--json"]);
    gone.success();
    assert_eq!(gone.json()["deleted"].as_array().unwrap().len(), 2);
    assert_eq!(ids(&sessions(&home, &["list", "--children", "--json"])), [FRESH]);
    let left: Vec<_> = std::fs::read_dir(home.path().join("sessions")).unwrap().collect();
    assert_eq!(left.len(), 1);
    sessions(&home, &["delete", "Old Work", "-y"]).code(1);
}

#[test]
fn pruning_takes_what_is_old_and_ended() {
    let home = home();
    assert_eq!(ids(&sessions(&home, &["prune", "--dry-run", "--json"])), [OLD]);
    sessions(&home, &["prune"]).code(1);
    sessions(&home, &["prune", "--older-than", "1w", "--source", "cli", "-y"]).success();
    assert_eq!(ids(&sessions(&home, &["list", "--json"])).len(), 2);
    sessions(&home, &["archive", "Old Work"]).success();
    assert!(sessions(&home, &["prune", "-y"]).out().contains("nothing to do"));
    let gone = sessions(&home, &["prune", "-y", "--include-archived"]);
    assert!(gone.out().contains("deleted 2 conversations with 2 messages"), "{}", gone.out());
    assert_eq!(ids(&sessions(&home, &["list", "--json"])), [FRESH]);
}

#[test]
fn what_is_put_away_is_not_listed_and_comes_back() {
    let home = home();
    sessions(&home, &["archive"]).code(2);
    sessions(&home, &["archive", "--older-than", "30", "-y"]).success();
    assert_eq!(ids(&sessions(&home, &["list", "--json"])), [FRESH]);
    assert_eq!(ids(&sessions(&home, &["list", "--archived", "--json"])).len(), 2);
    sessions(&home, &["unarchive", "Old Work"]).success();
    assert_eq!(ids(&sessions(&home, &["list", "--json"])).len(), 2);
}

#[test]
fn repair_finds_and_mends_and_keeps_a_copy() {
    let home = home();
    let good = sessions(&home, &["repair"]);
    good.success();
    assert!(good.out().contains("Everything is in order"));
    let db = Connection::open(home.path().join("state.db")).unwrap();
    db.execute_batch("DELETE FROM messages_fts WHERE rowid = 1").unwrap();
    drop(db);
    sessions(&home, &["search", "zebras"]).code(1);
    sessions(&home, &["repair", "--check"]).code(1);
    let mended = sessions(&home, &["repair", "--json"]);
    mended.success();
    assert_eq!(mended.json()["found"]["stale_indexes"][0], "messages_fts");
    let copy = mended.json()["repaired"]["backup"].as_str().unwrap().to_owned();
    assert!(std::path::Path::new(&copy).exists());
    sessions(&home, &["search", "zebras"]).success();
    sessions(&home, &["optimize"]).success();
    sessions(&home, &["repair", "--check"]).success();
}
