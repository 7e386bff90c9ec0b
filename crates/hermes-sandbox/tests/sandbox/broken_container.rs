//! A container that something happened to while nobody looked: noticed on the next call, put right once,
//! and told.

use std::time::Duration;

use hermes_box::proto::exec::ExecRequest;
use hermes_box::proto::job::{JobRequest, JobState};
use hermes_sandbox::notice::{Lost, Notice};
use hermes_sandbox::sandbox::Sandbox;
use hermes_testkit::{Engine, need};

use crate::fixture::{Fixture, eventually, freeze, out, sh, within};

fn lost(sandbox: &Sandbox) -> Option<Lost> {
    sandbox.take_notices().into_iter().find_map(|notice| match notice {
        Notice::StateLost { lost, .. } => Some(lost),
        _ => None,
    })
}

#[test]
fn removed_by_hand() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    sh(&client, "s", "echo mounted > /root/kept; echo not > /opt/gone");
    engine.cli(["rm", "-f", &fixture.container_name()]).success();
    let client = sandbox.client().unwrap();
    assert_eq!(lost(&sandbox), Some(Lost::EverythingOffMounts));
    assert_eq!(out(&client, "cat /root/kept; ls /opt"), "mounted");
    assert_eq!(fixture.containers().len(), 1);
}

#[test]
fn removed_between_two_processes() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    fixture.open().client().unwrap();
    engine.cli(["rm", "-f", &fixture.container_name()]).success();
    let next = fixture.open();
    assert_eq!(out(&next.client().unwrap(), "echo works"), "works");
    assert_eq!(lost(&next), Some(Lost::EverythingOffMounts));
}

#[test]
fn paused() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    let mut long = client.exec(ExecRequest::shell("long", "sleep 6; echo through")).unwrap();
    engine.cli(["pause", &fixture.container_name()]).success();
    let woken = sandbox.client().unwrap();
    assert_eq!(out(&woken, "echo works"), "works");
    assert_eq!(woken.agent().instance, client.agent().instance, "the very same agent");
    assert_eq!(sandbox.take_notices(), [Notice::Unpaused]);
    let mut printed = Vec::new();
    while let Some(event) = long.next_event().unwrap() {
        if let hermes_box::client::Event::Output { bytes, .. } = event {
            printed.extend(bytes);
        }
    }
    assert_eq!(printed, b"through\n", "what ran meanwhile ran on");
}

#[test]
fn paused_during_a_command_with_a_time_limit() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    let mut running =
        client.exec(ExecRequest::shell("s", "echo on; sleep 300").timeout(Duration::from_secs(2))).unwrap();
    while !matches!(running.next_event().unwrap(), Some(hermes_box::client::Event::Output { .. })) {}
    engine.cli(["pause", &fixture.container_name()]).success();
    // Its own clock does not run, so ours ends the wait: it once took a minute more.
    let error = within(Duration::from_secs(30), move || running.finish()).unwrap_err();
    assert!(error.to_string().contains("paused or frozen"), "{error}");
    let next = sandbox.client().unwrap();
    assert_eq!(out(&next, "echo works"), "works");
    assert!(sandbox.take_notices().contains(&Notice::Unpaused));
    // Running again, it noticed that nobody waits for the command any more.
    eventually("the command has ended", || out(&next, "cat /proc/[0-9]*/comm | grep -cx sleep; true") == "0");
}

#[test]
fn paused_between_two_processes() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    fixture.open().client().unwrap();
    engine.cli(["pause", &fixture.container_name()]).success();
    let next = fixture.open();
    // The silence of a paused container is not waited out.
    let client = within(Duration::from_secs(9), move || next.client()).unwrap();
    assert_eq!(out(&client, "echo works"), "works");
}

#[test]
fn restarted() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let sandbox = fixture.open();
    sh(&sandbox.client().unwrap(), "s", "echo kept > /opt/kept");
    engine.cli(["restart", "-t", "1", &fixture.container_name()]).success();
    assert_eq!(out(&sandbox.client().unwrap(), "cat /opt/kept"), "kept");
    assert_eq!(lost(&sandbox), Some(Lost::Processes));
}

#[test]
fn stopped() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let sandbox = fixture.open();
    sh(&sandbox.client().unwrap(), "s", "echo kept > /opt/kept");
    engine.cli(["stop", "-t", "1", &fixture.container_name()]).success();
    assert_eq!(out(&sandbox.client().unwrap(), "cat /opt/kept"), "kept");
    assert_eq!(lost(&sandbox), Some(Lost::Processes));
}

/// Restarted, stopped or killed while nobody was there: the next process is told which jobs went with it, once, and they
/// are listed as lost.
#[test]
fn jobs_that_went_down_with_it_are_named() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    for end in [["restart", "-t", "5"], ["stop", "-t", "5"], ["kill", "-s", "KILL"]] {
        let fixture = Fixture::container(engine);
        let start = |command: &str| {
            let client = fixture.open().client().unwrap();
            client.jobs().start(JobRequest::shell("jobs", command)).unwrap().id
        };
        let done = start("exit 3");
        fixture.open().client().unwrap().jobs().wait(&done, None).unwrap();
        let (one, two) = (start("sleep 1000"), start("trap '' TERM; sleep 2000"));
        engine.cli(end.iter().copied().chain([fixture.container_name().as_str()])).success();
        let next = fixture.open();
        let client = next.client().unwrap();
        let told: Vec<Notice> =
            next.take_notices().into_iter().filter(|n| matches!(n, Notice::StateLost { .. })).collect();
        let [notice] = told.as_slice() else { panic!("{end:?}: {told:?}") };
        let words = notice.to_string();
        for part in [one.as_str(), "sleep 1000", two.as_str(), "sleep 2000"] {
            assert!(words.contains(part), "{end:?}: {words}");
        }
        assert!(!words.contains(&done), "{words}");
        let states: Vec<(String, JobState)> =
            client.jobs().list().unwrap().into_iter().map(|job| (job.id, job.state)).collect();
        let state = |id: &str| &states.iter().find(|(known, _)| known == id).unwrap().1;
        assert_eq!((state(&one), state(&two)), (&JobState::Lost, &JobState::Lost), "{end:?}");
        assert!(matches!(state(&done), JobState::Ended { .. }), "{end:?}");
        let after = fixture.open();
        after.client().unwrap();
        assert_eq!(after.take_notices(), [], "it is told once");
        engine.cli(["restart", "-t", "1", &fixture.container_name()]).success();
        let again = fixture.open();
        again.client().unwrap();
        let words: String = again.take_notices().iter().map(ToString::to_string).collect();
        assert!(words.contains("restarted by something else") && !words.contains(&one), "{words}");
    }
}

#[test]
fn first_process_killed() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let sandbox = fixture.open();
    sh(&sandbox.client().unwrap(), "s", "echo kept > /opt/kept");
    engine.cli(["kill", "-s", "KILL", &fixture.container_name()]).success();
    assert_eq!(out(&sandbox.client().unwrap(), "cat /opt/kept"), "kept");
    let notice = sandbox.take_notices().into_iter().find(|n| matches!(n, Notice::StateLost { .. })).unwrap();
    assert!(notice.to_string().contains("exit code 137"), "{notice}");
}

#[test]
fn first_process_frozen_though_it_is_said_to_run() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let sandbox = fixture.open();
    sh(&sandbox.client().unwrap(), "s", "echo kept > /opt/kept");
    let pid = engine.cli(["inspect", "--format", "{{.State.Pid}}", &fixture.container_name()]);
    let pid = rustix::process::Pid::from_raw(pid.out().trim().parse().unwrap()).unwrap();
    freeze(pid);
    assert_eq!(out(&sandbox.client().unwrap(), "cat /opt/kept"), "kept");
    assert_eq!(lost(&sandbox), Some(Lost::Processes), "it was restarted, its files are there");
}

#[test]
fn out_of_memory() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let mut fixture = Fixture::container(engine);
    fixture.config.container.limits.memory_mb = Some(64);
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    // The kernel ends the greedy command; if it takes the whole container, the next call brings it back.
    let hog =
        ExecRequest::shell("s", "x=; while :; do x=\"$x$(head -c 1000000 /dev/zero | tr '\\0' x)\"; done")
            .timeout(Duration::from_mins(1));
    let ended = client.run(hog).map(|exit| exit.code());
    assert!(!matches!(ended, Ok(0 | 124)), "{ended:?}");
    assert_eq!(out(&sandbox.client().unwrap(), "echo works"), "works");
}

#[test]
fn the_box_is_full() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let mut fixture = Fixture::container(engine);
    // /var/tmp is in memory by our own settings, 256 MB of it.
    fixture.config.container.limits.memory_mb = Some(2048);
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    let full = sh(&client, "s", "head -c 400000000 /dev/zero > /var/tmp/big");
    assert_ne!(full.code(), 0);
    assert_eq!(out(&client, "rm /var/tmp/big; echo works"), "works");
}
