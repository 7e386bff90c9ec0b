//! Snapshots before the agent changes files, and going back to them.

use std::time::Duration;

use hermes_testkit::command::poll_until;
use hermes_testkit::{Engine, Hermes, Image, SshServer, need, wait_until};
use serde_json::Value;

use super::support::{HERMES, LIMIT, Talk, events, runs};
use super::terminal::Terminal;

const ON: &str = "checkpoints:\n  enabled: true\n";
const TITLE: &str = "when system \"a title\"\nalways\nsay \"A title\"\n---\n";

/// A project whose file the model edits by a command.
fn edited() -> Talk {
    let talk = Talk::with_settings(
        &format!("{TITLE}{}\n---\nsay \"Done.\"", runs("sed -i s/old/new/ code.txt && touch made.txt")),
        ON,
    );
    std::fs::write(talk.file("code.txt"), "old\n").unwrap();
    std::fs::write(talk.file("Makefile"), "all:\n").unwrap();
    talk
}

fn text(talk: &Talk, name: &str) -> Option<String> {
    std::fs::read_to_string(talk.file(name)).ok()
}

fn listed(talk: &Talk) -> Vec<Value> {
    let list = talk.run(&["checkpoints", "list", "--json"]).success().json();
    list["checkpoints"].as_array().unwrap().clone()
}

#[test]
fn an_edit_by_a_command_is_undone() {
    let talk = edited();
    talk.run(&["-z", "go", "--yolo"]).success().stdout_is("Done.\n");
    assert_eq!(text(&talk, "code.txt").as_deref(), Some("new\n"));
    let list = listed(&talk);
    assert_eq!(list.len(), 1);
    assert!(list[0]["reason"].as_str().unwrap().starts_with("before terminal: sed -i"), "{list:?}");

    talk.run(&["checkpoints", "diff", "1"]).success().stdout_has("-old\n+new");
    talk.run(&["checkpoints", "diff", "1", "--stat"]).success().stdout_has("2 files changed");
    let plan = talk.run(&["checkpoints", "restore", "1", "--dry-run"]);
    plan.success().stdout_has("put back    code.txt").stdout_has("remove      made.txt");
    assert_eq!(text(&talk, "code.txt").as_deref(), Some("new\n"));

    talk.run(&["checkpoints", "restore", "1"]).code(1).stderr_has("--yes");
    talk.run(&["checkpoints", "restore", "1", "--yes"]).success().stdout_has("2 files put back");
    assert_eq!((text(&talk, "code.txt").as_deref(), text(&talk, "made.txt")), (Some("old\n"), None));
    // And back again: how it was before is the newest snapshot.
    assert_eq!(listed(&talk).len(), 2);
    talk.run(&["checkpoints", "restore", "1", "--yes"]).success();
    assert_eq!(text(&talk, "code.txt").as_deref(), Some("new\n"));
}

#[test]
fn what_the_user_changed_since_stays_until_it_is_asked_for() {
    let talk = edited();
    talk.run(&["-z", "go", "--yolo"]).success();
    std::fs::write(talk.file("code.txt"), "mine\n").unwrap();
    std::fs::write(talk.file("notes.txt"), "mine\n").unwrap();
    let done = talk.run(&["checkpoints", "restore", "1", "--yes"]);
    done.success()
        .stdout_has("1 file put back")
        .stderr_has("code.txt")
        .stderr_has("notes.txt")
        .stderr_has("--force");
    assert_eq!((text(&talk, "code.txt").as_deref(), text(&talk, "made.txt")), (Some("mine\n"), None));
    let oldest = listed(&talk).len().to_string();
    talk.run(&["checkpoints", "restore", &oldest, "code.txt", "--force"]).success();
    assert_eq!(text(&talk, "code.txt").as_deref(), Some("old\n"));
    assert_eq!(text(&talk, "notes.txt").as_deref(), Some("mine\n"));
}

#[test]
fn looking_needs_no_snapshot_and_a_turn_one_at_the_most() {
    let script = format!("{TITLE}{}\n---\nsay \"Seen.\"", runs("cat code.txt; ls | head -3"));
    let talk = Talk::with_settings(&script, ON);
    std::fs::write(talk.file("code.txt"), "old\n").unwrap();
    talk.run(&["-z", "look", "--yolo"]).success();
    assert!(!talk.home.path().join("checkpoints").exists());

    let script = format!(
        "{TITLE}{}\n---\n{}\n---\nsay \"Done.\"",
        runs("echo 1 > a"),
        runs("cd / && rm -f $OLDPWD/a")
    );
    let talk = Talk::with_settings(&script, ON);
    talk.run(&["-z", "go", "--yolo"]).success();
    assert_eq!(listed(&talk).len(), 1);
}

#[test]
fn a_flag_switches_them_on_and_refused_commands_get_none() {
    let script = format!("{TITLE}{}\n---\nsay \"Done.\"", runs("rm -rf leftovers; touch x"));
    let talk = Talk::with(&script);
    talk.run(&["-z", "go", "--yolo"]).success();
    assert!(!talk.home.path().join("checkpoints").exists());
    let talk = Talk::with(&script);
    talk.run(&["chat", "-q", "go", "--checkpoints"]).success();
    assert!(!talk.home.path().join("checkpoints").exists(), "nobody agreed to the command");
    let talk = Talk::with(&script);
    talk.run(&["-z", "go", "--checkpoints", "--yolo"]).success();
    assert_eq!(listed(&talk).len(), 1);
}

#[test]
fn without_git_they_are_off_and_say_so_once() {
    let talk = edited();
    let bin = talk.home.root().join("no-git");
    std::fs::create_dir(&bin).unwrap();
    for program in ["bash", "sh", "sed", "touch", "cat", "env", "mkdir", "rm"] {
        let found = ["/usr/bin", "/bin"].iter().map(|dir| format!("{dir}/{program}"));
        if let Some(path) = found.into_iter().find(|path| std::path::Path::new(path).exists()) {
            std::os::unix::fs::symlink(path, bin.join(program)).unwrap();
        }
    }
    let run = |args: &[&str]| Hermes::new(HERMES, &talk.home).args(args).env("PATH", &bin).run();
    run(&["-z", "go", "--yolo"]).success().stdout_is("Done.\n").stderr_has("need git");
    assert_eq!(text(&talk, "code.txt").as_deref(), Some("new\n"));
    run(&["checkpoints", "list"]).code(1).stderr_has("install it");
}

#[test]
fn a_directory_without_snapshots_says_why_once() {
    let script = format!("{TITLE}{}\n---\n{}\n---\nsay \"Done.\"", runs("touch a"), runs("touch b"));
    let talk = Talk::with_settings(&script, ON);
    // The work directory is the user's whole home here.
    let home = talk.home.work_dir();
    let done = talk.command(&["-z", "go", "--yolo", "--json"]).env("HOME", home).run();
    let notices: Vec<String> = events(&done.success().out())
        .iter()
        .filter(|event| event["type"] == "notice")
        .map(|event| event["text"].as_str().unwrap().to_owned())
        .filter(|text| text.contains("too broad"))
        .collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
}

#[test]
fn the_chat_goes_back() {
    let talk = edited();
    let mut terminal = Terminal::start(&talk.home, &["--yolo"]);
    terminal.expect("Write a message").keys("change it\r").expect("Done.");
    let mut say = |command: &str, shows: &str| {
        let before = terminal.shown().len();
        wait_until(LIMIT, shows, || {
            terminal.keys(command);
            let done = || terminal.shown().get(before..).is_some_and(|new| new.contains(shows));
            poll_until(Duration::from_secs(1), || done().then_some(())).is_some()
        });
    };
    say("/rollback\r", "before terminal: sed");
    say("/rollback diff 1\r", "+new");
    say("/rollback 1 code.txt\r", "1 file put back");
    assert_eq!(text(&talk, "code.txt").as_deref(), Some("old\n"));
    assert!(talk.file("made.txt").exists());
    say("/rollback 2\r", "The last exchange was taken back too");
    assert!(!talk.file("made.txt").exists());
    terminal.keys("/quit\r");
    assert!(terminal.end().success());
}

#[test]
fn undoing_a_rollback_brings_its_exchange_back_and_no_other_goes() {
    let script = format!(
        "{TITLE}say \"First.\"\n---\n{}\n---\nsay \"Second.\"\n---\nsay \"Third.\"",
        runs("touch made.txt")
    );
    let talk = Talk::with_settings(&script, ON);
    let mut terminal = Terminal::start(&talk.home, &["--yolo"]);
    terminal.expect("Write a message").keys("question one\r").expect("First.");
    terminal.keys("question two\r").expect("Second.");
    let mut say = |command: &str, shows: &str| {
        let before = terminal.shown().len();
        terminal.keys(command);
        wait_until(LIMIT, shows, || terminal.shown().get(before..).is_some_and(|new| new.contains(shows)));
    };
    say("/rollback 1\r", "The last exchange was taken back too");
    assert!(!talk.file("made.txt").exists());
    say("/rollback 1\r", "part of the conversation again");
    assert!(talk.file("made.txt").exists());
    say("question three\r", "Third.");
    terminal.keys("/quit\r");
    assert!(terminal.end().success());
    let sent = serde_json::Value::from(talk.server.last_call().messages().to_vec()).to_string();
    for question in ["question one", "question two", "question three"] {
        assert!(sent.contains(question), "{question}: {sent}");
    }
}

#[test]
fn the_store_can_be_looked_at_and_cleared() {
    let talk = edited();
    talk.run(&["checkpoints"]).success();
    assert!(!talk.home.path().join("checkpoints").exists(), "looking must not write");
    talk.run(&["-z", "go", "--yolo"]).success();
    talk.run(&["checkpoints", "status"]).success().stdout_has(&talk.home.work_dir().display().to_string());
    talk.run(&["checkpoints", "prune", "--retention-days", "1"]).success().stdout_has("1 directory");
    assert_eq!(listed(&talk).len(), 1);
    talk.run(&["checkpoints", "restore", "9", "--yes"]).code(1).stderr_has("there is no checkpoint '9'");
    talk.run(&["checkpoints", "restore", "1", "../x", "--yes"]).code(1).stderr_has("not a path inside");
    talk.run(&["checkpoints", "clear"]).code(1).stderr_has("--force");
    talk.run(&["checkpoints", "clear", "-f"]).success();
    assert!(!talk.home.path().join("checkpoints").exists());
}

#[test]
fn files_in_a_container_go_back_too() {
    let Some(engine) = need("a container engine", Engine::get()) else { return };
    let Some(image) = need("the test image", engine.image(Image::Base)) else { return };
    let at = |command: &str, dir: &str| {
        format!("call terminal {}", serde_json::json!({"command": command, "workdir": dir}))
    };
    let script = format!(
        "{TITLE}{}\n---\nsay \"Made.\"\n---\n{}\n---\nsay \"Changed.\"",
        at("mkdir -p app && cd app && echo old > code.txt && touch Makefile", "/root"),
        at("sed -i s/old/new/ code.txt && touch made.txt", "/root/app")
    );
    let terminal = format!("terminal:\n  backend: docker\n  docker_image: {image}\n  container_disk: 0\n");
    let talk = Talk::with_settings(&script, &format!("{terminal}{ON}"));
    let _containers = engine.scope().also(format!("label=hermes-home={}", talk.home.path().display()));
    let run = |args: &[&str]| talk.command(args).envs(engine.env()).limit(Duration::from_mins(3)).run();
    run(&["-z", "make it"]).success().stdout_is("Made.\n");
    run(&["-z", "change it"]).success().stdout_is("Changed.\n");

    let status = run(&["checkpoints", "status", "--json"]).success().json();
    let projects = status["projects"].as_array().unwrap();
    let app = projects.iter().find(|project| project["workdir"] == "/root/app").expect("the project is kept");
    assert!(app["place"].as_str().unwrap().starts_with("hermes"), "{app}");
    assert!(
        !talk.home.path().join("checkpoints/store/projects").join(format!("{}.json", app["hash"])).exists()
    );
    let tip = talk.home.read(format!("checkpoints/store/refs/hermes-box/{}", app["hash"].as_str().unwrap()));
    run(&["checkpoints", "restore", tip.trim(), "--yes"]).success().stdout_has("2 files put back");
    run(&["sandbox", "exec", "cat", "/root/app/code.txt"]).success().stdout_is("old\n");
    run(&["sandbox", "exec", "ls", "/root/app"]).success().stdout_lacks("made.txt");
}

#[test]
fn files_on_another_machine_go_back_too() {
    let Some(server) = need("an ssh server", SshServer::start()) else { return };
    let app = server.home().join("app");
    let at = |command: &str| {
        let dir = app.to_str().unwrap();
        format!("call terminal {}", serde_json::json!({"command": format!("cd {dir} && {command}")}))
    };
    let script =
        format!("{TITLE}{}\n---\nsay \"Changed.\"", at("sed -i s/old/new/ code.txt && touch made.txt"));
    let terminal = format!(
        "terminal:\n  backend: ssh\n  ssh_host: {}\n  ssh_port: {}\n  ssh_user: {}\n  ssh_key: {}\n",
        server.host(),
        server.port(),
        server.user(),
        server.identity().display()
    );
    let talk = Talk::with_settings(&script, &format!("{terminal}{ON}"));
    std::fs::create_dir(&app).unwrap();
    std::fs::write(app.join("code.txt"), "old\n").unwrap();
    std::fs::write(app.join("Makefile"), "all:\n").unwrap();
    let run = |args: &[&str]| talk.command(args).limit(Duration::from_mins(3)).run();
    run(&["-z", "change it", "--yolo"]).success().stdout_is("Changed.\n");
    assert_eq!(std::fs::read_to_string(app.join("code.txt")).unwrap(), "new\n");

    let status = run(&["checkpoints", "status", "--json"]).success().json();
    let projects = status["projects"].as_array().unwrap();
    let project = projects.iter().find(|project| project["workdir"] == app.to_str().unwrap());
    let hash = project.unwrap_or_else(|| panic!("the project is kept: {status}"))["hash"]
        .as_str()
        .unwrap()
        .to_owned();
    let tip = talk.home.read(format!("checkpoints/store/refs/hermes-box/{hash}"));
    run(&["checkpoints", "restore", tip.trim(), "--yes"]).success().stdout_has("2 files put back");
    assert_eq!(std::fs::read_to_string(app.join("code.txt")).unwrap(), "old\n");
    assert!(!app.join("made.txt").exists());
}
