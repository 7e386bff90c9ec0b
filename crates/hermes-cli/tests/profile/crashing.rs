//! `kill -9` while profiles are made, imported, renamed and deleted: whole or not there, and no litter for good.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use hermes_testkit::crash::{KillPoint, Killed, Rng, kill_repeatedly};
use hermes_testkit::{Hermes, Running, TestHome, wait_until};

use super::archive::Archive;
use super::{command, dir, entries, home_with, listed, profile};

const FILES: usize = 1500;

/// A home whose profile `source` has many files.
fn home_with_much() -> TestHome {
    let home = home_with(&["source"]);
    for i in 0..FILES {
        home.write(format!("profiles/source/skills/{}/s{i}.md", i % 40), "x".repeat(2000));
    }
    home
}

/// How many files a directory holds, at any depth.
fn count(path: &PathBuf) -> usize {
    let Ok(entries) = fs::read_dir(path) else { return 0 };
    entries.flatten().map(|e| if e.path().is_dir() { count(&e.path()) } else { 1 }).sum()
}

/// The hidden directories that work is done in.
fn hidden(home: &TestHome, prefix: &str) -> Vec<PathBuf> {
    entries(home).into_iter().filter(|n| n.starts_with(prefix)).map(|n| dir(home, &n)).collect()
}

/// Kills a running command once its hidden directory has this many files. False when it was faster.
fn killed_at(home: &TestHome, process: &mut Running, files: usize) -> bool {
    let reached = || hidden(home, ".new-").iter().any(|stage| count(stage) >= files);
    loop {
        if reached() {
            process.kill9();
            return true;
        }
        if !process.is_running() {
            return false;
        }
    }
}

/// After a kill: the profile is whole or absent, and the next command that makes something removes the rest.
#[track_caller]
fn whole_or_absent(home: &TestHome, name: &str, files: usize) {
    if listed(home).contains(&name.to_owned()) {
        assert_eq!(count(&dir(home, name).join("skills")), files, "a broken profile was left");
        profile(home, &["delete", name, "-y"]).success();
    }
    profile(home, &["create", "sweeper", "--no-alias"]).success();
    profile(home, &["delete", "sweeper", "-y"]).success();
    let litter: Vec<_> = entries(home).into_iter().filter(|n| n.starts_with('.')).collect();
    assert!(litter.is_empty(), "{litter:?}");
}

#[test]
fn a_killed_clone_leaves_no_broken_profile() {
    let home = home_with_much();
    let mut killed = 0;
    for files in [0, 1, 10, 200, 700, 1200, FILES] {
        let clone = ["create", "copy", "--no-alias", "--clone-all", "--clone-from", "source"];
        let mut process = command(&home, &clone).spawn();
        killed += usize::from(killed_at(&home, &mut process, files));
        whole_or_absent(&home, "copy", FILES);
    }
    assert!(killed > 0, "no kill came in time: the test shows nothing");
}

#[test]
fn a_killed_import_leaves_no_broken_profile() {
    let home = TestHome::new();
    let archive = (0..FILES)
        .fold(Archive::new(), |a, i| a.file(&format!("copy/skills/{}/s{i}.md", i % 40), &[b'x'; 2000]));
    let path = archive.write(&home.work_dir().join("copy.tar.gz"));
    let mut killed = 0;
    for files in [0, 1, 10, 200, 700, 1200, FILES] {
        let mut process = command(&home, &["import", path.to_str().unwrap()]).spawn();
        killed += usize::from(killed_at(&home, &mut process, files));
        whole_or_absent(&home, "copy", FILES);
    }
    assert!(killed > 0, "no kill came in time: the test shows nothing");
}

#[test]
fn a_killed_delete_is_a_delete_or_none() {
    let home = home_with_much();
    let mut process = command(&home, &["delete", "source", "-y"]).spawn();
    wait_until(Duration::from_secs(30), "the profile to be out of sight", || !dir(&home, "source").exists());
    process.kill9();
    assert_eq!(listed(&home), ["default"]);
    whole_or_absent(&home, "source", 0);
}

#[test]
fn a_killed_export_leaves_no_half_archive() {
    let home = home_with_much();
    let mut process = command(&home, &["export", "source"]).spawn();
    let begun = || fs::read_dir(home.work_dir()).unwrap().next().is_some();
    while !begun() && process.is_running() {}
    process.kill9();
    if home.work_dir().join("source.tar.gz").exists() {
        profile(&home, &["import", "source.tar.gz", "--name", "whole"]).success();
    }
    profile(&home, &["export", "source"]).success();
    profile(&home, &["import", "source.tar.gz", "--name", "back"]).success();
    assert_eq!(count(&dir(&home, "back").join("skills")), FILES);
    assert_eq!(fs::read_dir(home.work_dir()).unwrap().count(), 1, "the half archive is gone");
}

/// Kills at random moments of a rename; after each, both the old and the new way in must work.
#[test]
fn a_killed_rename_leaves_a_profile_that_works_under_one_name() {
    const NAMES: [&str; 2] = ["old", "new"];
    let home = TestHome::new();
    profile(&home, &["create", "old"]).success();
    profile(&home, &["use", "old"]).success();
    home.write("profiles/old/mark", "x");
    let whole = profile(&home, &["rename", "old", "new"]).success().elapsed;
    let other = |name: &str| NAMES.into_iter().find(|each| *each != name).unwrap();
    let check = |killed: &Killed| {
        let run = Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).args(["profile", "show", "--json"]).run();
        let name = run.success().json()["name"].as_str().unwrap().to_owned();
        assert!(dir(&home, &name).join("mark").exists(), "{name} after {killed:?}");
        profile(&home, &["describe", "default", "--text", "finish"]).success();
        let left: Vec<String> = entries(&home).into_iter().collect();
        assert_eq!(left.len(), 1, "{left:?} after {killed:?}");
        assert_eq!(home.read("active_profile").trim(), left[0], "{killed:?}");
        assert!(super::alias_path(&home, &left[0]).exists(), "{killed:?}");
    };
    let rename = |_| {
        let from = entries(&home).into_iter().next().unwrap();
        command(&home, &["rename", &from, other(&from)])
    };
    let point = KillPoint::After(Duration::ZERO..whole);
    let tally = kill_repeatedly(60, &mut Rng::seeded(7), &point, rename, check);
    assert!(tally.hit > 0, "no kill came in time: the test shows nothing");
}
