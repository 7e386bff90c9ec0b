//! Many cards, whatever order things happen in.

use hermes_board::act::{By, Report};
use hermes_board::links::LinkKind;
use hermes_board::{Board, CardId, Status};
use proptest::prelude::*;

use crate::fixture::{Fixture, NOW, claimer, make};

/// Something done to a card by its number.
#[derive(Debug, Clone)]
enum Deed {
    Make(Vec<usize>),
    Link(usize, usize),
    Take(usize),
    Complete(usize),
    Block(usize),
    Unblock(usize),
    Archive(usize),
    Reclaim(usize),
}

fn deed() -> impl Strategy<Value = Deed> {
    let n = || 0..12usize;
    prop_oneof![
        3 => prop::collection::vec(n(), 0..3).prop_map(Deed::Make),
        2 => (n(), n()).prop_map(|(a, b)| Deed::Link(a, b)),
        3 => n().prop_map(Deed::Take),
        3 => n().prop_map(Deed::Complete),
        1 => n().prop_map(Deed::Block),
        1 => n().prop_map(Deed::Unblock),
        1 => n().prop_map(Deed::Archive),
        1 => n().prop_map(Deed::Reclaim),
    ]
}

/// What must hold whatever was done.
fn check(board: &mut Board, cards: &[CardId]) {
    for id in cards {
        let details = board.details(id).unwrap();
        let card = &details.card;
        let open = details.attempts.iter().filter(|attempt| attempt.ended_at.is_none()).count();
        let running = card.status == Status::Running;
        assert_eq!(card.claim_lock.is_some(), running, "{card:?}");
        assert_eq!(card.current_run.is_some(), running, "{card:?}");
        assert_eq!(open, usize::from(running), "{card:?}");
        let waits = details.parents.iter().any(|parent| !board.card(parent).unwrap().status.frees_children());
        if card.status == Status::Todo {
            assert!(waits, "{id} waits for nothing");
        }
        if card.status == Status::Ready {
            assert!(!waits, "{id} should wait");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_card_stands_where_it_may(deeds in prop::collection::vec(deed(), 1..40)) {
        let fixture = Fixture::new();
        let mut board = fixture.board();
        let mut cards: Vec<CardId> = vec![make(&mut board, "first", &[])];
        for deed in deeds {
            let at = |n: usize| cards[n % cards.len()].clone();
            // What is refused changes nothing; what is allowed must leave a lawful board.
            match deed {
                Deed::Make(parents) => {
                    let parents: Vec<CardId> = parents.into_iter().map(at).collect();
                    let parents: Vec<&CardId> = parents.iter().collect();
                    let id = make(&mut board, "more", &parents);
                    cards.push(id);
                }
                Deed::Link(a, b) => drop(board.link(&at(a), &at(b), LinkKind::Hard, NOW)),
                Deed::Take(n) => drop(board.claim(&at(n), &claimer(), 900, NOW)),
                Deed::Complete(n) => drop(board.complete(&at(n), &Report::default(), By::Anybody, NOW)),
                Deed::Block(n) => drop(board.block(&at(n), None, None, By::Anybody, NOW)),
                Deed::Unblock(n) => drop(board.unblock(&at(n), None, NOW)),
                Deed::Archive(n) => drop(board.archive(&at(n), NOW)),
                Deed::Reclaim(n) => drop(board.reclaim(&at(n), None, &serde_json::Map::new(), NOW)),
            }
        }
        check(&mut board, &cards);
    }
}
