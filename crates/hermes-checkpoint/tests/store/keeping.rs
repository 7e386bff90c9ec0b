//! What is kept, and what is not.

use std::fs;
use std::time::Duration;

use hermes_checkpoint::{Checkpoints, Git, Key, Limits, Orphans, Place, Retention, Skip, Taken};

use crate::support::{Bench, checkpoints, git};

fn listed(bench: &Bench) -> String {
    let id = bench.checkpoints.resolve(&bench.place.key, "1").unwrap();
    bench.git(&["ls-tree", "-r", &id.to_string()])
}

#[test]
fn nothing_is_made_when_nothing_changed() {
    let bench = Bench::new();
    bench.write("a.txt", "1");
    bench.made();
    let packs = fs::read_dir(bench.base.join("store/objects/pack")).unwrap().count();
    assert_eq!(bench.take(), Taken::Unchanged);
    // A file that was only touched is no change either.
    bench.write("a.txt", "1");
    assert_eq!(bench.take(), Taken::Unchanged);
    assert_eq!(fs::read_dir(bench.base.join("store/objects/pack")).unwrap().count(), packs);
}

#[test]
fn snapshots_are_what_git_would_make_of_the_directory() {
    let bench = Bench::new();
    bench.write("a.txt", "1");
    bench.write("dir/run.sh", "#!/bin/sh\n");
    bench.chmod("dir/run.sh", 0o755);
    bench.write("odd \"name\"\n\\x.txt", "odd");
    bench.link("link", "a.txt");
    bench.made();
    bench.write("dir/b.txt", "2");
    bench.remove("a.txt");
    let id = bench.made().to_string();
    bench.git(&["fsck", "--strict"]);
    let work = bench.work.display().to_string();
    let by_git = std::process::Command::new("sh")
        .arg("-c")
        .arg("GIT_DIR=$(mktemp -d); export GIT_DIR; git init -q --bare; git --work-tree=\"$1\" add -A; git write-tree")
        .args(["sh", &work])
        .output()
        .unwrap();
    let by_git = String::from_utf8(by_git.stdout).unwrap();
    assert_eq!(bench.git(&["rev-parse", &format!("{id}^{{tree}}")]), by_git);
}

#[test]
fn secrets_builds_and_what_the_project_ignores_stay_out() {
    let bench = Bench::new();
    for path in
        [".env", "web/.env.local", "node_modules/x/i.js", "target/a", "x.log", "m.mp4", ".git/HEAD", "no.txt"]
    {
        bench.write(path, "x");
    }
    bench.write(".gitignore", "no.txt\n!.env\n");
    bench.write("yes.txt", "x");
    bench.made();
    let names: Vec<String> =
        listed(&bench).lines().map(|line| line.split('\t').nth(1).unwrap().to_owned()).collect();
    assert_eq!(names, [".gitignore", "yes.txt"]);
}

#[test]
fn a_file_over_the_limit_is_left_out_and_comes_back_when_it_shrinks() {
    let bench = Bench::with(Limits { file_bytes: 10, ..Limits::default() });
    bench.write("a", "1");
    bench.write("big", "more than ten bytes");
    bench.made();
    assert!(!listed(&bench).contains("big"));
    bench.write("big", "small");
    bench.made();
    assert!(listed(&bench).contains("big"));
}

#[test]
fn broad_and_huge_directories_are_refused_with_a_reason() {
    let bench = Bench::with(Limits { files: 3, ..Limits::default() });
    for name in ["a", "b", "c", "d"] {
        bench.write(name, "x");
    }
    let skip = Skip::TooManyFiles { dir: bench.work.clone(), limit: 3 };
    assert_eq!(bench.take(), Taken::Skipped(skip));
    let root = Place::host(std::path::Path::new("/"));
    assert!(matches!(bench.checkpoints.take(&root, "x").unwrap(), Taken::Skipped(Skip::TooBroad(_))));
    let home = Checkpoints::new(bench.base.clone(), git(), Limits::default(), Some(bench.work.clone()));
    assert!(matches!(home.take(&bench.place, "x").unwrap(), Taken::Skipped(Skip::TooBroad(_))));
}

#[test]
fn only_the_newest_are_kept_under_the_names_they_had() {
    let bench = Bench::with(Limits { snapshots: 3, ..Limits::default() });
    let mut ids = Vec::new();
    for turn in 0..8 {
        bench.write("a", &turn.to_string());
        ids.push(bench.made().to_string());
    }
    let listed: Vec<String> =
        bench.checkpoints.list(&bench.place.key).unwrap().into_iter().map(|snapshot| snapshot.hash).collect();
    ids.reverse();
    assert_eq!(listed, ids[..3]);
    assert_eq!(bench.git(&["rev-list", "--count", "--all"]).trim(), "3");
    // What was dropped is gone after a clean-up that does not wait.
    bench.git(&["gc", "--quiet", "--prune=now"]);
    bench.git(&["fsck", "--strict"]);
    assert_eq!(bench.git(&["rev-list", "--count", "--all"]).trim(), "3");
    bench.write("a", "again");
    bench.made();
}

#[test]
fn an_empty_directory_can_be_gone_back_to() {
    let bench = Bench::new();
    let id = bench.made();
    bench.write("new/file", "x");
    bench.look();
    bench.restore(id, hermes_checkpoint::Mine::Keep);
    assert!(bench.tree().is_empty());
    assert!(!bench.work.join("new").exists());
}

#[test]
fn lists_say_when_why_and_how_much() {
    let bench = Bench::new();
    bench.write("a", "1\n2\n");
    bench.made();
    bench.write("a", "1\n3\n4\n");
    bench.made();
    let list = bench.checkpoints.list(&bench.place.key).unwrap();
    assert_eq!((list[0].files_changed, list[0].insertions, list[0].deletions), (1, 2, 1));
    assert_eq!((list[1].files_changed, list[1].reason.as_str()), (0, "before a test"));
    assert!(list[0].hash.starts_with(&list[0].short_hash));
    let key = &bench.place.key;
    assert_eq!(bench.checkpoints.resolve(key, "2").unwrap().to_string(), list[1].hash);
    assert_eq!(bench.checkpoints.resolve(key, &list[0].short_hash).unwrap().to_string(), list[0].hash);
    assert!(bench.checkpoints.resolve(key, "3").is_err());
    assert!(bench.checkpoints.resolve(key, "--all").is_err());
}

#[test]
fn a_difference_is_shown_and_changes_nothing() {
    let bench = Bench::new();
    bench.write("a", "1\n");
    let id = bench.made();
    bench.write("a", "2\n");
    bench.write("new", "n\n");
    let difference = bench.checkpoints.diff(&bench.place, id).unwrap();
    assert!(difference.stat.contains("2 files changed"), "{}", difference.stat);
    assert!(difference.patch.contains("-1\n+2"), "{}", difference.patch);
    assert_eq!(bench.checkpoints.list(&bench.place.key).unwrap().len(), 1);
    // And again: nothing is left over from the first time.
    assert_eq!(bench.checkpoints.diff(&bench.place, id).unwrap(), difference);
}

#[test]
fn directories_that_are_gone_or_forgotten_are_thrown_away() {
    let bench = Bench::new();
    bench.write("a", "1");
    bench.made();
    let other = bench.work.with_file_name("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("b"), "1").unwrap();
    let gone = Place::host(&other);
    bench.checkpoints.take(&gone, "x").unwrap();
    fs::remove_dir_all(&other).unwrap();
    let retention = Retention { days: 7, orphans: Orphans::Keep, store_bytes: None };
    assert_eq!(bench.checkpoints.prune(&retention).unwrap().deleted_orphan, 0);
    let retention = Retention { orphans: Orphans::Delete, ..retention };
    assert_eq!(bench.checkpoints.prune(&retention).unwrap().deleted_orphan, 1);
    assert!(bench.checkpoints.list(&gone.key).unwrap().is_empty());
    assert_eq!(bench.checkpoints.list(&bench.place.key).unwrap().len(), 1);
    assert_eq!(bench.checkpoints.status().unwrap().projects.len(), 1);
    let meta = bench.base.join(format!("store/projects/{}.json", bench.place.key.hash()));
    let old = fs::read_to_string(&meta).unwrap();
    let start = old.find("\"last_touch\"").unwrap();
    fs::write(&meta, format!("{}\"last_touch\":1000.0}}", &old[..start])).unwrap();
    assert_eq!(bench.checkpoints.prune(&retention).unwrap().deleted_stale, 1);
    assert!(bench.checkpoints.list(&bench.place.key).unwrap().is_empty());
    bench.made();
}

#[test]
fn a_store_that_is_too_large_loses_its_oldest() {
    let bench = Bench::new();
    for turn in 0..8 {
        bench.write("a", &format!("{turn}{}", "x".repeat(1000)));
        bench.made();
    }
    let retention = Retention { days: 0, orphans: Orphans::Delete, store_bytes: Some(1) };
    let pruned = bench.checkpoints.prune(&retention).unwrap();
    assert_eq!(pruned.dropped, 7);
    assert_eq!(bench.checkpoints.list(&bench.place.key).unwrap().len(), 1);
    bench.git(&["fsck", "--strict"]);
}

#[test]
fn cleaning_up_in_the_background_leaves_a_whole_store() {
    let bench = Bench::with(Limits { snapshots: 2, ..Limits::default() });
    for turn in 0..5 {
        bench.write("a", &turn.to_string());
        bench.made();
    }
    let retention = Retention { days: 7, orphans: Orphans::Delete, store_bytes: None };
    bench.checkpoints.tidy(&retention, Duration::from_hours(24)).unwrap();
    // The next snapshot waits for the clean-up and finds everything.
    bench.write("a", "more");
    bench.made();
    bench.git(&["fsck", "--strict"]);
    assert_eq!(bench.checkpoints.list(&bench.place.key).unwrap().len(), 2);
    let marker = bench.base.join(".last_prune");
    let first = fs::read_to_string(&marker).unwrap();
    bench.checkpoints.tidy(&retention, Duration::from_hours(24)).unwrap();
    assert_eq!(fs::read_to_string(marker).unwrap(), first);
}

#[test]
fn clearing_takes_everything() {
    let bench = Bench::new();
    bench.write("a", "1");
    bench.made();
    assert!(bench.checkpoints.clear().unwrap() > 0);
    assert!(!bench.base.exists());
    assert_eq!(bench.checkpoints.clear().unwrap(), 0);
    bench.made();
}

#[test]
fn what_older_versions_left_is_set_aside() {
    let bench = Bench::new();
    fs::create_dir_all(bench.base.join("0123456789abcdef")).unwrap();
    fs::write(bench.base.join("0123456789abcdef/HEAD"), "ref: x").unwrap();
    bench.write("a", "1");
    bench.made();
    let status = bench.checkpoints.status().unwrap();
    assert_eq!(status.legacy_archives.len(), 1);
    assert_eq!(bench.checkpoints.clear_legacy().unwrap().0, 1);
    assert_eq!(bench.checkpoints.list(&bench.place.key).unwrap().len(), 1);
}

#[test]
fn nothing_of_the_users_git_is_used() {
    let bench = Bench::new();
    bench.write("a", "1");
    bench.made();
    let hooks = bench.base.join("store/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["reference-transaction", "post-commit", "pre-auto-gc"] {
        fs::write(hooks.join(hook), "#!/bin/sh\ntouch \"$GIT_DIR/hook-ran\"\nexit 1\n").unwrap();
        std::process::Command::new("chmod").arg("+x").arg(hooks.join(hook)).status().unwrap();
    }
    bench.write("a", "2");
    bench.made();
    assert!(!bench.base.join("store/hook-ran").exists());
}

#[test]
fn without_git_there_is_nothing_to_start() {
    assert!(Git::find(std::ffi::OsStr::new("/nonexistent:/also/not")).is_none());
}

#[test]
fn links_to_a_directory_are_the_directory() {
    let bench = Bench::new();
    bench.write("a", "1");
    let link = bench.work.with_file_name("link");
    std::os::unix::fs::symlink(&bench.work, &link).unwrap();
    assert_eq!(Key::host(&link), bench.place.key);
}

#[test]
fn a_change_that_keeps_size_and_time_is_seen() {
    let bench = Bench::new();
    bench.write("a", "1");
    bench.made();
    let file = fs::File::open(bench.work.join("a")).unwrap();
    let time = file.metadata().unwrap().modified().unwrap();
    bench.write("a", "2");
    fs::OpenOptions::new().write(true).open(bench.work.join("a")).unwrap().set_modified(time).unwrap();
    bench.made();
}

#[test]
fn a_broken_store_starts_a_new_chain() {
    let bench = Bench::new();
    bench.write("a", "1");
    bench.made();
    fs::remove_dir_all(bench.base.join("store/objects")).unwrap();
    fs::create_dir_all(bench.base.join("store/objects/pack")).unwrap();
    bench.write("b", "2");
    bench.made();
    assert!(listed(&bench).contains("\ta\n"));
    let again = checkpoints(&bench.base, Limits::default());
    assert_eq!(again.list(&bench.place.key).unwrap().len(), 1);
}
