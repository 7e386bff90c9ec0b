//! `--worktree`: work apart from what the user is doing.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::support::{Talk, runs};

fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(dir).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn repository(talk: &Talk) -> PathBuf {
    let dir = talk.home.work_dir();
    git(&dir, &["init", "-q", "-b", "main"]);
    std::fs::write(dir.join("file"), "1").unwrap();
    git(&dir, &["add", "-A"]);
    git(&dir, &["-c", "user.name=a", "-c", "user.email=a@b.test", "commit", "-qm", "first"]);
    dir
}

fn worktrees(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir.join(".worktrees"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect()
}

#[test]
fn commands_run_there_and_nothing_is_left_of_it() {
    let talk =
        Talk::with(&format!("{}\n---\nsay \"seen\"", runs("pwd; git branch --show-current; cat file")));
    let dir = repository(&talk);
    talk.run(&["-z", "go", "-w"]).success().stdout_is("seen\n").stderr_has(".gitignore");
    let result = talk.server.last_call().tool_results().remove(0).1;
    assert!(result.contains("/.worktrees/hermes-") && result.contains("hermes/hermes-"), "{result}");
    assert!(worktrees(&dir).is_empty(), "{:?}", worktrees(&dir));
    assert_eq!(git(&dir, &["branch", "--list"]).trim(), "* main");
    assert_eq!(std::fs::read_to_string(dir.join(".gitignore")).unwrap(), ".worktrees/\n");
    assert_eq!(git(&dir, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn work_is_kept_and_said() {
    let talk = Talk::with(&format!("{}\n---\nsay \"made\"", runs("echo new > new-file")));
    let dir = repository(&talk);
    let done = talk.run(&["-z", "go", "--worktree"]);
    done.success().stdout_is("made\n").stderr_has(".worktrees/hermes-").stderr_has("hermes/hermes-");
    let kept = worktrees(&dir);
    assert_eq!(kept.len(), 1);
    assert_eq!(std::fs::read_to_string(kept[0].join("new-file")).unwrap(), "new\n");
    assert!(!dir.join("new-file").exists());
    git(&dir, &["add", "-A"]);
    assert!(!git(&dir, &["status", "--porcelain"]).contains("worktrees/"), "never part of a commit");
}

#[test]
fn a_failed_start_leaves_no_worktree() {
    let talk = Talk::with("status 401");
    let dir = repository(&talk);
    talk.run(&["-z", "go", "-w"]).code(1);
    talk.run(&["-z", "go", "-w", "-r", "no-such"]).code(1);
    talk.run(&["chat", "-q", "go", "-w", "-r", "no-such"]).code(1);
    assert!(worktrees(&dir).is_empty(), "{:?}", worktrees(&dir));
    assert_eq!(git(&dir, &["branch", "--list"]).trim(), "* main");
}

#[test]
fn without_a_repository_nothing_is_asked() {
    let talk = Talk::with("say \"never\"");
    for args in [&["-z", "go", "-w"][..], &["chat", "-q", "go", "-w"]] {
        talk.run(args).code(1).stderr_has("git repository");
    }
    assert!(talk.server.requests().is_empty());
}
