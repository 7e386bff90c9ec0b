//! Cards that are written out, split, or handed to several at once.

use std::collections::BTreeMap;

use hermes_board::act::By;
use hermes_board::card::BlockKind;
use hermes_board::card::WorkspaceKind;
use hermes_board::claim::Claim;
use hermes_board::create::{Beginning, Made, NewCard};
use hermes_board::dispatch::plan::{Signal, World, plan};
use hermes_board::dispatch::{Launcher, Report, Rules, Scope};
use hermes_board::links::LinkKind;
use hermes_board::query::{Filter, Sort};
use hermes_board::state::{Mode, State};
use hermes_board::triage::proposal::{Draft, Proposal, Split, read};
use hermes_board::triage::roster::Roster;
use hermes_board::triage::swarm::{Member, NOTE, Order, Worker};
use hermes_board::triage::{AutoSplit, Parts};
use hermes_board::{Board, BoardError, Card, CardId, Status};
use serde_json::json;

use crate::fixture::{Fixture, NOW, claimer, kinds, make, status, take};

fn idea(board: &mut Board) -> Card {
    let new = NewCard {
        body: Some("as it came".into()),
        tenant: Some("acme".into()),
        priority: 3,
        workspace_kind: WorkspaceKind::Dir,
        workspace_path: Some("/srv/work".into()),
        beginning: Beginning::Triage,
        ..NewCard::new("An idea")
    };
    board.create(&new, NOW).unwrap().card
}

fn finish(board: &mut Board, id: &CardId) {
    take(board, id);
    board.complete(id, &hermes_board::act::Report::default(), By::Anybody, NOW).unwrap();
}

fn count(board: &mut Board) -> usize {
    board.list(&Filter::default(), Sort::default()).unwrap().len()
}

fn roster() -> Roster {
    let profiles: BTreeMap<String, String> =
        ["default", "alpha", "beta"].into_iter().map(|name| (name.to_owned(), String::new())).collect();
    Roster::new(profiles, "beta", "default", "default").0
}

fn split() -> Split {
    let reply = json!({ "fanout": true, "rationale": "it falls apart", "tasks": [
        { "title": "Last", "assignee": "nobody", "parents": [1, 2] },
        { "title": "First", "body": "begin", "assignee": "Alpha" },
        { "title": "Second", "parents": [1] },
    ]});
    match read(&reply.to_string()) {
        Ok(Proposal::Split(split)) => split,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_split_card_waits_for_its_parts() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let seen = idea(&mut board);
    let done = board.decompose(&seen, &split(), &roster(), Parts::Begin, "planner", NOW).unwrap();
    assert_eq!(done.root.status, Status::Todo);
    assert_eq!(done.root.assignee.as_deref(), Some("default"));
    let cards: Vec<Card> = done.children.iter().map(|id| board.card(id).unwrap()).collect();
    let facts: Vec<(&str, &str, Status)> = cards
        .iter()
        .map(|card| (card.title.as_str(), card.assignee.as_deref().unwrap(), card.status))
        .collect();
    assert_eq!(
        facts,
        [("Last", "beta", Status::Todo), ("First", "alpha", Status::Ready), ("Second", "beta", Status::Todo)]
    );
    for card in &cards {
        assert_eq!(card.created_by.as_deref(), Some("planner"));
        assert_eq!((card.tenant.as_deref(), card.priority), (Some("acme"), 3));
        assert_eq!(card.workspace_path.as_deref(), Some("/srv/work"));
    }
    let details = board.details(&done.children[1]).unwrap();
    let created = details.events.iter().find(|event| event.kind == "created").unwrap();
    let payload = created.payload.clone().unwrap();
    assert_eq!(payload["by"], "planner");
    assert_eq!(payload["from_decompose_of"], json!(seen.id));
    assert_eq!(payload["status"], "todo");
    let details = board.details(&seen.id).unwrap();
    let event = details.events.iter().find(|event| event.kind == "decomposed").unwrap();
    assert_eq!(event.payload, Some(json!({ "child_ids": done.children, "root_assignee": "default" })));
    // It wakes last.
    for at in [1, 2, 0] {
        assert_eq!(status(&mut board, &seen.id), Status::Todo);
        let id = &done.children[at];
        finish(&mut board, id);
    }
    assert_eq!(status(&mut board, &seen.id), Status::Ready);
}

#[test]
fn parts_that_are_held_need_a_person() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let seen = idea(&mut board);
    let done = board.decompose(&seen, &split(), &roster(), Parts::Held, "planner", NOW).unwrap();
    board.let_go(NOW + 60).unwrap();
    for id in &done.children {
        assert_eq!(status(&mut board, id), Status::Blocked);
        assert_eq!(kinds(&mut board, id), ["created", "blocked"]);
    }
    assert_eq!(board.unblock(&done.children[1], None, NOW).unwrap(), Status::Ready);
    assert_eq!(board.unblock(&done.children[2], None, NOW).unwrap(), Status::Todo, "it waits for the first");
}

#[test]
fn what_the_card_waits_for_its_parts_wait_for() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let seen = idea(&mut board);
    let before = make(&mut board, "before", &[]);
    board.link(&before, &seen.id, LinkKind::Hard, NOW).unwrap();
    let done = board.decompose(&seen, &split(), &roster(), Parts::Begin, "planner", NOW).unwrap();
    assert_eq!(status(&mut board, &done.children[1]), Status::Todo);
    finish(&mut board, &before);
    assert_eq!(status(&mut board, &done.children[1]), Status::Ready);
}

#[test]
fn a_card_that_changed_meanwhile_is_left_alone() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let seen = idea(&mut board);
    let stale = Card { title: "Another idea".into(), ..seen.clone() };
    let refused = board.decompose(&stale, &split(), &roster(), Parts::Begin, "planner", NOW);
    assert!(matches!(&refused, Err(BoardError::Input(text)) if text.contains("edited meanwhile")));
    let draft = Draft { title: Some("T".into()), body: None };
    assert!(board.specify(&stale, &draft, "planner", NOW).is_err());
    assert_eq!(kinds(&mut board, &seen.id), ["created"]);
    board.archive(&seen.id, NOW).unwrap();
    let refused = board.decompose(&seen, &split(), &roster(), Parts::Begin, "planner", NOW);
    assert!(matches!(refused, Err(BoardError::Refused { .. })));
}

#[test]
fn a_circle_changes_nothing() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let seen = idea(&mut board);
    let mut circle = split();
    circle.parts[1].waits_for = vec![0];
    assert!(board.decompose(&seen, &circle, &roster(), Parts::Begin, "planner", NOW).is_err());
    assert_eq!(kinds(&mut board, &seen.id), ["created"]);
    assert_eq!(count(&mut board), 1);
}

#[test]
fn a_draft_replaces_the_text_and_keeps_the_old_one() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let seen = idea(&mut board);
    let draft = Draft { title: Some("A plan".into()), body: Some("1. begin".into()) };
    let done = board.specify_for(&seen, &draft, "alpha", "planner", NOW).unwrap();
    assert_eq!(done.changed, ["title", "body", "assignee"]);
    assert_eq!(done.card.status, Status::Ready, "nothing is left to wait for");
    assert_eq!((done.card.title.as_str(), done.card.assignee.as_deref()), ("A plan", Some("alpha")));
    assert_eq!(kinds(&mut board, &seen.id), ["created", "commented", "specified", "promoted"]);
    let comment = board.details(&seen.id).unwrap().comments.remove(0);
    assert!(comment.body.contains("An idea") && comment.body.contains("as it came"), "{}", comment.body);
    assert_eq!(comment.author, "planner");

    let new = NewCard {
        beginning: Beginning::Triage,
        assignee: Some("beta".into()),
        ..NewCard::new("Clear enough")
    };
    let seen = board.create(&new, NOW).unwrap().card;
    let draft = Draft { title: Some("Clear enough".into()), body: None };
    let done = board.specify_for(&seen, &draft, "alpha", "planner", NOW).unwrap();
    assert_eq!(done.changed, [] as [&str; 0]);
    assert_eq!(done.card.assignee.as_deref(), Some("beta"), "somebody has it already");
    assert_eq!(kinds(&mut board, &seen.id), ["created", "specified", "promoted"]);
}

fn order(key: Option<&str>) -> Order {
    let member = |profile: &str| Member { profile: profile.to_owned(), skills: Vec::new() };
    Order {
        goal: " Map the sea ".into(),
        workers: vec![Worker::parse("a:North").unwrap(), Worker::parse("b:South:charts").unwrap()],
        verifier: member("V"),
        synthesizer: member("s"),
        created_by: "me".into(),
        tenant: Some("acme".into()),
        priority: 2,
        idempotency_key: key.map(str::to_owned),
    }
}

#[test]
fn a_swarm_is_made_whole_and_once() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let (swarm, made) = board.swarm(&order(Some("k")), NOW).unwrap();
    assert_eq!(made, Made::New);
    assert_eq!(status(&mut board, &swarm.root_id), Status::Done);
    for id in &swarm.worker_ids {
        assert_eq!(status(&mut board, id), Status::Ready);
    }
    assert_eq!(board.card(&swarm.worker_ids[1]).unwrap().skills, ["charts"]);
    assert_eq!(status(&mut board, &swarm.verifier_id), Status::Todo);
    assert_eq!(board.card(&swarm.verifier_id).unwrap().assignee.as_deref(), Some("v"));
    assert_eq!(status(&mut board, &swarm.synthesizer_id), Status::Todo);
    let root = board.details(&swarm.root_id).unwrap();
    let note = root.comments[0].body.strip_prefix(NOTE).unwrap();
    let topology: serde_json::Value = serde_json::from_str(note).unwrap();
    assert_eq!(topology["key"], "topology");
    assert_eq!(topology["value"]["goal"], "Map the sea");
    assert_eq!(topology["value"]["worker_ids"], json!(swarm.worker_ids));
    assert_eq!(root.attempts[0].metadata.as_ref().unwrap()["worker_count"], 2);
    let (again, made) = board.swarm(&order(Some("k")), NOW + 5).unwrap();
    assert_eq!((again, made), (swarm, Made::Before));
    assert_eq!(count(&mut board), 5);
    assert_eq!(board.swarm(&order(None), NOW).unwrap().1, Made::New);
}

#[test]
fn a_swarm_that_makes_no_sense_makes_nothing() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let key = NewCard { idempotency_key: Some("k".into()), ..NewCard::new("other") };
    board.create(&key, NOW).unwrap();
    let refused = board.swarm(&order(Some("k")), NOW);
    assert!(matches!(&refused, Err(BoardError::Input(text)) if text.contains("no whole swarm")));
    for bad in [
        Order { goal: " ".into(), ..order(None) },
        Order { workers: Vec::new(), ..order(None) },
        Order { verifier: Member { profile: " ".into(), skills: Vec::new() }, ..order(None) },
    ] {
        assert!(matches!(board.swarm(&bad, NOW), Err(BoardError::Input(_))));
    }
    assert_eq!(count(&mut board), 1);
}

/// Starts nothing and counts.
#[derive(Default)]
struct Counting(Vec<CardId>);

impl Launcher for Counting {
    fn launch(&mut self, _board: &Board, claim: &Claim) -> Result<(), String> {
        self.0.push(claim.card.id.clone());
        Ok(())
    }

    fn stop(&mut self, _worker: &hermes_board::workers::Worker) {}

    fn signal_foreign(&mut self, _pid: i64, _how: Signal) {}
}

fn look(board: &mut Board, rules: &Rules, now: i64) -> (Report, Vec<CardId>) {
    let snapshot = board.snapshot(Scope::All, rules, now).unwrap();
    let world = World {
        host: "here".into(),
        profiles: ["default", "alpha"].into_iter().map(str::to_owned).collect(),
        ..World::default()
    };
    let plan = plan(&snapshot, rules, &world, now);
    let mut launcher = Counting::default();
    let report = board.apply(&plan, rules, &claimer(), &mut launcher, now).unwrap();
    (report, launcher.0)
}

#[test]
fn cards_in_triage_get_a_card_for_splitting_them() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let ids: Vec<CardId> = (0..3).map(|_| idea(&mut board).id).collect();
    let rules = Rules { auto_split: None, host_cap: None, ..Rules::default() };
    let on = Rules { auto_split: Some(AutoSplit { at_once: 2, profile: "alpha".into() }), ..rules.clone() };
    assert_eq!(look(&mut board, &on, NOW).0.splitting, [] as [CardId; 0], "nobody has let the board begin");
    board.set_state(&State { mode: Mode::Active, ..State::default() }).unwrap();
    assert_eq!(look(&mut board, &rules, NOW).0.splitting, [] as [CardId; 0], "it is off");
    let (report, started) = look(&mut board, &on, NOW);
    assert_eq!((report.splitting.as_slice(), report.wake_at), (&ids[..2], Some(NOW)));
    assert_eq!(started, [] as [CardId; 0]);
    let (report, started) = look(&mut board, &on, NOW + 1);
    assert_eq!(report.splitting, [] as [CardId; 0], "two at once are the most");
    assert_eq!(started.len(), 2);
    let job = board.card(&started[0]).unwrap();
    assert_eq!(job.title, format!("Decompose {}", ids[0]));
    assert_eq!((job.assignee.as_deref(), job.tenant.as_deref()), (Some("alpha"), Some("acme")));
    assert_eq!(board.splits(&job.id).unwrap().as_ref(), Some(&ids[0]));
    assert_eq!(board.splits(&ids[0]).unwrap(), None);
    // One is done without the card having left triage: it is not tried again, the third is.
    board.complete(&job.id, &report_of("no"), By::Anybody, NOW + 2).unwrap();
    assert_eq!(look(&mut board, &on, NOW + 3).0.splitting, ids[2..]);
    assert_eq!(look(&mut board, &on, NOW + 4).0.splitting, [] as [CardId; 0]);
}

fn report_of(summary: &str) -> hermes_board::act::Report {
    hermes_board::act::Report { summary: Some(summary.into()), ..hermes_board::act::Report::default() }
}

#[test]
fn what_came_back_to_triage_is_for_a_person() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    board.set_state(&State { mode: Mode::Active, ..State::default() }).unwrap();
    let id = make(&mut board, "in circles", &[]);
    for _ in 0..3 {
        take(&mut board, &id);
        let kind = Some(BlockKind::NeedsInput);
        if board.block(&id, Some("which?"), kind, By::Anybody, NOW).unwrap() == Status::Blocked {
            board.unblock(&id, None, NOW).unwrap();
        }
    }
    assert_eq!(status(&mut board, &id), Status::Triage);
    let auto_split = Some(AutoSplit { at_once: 3, profile: "alpha".into() });
    let rules = Rules { auto_split, ..Rules::default() };
    for now in NOW..NOW + 5 {
        assert_eq!(look(&mut board, &rules, now).0.splitting, [] as [CardId; 0]);
    }
    assert_eq!(count(&mut board), 1);
}
