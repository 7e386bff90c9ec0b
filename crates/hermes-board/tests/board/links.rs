//! Cards that wait for cards.

use hermes_board::act::{By, Report};
use hermes_board::claim::Claimed;
use hermes_board::links::LinkKind;
use hermes_board::{BoardError, Status};

use crate::fixture::{Fixture, NOW, claimer, kinds, make, status, take};

#[test]
fn a_child_waits_for_all_its_parents() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let (a, b) = (make(&mut board, "a", &[]), make(&mut board, "b", &[]));
    let child = make(&mut board, "c", &[&a, &b]);
    assert_eq!(status(&mut board, &child), Status::Todo);
    board.complete(&a, &Report::default(), By::Anybody, NOW).unwrap();
    assert_eq!(status(&mut board, &child), Status::Todo);
    board.archive(&b, NOW).unwrap();
    assert_eq!(status(&mut board, &child), Status::Ready);
    assert_eq!(kinds(&mut board, &child), ["created", "promoted"]);
    let late = make(&mut board, "d", &[&a, &b]);
    assert_eq!(status(&mut board, &late), Status::Ready, "an archived parent holds nobody up");
}

#[test]
fn a_new_link_sends_a_ready_card_back() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let (a, b) = (make(&mut board, "a", &[]), make(&mut board, "b", &[]));
    board.link(&a, &b, LinkKind::Hard, NOW).unwrap();
    board.link(&a, &b, LinkKind::Hard, NOW).unwrap();
    assert_eq!(status(&mut board, &b), Status::Todo);
    assert!(board.unlink(&a, &b, NOW).unwrap());
    assert!(!board.unlink(&a, &b, NOW).unwrap());
    assert_eq!(status(&mut board, &b), Status::Ready);
}

#[test]
fn circles_are_refused() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let a = make(&mut board, "a", &[]);
    let b = make(&mut board, "b", &[&a]);
    let c = make(&mut board, "c", &[&b]);
    assert!(matches!(board.link(&c, &a, LinkKind::Hard, NOW), Err(BoardError::Circle { .. })));
    assert!(board.link(&a, &a, LinkKind::Hard, NOW).is_err());
    assert_eq!(board.details(&a).unwrap().parents, []);
}

#[test]
fn one_of_several_is_enough_and_soft_links_hold_nobody_up() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let [a, b, one, soft] = ["a", "b", "one", "soft"].map(|title| make(&mut board, title, &[]));
    board.link(&a, &one, LinkKind::Any, NOW).unwrap();
    board.link(&b, &one, LinkKind::Any, NOW).unwrap();
    board.link(&a, &soft, LinkKind::Soft, NOW).unwrap();
    assert_eq!((status(&mut board, &one), status(&mut board, &soft)), (Status::Todo, Status::Ready));
    board.complete(&b, &Report::default(), By::Anybody, NOW).unwrap();
    assert_eq!(status(&mut board, &one), Status::Ready);
    take(&mut board, &one);
    assert_eq!(board.details(&soft).unwrap().parents, [a]);
}

#[test]
fn a_card_that_must_wait_is_not_taken() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let a = make(&mut board, "a", &[]);
    let b = make(&mut board, "b", &[&a]);
    board.promote(&b, "me", None, hermes_board::transition::Force::Yes, NOW).unwrap();
    assert_eq!(board.claim(&b, &claimer(), 900, NOW).unwrap(), Claimed::Waits);
    assert_eq!(status(&mut board, &b), Status::Todo);
    assert_eq!(kinds(&mut board, &b).last().unwrap(), "claim_rejected");
}
