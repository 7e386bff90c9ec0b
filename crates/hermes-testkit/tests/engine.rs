//! The container engine for tests, proved by containers that run.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use hermes_testkit::engine::SilentEngine;
use hermes_testkit::{End, Engine, Hermes, Image, PrivateEngine, TestHome, need, wait_until};

const SOON: Duration = Duration::from_secs(30);

fn run_in(engine: &Engine, image: Image, command: &[&str]) -> hermes_testkit::Finished {
    let name = engine.image(image).unwrap();
    let scope = engine.scope();
    let label = scope.label_arg();
    let args = ["run", "--rm", "--network=none", label.as_str(), name];
    engine.cli(args.iter().chain(command))
}

fn images_hold_what_they_promise(engine: &Engine) {
    run_in(engine, Image::Base, &["bash", "-c", "echo hi from $BASH"])
        .success()
        .stdout_is("hi from /bin/bash\n");
    run_in(
        engine,
        Image::Base,
        &["sh", "-c", "id -un; ls -d /tmp /root /workspace; echo a b | awk '{print $2}'"],
    )
    .success()
    .stdout_is("root\n/root\n/tmp\n/workspace\nb\n");
    run_in(engine, Image::Base, &["/usr/bin/env", "sh", "-c", "echo env works"]).success();
    run_in(engine, Image::Busybox, &["sh", "-c", "test ! -e /bin/bash && echo none"])
        .success()
        .stdout_is("none\n");
    let empty = run_in(engine, Image::Empty, &["/bin/sh"]);
    assert!(matches!(empty.end, End::Code(126 | 127)), "{empty}");
}

fn a_scope_removes_what_it_names(engine: &Engine) {
    let image = engine.image(Image::Base).unwrap();
    let scope = engine.scope();
    let other = engine.scope();
    let (label, other_label) = (scope.label_arg(), other.label_arg());
    let run = |label: &str| {
        engine.cli(["run", "--detach", "--network=none", label, image, "sleep", "300"]).success().lines()[0]
            .clone()
    };
    let (own, foreign) = (run(&label), run(&other_label));
    engine.cli(["volume", "create", &label, &scope.unique("volume")]).success();
    assert_eq!(scope.containers().len(), 1);
    scope.clear();
    assert!(scope.containers().is_empty());
    assert_ne!(engine.cli(["inspect", &own]).end, End::Code(0));
    engine.cli(["inspect", &foreign]).success();
    engine.cli(["volume", "ls", "--quiet"]).success().stdout_lacks(&scope.unique("volume"));
}

#[test]
fn docker_runs_bash_in_the_base_image() {
    let Some(engine) = need("a container engine", Engine::get()) else { return };
    images_hold_what_they_promise(engine);
}

#[test]
fn docker_scopes_clean_up() {
    let Some(engine) = need("a container engine", Engine::get()) else { return };
    a_scope_removes_what_it_names(engine);
}

#[test]
fn programs_under_test_reach_the_engine() {
    let Some(engine) = need("a container engine", Engine::get()) else { return };
    let home = TestHome::new();
    Hermes::new(engine.program(), &home).envs(engine.env()).args(["ps", "--quiet"]).run().success();
}

#[test]
fn podman_runs_bash_in_the_base_image() {
    let Some(engine) = need("podman", Engine::podman()) else { return };
    images_hold_what_they_promise(engine);
}

#[test]
fn podman_scopes_clean_up() {
    let Some(engine) = need("podman", Engine::podman()) else { return };
    a_scope_removes_what_it_names(engine);
}

#[test]
fn a_private_engine_can_be_stopped_killed_and_started() {
    let Some(mut private) = need("an engine of its own", PrivateEngine::start()) else { return };
    let engine = private.engine().clone();
    let socket = engine.env().next().unwrap().1.trim_start_matches("unix://").to_owned();
    let dir = Path::new(&socket).parent().unwrap().to_path_buf();
    let image = engine.image(Image::Base).unwrap();
    let run = ["run", "--detach", "--network=none", "--name=kept", "--stop-timeout=1", image, "sleep", "300"];
    engine.cli(run).success();

    private.stop();
    assert_ne!(engine.cli(["version"]).end, End::Code(0), "a stopped engine does not answer");
    private.start_again().unwrap();
    let state = ["inspect", "--format={{.State.Running}}", "kept"];
    engine.cli(state).success().stdout_is("false\n");

    engine.cli(["start", "kept"]).success();
    private.kill9();
    assert_ne!(engine.cli(["version"]).end, End::Code(0), "a killed engine does not answer");
    private.start_again().unwrap();
    engine.cli(state).success();

    engine.cli(["start", "kept"]).success();
    private.kill9();
    drop(private);
    assert!(!dir.exists(), "everything is removed, even after a kill");
    let processes = || std::process::Command::new("ps").args(["-eo", "args"]).output().unwrap().stdout;
    assert!(!String::from_utf8_lossy(&processes()).contains(dir.to_str().unwrap()), "no process is left");
}

#[test]
fn a_silent_engine_accepts_and_never_answers() {
    let silent = SilentEngine::start();
    let mut client = UnixStream::connect(silent.socket()).unwrap();
    client.write_all(b"GET /_ping HTTP/1.0\r\n\r\n").unwrap();
    wait_until(SOON, "the connection is accepted", || silent.connections() == 1);
    client.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let kind = client.read(&mut [0; 1]).unwrap_err().kind();
    assert!(matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut), "{kind:?}");
    drop(silent);
    assert_eq!(client.read(&mut [0; 1]).unwrap(), 0, "the connection ends with the engine");
}

#[test]
fn the_program_starts_one_engine_for_all_and_stops_it_when_unused() {
    if let Some(reason) = no_engine_of_our_own() {
        need::<(), _>("a private engine", Err(reason));
        return;
    }
    let root = tempfile::Builder::new().prefix("hermes-shared-").tempdir_in("/var/tmp").unwrap();
    let dir = root.path().join("engine");
    let home = TestHome::new();
    let program = |args: &[&str]| {
        // A host where nothing answers, so that a private engine is needed.
        Hermes::new(env!("CARGO_BIN_EXE_hermes-test-engine"), &home)
            .env("HERMES_TEST_ENGINE_DIR", &dir)
            .env("DOCKER_HOST", "unix:///nonexistent/docker.sock")
            .limit(Duration::from_mins(3))
            .args(args)
    };
    let mut holders = [(); 2].map(|()| Hermes::new("/bin/cat", &home).spawn());
    let pids: Vec<String> = holders.iter().map(|holder| holder.pid().to_string()).collect();

    let starting: Vec<_> = pids.iter().map(|pid| program(&["start", "--for", pid]).spawn()).collect();
    let expected = format!("DOCKER_HOST=unix://{}/docker.sock\n", dir.display());
    for start in starting {
        start.wait(Duration::from_mins(3)).success().stdout_is(&expected);
    }
    let daemons =
        std::process::Command::new("pgrep").args(["-c", "-f", "dockerd.*hermes-shared-"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&daemons.stdout).trim(), "1", "both share one daemon");

    program(&["stop", "--for", &pids[0]])
        .run()
        .success()
        .stderr_has(&format!("still used by process {}", pids[1]));
    assert!(dir.join("docker.sock").exists());
    holders[1].kill9();
    program(&["stop", "--for", &pids[0]]).run().success().stderr_has("all it made is removed");
    assert!(!dir.exists());
    program(&["stop"]).run().success().stderr_has("nothing to stop");
    program(&["dance"]).run().code(2).stderr_has("usage:");
}

fn no_engine_of_our_own() -> Option<String> {
    (!rustix::process::geteuid().is_root()).then(|| "this needs root".to_owned())
}
