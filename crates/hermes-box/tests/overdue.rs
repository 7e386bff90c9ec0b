//! A client whose agent does not do its part in time: one that is frozen is given up, one that is slow is not.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]
#![allow(dead_code, reason = "the world is shared with other tests")]

#[path = "common/world.rs"]
mod world;

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use hermes_box::client::{CallError, Client, ConnectOptions, Transport};
use hermes_box::proto::call::Call;
use hermes_box::proto::exec::{Captured, Ending, ExecRequest, Exit, Status};
use hermes_box::proto::frame::{CallId, MAX_BODY, read_frame};
use hermes_box::proto::hello::{MAGIC, NEWEST, Welcome};
use hermes_box::proto::info::{Info, ShellKind};
use hermes_box::proto::message::{ToAgent, ToClient};
use hermes_box::proto::wire::Wire;

/// An agent that is told what to say. The calls it gets come out of `calls`.
struct Puppet {
    client: Client,
    socket: UnixStream,
    calls: mpsc::Receiver<(CallId, Call)>,
}

impl Puppet {
    fn new() -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (sender, calls) = mpsc::channel();
        let mut reader = theirs.try_clone().unwrap();
        let mut greeter = theirs.try_clone().unwrap();
        std::thread::spawn(move || {
            while let Ok(Some(frame)) = read_frame(&mut reader, MAX_BODY) {
                match ToAgent::decode(frame).unwrap() {
                    ToAgent::Hello(_) => greeter.write_all(&ToClient::Welcome(welcome()).encode()).unwrap(),
                    ToAgent::Call { id, call, .. } => sender.send((id, *call)).unwrap(),
                    _ => {}
                }
            }
        });
        let client = Client::connect(Transport::socket(ours).unwrap(), &ConnectOptions::default()).unwrap();
        Self { client, socket: theirs, calls }
    }

    fn next_call(&self) -> (CallId, Call) {
        self.calls.recv_timeout(Duration::from_mins(1)).unwrap()
    }

    fn answer(&mut self, id: CallId, answer: &impl Wire) {
        self.socket.write_all(&ToClient::Done { id, answer: answer.to_bytes() }.encode()).unwrap();
    }
}

fn welcome() -> Welcome {
    Welcome { magic: MAGIC, protocol: NEWEST, version: "0".into(), build: "test".into(), pid: 1, instance: 1 }
}

fn info() -> Info {
    Info {
        version: "0".into(),
        build: "test".into(),
        pid: 1,
        instance: 1,
        uptime_ms: 0,
        clients: 1,
        calls: 1,
        jobs_running: 0,
        jobs_ended: 0,
        idle_ms: 0,
        commands: 1,
        file_operations: 0,
        left_running: Vec::new(),
        shell: ShellKind::Missing,
        directory: None,
        problems: Vec::new(),
    }
}

fn exit() -> Exit {
    Exit {
        ending: Ending::TimedOut,
        status: Status::Signal(9),
        cwd: PathBuf::from("/"),
        duration: Duration::from_secs(1),
        left_running: 0,
        notices: Vec::new(),
        stdout: Captured::default(),
        stderr: Captured::default(),
    }
}

/// A command that is overdue at once.
fn brief() -> ExecRequest {
    let mut request = ExecRequest::shell("s", "true").timeout(Duration::from_millis(10));
    request.grace = Some(Duration::ZERO);
    request
}

#[test]
fn a_slow_agent_that_answers_is_waited_for() {
    let mut puppet = Puppet::new();
    let client = puppet.client.clone();
    let run = std::thread::spawn(move || client.run(brief()));
    let (command, call) = puppet.next_call();
    assert!(matches!(call, Call::Exec(_)));
    // Asked more than once whether it is well, it says so each time; the command's end comes much too late.
    for _ in 0..2 {
        let (id, call) = puppet.next_call();
        assert_eq!(call, Call::Info);
        puppet.answer(id, &info());
    }
    puppet.answer(command, &exit());
    assert_eq!(run.join().unwrap().unwrap().code(), 124);
    assert!(puppet.client.lost().is_none(), "the connection is still good");
}

#[test]
fn an_agent_that_gives_no_sign_of_life_is_given_up() {
    let puppet = Puppet::new();
    let client = puppet.client.clone();
    let (sender, result) = mpsc::channel();
    std::thread::spawn(move || drop(sender.send(client.run(brief()))));
    // A minute was what it once took; a few seconds are meant.
    let error = result.recv_timeout(Duration::from_secs(40)).unwrap().unwrap_err();
    assert!(matches!(error, CallError::Unresponsive(_)), "{error}");
    assert!(error.to_string().contains("paused or frozen"), "{error}");
    assert!(puppet.client.lost().is_some());
}

#[test]
fn looking_whether_it_answers_keeps_the_connection() {
    let mut puppet = Puppet::new();
    assert!(!puppet.client.answers_within(Duration::from_millis(20)));
    assert!(puppet.client.lost().is_none());
    let client = puppet.client.clone();
    let answers = std::thread::spawn(move || client.answers_within(Duration::from_mins(1)));
    let (first, _) = puppet.next_call();
    let (second, _) = puppet.next_call();
    // The late answer to the first question does no harm.
    puppet.answer(first, &info());
    puppet.answer(second, &info());
    assert!(answers.join().unwrap());
}

#[test]
fn signs_of_life_take_no_thread() {
    let world = world::World::daemon();
    let threads = || {
        let tasks = format!("/proc/{}/task", world.client.agent().pid);
        std::fs::read_dir(tasks).unwrap().count()
    };
    assert!(world.client.answers_within(Duration::from_mins(1)));
    let before = threads();
    for _ in 0..20 {
        assert!(world.client.answers_within(Duration::from_mins(1)));
    }
    assert_eq!(threads(), before);
    world.client.shutdown().unwrap();
}
