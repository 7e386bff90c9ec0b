//! Files that are not what they should be.

use hermes_board::{Board, BoardError, Slug};

use crate::fixture::{Fixture, make};

#[test]
fn a_damaged_board_is_refused_and_copied_once() {
    let fixture = Fixture::new();
    let path = fixture.root.database(&Slug::default_board());
    std::fs::write(&path, b"this is no database, but somebody's words").unwrap();
    for _ in 0..3 {
        let error = Board::open(&fixture.root, &Slug::default_board()).unwrap_err();
        let BoardError::Damaged { copy, .. } = error else { panic!("{error}") };
        assert_eq!(std::fs::read(copy).unwrap(), std::fs::read(&path).unwrap());
    }
    let copies = std::fs::read_dir(fixture.dir.path()).unwrap();
    let copies =
        copies.filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().contains(".corrupt."));
    assert_eq!(copies.count(), 1);
    assert!(std::fs::read(&path).unwrap().starts_with(b"this is no"), "it was left as it is");
}

#[test]
fn a_torn_board_is_not_made_anew() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    for n in 0..200 {
        make(&mut board, &format!("card {n} {}", "x".repeat(200)), &[]);
    }
    drop(board);
    let path = fixture.root.database(&Slug::default_board());
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.len() > 40_000);
    let mut torn = bytes.clone();
    torn[8192..20_000].fill(0xAA);
    std::fs::write(&path, &torn).unwrap();
    let outcome = Board::open(&fixture.root, &Slug::default_board()).and_then(|mut board| board.check());
    assert!(matches!(outcome, Err(BoardError::Damaged { .. })), "{outcome:?}");
    assert_eq!(std::fs::read(&path).unwrap().len(), torn.len());
}

#[test]
fn somebody_elses_database_is_left_alone() {
    let fixture = Fixture::new();
    let path = fixture.root.database(&Slug::default_board());
    let db = hermes_store::rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    drop(db);
    let error = Board::open(&fixture.root, &Slug::default_board()).unwrap_err();
    assert!(error.to_string().contains("is not a board database"), "{error}");
}
