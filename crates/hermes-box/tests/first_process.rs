//! `hermes-box init` as the first process of a process namespace, as in a container.
//!
//! Needs `unshare`, as root or with user namespaces; where that is not allowed there is nothing to test.

#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs, reason = "tests")]
#![allow(dead_code, reason = "the world is shared with other tests")]

#[path = "common/world.rs"]
mod world;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hermes_box::client::{Client, ConnectOptions};
use hermes_box::daemon::connect_unix;
use hermes_box::proto::exec::{Capture, Ending, ExecRequest, Keep, Notice, Spill};
use hermes_box::proto::hello::{Hello, Refusal};
use hermes_box::proto::job::{JobRequest, JobState};
use hermes_box::proto::message::ToAgent;
use hermes_box::proto::wire::Wire;
use world::{PROGRAM, environment, eventually, text};

/// A namespace of its own, with the agent as its first process.
struct Container {
    unshare: Child,
    socket: PathBuf,
    directory: tempfile::TempDir,
}

impl Container {
    /// `before` is shell text that runs in the namespace before the agent takes over.
    fn start(before: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("home")).unwrap();
        std::fs::create_dir(directory.path().join("agent")).unwrap();
        let flags = ["-fpm", "-Urfpm"].into_iter().find(|flags| {
            let probe =
                Command::new("unshare").args([flags, "--mount-proc", "true"]).stderr(Stdio::null()).status();
            probe.is_ok_and(|status| status.success())
        });
        let Some(flags) = flags else {
            eprintln!("process namespaces cannot be made here");
            return None;
        };
        let socket = directory.path().join("s");
        let script = format!(
            "{before}\nexec {PROGRAM} init --in-box --socket {0}/s --directory {0}/agent --cwd {0}/home --grace 300",
            directory.path().display()
        );
        let unshare = Command::new("unshare")
            .args([flags, "--mount-proc", "bash", "-c", &script])
            .env_clear()
            .envs(environment(&directory.path().join("home")))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let container = Self { unshare, socket, directory };
        assert!(eventually(|| std::os::unix::net::UnixStream::connect(&container.socket).is_ok()));
        Some(container)
    }

    fn client(&self) -> Client {
        connect_unix(&self.socket, &[], &ConnectOptions::default()).unwrap()
    }

    /// The agent, as the outside numbers it.
    fn first_process(&self) -> String {
        let children = format!("/proc/{0}/task/{0}/children", self.unshare.id());
        std::fs::read_to_string(children).unwrap_or_default().trim().to_string()
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let first = self.first_process();
        if !first.is_empty() {
            let _ = Command::new("kill").args(["-9", &first]).status();
        }
        let _ = self.unshare.wait();
    }
}

fn run(client: &Client, command: &str) -> String {
    text(&client.run(ExecRequest::shell("s", command)).unwrap())
}

#[test]
fn it_survives_a_command_that_kills_everybody() {
    let Some(container) = Container::start("") else { return };
    let client = container.client();
    assert_eq!(client.agent().pid, 1);
    let job = client.jobs().start(JobRequest::shell("s", "sleep 300")).unwrap().id;
    let exit = client.run(ExecRequest::shell("s", "echo before; kill -9 -1; sleep 300")).unwrap();
    assert_eq!(text(&exit), "before\n");
    assert!(matches!(exit.ending, Ending::GuardLost), "{exit:?}");
    // The job's guard was killed too; that is known, and nothing of either is left.
    let ended = client.jobs().wait(&job, Some(Duration::from_mins(1))).unwrap();
    assert!(matches!(ended.state, JobState::Ended { ending: Ending::GuardLost, .. }), "{ended:?}");
    assert_eq!(run(&client, "echo goes on"), "goes on\n");
    let alone = "for p in /proc/[0-9]*; do case $(cut -d' ' -f2 $p/stat 2>/dev/null) in '(sleep)') echo $p;; esac; done";
    assert_eq!(run(&client, alone), "");
}

#[test]
fn it_goes_on_after_a_command_that_stops_everybody() {
    let Some(container) = Container::start("") else { return };
    let client = container.client();
    let limit = Duration::from_secs(15);
    let job = client.jobs().start(JobRequest::shell("s", "sleep 300")).unwrap().id;
    let exit = client.run(ExecRequest::shell("s", "kill -STOP -1; echo on; exit 3").timeout(limit)).unwrap();
    assert_eq!((text(&exit).as_str(), exit.code()), ("on\n", 3));
    let next = client.run(ExecRequest::shell("s", "echo next").timeout(limit)).unwrap();
    assert_eq!((text(&next).as_str(), next.code()), ("next\n", 0));
    // What it stopped of others can still be ended.
    let ended = client.jobs().kill(&job, Some(Duration::from_millis(100))).unwrap();
    assert!(matches!(ended.state, JobState::Ended { ending: Ending::Cancelled, .. }), "{ended:?}");
    let stopped = "cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') T '; true";
    assert!(eventually(|| run(&client, stopped) == "0\n"), "{}", run(&client, stopped));
    let guards = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -cx 'hermes-box-shi[m]'; true";
    assert!(eventually(|| run(&client, guards) == "2\n"), "{}", run(&client, guards));
}

#[test]
fn it_takes_in_orphans() {
    let Some(container) = Container::start("") else { return };
    let client = container.client();
    for _ in 0..20 {
        run(&client, "(setsid sh -c 'sleep 0.05' &) ; (true &)");
    }
    let zombies = "cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z '; true";
    assert!(eventually(|| run(&client, zombies) == "0\n"), "{}", run(&client, zombies));
    assert!(eventually(|| client.info().unwrap().left_running.is_empty()));
}

#[test]
fn term_ends_the_container() {
    let Some(mut container) = Container::start("") else { return };
    let client = container.client();
    let marker = container.directory.path().join("cleaned");
    let command = format!(
        "trap 'echo yes > {}; exit' TERM; echo ready; while :; do sleep 0.05; done",
        marker.display()
    );
    let id = client.jobs().start(JobRequest::shell("s", command)).unwrap().id;
    assert!(eventually(|| client.jobs().read(&id, 0, 10).unwrap().bytes == b"ready\n"));
    assert!(Command::new("kill").args(["-TERM", &container.first_process()]).status().unwrap().success());
    assert!(container.unshare.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(marker).unwrap(), "yes\n");
}

#[test]
fn those_who_enter_from_outside_are_let_in_and_commands_are_not() {
    let Some(container) = Container::start("") else { return };
    let client = container.client();
    let hello = container.directory.path().join("hello");
    std::fs::write(&hello, ToAgent::Hello(Hello::ours(None)).encode()).unwrap();
    let knock = format!("(cat {}; sleep 0.3) | {PROGRAM} connect | od -An -v -w64 -tx1", hello.display());
    let refused: Vec<String> =
        Refusal::OwnCommand.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(run(&client, &knock).trim().ends_with(&format!("03 00 00 00 00 {}", refused.join(" "))));
    let target = container.first_process();
    let entered = Command::new("nsenter")
        .args(["-t", &target, "-p", "-m", "-r/", "-w/", "bash", "-c", &knock])
        .output()
        .unwrap();
    let answer = String::from_utf8_lossy(&entered.stdout).into_owned();
    if entered.status.success() {
        assert!(answer.contains("02 00 00 00 00 68 65 72 6d 65 73"), "{answer}");
    }
}

#[test]
fn a_full_disk_costs_no_output() {
    let full = "mount -t tmpfs -o size=256k none \"$HOME/../agent\"";
    let Some(container) = Container::start(full) else { return };
    let client = container.client();
    let agent = container.directory.path().join("agent");
    run(&client, &format!("head -c 1000000 /dev/zero > {}/filler; true", agent.display()));
    let mut request = ExecRequest::shell("s", "cd /usr; export A=1; seq 1 100000");
    request.capture = Capture::Collect(Keep { head: 100, tail: 100 });
    request.spill = Spill::UpTo(1_000_000);
    let exit = client.run(request).unwrap();
    assert_eq!((exit.code(), exit.stdout.total), (0, 588_895));
    assert!(exit.stdout.tail.ends_with(b"99999\n100000\n"));
    assert!(exit.notices.iter().any(|notice| matches!(notice, Notice::SpillFailed(_))), "{:?}", exit.notices);
    assert!(
        exit.notices.iter().any(|notice| matches!(notice, Notice::StateNotKept(_))),
        "{:?}",
        exit.notices
    );
    assert_eq!(run(&client, "pwd; echo $A"), "/usr\n1\n", "in memory it is kept");
    let id = client.jobs().start(JobRequest::shell("s", "seq 1 100000")).unwrap().id;
    let ended = client.jobs().wait(&id, None).unwrap();
    assert_eq!((ended.exit_code(), ended.output_end), (Some(0), 588_895));
    assert!(client.jobs().tail(&id, 100).unwrap().bytes.ends_with(b"\n100000\n"));
}
