//! Workers whose commands run in containers: what they make must be here when the container is gone.

use std::path::PathBuf;
use std::process::Command;

use hermes_board::Status;
use hermes_board::act::{By, Report};
use hermes_board::card::WorkspaceKind;
use hermes_board::create::NewCard;
use hermes_testkit::{Engine, Hermes, Image, need, wait_until};

use super::guard::{Bench, SOON};

fn git(dir: &PathBuf, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b.test"];
    assert!(
        Command::new("git").arg("-C").arg(dir).args(identity).args(arguments).status().unwrap().success()
    );
}

#[test]
fn a_worker_in_a_container_works_in_the_cards_worktree_and_so_does_its_acceptance() {
    let Some(engine) = need("a container engine", Engine::get()) else { return };
    let Some(image) = need("the test image", engine.image(Image::Base)) else { return };
    let bench = Bench::new(
        "$HERMES sandbox exec 'pwd; echo made > made.txt; books=$(cut -d\" \" -f2 .git); cat $books/HEAD; \
         echo x > $books/../../hooks/evil || echo hooks are closed; echo done' 2>&1; \
         while ! test -e asked; do sleep 0.05; done",
    );
    bench
        .home
        .config(format!("terminal:\n  backend: docker\n  docker_image: {image}\n  container_disk: 0\n"));
    let scope = engine.scope().also(format!("label=hermes-home={}", bench.home.path().display()));
    let project = bench.home.work_dir();
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let mut card = NewCard::new("something");
    card.assignee = Some("default".into());
    card.workspace_kind = WorkspaceKind::Worktree;
    card.workspace_path = Some(project.display().to_string());
    card.extras.acceptance =
        Some("test -e /workspace/made.txt && test ! -e /usr/bin/git && echo in the box".into());
    let id = bench.board().create(&card, 1).unwrap().card.id;
    let claim = bench.take(&id);
    let guard = with_engine(bench.guard(&claim), engine).spawn();
    wait_until(3 * SOON, "the worker's command to have run", || bench.log(&id).contains("done\n"));
    let worktree = project.join(".worktrees").join(id.as_str());
    assert_eq!(std::fs::read_to_string(worktree.join("made.txt")).unwrap(), "made\n");
    let log = bench.log(&id);
    for line in ["/workspace", &format!("ref: refs/heads/wt/{id}"), "hooks are closed"] {
        assert!(log.lines().any(|said| said.trim() == line), "no {line:?} in {log}");
    }
    assert!(!project.join(".git/hooks/evil").exists());
    bench.board().complete(&id, &Report::default(), By::Attempt(claim.run), 1).unwrap();
    std::fs::write(worktree.join("asked"), "").unwrap();
    guard.wait(3 * SOON).success();
    assert_eq!(bench.status(&id), Status::Done, "{}", bench.log(&id));
    assert!(bench.log(&id).contains("in the box"));
    assert!(worktree.join("made.txt").exists(), "work that is not committed stays");
    scope.clear();
}

fn with_engine(command: Hermes, engine: &Engine) -> Hermes {
    command.envs(engine.env()).env("HERMES", env!("CARGO_BIN_EXE_hermes"))
}

#[test]
fn acceptance_never_runs_here_when_the_box_is_not_there() {
    let bench = Bench::new("echo begun; while ! test -e asked; do sleep 0.05; done");
    bench.home.config("terminal:\n  backend: docker\n  docker_binary: /nowhere/docker\n");
    let touched = bench.home.root().join("touched");
    let mut card = NewCard::new("something");
    card.assignee = Some("default".into());
    card.extras.acceptance = Some(format!("touch {}", touched.display()));
    let id = bench.board().create(&card, 1).unwrap().card.id;
    let claim = bench.take(&id);
    let guard = bench.guard(&claim).spawn();
    bench.wait_for_log(&id, "begun");
    bench.board().complete(&id, &Report::default(), By::Attempt(claim.run), 1).unwrap();
    let workspace = bench.home.path().join("kanban/workspaces").join(id.as_str());
    std::fs::write(workspace.join("asked"), "").unwrap();
    guard.wait(SOON).success();
    assert!(!touched.exists(), "it ran on this machine");
    let card = bench.board().card(&id).unwrap();
    assert_eq!((card.status, card.failures), (Status::Ready, 0), "{:?}", card.last_error);
    assert!(bench.event(&id, "spawn_failed")["error"].as_str().unwrap().contains("acceptance command"));
}
