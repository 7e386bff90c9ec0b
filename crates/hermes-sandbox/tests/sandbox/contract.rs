//! What every place must do, whatever it is: one suite, run on each backend.

use std::time::Duration;

use hermes_box::proto::exec::ExecRequest;
use hermes_box::proto::job::JobRequest;
use hermes_sandbox::backend::Dispose;
use hermes_sandbox::config::BackendKind;
use hermes_testkit::{Engine, SshServer, need};

use crate::fixture::{Fixture, out, sh, text};

/// Exit codes and output come back; `exit` ends the command and nothing else.
fn commands_end_with_their_own_code(fixture: &Fixture) {
    let client = fixture.open().client().unwrap();
    let exit = sh(&client, "s", "echo out; echo err >&2; exit 3");
    assert_eq!((exit.code(), text(&exit).as_str()), (3, "out\nerr"));
    assert_eq!(sh(&client, "s", "no-such-command-at-all").code(), 127);
}

/// Directory, variables and functions of a session are there in its next command, and nowhere else.
fn shell_state_carries_over(fixture: &Fixture) {
    let client = fixture.open().client().unwrap();
    sh(&client, "a", "mkdir -p \"$HOME/here\" && cd \"$HOME/here\" && export X=1 && f() { echo from f; }");
    assert_eq!(text(&sh(&client, "a", "echo $X; f; basename \"$PWD\"")), "1\nfrom f\nhere");
    assert_eq!(text(&sh(&client, "b", "echo $X")), "");
}

/// A command that runs out of time ends with everything it started.
fn a_timeout_ends_the_whole_tree(fixture: &Fixture) {
    let client = fixture.open().client().unwrap();
    let request =
        ExecRequest::shell("s", "echo begun; sleep 611 & sleep 612").timeout(Duration::from_millis(500));
    let exit = client.run(request).unwrap();
    assert_eq!((exit.code(), text(&exit).as_str()), (124, "begun"));
    let left = "for p in /proc/[0-9]*; do { tr '\\0' ' ' < $p/cmdline; } 2>/dev/null | grep -x 'sleep 61[12] '; done; true";
    assert_eq!(out(&client, left), "");
}

/// The same handle gives the same agent, and a second handle works beside it.
fn clients_share_the_place(fixture: &Fixture) {
    let one = fixture.open();
    let first = one.client().unwrap();
    assert_eq!(one.client().unwrap().agent().instance, first.agent().instance);
    let second = fixture.open().client().unwrap();
    sh(&first, "s", "echo shared > \"$HOME/shared-file\"");
    assert_eq!(out(&second, "cat \"$HOME/shared-file\""), "shared");
    assert!(one.take_notices().iter().all(|notice| !notice.to_string().contains("lost")));
}

/// Letting go is not the end: the next use finds the place again.
fn a_released_place_is_found_again(fixture: &Fixture) {
    let sandbox = fixture.open();
    sh(&sandbox.client().unwrap(), "s", "echo kept > \"$HOME/kept-file\"");
    sandbox.dispose(Dispose::Release).unwrap();
    assert!(sandbox.wait_for_cleanup(Duration::from_mins(1)));
    assert_eq!(out(&sandbox.client().unwrap(), "cat \"$HOME/kept-file\""), "kept");
}

/// Many at once, from several threads.
fn many_commands_run_at_once(fixture: &Fixture) {
    let client = fixture.open().client().unwrap();
    std::thread::scope(|scope| {
        for number in 0..12 {
            let client = client.clone();
            scope.spawn(move || {
                let session = format!("t{number}");
                assert_eq!(
                    text(&sh(&client, &session, &format!("echo {number}; sleep 0.1"))),
                    number.to_string()
                );
            });
        }
    });
}

/// Bytes that are no text arrive as they are.
fn output_is_binary_safe(fixture: &Fixture) {
    let client = fixture.open().client().unwrap();
    let exit = sh(&client, "s", "printf '\\377\\000\\001hermes'");
    assert_eq!(exit.stdout.bytes(), b"\xff\x00\x01hermes");
}

/// Commands run where the settings say, and only there.
fn commands_run_in_the_place_and_nowhere_else(fixture: &Fixture) {
    let marker = fixture.dir().join("only-on-this-machine");
    std::fs::write(&marker, "").unwrap();
    let client = fixture.open().client().unwrap();
    let seen = sh(&client, "s", &format!("test -e '{}'", marker.display())).code() == 0;
    assert_eq!(seen, fixture.config.backend != BackendKind::Docker);
}

/// A background job outlives the handle that started it, and the next one finds it with its output.
fn jobs_outlive_their_client(fixture: &Fixture) {
    let first = fixture.open();
    let script = "echo begun; while [ ! -e \"$HOME/go\" ]; do sleep 0.05; done; echo done; exit 5";
    let started = first.jobs().unwrap().jobs().start(JobRequest::shell("job", script)).unwrap();
    drop(first);
    let jobs = fixture.open().jobs().unwrap().jobs();
    let listed = jobs.list().unwrap();
    assert!(listed.iter().any(|job| job.id == started.id && job.exit_code().is_none()), "{listed:?}");
    out(&fixture.open().client().unwrap(), "touch \"$HOME/go\"");
    let ended = jobs.wait(&started.id, Some(Duration::from_mins(1))).unwrap();
    assert_eq!(ended.exit_code(), Some(5));
    assert_eq!(jobs.tail(&started.id, 1000).unwrap().bytes, b"begun\ndone\n");
}

/// Files go in and out as they are.
fn files_are_read_and_written(fixture: &Fixture) {
    let client = fixture.open().client().unwrap();
    let home = out(&client, "echo \"$HOME\"");
    let path = format!("{home}/sub/file");
    let content: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    client.files().write(&path, &content).unwrap();
    assert_eq!(out(&client, &format!("wc -c < {path}")), "300000");
    assert_eq!(client.files().read(&path, 1 << 20).unwrap().0, content);
}

/// One suite, one module for each backend.
macro_rules! contract {
    ($backend:ident, $fixture:expr) => {
        contract!($backend, $fixture,
            commands_end_with_their_own_code,
            shell_state_carries_over,
            a_timeout_ends_the_whole_tree,
            clients_share_the_place,
            a_released_place_is_found_again,
            many_commands_run_at_once,
            output_is_binary_safe,
            commands_run_in_the_place_and_nowhere_else,
            jobs_outlive_their_client,
            files_are_read_and_written,
        );
    };
    ($backend:ident, $fixture:expr, $($test:ident),* $(,)?) => {
        mod $backend {
            use super::*;

            $(
                #[test]
                fn $test() {
                    let Some(fixture) = $fixture else { return };
                    super::$test(&fixture);
                }
            )*
        }
    };
}

contract!(ssh, need("an ssh server", SshServer::start()).map(Fixture::ssh));
contract!(local, Some(Fixture::local()));
contract!(docker, need("docker", Engine::get()).map(Fixture::container));
contract!(podman, need("podman", Engine::podman()).map(Fixture::container));
