//! The tools of the board, as workers and those who look after it use them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use hermes_board::card::GoalMode;
use hermes_board::claim::{Claim, Claimed, Claimer};
use hermes_board::create::NewCard;
use hermes_board::{Board, CardId, Overrides, Root, Slug, Status};
use hermes_guard::Redactor;
use hermes_home::{Home, Profile, Settings};
use hermes_tools::gate::Waiting;
use hermes_tools::kanban::{self, Desk, Goal, GoalJudge, Judgement};
use hermes_tools::{Availability, Progress, Run, Tool, Web};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Open, SECRET, json_of};

const NOW: i64 = 1_800_000_000;

/// A home with a board.
struct House {
    dir: TempDir,
}

impl House {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn board(&self) -> Board {
        Board::open(&Root::new(self.dir.path(), Overrides::default()), &Slug::default_board()).unwrap()
    }

    fn make(&self, title: &str) -> CardId {
        let mut new = NewCard::new(title);
        new.assignee = Some("alpha".into());
        self.board().create(&new, NOW).unwrap().card.id
    }

    fn claim(&self, id: &CardId) -> Claim {
        let claimer = Claimer { host: "here".into(), pid: 7 };
        match self.board().claim(id, &claimer, 900, NOW).unwrap() {
            Claimed::Yes(claim) => *claim,
            Claimed::Waits => panic!("{id} waits"),
        }
    }

    fn desk(&self, env: &[(&str, String)]) -> Desk {
        let home = Home::at(self.dir.path(), Profile::Default);
        let env: BTreeMap<String, String> =
            env.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let redactor = Arc::new(Redactor::new([SECRET.to_owned()]));
        Desk::new(&home, |name| env.get(name).cloned(), Path::new("/nowhere"), redactor)
    }

    /// The tools of a worker in this attempt.
    fn worker(&self, claim: &Claim) -> Tools {
        let env = [
            ("HERMES_KANBAN_TASK", claim.card.id.to_string()),
            ("HERMES_KANBAN_RUN_ID", claim.run.to_string()),
            ("HERMES_KANBAN_CLAIM_LOCK", claim.lock.clone()),
            ("HERMES_PROFILE", "alpha".to_owned()),
            ("HERMES_TENANT", "acme".to_owned()),
        ];
        self.tools(&self.desk(&env))
    }

    fn orchestrator(&self) -> Tools {
        self.tools(&self.desk(&[]))
    }

    fn tools(&self, desk: &Desk) -> Tools {
        let home = Home::at(self.dir.path(), Profile::Default);
        let settings = Settings::load(&home, &BTreeMap::new()).unwrap();
        Tools(kanban::tools(desk, &Web::new(&home, &settings)))
    }
}

struct Tools(Vec<Arc<dyn Tool>>);

impl Tools {
    async fn call(&self, name: &str, arguments: Value) -> Value {
        let tool = self.0.iter().find(|tool| tool.spec().name == name).unwrap();
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let run = Run {
            call_id: "call_1",
            arguments: &arguments,
            session: "conversation",
            cancel: &CancellationToken::new(),
            progress: &Progress::silent(),
            gate: &Open,
            most_chars: 100_000,
        };
        json_of(&tool.run(run).await)
    }

    /// What is wrong with a call.
    async fn refused(&self, name: &str, arguments: Value) -> String {
        let value = self.call(name, arguments).await;
        value["error"].as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
    }

    fn names(&self) -> Vec<String> {
        let here = |tool: &&Arc<dyn Tool>| tool.available() == Availability::Yes;
        self.0.iter().filter(here).map(|tool| tool.spec().name).collect()
    }
}

#[tokio::test]
async fn a_worker_looks_at_its_card_and_finishes_it() {
    let house = House::new();
    let claim = house.claim(&house.make("paint it"));
    let (id, worker) = (&claim.card.id, house.worker(&claim));
    assert!(!worker.names().iter().any(|name| name == "kanban_list" || name == "kanban_unblock"));
    let shown = worker.call("kanban_show", json!({})).await;
    assert_eq!((&shown["task"]["id"], &shown["task"]["status"]), (&json!(id), &json!("running")));
    assert!(shown["worker_context"].as_str().unwrap().contains("paint it"));
    assert_eq!(shown["runs"][0]["id"], json!(claim.run));
    assert_eq!(worker.call("kanban_heartbeat", json!({})).await, json!({ "ok": true, "task_id": id }));
    let renewed = house.board().card(id).unwrap().claim_expires.unwrap();
    assert!(renewed != claim.expires, "the claim was renewed");
    assert!(worker.refused("kanban_complete", json!({})).await.contains("summary"));
    let metadata = json!({ "tests": 3, "api_key": "abcdefgh12345678", "note": format!("uses {SECRET}") });
    let arguments = json!({ "summary": format!("white, login {SECRET}"), "metadata": metadata });
    let done = worker.call("kanban_complete", arguments).await;
    assert_eq!(done, json!({ "ok": true, "task_id": id, "run_id": claim.run }));
    let details = house.board().details(id).unwrap();
    assert_eq!(details.card.status, Status::Done);
    let kept = details.attempts[0].metadata.clone().unwrap();
    assert_eq!((&kept["tests"], &kept["worker_session_id"]), (&json!(3), &json!("conversation")));
    let all = format!("{details:?}");
    assert!(!all.contains(SECRET) && !all.contains("abcdefgh12345678"), "{all}");
}

#[tokio::test]
async fn a_worker_has_one_card_and_one_attempt() {
    let house = House::new();
    let (mine, other) = (house.claim(&house.make("mine")), house.make("other"));
    let worker = house.worker(&mine);
    for (tool, arguments) in [
        ("kanban_complete", json!({ "task_id": other, "summary": "x" })),
        ("kanban_block", json!({ "task_id": other, "reason": "x" })),
        ("kanban_heartbeat", json!({ "task_id": other })),
        ("kanban_attach", json!({ "task_id": other, "filename": "x", "content_base64": "eA==" })),
        ("kanban_attach_url", json!({ "task_id": other, "url": "http://127.0.0.1/x" })),
    ] {
        let problem = worker.refused(tool, arguments).await;
        assert!(problem.contains("not your card"), "{tool}: {problem}");
    }
    assert!(worker.refused("kanban_unblock", json!({ "task_id": other })).await.contains("worker"));
    let said =
        worker.call("kanban_comment", json!({ "task_id": other, "body": "hi", "author": "root" })).await;
    assert_eq!(said["ok"], true);
    assert_eq!(house.board().details(&other).unwrap().comments[0].author, "alpha");

    house.board().reclaim(&mine.card.id, None, &serde_json::Map::new(), NOW).unwrap();
    let second = house.claim(&mine.card.id);
    for (tool, arguments) in [
        ("kanban_complete", json!({ "summary": "late" })),
        ("kanban_block", json!({ "reason": "late" })),
        ("kanban_heartbeat", json!({})),
        ("kanban_attach", json!({ "filename": "x", "content_base64": "eA==" })),
    ] {
        let problem = worker.refused(tool, arguments).await;
        assert!(problem.contains("another attempt"), "{tool}: {problem}");
    }
    let card = house.board().card(&mine.card.id).unwrap();
    assert_eq!((card.status, card.current_run), (Status::Running, Some(second.run)));
}

#[tokio::test]
async fn blocking_says_where_the_card_stands_then() {
    let house = House::new();
    let claim = house.claim(&house.make("one"));
    let worker = house.worker(&claim);
    assert!(worker.refused("kanban_block", json!({})).await.contains("reason"));
    assert!(
        worker
            .refused("kanban_block", json!({ "reason": "x", "kind": "bored" }))
            .await
            .contains("capability")
    );
    let blocked = worker.call("kanban_block", json!({ "reason": "which?", "kind": "needs_input" })).await;
    let id = &claim.card.id;
    assert_eq!(
        blocked,
        json!({ "ok": true, "task_id": id, "run_id": claim.run, "status": "blocked", "block_kind": "needs_input" })
    );
    let boss = house.orchestrator();
    let free = boss.call("kanban_unblock", json!({ "task_id": id })).await;
    assert_eq!(free, json!({ "ok": true, "task_id": id, "status": "ready" }));
}

#[tokio::test]
async fn follow_ups_are_cards_of_their_own() {
    let house = House::new();
    let mut new = NewCard::new("parent");
    (new.assignee, new.workspace_kind) = (Some("alpha".into()), hermes_board::card::WorkspaceKind::Dir);
    new.workspace_path = Some("/srv/project".into());
    let id = house.board().create(&new, NOW).unwrap().card.id;
    let claim = house.claim(&id);
    let worker = house.worker(&claim);
    let made = worker
        .call(
            "kanban_create",
            json!({ "title": "next", "assignee": "Beta", "parents": [id], "goal_mode": true }),
        )
        .await;
    assert_eq!(
        (&made["ok"], &made["status"], &made["subscribed"]),
        (&json!(true), &json!("todo"), &json!(false))
    );
    let child = CardId::new(made["task_id"].as_str().unwrap());
    let card = house.board().card(&child).unwrap();
    assert_eq!((card.assignee.as_deref(), card.tenant.as_deref()), (Some("beta"), Some("acme")));
    assert_eq!(
        (card.created_by.as_deref(), card.session_id.as_deref()),
        (Some("alpha"), Some("conversation"))
    );
    assert_eq!(card.workspace_path.as_deref(), Some("/srv/project"), "it works where its maker does");
    assert_eq!(card.goal_mode, GoalMode::On);
    for (arguments, word) in [
        (json!({ "title": "x" }), "assignee"),
        (json!({ "title": "x", "assignee": "b", "skills": ["terminal", "git"] }), "terminal"),
        (json!({ "title": "x", "assignee": "b", "initial_status": "done" }), "done"),
        (json!({ "title": "x", "assignee": "b", "parents": ["t_00000000"] }), "t_00000000"),
    ] {
        let problem = worker.refused("kanban_create", arguments).await;
        assert!(problem.contains(word), "{problem}");
    }
    let phantom = json!({ "summary": "done", "created_cards": [child, "t_00000000"] });
    assert!(worker.refused("kanban_complete", phantom).await.contains("t_00000000"));
    let done = worker.call("kanban_complete", json!({ "summary": "done", "created_cards": [child] })).await;
    assert_eq!(done["ok"], true);
    assert_eq!(house.board().card(&child).unwrap().status, Status::Ready);
}

#[tokio::test]
async fn whoever_looks_after_the_board_sees_all_of_it() {
    let house = House::new();
    let ids: Vec<CardId> = ["a", "b", "c"].iter().map(|title| house.make(title)).collect();
    let boss = house.orchestrator();
    let linked = boss.call("kanban_link", json!({ "parent_id": ids[0], "child_id": ids[1] })).await;
    assert_eq!(linked, json!({ "ok": true, "parent_id": ids[0], "child_id": ids[1] }));
    let all = boss.call("kanban_list", json!({})).await;
    assert_eq!(
        (&all["count"], &all["truncated"], &all["next_limit"]),
        (&json!(3), &json!(false), &json!(null))
    );
    assert_eq!(
        (&all["tasks"][0]["children"], &all["tasks"][1]["parent_count"]),
        (&json!([ids[1]]), &json!(1))
    );
    let some = boss.call("kanban_list", json!({ "limit": 1, "status": "ready", "assignee": "ALPHA" })).await;
    assert_eq!(
        (&some["count"], &some["truncated"], &some["next_limit"]),
        (&json!(1), &json!(true), &json!(2))
    );
    assert!(boss.refused("kanban_list", json!({ "status": "odd" })).await.contains("review"));
    assert!(boss.refused("kanban_show", json!({})).await.contains("task_id"));
    assert!(
        boss.refused("kanban_show", json!({ "task_id": ids[0], "board": "none" })).await.contains("no board")
    );
    boss.call("kanban_complete", json!({ "task_id": ids[0], "result": "r" })).await;
    let after = boss.call("kanban_show", json!({ "task_id": ids[1] })).await;
    assert_eq!(after["task"]["status"], "ready");
}

#[tokio::test]
async fn files_are_kept_with_the_card() {
    let house = House::new();
    let claim = house.claim(&house.make("one"));
    let worker = house.worker(&claim);
    let kept = worker.call("kanban_attach", json!({ "filename": "a.txt", "content_base64": "aGk=" })).await;
    let id = &claim.card.id;
    assert_eq!(kept, json!({ "ok": true, "task_id": id, "attachment_id": 1, "size": 2 }));
    let listed = worker.call("kanban_attachments", json!({})).await;
    let file = &listed["attachments"][0];
    assert_eq!((&file["filename"], &file["uploaded_by"]), (&json!("a.txt"), &json!("alpha")));
    assert_eq!(std::fs::read_to_string(file["stored_path"].as_str().unwrap()).unwrap(), "hi");
    assert!(
        worker
            .refused("kanban_attach", json!({ "filename": "a", "content_base64": "ü" }))
            .await
            .contains("base64")
    );
    for url in ["http://127.0.0.1:1/x", "http://169.254.169.254/latest", "file:///etc/passwd"] {
        let problem = worker.refused("kanban_attach_url", json!({ "url": url })).await;
        assert!(!problem.is_empty(), "{url}");
    }
    assert_eq!(house.board().attachments(id).unwrap().len(), 1);
}

/// Says what it was told to, and remembers what it was asked.
struct Strict(Mutex<Vec<(String, String)>>, Mutex<Vec<Judgement>>);

impl GoalJudge for Strict {
    fn judge<'a>(&'a self, goal: &'a Goal, answer: &'a str) -> Waiting<'a, Judgement> {
        let wanted = format!("{}: {}", goal.title, goal.body.as_deref().unwrap_or_default());
        self.0.lock().unwrap().push((wanted, answer.to_owned()));
        let says = self.1.lock().unwrap().pop().unwrap();
        Box::pin(std::future::ready(says))
    }
}

#[tokio::test]
async fn a_goal_is_reached_when_its_judge_says_so() {
    let house = House::new();
    let mut new = NewCard::new("ten tests");
    (new.assignee, new.body, new.goal_mode) = (Some("alpha".into()), Some("all green".into()), GoalMode::On);
    let id = house.board().create(&new, NOW).unwrap().card.id;
    let claim = house.claim(&id);
    let env = [("HERMES_KANBAN_TASK", id.to_string()), ("HERMES_KANBAN_RUN_ID", claim.run.to_string())];
    let says = vec![Judgement::Unknown, Judgement::NotYet { why: "only nine".into() }];
    let judge = Arc::new(Strict(Mutex::default(), Mutex::new(says)));
    let worker = house.tools(&house.desk(&env).with_judge(judge.clone()));
    let problem = worker.refused("kanban_block", json!({ "reason": "no idea", "kind": "capability" })).await;
    assert!(problem.contains("needs_input"), "{problem}");
    let problem = worker.refused("kanban_complete", json!({ "summary": "nine of ten" })).await;
    assert!(problem.contains("only nine"), "{problem}");
    assert_eq!(house.board().card(&id).unwrap().status, Status::Running);
    assert_eq!(*judge.0.lock().unwrap(), [("ten tests: all green".to_owned(), "nine of ten".to_owned())]);
    let done = worker.call("kanban_complete", json!({ "summary": "ten of ten" })).await;
    assert_eq!(done["ok"], true, "a judge that cannot say does not hold the work up: {done}");
}
