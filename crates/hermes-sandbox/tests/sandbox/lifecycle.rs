//! Containers over time: settings that change, sweeping, reclaiming, adoption, other ways to reach them.

use std::time::Duration;

use hermes_box::proto::exec::ExecRequest;
use hermes_sandbox::config::{DriftPolicy, Network};
use hermes_sandbox::docker::attach::Attach;
use hermes_sandbox::docker::housekeeping::Which;
use hermes_sandbox::docker::{housekeeping, sweep};
use hermes_sandbox::notice::Notice;
use hermes_testkit::{Engine, need};
use jiff::Timestamp;

use crate::fixture::{Fixture, out, sh};

fn engine() -> Option<&'static Engine> {
    need("docker", Engine::get())
}

fn id_of(engine: &Engine, fixture: &Fixture) -> String {
    engine.cli(["inspect", "--format", "{{.Id}}", &fixture.container_name()]).out().trim().to_owned()
}

fn later(days: i64) -> Timestamp {
    Timestamp::now() + jiff::SignedDuration::from_hours(24 * days)
}

#[test]
fn changed_settings_make_a_new_container_when_nobody_uses_the_old_one() {
    let Some(engine) = engine() else { return };
    let mut fixture = Fixture::container(engine);
    out(&fixture.open().client().unwrap(), "echo kept > /root/kept; echo gone > /opt/gone");
    let old = id_of(engine, &fixture);
    fixture.config.container.limits.pids = Some(99);
    let sandbox = fixture.open();
    assert_eq!(out(&sandbox.client().unwrap(), "cat /root/kept; ls /opt"), "kept");
    assert_ne!(id_of(engine, &fixture), old);
    let notices = sandbox.take_notices();
    assert!(
        notices.iter().any(|n| n.to_string().contains("limit:process is \"256\", wanted \"99\"")),
        "{notices:?}"
    );
    assert_eq!(fixture.containers().len(), 1);
}

#[test]
fn changed_settings_wait_while_somebody_uses_it() {
    let Some(engine) = engine() else { return };
    let mut fixture = Fixture::container(engine);
    let working = fixture.open();
    let client = working.client().unwrap();
    let running = client.exec(ExecRequest::shell("s", "sleep 60")).unwrap();
    let old = id_of(engine, &fixture);
    fixture.config.container.limits.pids = Some(99);
    let second = fixture.open();
    second.client().unwrap();
    assert_eq!(id_of(engine, &fixture), old);
    let notices = second.take_notices();
    assert!(
        notices.iter().any(|n| matches!(n, Notice::Drifted { kept, .. } if kept.contains("in use"))),
        "{notices:?}"
    );
    drop((running, client, working));
}

#[test]
fn a_network_that_must_be_off_is_never_used_while_on() {
    let Some(engine) = engine() else { return };
    let mut fixture = Fixture::container(engine);
    fixture.config.container.network = Network::On;
    let Ok(client) = fixture.open().client() else { return };
    let running = client.exec(ExecRequest::shell("s", "sleep 60")).unwrap();
    fixture.config.container.network = Network::Off;
    fixture.config.container.on_drift = DriftPolicy::Ignore;
    let refused = fixture.open().client().unwrap_err();
    assert!(refused.to_string().contains("must not be used"), "{refused}");
    drop((running, client));
    crate::fixture::eventually("it is free and replaced", || fixture.open().client().is_ok());
    assert_eq!(out(&fixture.open().client().unwrap(), "ls /sys/class/net"), "lo");
}

#[test]
fn the_sweep_spares_one_that_is_just_being_started() {
    let Some(engine) = engine() else { return };
    let fixture = Fixture::container(engine);
    fixture.open().client().unwrap();
    let sandbox = fixture.open();
    let backend = sandbox.docker().unwrap();
    engine.cli(["stop", "-t", "1", &fixture.container_name()]).success();
    // It was decided on while it was stopped; before it could be removed somebody started it.
    let seen = hermes_sandbox::docker::inspect::look_at(&*backend.attach().engine, &fixture.container_name())
        .unwrap()
        .unwrap();
    let plan = sweep::plan(backend.identity(), &[seen], Duration::from_mins(2), later(1));
    assert_eq!(plan.remove.len(), 1);
    assert_eq!(out(&fixture.open().client().unwrap(), "echo works"), "works");
    let applied = hermes_sandbox::docker::cleanup::apply_to_stopped(&*backend.attach().engine, plan);
    assert!(applied.removed.is_empty() && applied.kept.len() == 1, "{applied:?}");
    assert_eq!(out(&sandbox.client().unwrap(), "echo works"), "works");
}

#[test]
fn the_sweep_takes_old_exited_ones_of_this_profile_and_no_others() {
    let Some(engine) = engine() else { return };
    let (ours, theirs) = (Fixture::container(engine), Fixture::container(engine));
    for fixture in [&ours, &theirs] {
        fixture.open().client().unwrap();
        engine.cli(["stop", "-t", "1", &fixture.container_name()]).success();
    }
    let sandbox = ours.open();
    let backend = sandbox.docker().unwrap();
    let run =
        |now| sweep::run(&*backend.attach().engine, backend.identity(), ours.config.lifetime, now).unwrap();
    assert!(run(Timestamp::now()).removed.is_empty(), "too young");
    assert_eq!(run(later(1)).removed.len(), 1);
    assert!(ours.containers().is_empty());
    assert_eq!(theirs.containers().len(), 1, "another home's stays");
}

#[test]
fn an_idle_container_is_reclaimed_and_a_used_one_is_not() {
    let Some(engine) = engine() else { return };
    let mut fixture = Fixture::container(engine);
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    let attach: Attach = sandbox.docker().unwrap().attach().clone();
    let identity = sandbox.docker().unwrap().identity().clone();
    // Nothing is old yet; so the limit is put to nothing instead of waiting a week.
    fixture.config.container.retention = Some(Duration::ZERO);
    let reclaim =
        || housekeeping::reclaim(&attach, &identity, Which::All, &fixture.config, Timestamp::now()).unwrap();
    assert!(reclaim().removed.is_empty(), "a client is connected");
    drop((client, sandbox));
    crate::fixture::eventually("nobody is connected and it goes", || !reclaim().removed.is_empty());
    assert!(fixture.containers().is_empty());
}

#[test]
fn a_corpse_that_never_started_is_put_to_use() {
    let Some(engine) = engine() else { return };
    let fixture = Fixture::container(engine);
    fixture.open().client().unwrap();
    // The same request, made and not started: what a kill between the two leaves.
    let name = fixture.container_name();
    let labels = engine.cli(["inspect", "--format", "{{json .Config.Labels}}", &name]).json();
    engine.cli(["rm", "-f", &name]).success();
    let mut args = vec!["create".to_owned(), "--name".into(), name.clone()];
    for (label, value) in labels.as_object().unwrap() {
        args.push(format!("--label={label}={}", value.as_str().unwrap()));
    }
    args.extend(["--entrypoint".into(), "/nothing".into(), fixture.config.container.image.clone()]);
    engine.cli(&args).success();
    assert_eq!(out(&fixture.open().client().unwrap(), "echo works"), "works");
    assert_eq!(fixture.containers().len(), 1);
}

#[test]
fn a_container_of_the_reference_program_is_taken_over_with_its_processes() {
    let Some(engine) = engine() else { return };
    let mut fixture = Fixture::container(engine);
    fixture.config.container.network = Network::On;
    let kept = fixture.context.sandbox_dir.join("docker/default/home");
    std::fs::create_dir_all(&kept).unwrap();
    let scope = engine.scope();
    let volume = format!("{}:/root", kept.display());
    let label = scope.label_arg();
    let image = fixture.config.container.image.clone();
    let theirs = [
        "run",
        "-d",
        "--init",
        "--network=none",
        "--name",
        "hermes-0a1b2c3d",
        &label,
        "--label",
        "hermes-agent=1",
        "--label",
        "hermes-task-id=default",
        "--label",
        "hermes-profile=default",
        "-w",
        "/root",
        "-v",
        &volume,
        &image,
        "sleep",
        "infinity",
    ];
    let mut theirs: Vec<&str> = theirs.to_vec();
    let made = engine.cli(&theirs);
    if made.end != hermes_testkit::End::Code(0) {
        // Some hosts have no helper for --init.
        theirs.retain(|arg| *arg != "--init");
        engine.cli(&theirs).success();
    }
    engine.cli(["exec", "-d", "hermes-0a1b2c3d", "sleep", "4711"]).success();
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    assert_eq!(out(&client, "ps | grep -c '[s]leep 4711'"), "1");
    assert!(sandbox.take_notices().contains(&Notice::Adopted { name: "hermes-0a1b2c3d".into() }));
    let again = fixture.open().client().unwrap();
    assert_eq!(
        again.agent().instance,
        client.agent().instance,
        "the agent that was brought in is found again"
    );
    assert!(fixture.containers().is_empty(), "none of our own was made");
    let request = ExecRequest::shell("s", "sleep 4712 & sleep 4713").timeout(Duration::from_millis(300));
    assert_eq!(client.run(request).unwrap().code(), 124);
    assert_eq!(sh(&client, "s", "ps | grep '[s]leep 471[23]'").code(), 1);
}

#[test]
fn without_the_shared_directory_the_engine_is_the_way_in() {
    let Some(engine) = engine() else { return };
    let fixture = Fixture::container(engine);
    let first = fixture.open().client().unwrap();
    std::fs::remove_file(fixture.boxes().join(fixture.container_name()).join("run/box.sock")).unwrap();
    let second = fixture.open().client().unwrap();
    assert_eq!(out(&second, "echo works"), "works");
    assert_eq!(first.agent().instance, second.agent().instance);
}

#[test]
fn a_second_process_attaches_without_a_single_engine_command() {
    let Some(engine) = engine() else { return };
    let mut fixture = Fixture::container(engine);
    let first = fixture.open().client().unwrap();
    // From here on every use of the engine's command fails.
    fixture.config.container.binary = Some("/bin/false".into());
    fixture.config.container.orphan_sweep = hermes_sandbox::config::Switch::Off;
    let second = fixture.open().client().unwrap();
    assert_eq!(out(&second, "echo works"), "works");
    assert_eq!(first.agent().instance, second.agent().instance);
}
