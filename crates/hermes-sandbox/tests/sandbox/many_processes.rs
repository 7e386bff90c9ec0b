//! Several processes at once, and processes that die at a bad moment.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use hermes_testkit::{Engine, need};

use crate::child;
use crate::fixture::{Fixture, out};

fn start_at_once(count: usize) {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let children: Vec<_> = (0..count)
        .map(|number| child::command(&fixture, &format!("echo number {number}")).spawn().unwrap())
        .collect();
    let mut instances = Vec::new();
    for (number, running) in children.into_iter().enumerate() {
        let output = running.wait_with_output().unwrap();
        let said = child::said(&output).unwrap_or_else(|| panic!("{output:?}"));
        let (instance, printed) = said.split_once(' ').unwrap();
        assert_eq!(printed, format!("number {number}"));
        instances.push(instance.to_owned());
    }
    instances.dedup();
    assert_eq!(instances.len(), 1, "everyone talks to the same agent");
    assert_eq!(fixture.containers().len(), 1, "there is one container");
}

#[test]
fn two_that_start_at_once_share_one_container() {
    start_at_once(2);
}

#[test]
fn eight_that_start_at_once_share_one_container() {
    start_at_once(8);
}

#[test]
fn profiles_of_the_same_name_in_two_homes_never_share() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let (one, two) = (Fixture::container(engine), Fixture::container(engine));
    let first = one.open().client().unwrap();
    let second = two.open().client().unwrap();
    assert_ne!(first.agent().instance, second.agent().instance);
    out(&first, "echo mine > /root/secret");
    assert_eq!(out(&second, "ls /root"), "");
    assert_eq!((one.containers().len(), two.containers().len()), (1, 1));
}

/// An engine's command that kills whoever called it, before or after it did its work.
fn deadly(fixture: &Fixture, verb: &str, when: &str) -> PathBuf {
    let real = fixture.config.container.binary.as_ref().unwrap().display().to_string();
    let script = match when {
        "before" => {
            format!("#!/bin/sh\n[ \"$1\" = {verb} ] && kill -9 $PPID && exit 1\nexec {real} \"$@\"\n")
        }
        "after" => {
            format!("#!/bin/sh\n[ \"$1\" = {verb} ] || exec {real} \"$@\"\n{real} \"$@\"\nkill -9 $PPID\n")
        }
        // The caller dies while the engine works: its command is on its own and goes on.
        _ => format!("#!/bin/sh\n[ \"$1\" = {verb} ] && kill -9 $PPID\nexec {real} \"$@\"\n"),
    };
    let path = fixture.dir().join(format!("docker-{verb}-{when}"));
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn killed_at(verb: &str, when: &str) {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let mut fixture = Fixture::container(engine);
    let real = fixture.config.container.binary.clone();
    fixture.config.container.binary = Some(deadly(&fixture, verb, when));
    let output = child::command(&fixture, "echo alive").output().unwrap();
    assert_eq!(child::said(&output), None, "it was killed: {output:?}");
    fixture.config.container.binary = real;

    let sandbox = fixture.open();
    assert_eq!(out(&sandbox.client().unwrap(), "echo works"), "works");
    assert_eq!(fixture.containers().len(), 1, "killed {when} {verb}: nothing is left but the one in use");
    let left = std::fs::read_dir(fixture.boxes()).unwrap().count();
    assert!(left <= 2, "one directory for it and a note of the last sweep");
}

#[test]
fn killed_around_the_first_look() {
    killed_at("ps", "before");
    killed_at("ps", "after");
}

#[test]
fn killed_around_the_look_at_the_image() {
    killed_at("image", "before");
    killed_at("image", "after");
}

#[test]
fn killed_around_the_look_at_the_host() {
    killed_at("info", "before");
    killed_at("info", "after");
}

#[test]
fn killed_around_the_creation() {
    killed_at("run", "before");
    killed_at("run", "after");
}

#[test]
fn killed_during_the_creation() {
    killed_at("run", "during");
}

#[test]
fn a_job_outlives_the_process_that_was_killed() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let mut dying = child::start_job(&fixture, "echo begun; sleep 300").spawn().unwrap();
    let before = fixture.open();
    crate::fixture::eventually("the job is listed", || {
        before.client().unwrap().jobs().list().is_ok_and(|jobs| jobs.len() == 1)
    });
    dying.kill().unwrap();
    dying.wait().unwrap();
    let jobs = fixture.open().client().unwrap().jobs();
    let listed = jobs.list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].exit_code(), None, "it runs on");
    crate::fixture::eventually("its output is there", || {
        jobs.tail(&listed[0].id, 100).unwrap().bytes == b"begun\n"
    });
    assert_eq!(fixture.containers().len(), 1);
}

#[test]
fn nothing_lingers_in_the_box_after_its_client_was_killed() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    let mut dying = child::command(&fixture, "sleep 4321").spawn().unwrap();
    let runs = || crate::fixture::sh(&client, "s", "ps | grep -q '[s]leep 4321'").code() == 0;
    crate::fixture::eventually("its command runs", runs);
    dying.kill().unwrap();
    dying.wait().unwrap();
    crate::fixture::eventually("its command is gone", || !runs());
    crate::fixture::eventually("it is no longer a client", || client.info().unwrap().clients == 1);
}

#[test]
fn an_ordinary_user_attaches_to_a_container_whose_agent_is_root() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let user = 12_345;
    let mut fixture = Fixture::container(engine).for_user(user);
    let run = |fixture: &Fixture| {
        let output = child::command(fixture, "id -u").uid(user).gid(user).current_dir("/").output().unwrap();
        child::said(&output).unwrap_or_else(|| panic!("{output:?}"))
    };
    let first = run(&fixture);
    assert!(first.ends_with(" 0"), "root in the box: {first}");
    // Now without the engine's command: only the socket is left.
    fixture.config.container.binary = Some("/bin/false".into());
    assert_eq!(run(&fixture), first);
}
