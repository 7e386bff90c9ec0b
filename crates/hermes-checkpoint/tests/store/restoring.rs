//! Going back.

use std::fs;
use std::path::PathBuf;

use hermes_checkpoint::{CheckpointError, Does, Mine, Whose, Wish};

use crate::support::Bench;

fn told(changes: &[hermes_checkpoint::Change]) -> Vec<(String, Does, Whose)> {
    changes.iter().map(|change| (change.path.display().to_string(), change.does, change.whose)).collect()
}

#[test]
fn what_the_agent_did_is_undone_and_can_be_done_again() {
    let bench = Bench::new();
    bench.write("src/a", "1");
    bench.write("gone", "1");
    bench.link("link", "src/a");
    bench.write("run", "#!");
    bench.chmod("run", 0o755);
    let before = bench.tree();
    let id = bench.made();
    bench.write("src/a", "2");
    bench.remove("gone");
    bench.remove("link");
    bench.link("link", "elsewhere");
    bench.chmod("run", 0o644);
    bench.write("new/deep/file", "2");
    bench.look();
    let after = bench.tree();

    let restored = bench.restore(id, Mine::Keep);
    assert!(restored.left.is_empty() && restored.failed.is_empty(), "{restored:?}");
    assert_eq!(restored.done.len(), 5);
    assert_eq!(bench.tree(), before);
    assert!(!bench.work.join("new").exists());

    bench.restore(restored.before.unwrap(), Mine::Keep);
    assert_eq!(bench.tree(), after);
}

#[test]
fn what_the_user_changed_afterwards_stays() {
    let bench = Bench::new();
    bench.write("agent", "1");
    bench.write("both", "1");
    let id = bench.made();
    bench.write("agent", "2");
    bench.write("both", "2");
    bench.write("created", "2");
    bench.look();
    bench.write("both", "mine");
    bench.write("notes", "mine");
    bench.write("created", "2, and mine");

    let plan = bench.checkpoints.plan(&bench.place, id, None).unwrap();
    let expected = [
        ("agent".to_owned(), Does::Overwrite, Whose::Agent),
        ("both".to_owned(), Does::Overwrite, Whose::Yours),
        ("created".to_owned(), Does::Remove, Whose::Yours),
        ("notes".to_owned(), Does::Remove, Whose::Unseen),
    ];
    assert_eq!(told(&plan.changes), expected);
    assert_eq!(bench.read("agent").as_deref(), Some("2"), "a plan changes nothing");

    let restored = bench.restore(id, Mine::Keep);
    assert_eq!(restored.left.len(), 3);
    assert_eq!(bench.read("agent").as_deref(), Some("1"));
    assert_eq!(bench.read("both").as_deref(), Some("mine"));
    assert_eq!(bench.read("notes").as_deref(), Some("mine"));
    // They are still the user's the next time, and go when they are asked for.
    let restored = bench.restore(id, Mine::Keep);
    assert_eq!((restored.done.len(), restored.left.len()), (0, 3));
    bench.restore(id, Mine::Overwrite);
    assert_eq!((bench.read("both").as_deref(), bench.read("notes")), (Some("1"), None));
}

#[test]
fn what_the_user_changed_between_two_turns_stays_too() {
    let bench = Bench::new();
    bench.write("a", "1");
    bench.write("mine", "1");
    let first = bench.made();
    bench.write("a", "2");
    bench.look();
    bench.write("mine", "by hand");
    bench.made();
    bench.write("a", "3");
    bench.look();
    let restored = bench.restore(first, Mine::Keep);
    assert_eq!(told(&restored.left), [("mine".to_owned(), Does::Overwrite, Whose::Yours)]);
    assert_eq!((bench.read("a").as_deref(), bench.read("mine").as_deref()), (Some("1"), Some("by hand")));
}

#[test]
fn a_turn_that_never_ended_is_not_taken_for_the_agents() {
    let bench = Bench::new();
    bench.write("a", "1");
    let id = bench.made();
    bench.write("a", "2");
    let restored = bench.restore(id, Mine::Keep);
    assert_eq!(told(&restored.left), [("a".to_owned(), Does::Overwrite, Whose::Yours)]);
}

#[test]
fn one_file_or_directory_alone() {
    let bench = Bench::new();
    bench.write("src/a", "1");
    bench.write("src/b", "1");
    bench.write("c", "1");
    let id = bench.made();
    for path in ["src/a", "src/b", "c"] {
        bench.write(path, "2");
    }
    bench.look();
    let only = |path: &str| {
        let wish = Wish { id, only: Some(PathBuf::from(path)), mine: Mine::Keep };
        bench.checkpoints.restore(&bench.place, &wish)
    };
    assert_eq!(only("./src/a").unwrap().done.len(), 1);
    assert_eq!((bench.read("src/a").as_deref(), bench.read("src/b").as_deref()), (Some("1"), Some("2")));
    assert_eq!(only("src").unwrap().done.len(), 1);
    assert_eq!(bench.read("c").as_deref(), Some("2"));
    assert!(matches!(only("../x"), Err(CheckpointError::Outside { .. })));
    assert!(matches!(only("/etc/passwd"), Err(CheckpointError::Outside { .. })));
    assert!(matches!(only("nothing"), Err(CheckpointError::NoSuchPath { .. })));
}

#[test]
fn what_was_left_out_then_is_not_taken_for_new() {
    let bench = Bench::new();
    bench.write(".gitignore", "private\n");
    bench.write("private", "precious");
    let id = bench.made();
    bench.write(".gitignore", "");
    bench.look();
    let restored = bench.restore(id, Mine::Overwrite);
    assert_eq!(told(&restored.done), [(".gitignore".to_owned(), Does::Overwrite, Whose::Agent)]);
    assert_eq!(bench.read("private").as_deref(), Some("precious"));
}

#[test]
fn what_no_snapshot_could_save_is_not_overwritten() {
    let bench =
        Bench::with(hermes_checkpoint::Limits { file_bytes: 10, ..hermes_checkpoint::Limits::default() });
    bench.write("data", "small");
    let id = bench.made();
    bench.write("data", "far too large by now");
    bench.look();
    let restored = bench.restore(id, Mine::Keep);
    assert_eq!(told(&restored.left), [("data".to_owned(), Does::Overwrite, Whose::Yours)]);
    bench.restore(id, Mine::Overwrite);
    assert_eq!(bench.read("data").as_deref(), Some("small"));
}

#[test]
fn files_directories_and_links_change_places() {
    let bench = Bench::new();
    bench.write("x/inner", "1");
    bench.write("y", "file");
    let before = bench.tree();
    let id = bench.made();
    fs::remove_dir_all(bench.work.join("x")).unwrap();
    bench.write("x", "file now");
    bench.remove("y");
    bench.write("y/inner", "directory now");
    bench.look();
    let after = bench.tree();
    let restored = bench.restore(id, Mine::Keep);
    assert!(restored.failed.is_empty(), "{:?}", restored.failed);
    assert_eq!(bench.tree(), before);
    bench.restore(restored.before.unwrap(), Mine::Keep);
    assert_eq!(bench.tree(), after);
}

#[test]
fn nothing_is_written_through_a_link_that_leads_out() {
    let bench = Bench::new();
    bench.write("dir/file", "1");
    let id = bench.made();
    let outside = bench.work.with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    fs::remove_dir_all(bench.work.join("dir")).unwrap();
    bench.look();
    // The user's own link: it stays, and what belongs below it cannot come back.
    bench.link("dir", outside.to_str().unwrap());
    let restored = bench.restore(id, Mine::Keep);
    assert_eq!(restored.failed.len(), 1, "{restored:?}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn permission_bits_come_back() {
    let bench = Bench::new();
    bench.write("key", "1");
    bench.chmod("key", 0o600);
    bench.write("tool", "1");
    bench.chmod("tool", 0o750);
    let before = bench.tree();
    let id = bench.made();
    bench.remove("key");
    bench.remove("tool");
    bench.look();
    bench.restore(id, Mine::Keep);
    assert_eq!(bench.tree(), before);
}

#[test]
fn snapshots_of_somebody_else_restore_only_when_asked_for() {
    let bench = Bench::new();
    bench.write("a", "1");
    let id = bench.made();
    bench.write("a", "2");
    bench.look();
    // Another program adds a snapshot to the chain.
    let tip = bench.git(&["rev-parse", &format!("refs/hermes/{}", bench.place.key.hash())]);
    let tree = bench.git(&["rev-parse", &format!("{}^{{tree}}", tip.trim())]);
    let args = [
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@y",
        "commit-tree",
        tree.trim(),
        "-p",
        tip.trim(),
        "-m",
        "theirs",
    ];
    let theirs = bench.git(&args);
    bench.git(&["update-ref", &format!("refs/hermes/{}", bench.place.key.hash()), theirs.trim()]);
    let plan = bench.checkpoints.plan(&bench.place, id, None).unwrap();
    assert_eq!(told(&plan.changes), [("a".to_owned(), Does::Overwrite, Whose::Yours)]);
    bench.restore(id, Mine::Overwrite);
    assert_eq!(bench.read("a").as_deref(), Some("1"));
    assert_eq!(bench.checkpoints.list(&bench.place.key).unwrap().len(), 3);
}
