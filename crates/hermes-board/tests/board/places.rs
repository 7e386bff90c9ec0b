//! Boards on disk.

use hermes_board::boards::{self, Change, Removal};
use hermes_board::query::Archived;
use hermes_board::{Board, BoardError, Slug};

use crate::fixture::{Fixture, NOW};

fn slug(name: &str) -> Slug {
    Slug::parse(name).unwrap()
}

#[test]
fn boards_are_made_listed_switched_and_put_away() {
    let fixture = Fixture::new();
    let root = &fixture.root;
    assert_eq!(boards::current(root), Slug::default_board());
    assert!(Board::look(root, &Slug::default_board()).unwrap().is_none(), "looking makes nothing");
    assert!(!root.database(&Slug::default_board()).exists());
    let change = Change { description: Some("Web things".into()), ..Change::default() };
    let made = boards::create(root, &slug("web-site"), &change, NOW).unwrap();
    assert_eq!((made.name.as_str(), made.created_at), ("Web Site", Some(NOW)));
    assert!(matches!(boards::create(root, &slug("web-site"), &change, NOW), Err(BoardError::BoardExists(_))));
    boards::switch(root, &slug("web-site")).unwrap();
    assert_eq!(boards::current(root).as_str(), "web-site");
    assert_eq!(std::fs::read_to_string(root.current_file()).unwrap(), "web-site\n");
    assert!(matches!(boards::switch(root, &slug("none")), Err(BoardError::NoBoard(_))));
    let names = |archived| -> Vec<String> {
        boards::list(root, archived).into_iter().map(|board| board.slug.to_string()).collect()
    };
    assert_eq!(names(Archived::Hidden), ["default", "web-site"]);
    let away = boards::remove(root, &slug("web-site"), Removal::Archive, NOW).unwrap().unwrap();
    assert!(away.join("kanban.db").exists() && away.ends_with(format!("web-site-{NOW}")));
    assert_eq!(boards::current(root), Slug::default_board(), "the pointer went with it");
    assert_eq!(names(Archived::Shown), ["default"]);
    assert!(matches!(
        boards::remove(root, &Slug::default_board(), Removal::Delete, NOW),
        Err(BoardError::DefaultStays)
    ));
}

#[test]
fn what_others_wrote_into_a_description_stays() {
    let fixture = Fixture::new();
    let root = &fixture.root;
    let path = root.description(&slug("web"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, r#"{"slug": "wrong", "name": "W", "theirs": [1], "db_path": "/x"}"#).unwrap();
    let change = Change { default_workdir: Some("/src".into()), ..Change::default() };
    let board = boards::change(root, &slug("web"), &change, NOW).unwrap();
    assert_eq!((board.name.as_str(), board.default_workdir.as_deref()), ("W", Some("/src")));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"theirs\": [\n    1\n  ]") && text.contains("\"slug\": \"web\""), "{text}");
    assert!(!text.contains("db_path") && text.ends_with("}\n"), "{text}");
    let clear = Change { default_workdir: Some(String::new()), ..Change::default() };
    assert_eq!(boards::change(root, &slug("web"), &clear, NOW).unwrap().default_workdir, None);
    std::fs::write(&path, "{ broken").unwrap();
    assert_eq!(boards::describe(root, &slug("web")).name, "Web");
}
