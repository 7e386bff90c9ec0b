//! Looking after containers by hand, against a real engine.

use std::time::Duration;

use hermes_box::proto::exec::ExecRequest;
use hermes_box::proto::job::JobRequest;
use hermes_sandbox::docker::inspect::State;
use hermes_sandbox::error::SandboxError;
use hermes_sandbox::manage::{Force, JobStatus, Manager, Which};
use hermes_sandbox::plan::Rule;
use hermes_testkit::{Engine, need};
use jiff::Timestamp;

use crate::fixture::{Fixture, eventually, out};

fn fixture() -> Option<Fixture> {
    need("docker", Engine::get()).map(Fixture::container)
}

fn manager(fixture: &Fixture) -> Manager {
    Manager::new(&fixture.config, &fixture.context).unwrap()
}

#[test]
fn the_list_shows_what_is_there_and_who_uses_it() {
    let Some(fixture) = fixture() else { return };
    let manager = manager(&fixture);
    assert!(manager.list(Which::Ours).unwrap().is_empty());
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    let running = client.exec(ExecRequest::shell("s", "sleep 60")).unwrap();
    let list = manager.list(Which::Ours).unwrap();
    assert_eq!(list.len(), 1);
    let one = &list[0];
    assert_eq!(
        (one.name.as_str(), one.state, one.current),
        (fixture.container_name().as_str(), State::Running, true)
    );
    assert_eq!((one.clients, one.running, one.scope.as_deref()), (Some(1), Some(1), Some("profile:default")));
    assert!(manager.list(Which::All).unwrap().iter().any(|each| each.name == one.name));
    drop((running, client, sandbox));
}

#[test]
fn details_name_mounts_limits_variables_and_drift() {
    let Some(mut fixture) = fixture() else { return };
    fixture.config.container.env.insert("TOKEN".into(), "hunter2".into());
    fixture.config.container.limits.disk_mb = Some(1024);
    fixture.open().client().unwrap();
    fixture.config.container.limits.pids = Some(11);
    let manager = manager(&fixture);
    let details = manager.inspect(None).unwrap();
    assert!(details.mounts.iter().any(|mount| mount.target == "/root"));
    assert!(
        details.limits.iter().any(|limit| limit.limit == "memory" && limit.enforced),
        "{:?}",
        details.limits
    );
    assert!(details.limits.iter().any(|limit| limit.limit == "disk"));
    assert_eq!(details.env, ["TOKEN"]);
    assert_eq!(details.drift.iter().map(|d| d.field.as_str()).collect::<Vec<_>>(), ["limit:process"]);
    assert!(details.agent.is_some());
    let json = serde_json::to_string(&details).unwrap();
    assert!(!json.contains("hunter2"), "values of variables are nobody's business");
    assert_eq!(manager.diff(None).unwrap(), details.drift);
}

#[test]
fn one_in_use_is_only_ended_by_force() {
    let Some(fixture) = fixture() else { return };
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    let running = client.exec(ExecRequest::shell("s", "sleep 60")).unwrap();
    let manager = manager(&fixture);
    for refused in [manager.stop(None, Force::No), manager.remove(None, Force::No)] {
        assert!(refused.unwrap_err().to_string().contains("in use"));
    }
    manager.stop(None, Force::Yes).unwrap();
    assert_eq!(manager.list(Which::Ours).unwrap()[0].state, State::Exited);
    manager.remove(None, Force::No).unwrap();
    assert!(fixture.containers().is_empty());
    assert!(matches!(manager.find(None), Err(SandboxError::NoSuchSandbox(_))));
    drop(running);
}

#[test]
fn recreating_applies_the_settings() {
    let Some(mut fixture) = fixture() else { return };
    out(&fixture.open().client().unwrap(), "echo kept > /root/kept");
    fixture.config.container.on_drift = hermes_sandbox::config::DriftPolicy::Ignore;
    fixture.config.container.limits.pids = Some(77);
    let manager = manager(&fixture);
    eventually("nobody is connected any more", || manager.list(Which::Ours).unwrap()[0].clients == Some(0));
    let recreated = manager.recreate(Force::No, &mut |_| ()).unwrap();
    assert_eq!(recreated.differences[0].field, "limit:process");
    assert!(manager.diff(None).unwrap().is_empty());
    assert_eq!(out(&fixture.open().client().unwrap(), "cat /root/kept"), "kept");
}

#[test]
fn jobs_and_logs_can_be_read() {
    let Some(fixture) = fixture() else { return };
    let client = fixture.open().client().unwrap();
    let started = client.jobs().start(JobRequest::shell("j", "echo hello; exit 4")).unwrap();
    client.jobs().wait(&started.id, Some(Duration::from_mins(1))).unwrap();
    let jobs = manager(&fixture).jobs(None).unwrap();
    assert_eq!((jobs[0].status, jobs[0].exit_code), (JobStatus::Ended, Some(4)));
    assert!(jobs[0].command.contains("echo hello"));
    manager(&fixture).logs(None, 10).unwrap();
}

#[test]
fn pruning_is_planned_then_done() {
    let Some(mut fixture) = fixture() else { return };
    fixture.open().client().unwrap();
    let manager_before = manager(&fixture);
    let now = Timestamp::now();
    let plan = manager_before.prune_plan(now).unwrap();
    assert!(plan.containers.remove.is_empty(), "{plan:?}");
    assert_eq!(plan.containers.spare.len(), 1, "and it says why, once");
    manager_before.stop(None, Force::Yes).unwrap();
    let tomorrow = now + jiff::SignedDuration::from_hours(24);
    let plan = manager_before.prune_plan(tomorrow).unwrap();
    assert_eq!((plan.containers.remove.len(), plan.containers.spare.len()), (1, 0), "{plan:?}");
    let why = &plan.containers.remove[0];
    assert_eq!(why.rule, Rule::Stopped);
    assert!(why.since.is_some() && why.reason.contains("lifetime_seconds"), "{why:?}");
    let soon = manager_before.prune_plan(Timestamp::now()).unwrap();
    assert_eq!((soon.containers.remove.len(), soon.containers.spare.len()), (0, 1), "{soon:?}");
    assert!(soon.containers.spare[0].reason.contains("stopped ones go after 10 min"), "{soon:?}");
    assert_eq!(fixture.containers().len(), 1, "a plan does nothing");
    let pruned = manager_before.prune(tomorrow).unwrap();
    assert_eq!(pruned.containers.removed.len(), 1);
    assert!(fixture.containers().is_empty());
    fixture.config.container.retention = None;
    let pruned = manager(&fixture).prune(tomorrow).unwrap();
    assert_eq!(pruned.directories.len(), 1, "what is left of it on this machine");
}

#[test]
fn room_is_counted() {
    let Some(fixture) = fixture() else { return };
    let client = fixture.open().client().unwrap();
    out(&client, "head -c 3000000 /dev/urandom > /opt/big; head -c 2000000 /dev/urandom > /root/big");
    let room = manager(&fixture).df().unwrap();
    assert!(room.containers[0].bytes >= 3_000_000, "{room:?}");
    assert!(room.directories[0].bytes >= 2_000_000, "{room:?}");
    assert!(room.programs.bytes > 0 && room.total_bytes > 5_000_000, "{room:?}");
}

#[test]
fn names_and_beginnings_of_ids_mean_containers() {
    let Some(fixture) = fixture() else { return };
    fixture.open().client().unwrap();
    let manager = manager(&fixture);
    let one = manager.find(None).unwrap();
    assert_eq!(manager.find(Some(&one.name)).unwrap().id, one.id);
    assert_eq!(manager.find(Some(&one.id[..12])).unwrap().id, one.id);
    for wrong in ["", "abc", "no-such-container"] {
        assert!(manager.find(Some(wrong)).is_err(), "{wrong}");
    }
}
