//! A process of its own that uses a sandbox, to be started many times at once or killed at a bad moment.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use hermes_box::proto::job::JobRequest;
use hermes_sandbox::sandbox::Sandbox;

use crate::fixture::{Fixture, out};

const AS_JOB: &str = "HERMES_SANDBOX_TEST_JOB";
const COMMAND: &str = "HERMES_SANDBOX_TEST_COMMAND";

/// A process that opens the fixture's sandbox, runs one command in it and prints what came.
pub fn command(fixture: &Fixture, script: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child::act", "--nocapture", "--test-threads=1"])
        .env(COMMAND, script)
        .env("HERMES_SANDBOX_TEST_ROOT", fixture.dir())
        .env("HERMES_SANDBOX_TEST_ENGINE", fixture.config.container.binary.as_ref().unwrap())
        .env("HERMES_SANDBOX_TEST_IMAGE", &fixture.config.container.image)
        .env("HERMES_SANDBOX_TEST_VOLUMES", fixture.config.container.volumes.join("\n"))
        .env("HERMES_SANDBOX_TEST_CACHE", &fixture.context.cache_dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (name, value) in fixture.context.env.iter() {
        command.env(name, value);
    }
    command
}

/// A process that starts a background job and then waits to be killed.
pub fn start_job(fixture: &Fixture, script: &str) -> Command {
    let mut command = command(fixture, script);
    command.env(AS_JOB, "1");
    command
}

/// What the process printed through us.
pub fn said(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().find_map(|line| line.split_once("child said: ")).map(|(_, said)| said.to_owned())
}

/// Does nothing as a test; as a child it is the process.
#[test]
#[allow(clippy::print_stdout, reason = "this is how the child answers")]
fn act() {
    let Ok(script) = std::env::var(COMMAND) else { return };
    let variable = |name: &str| PathBuf::from(std::env::var_os(name).unwrap());
    let root = variable("HERMES_SANDBOX_TEST_ROOT");
    let mut fixture = Fixture::borrowed(&root);
    fixture.context.cache_dir = variable("HERMES_SANDBOX_TEST_CACHE");
    let volumes = std::env::var("HERMES_SANDBOX_TEST_VOLUMES").unwrap_or_default();
    fixture.config.container.volumes = volumes.lines().map(str::to_owned).collect();
    fixture.config.container.binary = Some(variable("HERMES_SANDBOX_TEST_ENGINE"));
    fixture.config.container.image = variable("HERMES_SANDBOX_TEST_IMAGE").display().to_string();
    let sandbox = Sandbox::open(&fixture.config, &fixture.context).unwrap();
    let client = sandbox.client().unwrap_or_else(|error| panic!("{error}"));
    if std::env::var_os(AS_JOB).is_some() {
        client.jobs().start(JobRequest::shell("job", script)).unwrap();
        loop {
            std::thread::park();
        }
    }
    println!("child said: {} {}", client.agent().instance, out(&client, &script).replace('\n', " "));
}
