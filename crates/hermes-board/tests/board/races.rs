//! Several at once: each on a connection of its own, as processes are.

use std::sync::Barrier;
use std::thread;

use hermes_board::claim::{Claimed, Claimer};
use hermes_board::create::{Made, NewCard};
use hermes_board::query::{Filter, Sort};

use crate::fixture::{Fixture, NOW, make};

#[test]
fn one_gets_each_card() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let cards: Vec<_> = (0..20).map(|n| make(&mut board, &format!("{n}"), &[])).collect();
    let barrier = Barrier::new(4);
    let won: Vec<usize> = thread::scope(|scope| {
        let racers: Vec<_> = (0..4)
            .map(|pid| {
                let (fixture, cards, barrier) = (&fixture, &cards, &barrier);
                scope.spawn(move || {
                    let mut board = fixture.board();
                    let claimer = Claimer { host: "here".into(), pid };
                    barrier.wait();
                    let mine = |id: &&_| matches!(board.claim(id, &claimer, 900, NOW), Ok(Claimed::Yes(_)));
                    cards.iter().filter(mine).count()
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    assert_eq!(won.iter().sum::<usize>(), cards.len(), "{won:?}");
    for id in &cards {
        assert_eq!(board.details(id).unwrap().attempts.len(), 1);
    }
}

#[test]
fn one_key_makes_one_card_however_many_ask() {
    let fixture = Fixture::new();
    drop(fixture.board());
    let barrier = Barrier::new(4);
    let made: usize = thread::scope(|scope| {
        let racers: Vec<_> = (0..4)
            .map(|_| {
                let (fixture, barrier) = (&fixture, &barrier);
                scope.spawn(move || {
                    let mut board = fixture.board();
                    barrier.wait();
                    let made = |key: &i32| {
                        let mut card = NewCard::new("nightly");
                        card.idempotency_key = Some(format!("key {key}"));
                        board.create(&card, NOW).unwrap().made == Made::New
                    };
                    (0..50).filter(made).count()
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).sum()
    });
    assert_eq!(made, 50);
    assert_eq!(fixture.board().list(&Filter::default(), Sort::default()).unwrap().len(), 50);
}

#[test]
fn a_board_is_made_once_by_all_who_open_it() {
    let fixture = Fixture::new();
    let barrier = Barrier::new(6);
    thread::scope(|scope| {
        for n in 0..6 {
            let (fixture, barrier) = (&fixture, &barrier);
            scope.spawn(move || {
                barrier.wait();
                make(&mut fixture.board(), &format!("{n}"), &[]);
            });
        }
    });
    assert_eq!(fixture.board().list(&Filter::default(), Sort::default()).unwrap().len(), 6);
}
