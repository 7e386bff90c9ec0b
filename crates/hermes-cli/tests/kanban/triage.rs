//! A model looks at cards in triage, and swarms.

use hermes_testkit::{ModelServer, TestHome};
use serde_json::{Value, json};

use crate::{create, kanban};

/// A home with three profiles and a model that says these things.
fn home(answers: &[&str]) -> (TestHome, ModelServer) {
    let script: Vec<String> = answers.iter().map(|text| format!("say {}", json!(text))).collect();
    let (home, server) = (TestHome::new(), ModelServer::scripted(&script.join("\n---\n")));
    home.config_for(&server);
    home.write("profiles/alpha/config.yaml", "");
    home.write("profiles/beta/config.yaml", "");
    home.write("profiles/beta/profile.yaml", "description: paints well\n");
    (home, server)
}

fn card(home: &TestHome, id: &str) -> Value {
    kanban(home, &["show", id, "--json"]).json()
}

const SPLIT: &str = r#"{"fanout": true, "rationale": "apart", "tasks": [
    {"title": "Walls", "body": "grey", "assignee": "alpha"}, {"title": "Paint", "assignee": "Beta", "parents": [0, 9]}, {"title": "Party", "assignee": "ghost", "parents": [1]}]}"#;

#[test]
fn a_card_is_written_out() {
    let (home, server) = home(&[r#"{"title": "Paint the house red", "body": "1. buy paint"}"#]);
    let id = create(&home, &["house??", "--body", "red", "--triage"]);
    kanban(&home, &["specify", &id])
        .success()
        .stdout_is(&format!("Specified {id} → ready: Paint the house red\n"));
    let shown = card(&home, &id);
    assert_eq!(shown["task"]["body"], "1. buy paint");
    assert!(shown["comments"][0]["body"].as_str().unwrap().contains("house??"));
    let asked = server.calls().remove(0);
    assert!(asked.newest_user_text().contains("house??"), "{}", asked.newest_user_text());
    kanban(&home, &["specify", &id]).code(1).stderr_has("is ready: only cards in triage are looked at");
    // The question is on record and counted.
    let sessions = hermes_testkit::Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home)
        .args(["sessions", "list", "--json"])
        .run();
    assert!(sessions.success().out().contains("kanban"), "{}", sessions.out());
}

#[test]
fn a_card_is_split_among_profiles() {
    let (home, server) = home(&[SPLIT]);
    let id = create(&home, &["Build a house", "--triage", "--tenant", "acme"]);
    let line: Value = kanban(&home, &["decompose", &id, "--json", "--author", "me"]).json();
    assert_eq!((&line["ok"], &line["fanout"]), (&json!(true), &json!(true)));
    let children: Vec<&str> =
        line["child_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let facts: Vec<Value> = children
        .iter()
        .map(|id| {
            let task = &card(&home, id)["task"];
            json!([task["title"], task["assignee"], task["status"], task["tenant"], task["created_by"]])
        })
        .collect();
    assert_eq!(
        facts,
        [
            json!(["Walls", "alpha", "ready", "acme", "me"]),
            json!(["Paint", "beta", "todo", "acme", "me"]),
            json!(["Party", "default", "todo", "acme", "me"])
        ]
    );
    let root = card(&home, &id);
    assert_eq!((&root["task"]["status"], &root["task"]["assignee"]), (&json!("todo"), &json!("default")));
    assert_eq!(root["parents"].as_array().unwrap().len(), 3, "it waits for its parts");
    assert!(server.calls()[0].newest_user_text().contains("- beta: paints well"));
}

#[test]
fn bad_answers_change_nothing() {
    let circle = r#"{"tasks": [{"title": "A", "parents": [1]}, {"title": "B", "parents": [0]}]}"#;
    let (home, _server) =
        home(&["I cannot do that.", circle, "{\"fanout\": true", "", r#"{"fanout": true}"#]);
    let id = create(&home, &["Build a house", "--triage"]);
    let before = card(&home, &id);
    for why in [
        "did not answer with one whole JSON object",
        "in a circle",
        "whole JSON object",
        "",
        "names no parts",
    ] {
        kanban(&home, &["decompose", &id]).code(1).stderr_has(why);
        assert_eq!(card(&home, &id), before, "{why}");
    }
    assert_eq!(kanban(&home, &["list", "--json"]).json().as_array().unwrap().len(), 1);
}

#[test]
fn all_cards_in_triage_are_looked_at() {
    let (home, _server) = home(&[r#"{"title": "One", "body": "b"}"#, "{\"oops\"", "Just words."]);
    kanban(&home, &["specify", "--all"]).success().stdout_has("No cards are in triage");
    kanban(&home, &["specify", "--all", "--json"]).success().stdout_is("{\"specified\":0,\"total\":0}\n");
    kanban(&home, &["specify"]).code(2);
    let ids: Vec<String> =
        ["a", "b", "c"].iter().map(|title| create(&home, &[title, "--triage", "--tenant", "t"])).collect();
    create(&home, &["d", "--triage", "--tenant", "other"]);
    let done = kanban(&home, &["specify", "--all", "--tenant", "t", "--json"]);
    done.code(1);
    let lines: Vec<Value> = done.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<Value> =
        lines.iter().map(|line| json!([line["task_id"], line["ok"], line["new_title"]])).collect();
    assert_eq!(
        told,
        [json!([ids[0], true, "One"]), json!([ids[1], false, null]), json!([ids[2], true, null])]
    );
    assert_eq!(card(&home, &ids[2])["task"]["body"], "Just words.");
    assert_eq!(card(&home, &ids[1])["task"]["status"], "triage");
}

#[test]
fn settings_say_who_gets_what_and_whether_parts_begin() {
    let (home, _server) =
        home(&[SPLIT, r#"{"fanout": false, "title": "Small", "body": "x", "assignee": "beta"}"#]);
    let config = home.read("config.yaml");
    home.config(format!(
        "{config}kanban:\n  default_assignee: Alpha\n  orchestrator_profile: beta\n  auto_promote_children: false\n"
    ));
    let id = create(&home, &["Build a house", "--triage"]);
    let line = kanban(&home, &["decompose", &id, "--json"]);
    line.success().stderr_has("kanban.auto_promote_children");
    let children: Vec<String> =
        serde_json::from_value(serde_json::from_str::<Value>(&line.out()).unwrap()["child_ids"].clone())
            .unwrap();
    kanban(&home, &["list"]).success();
    for id in &children {
        assert_eq!(card(&home, id)["task"]["status"], "blocked");
    }
    assert_eq!(card(&home, &children[2])["task"]["assignee"], "alpha");
    assert_eq!(card(&home, &id)["task"]["assignee"], "beta");
    kanban(&home, &["unblock", &children[0]]).success();
    assert_eq!(card(&home, &children[0])["task"]["status"], "ready");
    let small = create(&home, &["small", "--triage"]);
    kanban(&home, &["decompose", &small]).success().stdout_is(&format!("Specified {small} → ready: Small\n"));
    assert_eq!(card(&home, &small)["task"]["assignee"], "beta");
}

#[test]
fn no_model_and_no_money_change_nothing() {
    let home = TestHome::new();
    let id = create(&home, &["Build a house", "--triage"]);
    kanban(&home, &["decompose", &id]).code(1).stderr_has("hermes model");
    let (home, server) = self::home(&["never"]);
    let config = home.read("config.yaml");
    home.config(format!("{config}budget:\n  day:\n    tokens: 1\n"));
    let id = create(&home, &["Build a house", "--triage"]);
    kanban(&home, &["specify", &id]).code(1).stderr_has("budget");
    assert_eq!(server.calls().len(), 0, "the budget does not allow it");
    assert_eq!(card(&home, &id)["task"]["status"], "triage");
}

#[test]
fn a_swarm_is_made_once() {
    let (home, _server) = home(&[]);
    home.write(
        "profiles/beta/skills/requesting-code-review/SKILL.md",
        "---\nname: requesting-code-review\ndescription: x\n---\n",
    );
    let args = [
        "swarm",
        "Map the sea",
        "--worker",
        "alpha:North",
        "--worker",
        "beta:South:charts",
        "--verifier",
        "beta",
        "--synthesizer",
        "alpha",
        "--idempotency-key",
        "k",
        "--json",
    ];
    let made = kanban(&home, &args).json();
    assert_eq!(kanban(&home, &args).json(), made);
    assert_eq!(made["worker_ids"].as_array().unwrap().len(), 2);
    let verifier = card(&home, made["verifier_id"].as_str().unwrap());
    assert_eq!(verifier["task"]["skills"], json!(["requesting-code-review"]));
    assert_eq!(verifier["task"]["status"], "todo");
    let last = card(&home, made["synthesizer_id"].as_str().unwrap());
    assert_eq!(last["task"]["skills"], json!([]));
    kanban(&home, &["swarm", "g", "--verifier", "v", "--synthesizer", "s"]).code(2).stderr_has("--worker");
    kanban(&home, &["swarm", "g", "--worker", "x", "--verifier", "v", "--synthesizer", "s"])
        .code(2)
        .stderr_has("PROFILE:TITLE");
}
