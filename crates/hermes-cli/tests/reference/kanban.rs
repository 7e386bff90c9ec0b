//! One board, two programs.

use std::path::Path;

use hermes_testkit::{End, Finished, TestHome};

use super::support::{self, reference, their_script};

fn ours(home: &TestHome, args: &[&str]) -> Finished {
    support::ours(home, &[&["kanban"], args].concat())
}

fn theirs(program: &Path, home: &TestHome, args: &[&str]) -> Finished {
    support::theirs(program, home, &[&["kanban"], args].concat())
}

fn id_of(made: &Finished) -> String {
    made.success();
    made.json()["id"].as_str().unwrap().to_owned()
}

/// A card without what only we say of it: who will get it.
fn without_ours(mut card: serde_json::Value) -> serde_json::Value {
    assert!(card.as_object_mut().unwrap().remove("goes_to").is_some());
    card
}

#[test]
fn cards_go_to_and_fro() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    let first =
        id_of(&ours(&home, &["create", "Ours ü", "--assignee", "Alpha", "--skill", "größe", "--json"]));
    let second = id_of(&theirs(&program, &home, &["create", "Theirs", "--parent", &first, "--json"]));
    // The same card, in the same words.
    for id in [&first, &second] {
        let (here, there) = (
            ours(&home, &["show", id, "--json"]).json(),
            theirs(&program, &home, &["show", id, "--json"]).json(),
        );
        assert_eq!(without_ours(here["task"].clone()), there["task"]);
        assert_eq!(
            (&here["events"], &here["parents"], &here["children"]),
            (&there["events"], &there["parents"], &there["children"])
        );
    }
    let listed: Vec<_> = ours(&home, &["list", "--json"]).json().as_array().unwrap().clone();
    let listed: Vec<_> = listed.into_iter().map(without_ours).collect();
    assert_eq!(serde_json::Value::from(listed), theirs(&program, &home, &["list", "--json"]).json());
    theirs(&program, &home, &["claim", &first]).success();
    ours(&home, &["claim", &first]).code(1).stderr_has("only ready cards");
    ours(&home, &["complete", &first, "--summary", "done by us", "--metadata", "{\"n\": 1}"]).success();
    let seen = theirs(&program, &home, &["show", &first, "--json"]).json();
    assert_eq!(
        (&seen["task"]["status"], &seen["runs"][0]["summary"]),
        (&"done".into(), &"done by us".into())
    );
    assert_eq!(
        theirs(&program, &home, &["show", &second, "--json"]).json()["task"]["status"],
        "ready",
        "we let it go"
    );
    ours(&home, &["block", &second, "why", "--kind", "needs_input"]).success();
    theirs(&program, &home, &["list"]).success();
    assert_eq!(
        ours(&home, &["show", &second, "--json"]).json()["task"]["status"],
        "blocked",
        "it stays blocked"
    );
    theirs(&program, &home, &["unblock", &second]).success();
    ours(&home, &["archive", &second]).success();
    assert!(theirs(&program, &home, &["list", "--json"]).json().as_array().unwrap().len() == 1);
}

#[test]
fn boards_are_the_same_boards() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    ours(&home, &["boards", "create", "web", "--name", "Web", "--default-workdir", "/srv", "--switch"])
        .success();
    theirs(&program, &home, &["boards", "show"]).success().stdout_has("web");
    let made = id_of(&theirs(&program, &home, &["create", "x", "--json"]));
    ours(&home, &["list"]).success().stdout_has(&made);
    theirs(&program, &home, &["boards", "rename", "web", "Other"]).success();
    ours(&home, &["boards"]).success().stdout_has("Other");
    theirs(&program, &home, &["boards", "switch", "default"]).success();
    ours(&home, &["boards", "show"]).success().stdout_is("default\n");
}

#[test]
fn racing_writers_of_both_kinds_lose_nothing() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    for n in 0..30 {
        ours(&home, &["create", &format!("card {n}")]).success();
    }
    let script = "
from hermes_cli import kanban_db as kb
conn = kb.connect()
won = 0
for row in conn.execute('select id from tasks where title like ? order by id', ('card %',)).fetchall():
    if kb.claim_task(conn, row[0]):
        won += 1
for n in range(30):
    kb.create_task(conn, title=f'theirs {n}')
print(won)
";
    let running = their_script(&program, &home, script).spawn();
    let mut won = 0;
    let ids: Vec<String> = ours(&home, &["list", "--json"])
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|card| card["id"].as_str().unwrap().to_owned())
        .collect();
    for id in ids.iter().rev() {
        if ours(&home, &["claim", id]).end == End::Code(0) {
            won += 1;
        }
        ours(&home, &["create", &format!("ours beside {id}")]).success();
    }
    let finished = running.wait(std::time::Duration::from_mins(2));
    finished.success();
    let theirs_won: usize = finished.out().trim().parse().unwrap();
    assert_eq!(won + theirs_won, 30, "each card was taken once");
    let cards = ours(&home, &["list", "--json"]).json();
    assert_eq!(cards.as_array().unwrap().len(), 30 + ids.len() + 30);
}
