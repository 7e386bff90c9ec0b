//! Another machine by ssh: what can go wrong on the way, and what must be sent only once.

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use hermes_box::proto::job::JobRequest;
use hermes_sandbox::error::SandboxError;
use hermes_sandbox::sandbox::Sandbox;
use hermes_sandbox::ssh::errors::SshError;
use hermes_testkit::{SshServer, need};
use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::{Fixture, freeze, out};

fn fixture() -> Option<Fixture> {
    need("an ssh server", SshServer::start()).map(Fixture::ssh)
}

fn failure(fixture: &Fixture) -> SshError {
    match Sandbox::open(&fixture.config, &fixture.context).and_then(|sandbox| sandbox.client()) {
        Err(SandboxError::Ssh(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it worked"),
    }
}

fn known_hosts(fixture: &mut Fixture, file: &std::path::Path) {
    fixture.config.ssh.options[0] = format!("UserKnownHostsFile={}", file.display());
}

#[test]
fn a_changed_host_key_stops_everything() {
    let Some(mut fixture) = fixture() else { return };
    let wrong = fixture.server().wrong_known_hosts();
    known_hosts(&mut fixture, &wrong);
    let error = failure(&fixture);
    assert!(matches!(error, SshError::HostKey { .. }), "{error}");
    assert!(error.to_string().contains("ssh-keygen -R"), "{error}");
}

#[test]
fn a_new_host_is_believed_once() {
    let Some(mut fixture) = fixture() else { return };
    let empty = fixture.dir().join("known_hosts");
    known_hosts(&mut fixture, &empty);
    assert_eq!(out(&fixture.open().client().unwrap(), "echo works"), "works");
    assert_ne!(std::fs::read_to_string(&empty).unwrap(), "", "its key is known from now on");
}

#[test]
fn a_key_that_is_not_let_in_is_an_error_that_says_so() {
    let Some(mut fixture) = fixture() else { return };
    fixture.config.ssh.key = Some(fixture.server().stranger_identity());
    let error = failure(&fixture);
    assert!(matches!(error, SshError::Auth { .. }), "{error}");
}

#[test]
fn nobody_at_the_other_end_is_an_error_that_says_so() {
    let Some(mut fixture) = fixture() else { return };
    fixture.config.ssh.port = Some(1);
    assert!(matches!(failure(&fixture), SshError::Unreachable { .. }));
    fixture.config.ssh.host = "no-such-host.invalid".into();
    assert!(matches!(failure(&fixture), SshError::UnknownHost { .. }));
    fixture.config.ssh.host = String::new();
    assert!(matches!(failure(&fixture), SshError::NoHost));
}

#[test]
fn the_program_is_sent_once_for_all_processes() {
    let Some(fixture) = fixture() else { return };
    let sent = || {
        let sandbox = fixture.open();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&lines);
        sandbox.on_progress(move |line| seen.lock().unwrap().push(line.to_owned()));
        assert_eq!(out(&sandbox.client().unwrap(), "echo works"), "works");
        lines.lock().unwrap().len()
    };
    assert_eq!((sent(), sent()), (1, 0));
    assert_eq!(fixture.server().connections(), 1, "one connection is shared by everything");
}

#[test]
fn a_dropped_connection_is_made_again_and_jobs_go_on() {
    let Some(fixture) = fixture() else { return };
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    let instance = client.agent().instance;
    let job = client.jobs().start(JobRequest::shell("j", "echo begun; sleep 300")).unwrap();
    fixture.server().cut_connections();
    crate::fixture::eventually("the loss is noticed", || client.lost().is_some());
    let again = sandbox.client().unwrap();
    assert_eq!(again.agent().instance, instance, "the agent there did not notice");
    assert_eq!(out(&again, "echo works"), "works");
    let jobs = again.jobs();
    assert!(jobs.get(&job.id).unwrap().exit_code().is_none());
    assert_eq!(jobs.tail(&job.id, 100).unwrap().bytes, b"begun\n");
    assert!(sandbox.take_notices().is_empty(), "nothing was lost");
    again.shutdown().unwrap();
}

#[test]
fn a_shared_connection_that_is_stuck_is_replaced() {
    let Some(fixture) = fixture() else { return };
    let sandbox = fixture.open();
    let instance = sandbox.client().unwrap().agent().instance;
    let masters = masters_of(&fixture);
    assert_eq!(masters.len(), 1, "{masters:?}");
    for pid in &masters {
        freeze(*pid);
    }
    let client = sandbox.client().unwrap();
    assert_eq!(out(&client, "echo works"), "works");
    assert_eq!(client.agent().instance, instance);
    for pid in masters {
        kill_process(pid, Signal::KILL).unwrap();
    }
}

/// The processes that hold this server's shared connection.
fn masters_of(fixture: &Fixture) -> Vec<Pid> {
    let key = format!("{}@{}:{}", fixture.config.ssh.user, fixture.config.ssh.host, fixture.server().port());
    let control = sha256(&key);
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).into_owned();
            command.starts_with("ssh: ") && command.contains(&control) && command.contains("[mux]")
        })
        .filter_map(Pid::from_raw)
        .collect()
}

fn sha256(text: &str) -> String {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(text.as_bytes());
    digest[..8].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

#[test]
fn the_users_own_configuration_counts() {
    let Some(mut fixture) = fixture() else { return };
    // Ssh finds the configuration of the account, which a test must not touch, so it is named to it.
    let wrapper = fixture.dir().join("ssh");
    let config = fixture.server().client_config();
    std::fs::write(&wrapper, format!("#!/bin/sh\nexec ssh -F '{}' \"$@\"\n", config.display())).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    fixture.config.ssh = hermes_sandbox::config::SshConfig {
        host: SshServer::ALIAS.into(),
        binary: Some(wrapper),
        ..hermes_sandbox::config::SshConfig::default()
    };
    assert_eq!(out(&fixture.open().client().unwrap(), "echo works"), "works");
}
