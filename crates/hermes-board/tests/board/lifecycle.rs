//! From a new card to one that is put away.

use hermes_board::act::{By, Report};
use hermes_board::card::{BlockKind, Outcome};
use hermes_board::create::{Beginning, Made, NewCard};
use hermes_board::query::{Archived, Filter, Sort};
use hermes_board::transition::Force;
use hermes_board::{BoardError, CardId, RunId, Status};
use serde_json::json;

use crate::fixture::{Fixture, NOW, kinds, make, status, take};

#[test]
fn a_card_is_made_taken_and_finished() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let id = make(&mut board, "  Write it  ", &[]);
    let card = board.card(&id).unwrap();
    assert_eq!((card.title.as_str(), card.status), ("Write it", Status::Ready));
    let claim = take(&mut board, &id);
    assert_eq!((claim.lock.as_str(), claim.expires), ("here:7", NOW + 900));
    let report =
        Report {
            summary: Some("first line\nsecond".into()), result: Some("äö".into()), ..Report::default()
        };
    assert_eq!(board.complete(&id, &report, By::Attempt(claim.run), NOW + 5).unwrap(), Some(claim.run));
    let details = board.details(&id).unwrap();
    assert_eq!((details.card.status, details.card.completed_at), (Status::Done, Some(NOW + 5)));
    assert_eq!((&details.card.claim_lock, details.card.current_run), (&None, None));
    assert_eq!(details.attempts[0].outcome, Some(Outcome::Completed));
    assert_eq!(details.attempts[0].status, "done");
    assert_eq!(details.latest_summary(), Some("first line\nsecond"));
    let events: Vec<_> =
        details.events.iter().map(|event| (event.kind.as_str(), event.payload.clone())).collect();
    assert_eq!(events[0].1.as_ref().unwrap()["goal_mode"], json!(null));
    assert_eq!(
        events[1],
        ("claimed", Some(json!({ "lock": "here:7", "expires": NOW + 900, "run_id": claim.run })))
    );
    assert_eq!(events[2], ("completed", Some(json!({ "result_len": 2, "summary": "first line" }))));
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let mut wrong = Vec::new();
    for change in [
        |card: &mut NewCard| card.title = "  ".into(),
        |card: &mut NewCard| card.assignee = Some(" ".into()),
        |card: &mut NewCard| card.branch_name = Some("b".into()),
        |card: &mut NewCard| card.max_retries = Some(0),
        |card: &mut NewCard| card.skills = vec!["a,b".into()],
        |card: &mut NewCard| card.parents = vec![CardId::new("t_00000000")],
    ] {
        let mut card = NewCard::new("x");
        change(&mut card);
        wrong.push(board.create(&card, NOW).unwrap_err().to_string());
    }
    assert!(wrong[5].contains("t_00000000"), "{wrong:?}");
    assert_eq!(board.list(&Filter::default(), Sort::default()).unwrap(), []);
    let id = make(&mut board, "x", &[]);
    let refused = board.unblock(&id, None, NOW).unwrap_err();
    assert!(refused.to_string().contains("only blocked or scheduled"), "{refused}");
    assert!(matches!(board.card(&CardId::new("t_ffffffff")), Err(BoardError::NoCard(_))));
    assert_eq!(kinds(&mut board, &id), ["created"]);
}

#[test]
fn an_attempt_that_was_replaced_cannot_write() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let id = make(&mut board, "x", &[]);
    let old = take(&mut board, &id).run;
    board.reclaim(&id, Some("too slow"), &serde_json::Map::new(), NOW).unwrap();
    let new = take(&mut board, &id).run;
    assert!(new > old);
    let late = By::Attempt(old);
    assert!(matches!(board.complete(&id, &Report::default(), late, NOW), Err(BoardError::Superseded(_))));
    assert!(matches!(board.block(&id, None, None, late, NOW), Err(BoardError::Superseded(_))));
    assert!(!board.heartbeat(&id, Some(old), None, NOW).unwrap());
    assert!(board.heartbeat(&id, Some(new), Some("half"), NOW).unwrap());
    assert_eq!(status(&mut board, &id), Status::Running);
    assert_eq!(board.details(&id).unwrap().attempts[0].outcome, Some(Outcome::Reclaimed));
}

#[test]
fn only_the_holder_renews_a_claim() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let id = make(&mut board, "x", &[]);
    let claim = take(&mut board, &id);
    assert!(board.renew(&id, &claim.lock, 900, NOW + 100).unwrap());
    assert_eq!(board.card(&id).unwrap().claim_expires, Some(NOW + 1000));
    assert!(!board.renew(&id, "there:7", 900, NOW + 200).unwrap());
    assert!(board.claim(&id, &crate::fixture::claimer(), 900, NOW).is_err());
}

#[test]
fn blocked_cards_stay_blocked_until_somebody_lets_them_go() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let mut card = NewCard::new("held back");
    card.beginning = Beginning::Blocked;
    let made = board.create(&card, NOW).unwrap().card.id;
    let id = make(&mut board, "x", &[]);
    let run = take(&mut board, &id).run;
    let kind = Some(BlockKind::NeedsInput);
    assert_eq!(board.block(&id, Some("which?"), kind, By::Attempt(run), NOW).unwrap(), Status::Blocked);
    for _ in 0..10 {
        assert_eq!(board.let_go(NOW).unwrap(), []);
    }
    assert_eq!(status(&mut board, &made), Status::Blocked);
    assert_eq!(board.unblock(&id, None, NOW).unwrap(), Status::Ready);
    // Twice more for the same reason, and somebody has to look at the card itself.
    take(&mut board, &id);
    assert_eq!(board.block(&id, None, kind, By::Anybody, NOW).unwrap(), Status::Blocked);
    board.unblock(&id, None, NOW).unwrap();
    take(&mut board, &id);
    assert_eq!(board.block(&id, None, kind, By::Anybody, NOW).unwrap(), Status::Triage);
    assert_eq!(kinds(&mut board, &id).last().unwrap(), "block_loop_detected");
}

#[test]
fn cards_that_were_not_made_are_not_believed() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let id = make(&mut board, "x", &[]);
    take(&mut board, &id);
    let mut by_worker = NewCard::new("follow-up");
    by_worker.created_by = Some("alpha".into());
    let real = board.create(&by_worker, NOW).unwrap().card.id;
    let foreign = make(&mut board, "somebody else's", &[]);
    let report = |cards: &[&CardId]| Report {
        created_cards: cards.iter().map(|id| (*id).clone()).collect(),
        ..Report::default()
    };
    let phantom = CardId::new("t_12345678");
    let error = board.complete(&id, &report(&[&real, &phantom, &foreign]), By::Anybody, NOW).unwrap_err();
    assert!(matches!(&error, BoardError::Phantom(cards) if *cards == [phantom, foreign]), "{error}");
    assert_eq!(status(&mut board, &id), Status::Running);
    assert_eq!(kinds(&mut board, &id).last().unwrap(), "completion_blocked_hallucination");
    board.complete(&id, &report(&[&real]), By::Anybody, NOW).unwrap();
    let done = board.details(&id).unwrap().events.pop().unwrap();
    assert_eq!(done.payload.unwrap()["verified_cards"], json!([real]));
}

#[test]
fn finishing_without_an_attempt_leaves_one_behind_if_there_is_something_to_say() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let (silent, telling) = (make(&mut board, "a", &[]), make(&mut board, "b", &[]));
    assert_eq!(board.complete(&silent, &Report::default(), By::Anybody, NOW).unwrap(), None);
    let report = Report { result: Some("r".into()), ..Report::default() };
    assert_eq!(board.complete(&telling, &report, By::Anybody, NOW).unwrap(), Some(RunId(1)));
    board.edit(&telling, "better", None, Some(&json!({ "k": 1 })), NOW).unwrap();
    let details = board.details(&telling).unwrap();
    assert_eq!(details.card.result.as_deref(), Some("better"));
    assert_eq!(details.attempts[0].summary.as_deref(), Some("better"));
    assert_eq!(details.attempts[0].metadata, Some(json!({ "k": 1 })));
}

#[test]
fn cards_are_put_away_and_removed() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let id = make(&mut board, "x", &[]);
    let child = make(&mut board, "y", &[&id]);
    board.comment(&id, "me", " hello ", NOW).unwrap();
    assert!(board.delete(&id, NOW).is_err(), "not before it is put away");
    take(&mut board, &id);
    board.archive(&id, NOW).unwrap();
    assert!(board.archive(&id, NOW).is_err());
    assert_eq!(status(&mut board, &child), Status::Ready, "nothing is left to wait for");
    assert_eq!(board.list(&Filter::default(), Sort::default()).unwrap().len(), 1);
    let all = Filter { archived: Archived::Shown, ..Filter::default() };
    assert_eq!(board.list(&all, Sort::default()).unwrap().len(), 2);
    board.delete(&id, NOW).unwrap();
    assert!(board.card(&id).is_err());
    assert_eq!(board.details(&child).unwrap().parents, []);
}

#[test]
fn one_key_is_one_card_until_it_is_put_away() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let mut card = NewCard::new("nightly");
    card.idempotency_key = Some("k".into());
    let first = board.create(&card, NOW).unwrap();
    let second = board.create(&card, NOW).unwrap();
    assert_eq!((first.made, second.made), (Made::New, Made::Before));
    assert_eq!(first.card.id, second.card.id);
    board.archive(&first.card.id, NOW).unwrap();
    assert_eq!(board.create(&card, NOW).unwrap().made, Made::New);
}

#[test]
fn an_operator_can_insist() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let parent = make(&mut board, "a", &[]);
    let child = make(&mut board, "b", &[&parent]);
    assert!(board.can_promote(&child, Force::No).is_err());
    board.can_promote(&child, Force::Yes).unwrap();
    assert!(board.promote(&child, "me", None, Force::No, NOW).is_err());
    board.promote(&child, "me", Some("now"), Force::Yes, NOW).unwrap();
    let event = board.details(&child).unwrap().events.pop().unwrap();
    assert_eq!(event.payload.unwrap(), json!({ "actor": "me", "reason": "now", "forced": true }));
}

#[test]
fn a_running_card_keeps_its_profile() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let id = make(&mut board, "x", &[]);
    board.assign(&id, Some(" Beta "), NOW).unwrap();
    assert_eq!(board.card(&id).unwrap().assignee.as_deref(), Some("beta"));
    take(&mut board, &id);
    assert!(board.assign(&id, Some("gamma"), NOW).is_err());
    assert_eq!(kinds(&mut board, &id), ["created", "assigned", "claimed"]);
}

#[test]
fn cards_are_found_by_their_words_whoever_wrote_them() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let id = make(&mut board, "Repair the zebra crossing", &[]);
    make(&mut board, "Something else", &[]);
    let found = |board: &mut hermes_board::Board, words: &str| -> Vec<CardId> {
        board.search(words, 10).unwrap().into_iter().map(|found| found.card.id).collect()
    };
    assert_eq!(found(&mut board, "ZEBRA cros"), std::slice::from_ref(&id));
    assert_eq!(found(&mut board, "zebra elephant"), []);
    assert_eq!(found(&mut board, "\"(*"), [], "no words, nothing found");
    board.comment(&id, "me", "the elephant said so", NOW).unwrap();
    assert_eq!(found(&mut board, "zebra elephant"), std::slice::from_ref(&id));
    let report = Report { summary: Some("painted white".into()), ..Report::default() };
    board.complete(&id, &report, By::Anybody, NOW).unwrap();
    assert!(board.search("painted", 10).unwrap()[0].snippet.contains(">>>painted<<<"));
    // The other program knows nothing of the index, but it writes events.
    let db = hermes_store::rusqlite::Connection::open(fixture.dir.path().join("kanban.db")).unwrap();
    db.execute("UPDATE tasks SET title = 'giraffe' WHERE id = ?1", [id.as_str()]).unwrap();
    db.execute("INSERT INTO task_events (task_id, kind, created_at) VALUES (?1, 'edited', 1)", [id.as_str()])
        .unwrap();
    assert_eq!(found(&mut board, "giraffe"), [id]);
}
