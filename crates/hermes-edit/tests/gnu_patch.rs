//! Differences and patches against GNU patch: both must make the new text of the old one.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use hermes_edit::{Change, Patch, PatchError, unified};
use proptest::prelude::*;
use support::{edited, joined, program};

/// What `patch` makes of a text; None if it refuses.
fn gnu_patch(dir: &Path, old: &str, diff: &str) -> Option<String> {
    let (text, patch, result) = (dir.join("f"), dir.join("f.diff"), dir.join("f.new"));
    fs::write(&text, old).unwrap();
    fs::write(&patch, diff).unwrap();
    let _ = fs::remove_file(&result);
    let status = Command::new("patch")
        .args(["--binary", "-s", "-f", "-p0", "--fuzz=0", "-r", "-", "-o"])
        .arg(&result)
        .arg(&text)
        .arg(&patch)
        .output()
        .unwrap();
    // An empty result is not written.
    status.status.success().then(|| fs::read_to_string(&result).unwrap_or_default())
}

/// Our patch format with the hunks of a unified difference, with or without its line numbers.
fn v4a(diff: &str, numbers: Numbers) -> String {
    let mut patch = String::from("*** Begin Patch\n*** Update File: f\n");
    for line in diff.split_inclusive('\n').skip(2) {
        match numbers {
            Numbers::Left if line.starts_with("@@ -") => patch.push_str("@@\n"),
            _ => patch.push_str(line),
        }
    }
    patch + "*** End Patch\n"
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Kept,
    Left,
}

fn ours(old: &str, patch: &str) -> Result<String, PatchError> {
    let changes = Patch::parse(patch)?.plan(|_| Ok::<_, String>(Some(old.to_owned())))?;
    match changes.as_slice() {
        [Change::Update { new, .. }] => Ok(new.clone()),
        other => panic!("{other:?}"),
    }
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn patch_makes_the_new_text_with_our_difference() {
    let Some(_) = program("patch") else { return };
    let dir = tempfile::tempdir().unwrap();
    proptest!(config(), |(
        (old, new) in edited(40),
        ends in prop::sample::select(vec![("\n", "\n"), ("\r\n", "\r\n"), ("\r\n", "\n")]),
        last in any::<(bool, bool)>(),
    )| {
        let (old, new) = (joined(&old, ends.0, last.0), joined(&new, ends.1, last.1));
        let diff = unified("f", "f", &old, &new);
        if old == new {
            prop_assert_eq!(diff, "");
        } else {
            prop_assert_eq!(gnu_patch(dir.path(), &old, &diff), Some(new), "{}", diff);
        }
    });
}

#[test]
fn our_patches_do_what_patch_does() {
    let Some(_) = program("patch") else { return };
    let dir = tempfile::tempdir().unwrap();
    proptest!(config(), |(
        (old, new) in edited(40),
        end in prop::sample::select(vec!["\n", "\r\n"]),
        last in any::<(bool, bool)>(),
    )| {
        let (old, new) = (joined(&old, end, last.0), joined(&new, end, last.1));
        // Without a line end in the old text there is no telling that new lines should have the other kind.
        prop_assume!(old != new && (end == "\n" || old.contains("\r\n")));
        let diff = unified("f", "f", &old, &new);
        let expected = gnu_patch(dir.path(), &old, &diff);
        let patched = ours(&old, &v4a(&diff, Numbers::Kept)).map_err(|error| error.to_string());
        prop_assert_eq!(patched.ok(), expected.clone(), "{}", &diff);
        // Without numbers a place may be unclear, and then nothing is done; it is never the wrong place.
        if let Ok(patched) = ours(&old, &v4a(&diff, Numbers::Left)) {
            prop_assert_eq!(Some(patched), expected, "{}", diff);
        }
    });
}

#[test]
fn our_difference_is_as_short_as_that_of_diff() {
    let Some(_) = program("diff") else { return };
    let dir = tempfile::tempdir().unwrap();
    proptest!(ProptestConfig { cases: 100, ..config() }, |((old, new) in edited(60))| {
        let (old, new) = (joined(&old, "\n", true), joined(&new, "\n", true));
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&a, &old).unwrap();
        fs::write(&b, &new).unwrap();
        let theirs = Command::new("diff").args(["-u", "-d"]).arg(&a).arg(&b).output().unwrap();
        let changed = |text: &str| text.lines().skip(2).filter(|line| line.starts_with(['+', '-'])).count();
        let theirs = String::from_utf8(theirs.stdout).unwrap();
        prop_assert_eq!(changed(&unified("a", "b", &old, &new)), changed(&theirs));
    });
}

#[test]
fn names_with_blanks_and_new_files_are_understood() {
    let Some(_) = program("patch") else { return };
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("x y")).unwrap();
    fs::write(dir.path().join("x y/old"), "1\n2\n").unwrap();
    let diff = unified("a/x y/old", "b/x y/old", "1\n2\n", "1\n3\n")
        + &unified("/dev/null", "b/new \"one\"", "", "n\n")
        + &unified("a/x y/gone", "/dev/null", "g\n", "");
    fs::write(dir.path().join("x y/gone"), "g\n").unwrap();
    fs::write(dir.path().join("all.diff"), diff).unwrap();
    let output = Command::new("patch")
        .args(["-s", "-f", "-p1", "-i", "all.diff"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(fs::read_to_string(dir.path().join("x y/old")).unwrap(), "1\n3\n");
    assert_eq!(fs::read_to_string(dir.path().join("new \"one\"")).unwrap(), "n\n");
    assert!(!dir.path().join("x y/gone").exists());
}
