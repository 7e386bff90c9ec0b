//! An engine that is not there, does not answer, refuses, or goes away and comes back.

use std::time::{Duration, Instant};

use hermes_sandbox::docker::errors::EngineError;
use hermes_sandbox::error::SandboxError;
use hermes_sandbox::notice::Notice;
use hermes_sandbox::sandbox::Sandbox;
use hermes_testkit::engine::SilentEngine;
use hermes_testkit::{Engine, PrivateEngine, need};

use crate::fixture::{Fixture, out, sh};

fn failure(fixture: &Fixture) -> EngineError {
    match Sandbox::open(&fixture.config, &fixture.context).and_then(|sandbox| sandbox.client()) {
        Err(SandboxError::Engine(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it worked"),
    }
}

#[test]
fn one_that_never_answers_is_given_up_on_in_seconds() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let mut fixture = Fixture::container(engine);
    let silent = SilentEngine::start();
    fixture.context.env.set("DOCKER_HOST", silent.host());
    let begun = Instant::now();
    let error = failure(&fixture);
    assert!(matches!(error, EngineError::TimedOut { .. }), "{error}");
    assert!(error.to_string().contains("did not answer within 10 s"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(30), "one deadline, not many");
    assert!(silent.connections() > 0);
}

#[test]
fn one_that_does_not_run_says_what_to_do() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let mut fixture = Fixture::container(engine);
    fixture.context.env.set("DOCKER_HOST", format!("unix://{}/nobody.sock", fixture.dir().display()));
    let error = failure(&fixture);
    assert!(matches!(error, EngineError::NotRunning { .. }), "{error}");
    assert!(error.to_string().contains("DOCKER_HOST"), "{error}");
}

#[test]
fn none_installed_says_what_to_do() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let mut fixture = Fixture::container(engine);
    fixture.config.container.binary = Some("no-such-engine".into());
    assert!(matches!(failure(&fixture), EngineError::Unusable(_)));
}

#[test]
fn a_missing_image_is_named() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let mut fixture = Fixture::container(engine);
    // A registry that refuses connections, so that nothing is asked of the network.
    fixture.config.container.image = "127.0.0.1:1/no/such:image".into();
    let error = failure(&fixture);
    let text = error.to_string();
    assert!(text.contains("pulling the image") || text.contains("no/such:image"), "{text}");
    assert!(fixture.containers().is_empty());
}

#[test]
fn refused_arguments_leave_nothing_behind() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let mut fixture = Fixture::container(engine);
    for args in [vec!["--no-such-option"], vec!["--cap-add", "NONSENSE"], vec!["--device", "/dev/no-such"]] {
        fixture.config.container.extra_args = args.into_iter().map(str::to_owned).collect();
        let error = failure(&fixture);
        assert!(
            matches!(error, EngineError::Failed { code: 125, .. } | EngineError::CannotStart { .. }),
            "{error}"
        );
        assert!(fixture.containers().is_empty(), "{error}");
    }
}

#[test]
fn stopped_and_started_again_under_us() {
    let Some(mut private) = need("an engine to stop", PrivateEngine::start()) else { return };
    let fixture = Fixture::container(private.engine());
    let sandbox = fixture.open();
    sh(&sandbox.client().unwrap(), "s", "echo kept > /opt/kept");
    private.stop();
    let error = sandbox.client().unwrap_err();
    assert!(matches!(error, SandboxError::Engine(EngineError::NotRunning { .. })), "{error}");
    private.start_again().unwrap();
    assert_eq!(out(&sandbox.client().unwrap(), "cat /opt/kept"), "kept");
    assert!(sandbox.take_notices().iter().any(|n| matches!(n, Notice::StateLost { .. })));
    assert_eq!(fixture.containers().len(), 1);
}

#[test]
fn killed_while_we_work_does_not_stop_us() {
    let Some(mut private) = need("an engine to kill", PrivateEngine::start()) else { return };
    let fixture = Fixture::container(private.engine());
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    private.kill9();
    // The container outlives its engine, and so does the socket: nobody needs to be asked.
    assert_eq!(out(&client, "echo works"), "works");
    assert_eq!(out(&fixture.open().client().unwrap(), "echo attached"), "attached");
}
