//! Commands in containers.

use std::time::Duration;

use hermes_testkit::engine::SilentEngine;
use hermes_testkit::{Hermes, TestHome};

use super::support::{Containers, HERMES};

#[test]
fn a_container_is_made_once_and_found_again() {
    let Some(box_) = Containers::new() else { return };
    box_.sandbox(&["ls"]).success().stdout_has("No container yet");
    box_.sandbox(&["exec", "--", "echo one > /root/kept; echo $$ > /tmp/there"]).success();
    box_.sandbox(&["exec", "--", "cat /root/kept /tmp/there"]).success().stdout_has("one\n");
    assert_eq!(box_.containers().len(), 1);
    let listed = box_.sandbox(&["ls", "--json"]).json();
    assert_eq!(listed["sandboxes"][0]["state"], "running", "{listed}");
    assert_eq!(listed["sandboxes"][0]["current"], true, "{listed}");
    box_.sandbox(&["inspect"]).success().stdout_has("/workspace").stdout_has("memory 5120m");
    box_.sandbox(&["logs"]).success();
    box_.sandbox(&["df", "--json"]).success();
}

#[test]
fn attaching_needs_no_engine_command() {
    let Some(box_) = Containers::new() else { return };
    box_.sandbox(&["exec", "--", "true"]).success();
    let broken = box_.home.write("engine", "#!/bin/sh\necho the engine was asked >&2\nexit 1\n");
    std::fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    box_.command(&["exec", "--", "echo there"])
        .env("HERMES_DOCKER_BINARY", &broken)
        .run()
        .success()
        .stdout_is("there\n");
}

#[test]
fn exit_codes_streams_and_limits_are_those_of_the_command() {
    let Some(box_) = Containers::new() else { return };
    box_.sandbox(&["exec", "--", "echo out; echo err >&2; exit 3"])
        .code(3)
        .stdout_is("out\n")
        .stderr_has("err\n");
    box_.sandbox(&["exec", "--timeout", "0.5", "--", "echo a; sleep 600"]).code(124).stdout_is("a\n");
    box_.command(&["exec", "--", "cat"]).stdin("through\n").run().success().stdout_is("through\n");
}

#[test]
fn a_change_of_settings_shows_and_is_applied_when_idle() {
    let Some(box_) = Containers::new() else { return };
    box_.sandbox(&["exec", "--", "true"]).success();
    box_.sandbox(&["diff"]).success();
    Hermes::new(HERMES, &box_.home)
        .args(["config", "set", "terminal.container_memory", "256"])
        .run()
        .success();
    box_.sandbox(&["diff"]).code(1).stdout_has("memory");
    box_.sandbox(&["recreate", "--dry-run"]).success().stdout_has("memory");
    box_.sandbox(&["diff"]).code(1);
    box_.sandbox(&["exec", "--", "true"]).success().stderr_has("settings changed");
    box_.sandbox(&["diff"]).success();
    assert_eq!(box_.containers().len(), 1);
}

#[test]
fn what_is_in_use_is_not_taken_away_without_force() {
    let Some(box_) = Containers::new() else { return };
    let id = box_.sandbox(&["jobs", "start", "sleep 600"]).success().out().trim().to_owned();
    box_.sandbox(&["rm"]).code(1).stderr_has("in use");
    box_.sandbox(&["stop", "--dry-run"]).code(1).stderr_has("in use");
    box_.sandbox(&["stop", "--dry-run", "--force"]).success().stdout_has("would be stopped");
    box_.sandbox(&["jobs"]).success().stdout_has(&id).stdout_has("running");
    box_.sandbox(&["prune"]).success();
    assert_eq!(box_.containers().len(), 1);
    box_.sandbox(&["rm", "--force"]).success();
    assert!(box_.containers().is_empty());
    box_.sandbox(&["inspect"]).code(1).stderr_has("no sandbox");
}

#[test]
fn where_our_program_cannot_run_commands_are_run_by_the_engine() {
    let Some(box_) = Containers::new() else { return };
    let engine = box_.engine.forbidding(&box_.home.work_dir(), "/.hermes-box/bin", "hermes-box");
    let run = |args: &[&str]| box_.command(args).env("HERMES_DOCKER_BINARY", &engine).run();
    run(&["exec", "--", "echo out; echo err >&2; exit 3"])
        .code(3)
        .stdout_is("out\n")
        .stderr_has("err\n")
        .stderr_has("cannot run in the container");
    run(&["exec", "--session", "s", "--", "cd /opt; export A=1"]).success();
    run(&["exec", "--session", "s", "--", "echo $PWD $A"]).success().stdout_is("/opt 1\n");
    run(&["exec", "--timeout", "1", "--", "echo a; sleep 600"]).code(124).stdout_is("a\n");
    run(&["jobs", "start", "true"]).code(1).stderr_has("only plain commands");
    let mut running =
        box_.command(&["exec", "--", "echo ready; sleep 600"]).env("HERMES_DOCKER_BINARY", &engine).spawn();
    running.line_with("ready", Duration::from_secs(30));
    running.signal(rustix::process::Signal::TERM);
    running.wait(Duration::from_secs(30)).code(143);
    assert_eq!(box_.containers().len(), 1);
}

#[test]
fn jobs_lost_with_a_restart_are_named_and_listed() {
    let Some(box_) = Containers::new() else { return };
    let id = box_.sandbox(&["jobs", "start", "sleep 600"]).success().out().trim().to_owned();
    box_.engine.cli(["restart", "-t", "5", &box_.containers()[0]]).success();
    box_.sandbox(&["exec", "--", "echo on"])
        .success()
        .stdout_is("on\n")
        .stderr_has(&id)
        .stderr_has("sleep 600");
    box_.sandbox(&["jobs"]).success().stdout_has(&id).stdout_has("lost").output_lacks("background jobs lost");
    box_.sandbox(&["jobs", "wait", &id]).code(1).stderr_has("lost");
    assert_eq!(box_.sandbox(&["jobs", "output", &id, "--json"]).success().json()["state"], "lost");
}

#[test]
fn prune_says_each_container_once_and_by_which_rule() {
    let Some(box_) = Containers::new() else { return };
    box_.sandbox(&["exec", "--", "true"]).success();
    let plan = box_.sandbox(&["prune", "--dry-run", "--json"]).json();
    assert_eq!(plan["containers"]["spare"].as_array().unwrap().len(), 1, "{plan}");
    assert_eq!(plan["containers"]["spare"][0]["rule"], "unused", "{plan}");
    box_.sandbox(&["stop"]).success();
    let plan = box_.sandbox(&["prune", "--dry-run", "--json"]).json();
    assert_eq!(plan["containers"]["spare"].as_array().unwrap().len(), 1, "{plan}");
    assert_eq!(plan["containers"]["spare"][0]["rule"], "stopped", "{plan}");
    assert!(plan["containers"]["spare"][0]["since"].is_string(), "{plan}");
    box_.sandbox(&["prune", "--dry-run"]).success().stdout_has("stopped ones go after 10 min");
    box_.sandbox(&["prune"]).success();
    assert_eq!(box_.containers().len(), 1);
}

#[test]
fn profiles_of_one_name_in_two_homes_never_share() {
    let (Some(one), Some(two)) = (Containers::new(), Containers::new()) else { return };
    one.sandbox(&["exec", "--", "echo mine > /tmp/mark"]).success();
    two.sandbox(&["exec", "--", "cat /tmp/mark"]).code(1);
    assert_ne!(one.containers(), two.containers());
    two.sandbox(&["ls"]).success().stdout_lacks(&one.containers()[0]);
}

#[test]
fn an_engine_that_is_not_there_or_never_answers_is_a_clear_error() {
    let home = TestHome::new();
    home.config("terminal:\n  backend: docker\n  docker_image: hermes-test:base\n");
    let run = || Hermes::new(HERMES, &home).args(["sandbox", "exec", "--", "touch ran-on-the-host"]);
    run().env("HERMES_DOCKER_BINARY", "/no/such/engine").run().code(1).stderr_has("/no/such/engine");
    let silent = SilentEngine::start();
    let done = run().env("DOCKER_HOST", silent.host()).limit(Duration::from_mins(1)).run();
    done.code(1).stderr_has("answer");
    assert!(!home.work_dir().join("ran-on-the-host").exists(), "nothing may run on the host instead");
}

#[test]
fn a_container_of_one_process_goes_with_it() {
    let Some(box_) = Containers::new() else { return };
    let set = |key: &str, value: &str| {
        Hermes::new(HERMES, &box_.home).args(["config", "set", key, value]).run().success().end
    };
    set("terminal.docker_persist_across_processes", "false");
    box_.sandbox(&["exec", "--", "exit 3"]).code(3);
    assert!(box_.containers().is_empty(), "left behind: {:?}", box_.containers());
    box_.sandbox(&["jobs", "start", "true"]).code(1).stderr_has("docker_persist_across_processes");
}

#[test]
fn settings_that_cannot_work_cost_nothing() {
    let Some(box_) = Containers::new() else { return };
    let set = |key: &str, value: &str| {
        Hermes::new(HERMES, &box_.home).args(["config", "set", key, value]).run().success().end
    };
    box_.sandbox(&["exec", "--", "echo precious > /opt/kept"]).success();
    for (key, bad, good) in [
        ("terminal.docker_extra_args", "[\"--nonsense\"]", "[]"),
        ("terminal.docker_volumes", "[\"/var/tmp:/data:zz\"]", "[]"),
        ("terminal.docker_image", "hermes-test:none-such", "hermes-test:base"),
    ] {
        set(key, bad);
        box_.sandbox(&["exec", "--", "true"]).code(1);
        set(key, good);
        box_.sandbox(&["exec", "--", "cat /opt/kept"]).success().stdout_is("precious\n");
    }
    assert_eq!(box_.containers().len(), 1);
}

#[test]
fn everyone_attaches_while_one_makes_it_anew() {
    let Some(box_) = Containers::new() else { return };
    box_.sandbox(&["exec", "--", "true"]).success();
    Hermes::new(HERMES, &box_.home)
        .args(["config", "set", "terminal.docker_env", r#"{"A": "1"}"#])
        .run()
        .success();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            // Those who came in time keep the old one, which is then in use; nobody is turned away.
            scope.spawn(|| box_.sandbox(&["exec", "--", "sleep 0.2; echo there"]).success().elapsed);
        }
    });
    assert_eq!(box_.containers().len(), 1);
}
