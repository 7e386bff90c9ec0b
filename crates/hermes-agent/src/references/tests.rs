//! Messages with references, in a real directory and a real repository.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::Command;

use super::*;

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().join("work");
    fs::create_dir_all(work.join("src/deep")).unwrap();
    fs::write(work.join("src/a.rs"), "one\ntwo\nthree\n").unwrap();
    fs::write(work.join("src/deep/b.md"), "```\ncode\n```").unwrap();
    fs::write(work.join(".env"), "KEY=1").unwrap();
    fs::write(work.join("picture.png"), [0x89, 0, 1, 2]).unwrap();
    fs::write(dir.path().join("outside.txt"), "outside").unwrap();
    dir
}

fn expand_in(dir: &tempfile::TempDir, message: &str, window: Option<u64>) -> Result<Expanded, TooMuch> {
    let redactor = Redactor::new([]);
    let cwd = dir.path().join("work");
    expand(message, &Surroundings { cwd: &cwd, window, estimator: Estimator::default(), redactor: &redactor })
}

#[test]
fn a_file_is_attached_behind_the_message() {
    let dir = project();
    let done = expand_in(&dir, "explain @file:src/a.rs:2-3 please", None).unwrap();
    assert_eq!(
        done.text,
        "explain @file:src/a.rs:2-3 please\n\n[Attached by the user]\n\n\
         File src/a.rs, lines 2 to 3\n```rs\ntwo\nthree\n```"
    );
    assert!(done.notices.is_empty() && done.tokens > 0);
}

#[test]
fn a_fence_inside_a_file_does_not_end_the_fence_around_it() {
    let done = expand_in(&project(), "@file:src/deep/b.md", None).unwrap();
    assert!(done.text.ends_with("\n````md\n```\ncode\n```\n````"), "{}", done.text);
}

#[test]
fn what_is_not_attached_is_said() {
    let dir = project();
    std::os::unix::fs::symlink("../outside.txt", dir.path().join("work/link.txt")).unwrap();
    std::os::unix::fs::symlink(".env", dir.path().join("work/innocent.txt")).unwrap();
    for (message, why) in [
        ("@file:../outside.txt", "outside"),
        ("@file:link.txt", "outside"),
        ("@file:/etc/passwd", "outside"),
        ("@file:.env", "logins"),
        ("@file:innocent.txt", "logins"),
        ("@file:picture.png", "not text"),
        ("@file:src", "no file"),
        ("@file:gone", "no file"),
        ("@file:src/a.rs:9", "has 3 lines"),
        ("@file:src/a.rs:3-2", "has 3 lines"),
        ("@folder:gone", "no folder"),
        ("@url:https://x.example", "web pages"),
        ("@diff", "git failed"),
    ] {
        let done = expand_in(&dir, message, None).unwrap();
        assert_eq!(done.text, message);
        assert!(done.notices.len() == 1 && done.notices[0].contains(why), "{message}: {:?}", done.notices);
    }
}

#[test]
fn a_folder_is_listed_without_secrets_and_ignored_files() {
    let dir = project();
    let work = dir.path().join("work");
    fs::create_dir(work.join("target")).unwrap();
    fs::write(work.join("target/x.o"), "").unwrap();
    fs::write(work.join(".gitignore"), "target\n").unwrap();
    let text = expand_in(&dir, "@folder:.", None).unwrap().text;
    assert!(text.contains("src/\n  a.rs (14 bytes)\n  deep/\n    b.md"), "{text}");
    assert!(!text.contains(".env") && !text.contains("target/"), "{text}");
}

#[test]
fn large_attachments_warn_and_larger_ones_are_refused() {
    let dir = project();
    fs::write(dir.path().join("work/big.txt"), "x".repeat(40_000)).unwrap();
    let done = expand_in(&dir, "@file:big.txt", Some(30_000)).unwrap();
    assert!(done.notices[0].contains("33% of the window"), "{:?}", done.notices);
    let problem = expand_in(&dir, "@file:big.txt", Some(15_000)).unwrap_err();
    assert!(problem.tokens > 10_000 && problem.to_string().contains("15000"));
}

#[test]
fn changes_of_a_repository_are_attached_and_its_settings_run_nothing() {
    let dir = project();
    let work = dir.path().join("work");
    let git = |arguments: &[&str]| {
        let done = Command::new("git").args(arguments).current_dir(&work).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    git(&["config", "user.email", "a@example.org"]);
    git(&["config", "user.name", "Ada"]);
    git(&["add", "src"]);
    git(&["commit", "-qm", "first words"]);
    fs::write(work.join("src/a.rs"), "one\nTWO\nthree\n").unwrap();
    let trap = format!("touch {}", dir.path().join("trapped").display());
    for key in ["core.fsmonitor", "diff.external", "core.pager"] {
        git(&["config", key, &trap]);
    }
    let text = expand_in(&dir, "@diff and @staged and @git:1", None).unwrap().text;
    assert!(
        text.contains("-two\n+TWO") && text.contains("first words") && text.contains("(nothing)"),
        "{text}"
    );
    assert!(!dir.path().join("trapped").exists());
}
