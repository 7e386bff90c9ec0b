//! A container that our program cannot run in: commands go on, by the engine.

use std::time::Duration;

use hermes_sandbox::error::SandboxError;
use hermes_sandbox::manage::{Manager, Which};
use hermes_sandbox::notice::Notice;
use hermes_sandbox::plain::{Plain, PlainEnding, PlainError, PlainKind, PlainRequest, PlainStreams};
use hermes_sandbox::sandbox::{Access, Sandbox};
use hermes_testkit::{Engine, Image, need};

use crate::fixture::{Fixture, eventually};

/// Settings with an engine that mounts our program so that it cannot be run, as a cache directory on a file system
/// without programs does.
fn fixture(image: Image) -> Option<Fixture> {
    let engine = need("docker", Engine::get())?;
    let mut fixture = Fixture::container(engine);
    let wrapper = engine.forbidding(fixture.dir(), "/.hermes-box/bin", "hermes-box");
    fixture.config.container.binary = Some(wrapper);
    fixture.config.container.image = engine.image(image).unwrap().into();
    Some(fixture)
}

fn plain(sandbox: &Sandbox) -> Plain {
    match sandbox.access().unwrap() {
        Access::Plain(plain) => plain,
        Access::Agent(_) => panic!("our program ran although it cannot"),
    }
}

fn sh(plain: &Plain, command: &str) -> (i32, String) {
    let exit = plain.run(PlainRequest { session: Some("s".into()), ..PlainRequest::shell(command) }).unwrap();
    (exit.code, String::from_utf8(exit.stdout).unwrap() + &String::from_utf8_lossy(&exit.stderr))
}

#[test]
fn commands_run_with_their_codes_and_carry_directory_and_variables() {
    for image in [Image::Base, Image::Busybox] {
        let Some(fixture) = fixture(image) else { return };
        let sandbox = fixture.open();
        let plain = plain(&sandbox);
        let notices = sandbox.take_notices();
        assert!(notices.iter().any(|n| matches!(n, Notice::PlainExec { .. })), "{notices:?}");
        assert_eq!(sh(&plain, "cd /opt; export A='it'\\''s'; exit 3"), (3, String::new()), "{image:?}");
        assert_eq!(
            sh(&plain, "pwd; echo \"$A\"; echo err >&2"),
            (0, "/opt\nit's\nerr\n".into()),
            "{image:?}"
        );
        assert_eq!(sh(&plain, "kill -9 $$").0, 137);
        let alone = plain.run(PlainRequest::shell("pwd; echo \"$A\"")).unwrap();
        assert_eq!(alone.stdout, b"/root\n\n", "no session, nothing carried");
        let gone = PlainRequest { cwd: Some("/no/such".into()), ..PlainRequest::shell("true") };
        assert_eq!(plain.run(gone).unwrap().code, 126);
        let fed = PlainRequest { streams: PlainStreams::Fed(b"in".to_vec()), ..PlainRequest::shell("cat") };
        assert_eq!(plain.run(fed).unwrap().stdout, b"in");
        let words = ["printf", "%s|", "a b", "it's", "$A"].map(Into::into);
        assert_eq!(plain.run(PlainRequest::argv(&words)).unwrap().stdout, b"a b|it's|$A|");
    }
}

#[test]
fn values_handed_over_are_no_arguments_and_newer_than_carried_ones() {
    let Some(fixture) = fixture(Image::Base) else { return };
    let plain = plain(&fixture.open());
    for value in ["one", "two words"] {
        let request = PlainRequest {
            session: Some("s".into()),
            env: vec![("TOKEN".into(), value.into())],
            ..PlainRequest::shell("echo \"$TOKEN\"; tr '\\0' ' ' < /proc/$$/cmdline | grep -c 'two words'")
        };
        let out = String::from_utf8(plain.run(request).unwrap().stdout).unwrap();
        // The one line that has it is the command that looks for it.
        assert_eq!(out, format!("{value}\n1\n"));
    }
}

#[test]
fn a_time_limit_and_a_cancel_end_everything() {
    let Some(fixture) = fixture(Image::Base) else { return };
    let plain = plain(&fixture.open());
    let left = || sh(&plain, "ps | grep -c '[s]leep 98[0-9]'").1.trim().to_owned();
    let script =
        "echo begun; (setsid sleep 987 </dev/null >/dev/null 2>&1 &); (trap '' TERM; sleep 986); sleep 985";
    let limited = PlainRequest {
        timeout: Some(Duration::from_secs(1)),
        grace: Duration::from_secs(1),
        ..PlainRequest::shell(script)
    };
    let exit = plain.run(limited).unwrap();
    assert_eq!(
        (exit.code, exit.ending, exit.stdout.as_slice()),
        (124, PlainEnding::TimedOut, b"begun\n".as_slice())
    );
    eventually("nothing of it is left", || left() == "0");
    let running = plain.start(PlainRequest::shell(script)).unwrap();
    let cancel = running.cancel_handle();
    eventually("it runs", || left() != "0");
    let waiting = std::thread::spawn(move || running.wait().unwrap());
    cancel.cancel();
    let exit = waiting.join().unwrap();
    assert_eq!((exit.code, exit.ending), (130, PlainEnding::Cancelled));
    eventually("nothing of it is left", || left() == "0");
}

#[test]
fn the_next_process_finds_it_and_a_stopped_one_is_started() {
    let Some(fixture) = fixture(Image::Base) else { return };
    sh(&plain(&fixture.open()), "echo kept > /opt/kept");
    assert_eq!(sh(&plain(&fixture.open()), "cat /opt/kept"), (0, "kept\n".into()));
    Engine::get().unwrap().cli(["stop", "-t", "5", &fixture.container_name()]).success();
    let next = fixture.open();
    assert_eq!(sh(&plain(&next), "cat /opt/kept"), (0, "kept\n".into()));
    assert_eq!(fixture.containers().len(), 1);
    let manager = Manager::new(&fixture.config, &fixture.context).unwrap();
    assert_eq!(manager.list(Which::Ours).unwrap().len(), 1);
    assert!(manager.diff(None).unwrap().is_empty());
}

#[test]
fn what_needs_the_agent_says_so() {
    let Some(fixture) = fixture(Image::Base) else { return };
    let error = fixture.open().jobs().unwrap_err();
    assert!(matches!(error, SandboxError::NoAgent { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("forbids running programs") && text.contains("hermes sandbox recreate"), "{text}");
}

#[test]
fn simple_files_can_be_worked_with() {
    let Some(fixture) = fixture(Image::Busybox) else { return };
    let plain = plain(&fixture.open());
    let content: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    plain.write("/opt/it's a file", &content).unwrap();
    assert_eq!(plain.read("/opt/it's a file").unwrap(), content);
    let stat = plain.stat("/opt/it's a file").unwrap().unwrap();
    assert_eq!((stat.kind, stat.size), (PlainKind::File, 100_000));
    assert_eq!(plain.stat("/opt").unwrap().unwrap().kind, PlainKind::Directory);
    assert_eq!(plain.stat("/opt/none").unwrap(), None);
    plain.write("/opt/.hidden", b"").unwrap();
    assert_eq!(plain.list("/opt").unwrap(), [".hidden", "it's a file"]);
    assert!(matches!(plain.read("/opt/none"), Err(PlainError::File { .. })));
}
