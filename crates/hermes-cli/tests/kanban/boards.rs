//! Boards.

use hermes_testkit::{Hermes, TestHome};

use crate::{create, kanban};

#[test]
fn boards_keep_their_cards_apart() {
    let home = TestHome::new();
    create(&home, &["on the default board"]);
    kanban(&home, &["boards", "create", "Web-Site", "--name", "The Site", "--switch"]).success();
    kanban(&home, &["boards", "show"]).success().stdout_is("web-site\n");
    kanban(&home, &["list"]).success().stdout_has("No cards yet");
    create(&home, &["on the site's"]);
    kanban(&home, &["--board", "default", "list"]).success().stdout_has("on the default board");
    let boards = kanban(&home, &["boards", "list", "--json"]).json();
    assert_eq!((&boards[1]["slug"], &boards[1]["name"]), (&"web-site".into(), &"The Site".into()));
    assert_eq!((&boards[1]["counts"]["ready"], &boards[1]["is_current"]), (&1.into(), &true.into()));
    kanban(&home, &["boards", "create", "web-site"]).code(1).stderr_has("already");
    kanban(&home, &["boards", "create", "../up"]).code(1).stderr_has("cannot be the name of a board");
    kanban(&home, &["boards", "set-default-workdir", "web-site", "/srv"]).success();
    kanban(&home, &["boards", "set-default-workdir", "web-site"]).success().stdout_has("nowhere");
    kanban(&home, &["boards", "rm", "web-site"]).success().stdout_has("_archived/web-site-");
    kanban(&home, &["boards", "show"]).success().stdout_is("default\n");
    kanban(&home, &["boards", "rm", "default"]).code(1);
}

#[test]
fn all_profiles_share_the_boards_and_the_environment_names_one() {
    let home = TestHome::new();
    home.write("profiles/alpha/config.yaml", "");
    let id = create(&home, &["shared"]);
    let of_alpha =
        Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).args(["-p", "alpha", "kanban", "list"]).run();
    of_alpha.success().stdout_has(&id);
    kanban(&home, &["boards", "create", "other"]).success();
    let other = Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home)
        .env("HERMES_KANBAN_BOARD", "other")
        .args(["kanban", "list"])
        .run();
    other.success().stdout_has("No cards yet");
    let elsewhere = Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home)
        .env("HERMES_KANBAN_DB", home.path().join("one.db"))
        .args(["kanban", "--board", "other", "create", "in the one file"])
        .run();
    elsewhere.success();
    assert!(home.path().join("one.db").exists());
}

#[test]
fn a_damaged_board_is_told_and_the_others_are_listed() {
    let home = TestHome::new();
    kanban(&home, &["boards", "create", "bad"]).success();
    home.write("kanban/boards/bad/kanban.db", "not a database at all, just words");
    let _ = std::fs::remove_file(home.path().join("kanban/boards/bad/kanban.db-wal"));
    kanban(&home, &["--board", "bad", "list"]).code(1).stderr_has("is damaged").stderr_has(".corrupt.");
    kanban(&home, &["boards"]).success().stdout_has("default").stdout_has("is damaged");
}
