//! Boards as files, and what comes in with one.

use std::io::{Read, Write};
use std::path::Path;

use hermes_store::rusqlite::Connection;
use hermes_testkit::TestHome;

use crate::{create, kanban};

/// A board with a file, a running card, a subscription and a command; exported.
fn exported(home: &TestHome) -> (String, String) {
    kanban(home, &["boards", "create", "web", "--name", "The Site", "--switch"]).success();
    let id = create(home, &["Paint it", "--body", "all of it", "--accept", "make test"]);
    let running = create(home, &["Running"]);
    kanban(home, &["claim", &running]).success();
    let file = home.work_dir().join("notes.txt");
    std::fs::write(&file, "hello").unwrap();
    kanban(home, &["attach", &id, file.to_str().unwrap()]).success();
    kanban(home, &["notify-subscribe", &id, "--platform", "telegram", "--chat-id", "4711"]).success();
    kanban(home, &["resume"]).success();
    let to = home.work_dir().join("web.zip").to_str().unwrap().to_owned();
    kanban(home, &["boards", "export", "web", "-o", &to]).success().stdout_has("2 cards, 1 file");
    kanban(home, &["boards", "export", "web", "-o", &to]).code(1).stderr_has("already");
    (id, to)
}

#[test]
fn a_board_goes_out_and_comes_in() {
    let home = TestHome::new();
    let (id, file) = exported(&home);
    let bytes = std::fs::read(&file).unwrap();
    assert!(!bytes.windows(4).any(|at| at == b"4711"), "who is told does not go along");
    kanban(&home, &["boards", "import", &file]).code(1).stderr_has("already");
    let came = kanban(&home, &["boards", "import", &file, "--as", "copy", "--json"]).json();
    assert_eq!((&came["cards"], &came["attachments"], &came["released"]), (&2.into(), &1.into(), &1.into()));
    assert_eq!(came["with_commands"], 1);
    let elsewhere = TestHome::new();
    kanban(&elsewhere, &["boards", "import", &file])
        .success()
        .stdout_has("until `hermes kanban --board web resume`");
    let shown = kanban(&elsewhere, &["--board", "web", "show", &id, "--json"]).json();
    assert_eq!((&shown["task"]["title"], &shown["task"]["status"]), (&"Paint it".into(), &"ready".into()));
    let files = kanban(&elsewhere, &["--board", "web", "attachments", &id, "--json"]).json();
    let stored = files[0]["stored_path"].as_str().unwrap();
    assert!(Path::new(stored).starts_with(elsewhere.path()), "{stored}");
    assert_eq!(std::fs::read_to_string(stored).unwrap(), "hello");
    let boards = kanban(&elsewhere, &["boards", "list", "--json"]).json();
    assert_eq!((&boards[1]["name"], &boards[1]["mode"]), (&"The Site".into(), &"parked".into()));
    assert_eq!(boards[1]["counts"]["ready"], 2, "nobody here works on what was worked on there");
    kanban(&elsewhere, &["--board", "web", "notify-list"]).success().stdout_is("Nobody is told.\n");
    kanban(&elsewhere, &["--board", "web", "search", "paint"]).success().stdout_has(&id);
}

/// The entries of an archive, changed.
fn rewritten(
    file: &str,
    to: &Path,
    change: impl Fn(&str, Vec<u8>) -> Option<(String, Vec<u8>)>,
    more: &[(&str, &[u8])],
) {
    let mut from = zip::ZipArchive::new(std::fs::File::open(file).unwrap()).unwrap();
    let mut out = zip::ZipWriter::new(std::fs::File::create(to).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    for index in 0..from.len() {
        let mut entry = from.by_index(index).unwrap();
        let name = entry.name().unwrap().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if let Some((name, bytes)) = change(&name, bytes) {
            out.start_file(name, options).unwrap();
            out.write_all(&bytes).unwrap();
        }
    }
    for (name, bytes) in more {
        out.start_file(*name, options).unwrap();
        out.write_all(bytes).unwrap();
    }
    out.finish().unwrap();
}

/// A database, changed.
fn altered(bytes: &[u8], sql: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kanban.db");
    std::fs::write(&path, bytes).unwrap();
    let db = Connection::open(&path).unwrap();
    db.execute_batch(sql).unwrap();
    db.close().unwrap();
    std::fs::read(&path).unwrap()
}

#[test]
fn hostile_archives_leave_nothing() {
    let home = TestHome::new();
    let (_, file) = exported(&home);
    let victim = TestHome::new();
    let bad = victim.work_dir().join("bad.zip");
    let keep = |name: &str, bytes: Vec<u8>| Some((name.to_owned(), bytes));
    let refuse = |says: &str| {
        kanban(&victim, &["boards", "import", bad.to_str().unwrap(), "--as", "in"])
            .code(1)
            .stderr_has("nothing was imported")
            .stderr_has(says);
        let boards = victim.path().join("kanban/boards");
        let left = std::fs::read_dir(&boards).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{says}: something is left in {}", boards.display());
    };
    for name in
        ["../../escape", "/etc/passwd", "attachments/../x/y", "attachments/t_deadbeef/..", "board.json/x"]
    {
        rewritten(&file, &bad, keep, &[(name, b"x")]);
        refuse("no part of a board");
    }
    rewritten(&file, &bad, |name, bytes| (name != "kanban.db").then(|| (name.to_owned(), bytes)), &[]);
    refuse("has no kanban.db");
    rewritten(
        &file,
        &bad,
        |name, bytes| (name != "hermes-board.json").then(|| (name.to_owned(), bytes)),
        &[],
    );
    refuse("it is no board");
    let database = |sql: &'static str| {
        move |name: &str, bytes: Vec<u8>| {
            let bytes = if name == "kanban.db" { altered(&bytes, sql) } else { bytes };
            Some((name.to_owned(), bytes))
        }
    };
    rewritten(
        &file,
        &bad,
        database("CREATE TRIGGER t AFTER UPDATE ON tasks BEGIN DELETE FROM tasks; END"),
        &[],
    );
    refuse("acts by itself");
    rewritten(&file, &bad, database("UPDATE tasks SET id = '../../../x' WHERE title = 'Running'"), &[]);
    refuse("names are not those of cards");
    rewritten(&file, &bad, database("DROP TABLE tasks"), &[]);
    refuse("damaged");
    let torn = |name: &str, bytes: Vec<u8>| {
        let bytes = if name == "kanban.db" { bytes[..bytes.len() / 2].to_vec() } else { bytes };
        Some((name.to_owned(), bytes))
    };
    rewritten(&file, &bad, torn, &[]);
    refuse("damaged");
    std::fs::write(&bad, "not an archive").unwrap();
    refuse("no archive");
    std::fs::write(&bad, &std::fs::read(&file).unwrap()[..2000]).unwrap();
    refuse("no archive");
}
