//! A small project from an idea to its end: split by a model, worked on by three profiles in boxes, sent back once by a
//! reviewer, checked by a command, put together and finished.

use std::path::Path;
use std::time::Instant;

use hermes_board::card::Card;
use hermes_board::state::{Mode, State};
use hermes_board::{CardId, Status};
use hermes_testkit::{Engine, Image, ModelServer, TestHome, need};
use serde_json::{Value, json};

use crate::support::{LIMIT, board, cards, dispatcher, hermes, picture};

/// What the models say, by who is asked and what was seen so far.
fn script() -> String {
    let plan = json!({"fanout": true, "rationale": "the rest needs the program", "tasks": [
        {"title": "Write hello.sh", "body": "It greets.", "assignee": "coder"},
        {"title": "Write check.sh", "body": "It tests.", "assignee": "tester", "parents": [0]},
        {"title": "Write README.md", "body": "It describes.", "assignee": "writer", "parents": [0]},
    ]});
    let mut script = Script::default();
    script.add(&["system \"You plan work on a task board\""], &say(&plan.to_string()));
    for model in ["planner", "coder", "tester", "writer"] {
        script.add(&[&is(model), "results 0"], &call("kanban_show", &json!({})));
    }
    // The reviewer looks at what it prints, and the author listens.
    script.add(
        &[&is("coder"), "results 1", "seen \"nothing of the world\""],
        &run("echo 'echo hello world' > hello.sh; sh hello.sh"),
    );
    script.add(&[&is("coder"), "results 1", "seen \"Commit something\""], &run("echo kept > kept.txt && git add kept.txt && git -c user.name=c -c user.email=c@x commit -qm 'kept by a worker' && git log -1 --format=%s"));
    script.add(&[&is("coder"), "results 1"], &run("echo 'echo hello' > hello.sh; sh hello.sh"));
    script.add(&[&is("coder"), "results 2"], &complete("hello.sh greets"));
    script.add(
        &[&is("tester"), "results 1", "seen \"Write check.sh\""],
        &run("echo 'test \"$(sh hello.sh)\" = \"hello world\"' > check.sh; sh check.sh && echo fine"),
    );
    script.add(&[&is("tester"), "results 2", "seen \"Write check.sh\""], &complete("check.sh tests"));
    script.add(&[&is("tester"), "results 1"], &run("sh hello.sh"));
    script.add(&[&is("tester"), "results 2", "seen \"hello world\""], &complete("It greets the world."));
    script.add(
        &[&is("tester"), "results 2"],
        &call("kanban_block", &json!({"reason": "it says nothing of the world"})),
    );
    script.add(&[&is("writer"), "results 1", "seen \"zebra\""], &run("echo by the writer"));
    script.add(
        &[&is("writer"), "results 1"],
        &run("{ echo '# hello'; sh hello.sh; } > README.md; cat README.md"),
    );
    script.add(&[&is("writer"), "results 2"], &complete("README.md describes it"));
    script.add(&[&is("planner"), "results 1"], &run("sh check.sh && grep -c world README.md"));
    script.add(&[&is("planner"), "results 2"], &complete("all parts fit"));
    script.add(&[], &say("The card is closed."));
    script.0
}

#[derive(Default)]
struct Script(String);

impl Script {
    fn add(&mut self, when: &[&str], answer: &str) {
        let when: Vec<String> = when.iter().map(|when| format!("when {when}\n")).collect();
        let when = when.concat();
        let between = if self.0.is_empty() { "" } else { "---\n" };
        self.0.push_str(&[between, &when, answer, "\nalways\n"].concat());
    }
}

fn is(model: &str) -> String {
    format!("model \"{model}-model\"")
}

fn say(text: &str) -> String {
    format!("say {}", json!(text))
}

fn call(tool: &str, arguments: &Value) -> String {
    format!("call {tool} {arguments}")
}

fn run(command: &str) -> String {
    call("terminal", &json!({ "command": command }))
}

fn complete(summary: &str) -> String {
    call("kanban_complete", &json!({ "summary": summary }))
}

/// A home with three profiles besides the default one, whose commands run where `terminal` says.
fn team(server: &ModelServer, terminal: &str) -> TestHome {
    let home = TestHome::new();
    home.config_for(server);
    let config = home.read("config.yaml");
    let with = |model: &str| {
        let lines = config.lines().map(|line| {
            if line.trim_start().starts_with("default:") {
                format!("  default: {model}-model")
            } else {
                line.to_owned()
            }
        });
        lines.collect::<Vec<_>>().join("\n") + "\n" + terminal
    };
    home.config(with("planner") + "kanban:\n  dispatch_interval_seconds: 2\n  default_assignee: Writer\n");
    for name in ["coder", "tester", "writer"] {
        home.write(format!("profiles/{name}/config.yaml"), with(name));
    }
    home
}

/// Splits the idea, lets the board work, and looks at what came of it.
fn finish(home: &TestHome, env: &[(&str, &str)]) {
    let project = home.work_dir().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let place = format!("dir:{}", project.display());
    let made =
        hermes(home, &["kanban", "create", "say hello", "--triage", "--workspace", &place, "--json"]).json();
    let root = made["id"].as_str().unwrap().to_owned();
    let split = hermes(home, &["kanban", "decompose", &root, "--json"]).json();
    let parts: Vec<String> = serde_json::from_value(split["child_ids"].clone()).unwrap();
    hermes(home, &["kanban", "edit", &parts[0], "--reviewer", "tester"]).success();
    hermes(home, &["kanban", "edit", &parts[1], "--accept", "sh check.sh"]).success();
    let unowned =
        hermes(home, &["kanban", "create", "Nobody in particular", "--body", "zebra", "--json"]).json();
    let unowned = unowned["id"].as_str().unwrap().to_owned();
    hermes(home, &["kanban", "resume"]).success();
    let mut daemon = dispatcher(home, env);
    wait_for_all(home);
    daemon.signal(hermes_testkit::Signal::TERM);
    daemon.wait(LIMIT).success();

    let file = |name: &str| std::fs::read_to_string(project.join(name)).unwrap();
    assert_eq!(file("hello.sh"), "echo hello world\n");
    assert_eq!(file("README.md"), "# hello\nhello world\n");
    assert!(file("check.sh").contains("hello world"));
    let mut board = board(home);
    let code = board.details(&CardId::new(&parts[0])).unwrap();
    let profiles: Vec<&str> = code.attempts.iter().filter_map(|attempt| attempt.profile.as_deref()).collect();
    assert_eq!(profiles, ["coder", "tester", "coder", "tester"], "work, a look, work again, a look");
    assert!(code.comments.iter().any(|comment| comment.body.contains("nothing of the world")));
    let check = board.details(&CardId::new(&parts[1])).unwrap();
    assert!(check.events.iter().any(|event| event.kind == "check_passed"), "the command was run");
    let unowned = board.details(&CardId::new(&unowned)).unwrap();
    assert_eq!(unowned.card.assignee.as_deref(), Some("writer"));
    let assigned = unowned.events.iter().find(|event| event.kind == "assigned").unwrap();
    assert_eq!(assigned.payload.as_ref().unwrap()["source"], "kanban.default_assignee");
    let finished = board.details(&CardId::new(&root)).unwrap();
    let last = finished.card.completed_at.unwrap();
    for part in &parts {
        assert!(board.card(&CardId::new(part)).unwrap().completed_at.unwrap() <= last, "it wakes last");
    }
    assert_eq!(finished.attempts.last().unwrap().profile.as_deref(), Some("default"));
    nothing_is_left(home);
}

fn wait_for_all(home: &TestHome) {
    let mut board = board(home);
    let deadline = Instant::now() + LIMIT + LIMIT;
    loop {
        let open: Vec<Card> =
            cards(&mut board).into_iter().filter(|card| card.status != Status::Done).collect();
        if open.is_empty() {
            return;
        }
        let stuck = open.iter().any(|card| matches!(card.status, Status::Blocked | Status::Triage));
        let goes_on = !stuck && Instant::now() < deadline;
        assert!(goes_on, "not everything is done:\n{}", picture(home, &mut board));
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn nothing_is_left(home: &TestHome) {
    hermes_testkit::wait_until(LIMIT, "every process ends", || home.processes().is_empty());
}

#[test]
fn ideas_are_split_by_themselves_if_that_is_wanted() {
    let server = ModelServer::scripted(&script());
    let home = team(&server, "terminal:\n  backend: local\n");
    let config = home.read("config.yaml");
    home.config(format!("{config}  auto_decompose: true\n  orchestrator_profile: default\n"));
    let project = home.work_dir().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let place = format!("dir:{}", project.display());
    let made = hermes(&home, &["kanban", "create", "say hello", "--triage", "--workspace", &place, "--json"]);
    let idea = CardId::new(made.json()["id"].as_str().unwrap());
    hermes(&home, &["kanban", "resume"]).success();
    let mut daemon = dispatcher(&home, &[]);
    let mut board = board(&home);
    let deadline = Instant::now() + LIMIT;
    while board.card(&idea).unwrap().status == Status::Triage {
        assert!(Instant::now() < deadline, "it is in triage still\n{}", picture(&home, &mut board));
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let split = board.details(&idea).unwrap();
    assert_eq!(split.parents.len(), 3, "it waits for its parts");
    let job = cards(&mut board).into_iter().find(|card| card.title == format!("Decompose {idea}")).unwrap();
    hermes_testkit::wait_until(LIMIT, "the card that splits it to be done", || {
        board.card(&job.id).unwrap().status == Status::Done
    });
    let attempts = board.details(&job.id).unwrap().attempts;
    assert_eq!(attempts.len(), 1);
    assert!(attempts[0].summary.as_deref().unwrap().contains("3 parts"), "{attempts:?}");
    board.set_state(&State { mode: Mode::Paused, ..State::default() }).unwrap();
    hermes_testkit::wait_until(LIMIT, "what runs to end", || {
        cards(&mut board).iter().all(|card| card.status != Status::Running)
    });
    daemon.signal(hermes_testkit::Signal::TERM);
    daemon.wait(LIMIT).success();
    nothing_is_left(&home);
}

#[test]
fn the_tour_ends_well_and_leaves_nothing() {
    let home = TestHome::new();
    let before = home.snapshot();
    let tour = hermes(&home, &["demo", "--board"]);
    tour.success();
    for line in [
        "coder begins",
        "it goes back to its author",
        "the acceptance command succeeded",
        "Checked without the agents",
    ] {
        tour.stdout_has(line);
    }
    assert_eq!(home.snapshot(), before, "the home is as it was");
    assert_eq!(std::fs::read_dir(home.temp_dir()).unwrap().count(), 0, "no directory is left");
    nothing_is_left(&home);
}

#[test]
fn on_this_machine() {
    let server = ModelServer::scripted(&script());
    let home = team(&server, "terminal:\n  backend: local\n");
    finish(&home, &[]);
}

#[test]
fn in_containers() {
    let Some(engine) = need("a container engine", Engine::get()) else { return };
    let Some(image) = need("the test image", engine.image(Image::Base)) else { return };
    let server = ModelServer::scripted(&script());
    let home = team(
        &server,
        &format!(
            "terminal:\n  backend: docker\n  docker_image: {image}\n  container_disk: 0\n  docker_persist_across_processes: false\n"
        ),
    );
    let scope = engine.scope().also(format!("label=hermes-home={}", home.path().display()));
    let env: Vec<(&str, &str)> = engine.env().collect();
    finish(&home, &env);
    assert_eq!(scope.containers(), [] as [String; 0], "no container is left");
}

#[test]
fn what_a_worker_commits_stays_and_its_worktree_goes() {
    let server = ModelServer::scripted(&script());
    let home = team(&server, "terminal:\n  backend: local\n");
    let repository = home.work_dir().join("repository");
    std::fs::create_dir_all(&repository).unwrap();
    git(&repository, &["init", "-q", "-b", "main"]);
    git(
        &repository,
        &["-c", "user.name=t", "-c", "user.email=t@x", "commit", "-q", "--allow-empty", "-m", "begin"],
    );
    let place = format!("worktree:{}", repository.display());
    let made = hermes(
        &home,
        &["kanban", "create", "Commit something", "--assignee", "coder", "--workspace", &place, "--json"],
    )
    .json();
    let id = made["id"].as_str().unwrap().to_owned();
    hermes(&home, &["kanban", "resume"]).success();
    let mut daemon = dispatcher(&home, &[]);
    wait_for_all(&home);
    daemon.signal(hermes_testkit::Signal::TERM);
    daemon.wait(LIMIT).success();
    nothing_is_left(&home);
    let card = board(&home).card(&CardId::new(&id)).unwrap();
    let branch = card.branch_name.expect("the branch is written on the card");
    assert_eq!(git(&repository, &["log", "-1", "--format=%s", &branch]).trim(), "kept by a worker");
    assert!(!repository.join(".worktrees").join(&id).exists(), "a clean worktree goes");
    assert_eq!(git(&repository, &["worktree", "list"]).lines().count(), 1);
}

#[track_caller]
fn git(dir: &Path, args: &[&str]) -> String {
    let ended = std::process::Command::new("git").args(args).current_dir(dir).output().unwrap();
    assert!(ended.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8_lossy(&ended.stdout).into_owned()
}
