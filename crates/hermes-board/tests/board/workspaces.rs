//! Places to work in: made, used again, put away. With the real git.

use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_board::act::{By, Report};
use hermes_board::boards::{self, Change};
use hermes_board::card::WorkspaceKind;
use hermes_board::create::NewCard;
use hermes_board::worker::workspace::{PutAway, Workspace, WorkspaceError, prepare};
use hermes_board::{Board, CardId, Slug};

use crate::fixture::{Fixture, NOW, make, take};

fn git(dir: &Path, arguments: &[&str]) -> String {
    let out = Command::new("git").arg("-C").arg(dir).args(arguments).output().unwrap();
    assert!(out.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim_end().to_owned()
}

/// A repository with one commit, and a hook that must never run.
fn repository(fixture: &Fixture) -> PathBuf {
    let dir = fixture.dir.path().canonicalize().unwrap().join("project");
    std::fs::create_dir(&dir).unwrap();
    git(&dir, &["init", "-q", "-b", "main"]);
    git(&dir, &["config", "user.email", "a@b.test"]);
    git(&dir, &["config", "user.name", "a"]);
    std::fs::write(dir.join("file"), "1").unwrap();
    git(&dir, &["add", "-A"]);
    git(&dir, &["commit", "-qm", "first"]);
    let hook = dir.join(".git/hooks/post-checkout");
    std::fs::write(&hook, "#!/bin/sh\ntouch \"$(git rev-parse --git-common-dir)/hooked\"\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    dir
}

fn worktree_card(board: &mut Board, path: Option<&Path>, branch: Option<&str>) -> CardId {
    let card = NewCard {
        workspace_kind: WorkspaceKind::Worktree,
        workspace_path: path.map(|path| path.display().to_string()),
        branch_name: branch.map(str::to_owned),
        ..NewCard::new("x")
    };
    board.create(&card, NOW).unwrap().card.id
}

fn place(fixture: &Fixture, board: &mut Board, id: &CardId) -> Result<Workspace, WorkspaceError> {
    prepare(&fixture.root, &Slug::default_board(), &board.card(id).unwrap())
}

/// Takes a card, makes its place, and writes it down.
fn begin(fixture: &Fixture, board: &mut Board, id: &CardId) -> Workspace {
    let claim = take(board, id);
    let workspace = place(fixture, board, id).unwrap();
    board.set_workspace(id, claim.run, &workspace).unwrap();
    workspace
}

fn finish(board: &mut Board, id: &CardId) -> Vec<PutAway> {
    board.complete(id, &Report::default(), By::Anybody, NOW).unwrap();
    board.put_away(id).unwrap()
}

#[test]
fn a_worktree_is_made_on_a_branch_of_its_own_and_no_hook_runs() {
    let fixture = Fixture::new();
    let (mut board, project) = (fixture.board(), repository(&fixture));
    let id = worktree_card(&mut board, Some(&project), None);
    let made = begin(&fixture, &mut board, &id);
    assert_eq!(made.path, project.join(".worktrees").join(id.as_str()));
    assert_eq!(made.branch, Some(format!("wt/{id}")));
    assert_eq!(git(&made.path, &["branch", "--show-current"]), format!("wt/{id}"));
    assert!(made.path.join("file").exists());
    assert!(!project.join(".git/hooked").exists(), "a hook ran");
    assert_eq!(git(&project, &["status", "--porcelain"]), "", "the project shows nothing of it");
    let card = board.card(&id).unwrap();
    assert_eq!(card.workspace_path, Some(made.path.display().to_string()));
    assert_eq!(card.branch_name, made.branch);
    let again = place(&fixture, &mut board, &id).unwrap();
    assert_eq!(again, made, "a second attempt goes on where the first one stopped");
}

#[test]
fn without_a_path_the_boards_own_repository_is_meant() {
    let fixture = Fixture::new();
    let (mut board, project) = (fixture.board(), repository(&fixture));
    let id = worktree_card(&mut board, None, None);
    assert!(matches!(place(&fixture, &mut board, &id), Err(WorkspaceError::NoRepository(_))));
    let change = Change { default_workdir: Some(project.display().to_string()), ..Change::default() };
    boards::change(&fixture.root, &Slug::default_board(), &change, NOW).unwrap();
    assert_eq!(place(&fixture, &mut board, &id).unwrap().path, project.join(".worktrees").join(id.as_str()));
}

#[test]
fn a_branch_that_is_there_is_checked_out_and_one_that_is_in_use_is_refused() {
    let fixture = Fixture::new();
    let (mut board, project) = (fixture.board(), repository(&fixture));
    git(&project, &["branch", "feature"]);
    let id = worktree_card(&mut board, Some(&project), Some("feature"));
    let made = begin(&fixture, &mut board, &id);
    assert_eq!(git(&made.path, &["branch", "--show-current"]), "feature");
    let other = worktree_card(&mut board, Some(&project), Some("feature"));
    let error = place(&fixture, &mut board, &other).unwrap_err().to_string();
    assert!(error.contains("feature"), "{error}");
}

#[test]
fn an_existing_worktree_is_used_and_stays() {
    let fixture = Fixture::new();
    let (mut board, project) = (fixture.board(), repository(&fixture));
    let own = project.parent().unwrap().join("mine");
    git(&project, &["worktree", "add", "-q", "-b", "mine", own.to_str().unwrap()]);
    let id = worktree_card(&mut board, Some(&own), None);
    let made = begin(&fixture, &mut board, &id);
    assert_eq!((made.path.as_path(), made.branch.as_deref()), (own.as_path(), Some("mine")));
    assert_eq!(finish(&mut board, &id), []);
    assert!(own.exists());
}

#[test]
fn a_path_that_is_not_there_yet_becomes_one() {
    let fixture = Fixture::new();
    let (mut board, project) = (fixture.board(), repository(&fixture));
    let path = project.join("deep/inside");
    let id = worktree_card(&mut board, Some(&path), Some("new"));
    let made = begin(&fixture, &mut board, &id);
    assert_eq!(git(&path, &["branch", "--show-current"]), "new");
    assert_eq!(made.path, path);
}

#[test]
fn a_clean_worktree_goes_and_its_commits_stay() {
    let fixture = Fixture::new();
    let (mut board, project) = (fixture.board(), repository(&fixture));
    let id = worktree_card(&mut board, Some(&project), None);
    let made = begin(&fixture, &mut board, &id);
    std::fs::write(made.path.join("file"), "2").unwrap();
    git(&made.path, &["-c", "core.hooksPath=/dev/null", "commit", "-qam", "second"]);
    assert_eq!(finish(&mut board, &id), [PutAway::Removed(made.path.clone())]);
    assert!(!made.path.exists());
    assert_eq!(git(&project, &["log", "-1", "--format=%s", &format!("wt/{id}")]), "second");
}

#[test]
fn a_worktree_whose_removal_was_cut_short_goes_all_the_same() {
    let fixture = Fixture::new();
    let (mut board, project) = (fixture.board(), repository(&fixture));
    for git_forgot in [false, true] {
        let id = worktree_card(&mut board, Some(&project), None);
        let made = begin(&fixture, &mut board, &id);
        board.complete(&id, &Report::default(), By::Anybody, NOW).unwrap();
        // As whoever was killed left it: out of the way, and half gone.
        let leaving = made.path.with_file_name(format!(".{id}.leaving"));
        std::fs::rename(&made.path, &leaving).unwrap();
        std::fs::remove_file(leaving.join("file")).unwrap();
        if git_forgot {
            git(&project, &["worktree", "remove", "--", made.path.to_str().unwrap()]);
        }
        assert_eq!(board.put_away(&id).unwrap(), [PutAway::Removed(made.path.clone())]);
        assert!(!leaving.exists() && !made.path.exists());
        assert!(!git(&project, &["worktree", "list"]).contains(id.as_str()));
        assert_eq!(board.put_away(&id).unwrap(), []);
    }
}

#[test]
fn work_that_is_on_no_branch_is_kept() {
    let fixture = Fixture::new();
    let (mut board, project) = (fixture.board(), repository(&fixture));
    let dirty = worktree_card(&mut board, Some(&project), None);
    let made = begin(&fixture, &mut board, &dirty);
    std::fs::write(made.path.join("untracked"), "x").unwrap();
    assert!(matches!(finish(&mut board, &dirty)[..], [PutAway::Kept(..)]));
    assert!(made.path.join("untracked").exists());
    let detached = worktree_card(&mut board, Some(&project), None);
    let made = begin(&fixture, &mut board, &detached);
    git(&made.path, &["checkout", "-q", "--detach"]);
    assert!(matches!(finish(&mut board, &detached)[..], [PutAway::Kept(..)]));
    assert!(made.path.exists());
}

#[test]
fn what_stands_in_a_worktree_does_not_lead_git_elsewhere() {
    let fixture = Fixture::new();
    let (mut board, project) = (fixture.board(), repository(&fixture));
    let id = worktree_card(&mut board, Some(&project), None);
    let made = begin(&fixture, &mut board, &id);
    // Settings of a repository can name programs that git runs.
    let trap = fixture.dir.path().join("trap");
    git(fixture.dir.path(), &["init", "-q", trap.to_str().unwrap()]);
    let fell = fixture.dir.path().join("fell");
    git(&trap, &["config", "core.fsmonitor", &format!("touch {}", fell.display())]);
    git(&trap, &["config", "filter.x.clean", &format!("touch {}", fell.display())]);
    std::fs::write(made.path.join(".git"), format!("gitdir: {}/.git\n", trap.display())).unwrap();
    finish(&mut board, &id);
    assert!(!fell.exists());
}

#[test]
fn no_repository_is_said_so() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let plain = fixture.dir.path().join("plain");
    std::fs::create_dir_all(plain.join("full")).unwrap();
    let id = worktree_card(&mut board, Some(&plain), None);
    assert!(matches!(place(&fixture, &mut board, &id), Err(WorkspaceError::NotARepository(_))));
}

#[test]
fn a_scratch_place_goes_when_no_card_needs_it_any_more() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let parent = make(&mut board, "parent", &[]);
    let child = make(&mut board, "child", &[&parent]);
    let made = begin(&fixture, &mut board, &parent);
    std::fs::write(made.path.join("result"), "x").unwrap();
    assert_eq!(finish(&mut board, &parent), [], "the child may want to look at it");
    let own = begin(&fixture, &mut board, &child);
    let gone = finish(&mut board, &child);
    assert_eq!(gone.len(), 2, "{gone:?}");
    assert!(!made.path.exists() && !own.path.exists());
}

#[test]
fn a_directory_somebody_named_stays() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let path = fixture.dir.path().join("mine");
    let card = NewCard {
        workspace_kind: WorkspaceKind::Dir,
        workspace_path: Some(path.display().to_string()),
        ..NewCard::new("x")
    };
    let id = board.create(&card, NOW).unwrap().card.id;
    begin(&fixture, &mut board, &id);
    assert_eq!(finish(&mut board, &id), []);
    assert!(path.exists());
}
