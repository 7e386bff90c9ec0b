//! The program `hermes-box`: who may be its client, what it survives, and what it leaves behind.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]
#![allow(dead_code, reason = "the world is shared with other tests")]

#[path = "common/world.rs"]
mod world;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hermes_box::client::{CallError, Client, ConnectError, ConnectOptions, Event, Transport};
use hermes_box::daemon::{self, AttachError, Detached, connect_unix};
use hermes_box::proto::exec::{Ending, ExecRequest, Target};
use hermes_box::proto::hello::{Hello, Refusal};
use hermes_box::proto::job::{JobRequest, JobState};
use hermes_box::proto::message::ToAgent;
use hermes_box::server::ShimProgram;
use world::{PROGRAM, environment, eventually, is_alive, text};

/// A daemon in the foreground, ended with the test.
struct Foreground {
    process: Child,
    socket: PathBuf,
    directory: tempfile::TempDir,
}

impl Foreground {
    fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self::start_in(directory, arguments, variables)
    }

    fn start_in(directory: tempfile::TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let home = directory.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        let socket = directory.path().join("s");
        let process = Command::new(PROGRAM)
            .arg("daemon")
            .arg("--socket")
            .arg(&socket)
            .arg("--directory")
            .arg(directory.path().join("agent"))
            .arg("--cwd")
            .arg(&home)
            .args(arguments)
            .env_clear()
            .envs(environment(&home))
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let daemon = Self { process, socket, directory };
        assert!(eventually(|| std::os::unix::net::UnixStream::connect(&daemon.socket).is_ok()));
        daemon
    }

    fn client(&self) -> Client {
        self.try_client(None).unwrap()
    }

    fn try_client(&self, token: Option<&str>) -> Result<Client, AttachError> {
        let token = token.map(|token| token.as_bytes().to_vec());
        connect_unix(&self.socket, &[], &ConnectOptions { token, ..ConnectOptions::default() })
    }

    fn signal(&self, name: &str) {
        assert!(
            Command::new("kill").args([name, &self.process.id().to_string()]).status().unwrap().success()
        );
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn run(client: &Client, command: &str) -> String {
    text(&client.run(ExecRequest::shell("s", command)).unwrap())
}

/// The bytes of a hello, in a file that commands can use.
fn hello_file(directory: &Path, token: Option<&str>) -> PathBuf {
    let path = directory.join("hello");
    std::fs::write(&path, ToAgent::Hello(Hello::ours(token.map(Into::into))).encode()).unwrap();
    path
}

#[test]
fn a_command_cannot_be_a_client() {
    let daemon = Foreground::start(&[], &[]);
    let client = daemon.client();
    let hello = hello_file(daemon.directory.path(), None);
    let knock = format!(
        "(cat {}; sleep 0.3) | {PROGRAM} connect --socket {} | od -An -v -w64 -tx1",
        hello.display(),
        daemon.socket.display()
    );
    let refused = "01 00 00 00 03 00 00 00 00 03";
    assert_eq!(run(&client, &knock).trim(), refused, "refused as one of its own commands");
    // Leaving the session and the parent behind does not help.
    let out = daemon.directory.path().join("out");
    let runaway = format!("(setsid bash -c '({knock}) > {0}.tmp; mv {0}.tmp {0}' &) ; exit", out.display());
    run(&client, &runaway);
    assert!(eventually(|| out.exists()));
    assert_eq!(std::fs::read_to_string(&out).unwrap().trim(), refused);
    // From outside the same words are welcome.
    let answer = Command::new("bash").args(["-c", &knock]).output().unwrap().stdout;
    assert!(String::from_utf8(answer).unwrap().contains("02 00 00 00 00 68 65 72 6d 65 73 62 78"));
}

#[test]
fn a_token_is_asked_for_and_hidden_from_commands() {
    let secret = "correct horse battery";
    let daemon = Foreground::start(&[], &[("HERMES_BOX_TOKEN", secret)]);
    for wrong in [None, Some(""), Some("wrong"), Some("correct horse batterz")] {
        let refused = daemon.try_client(wrong);
        assert!(
            matches!(refused, Err(AttachError::Connect(ConnectError::Refused(Refusal::Token)))),
            "{wrong:?}"
        );
    }
    let client = daemon.try_client(Some(secret)).unwrap();
    assert_eq!(run(&client, "env | grep -c HERMES_BOX; true"), "0\n");
    let environment = std::fs::read(format!("/proc/{}/environ", daemon.process.id())).unwrap();
    assert!(!String::from_utf8_lossy(&environment).contains("horse"));
    let arguments = std::fs::read(format!("/proc/{}/cmdline", daemon.process.id())).unwrap();
    assert!(!String::from_utf8_lossy(&arguments).contains("horse"));
}

#[test]
fn another_client_of_another_version_is_told() {
    let daemon = Foreground::start(&[], &[]);
    let mut socket = std::os::unix::net::UnixStream::connect(&daemon.socket).unwrap();
    let hello = Hello { oldest: 90, newest: 99, ..Hello::ours(None) };
    socket.write_all(&ToAgent::Hello(hello).encode()).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    assert_eq!(answer[4], 0x03, "refused");
    assert!(String::from_utf8_lossy(&answer).contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_bridge_carries_everything_and_leaves_with_its_client() {
    let daemon = Foreground::start(&[], &[]);
    let mut bridge = Command::new(PROGRAM)
        .args(["connect", "--socket"])
        .arg(&daemon.socket)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let client = Client::over(bridge.stdout.take().unwrap(), bridge.stdin.take().unwrap()).unwrap();
    assert_eq!(run(&client, "echo through a bridge"), "through a bridge\n");
    let long = client.run(ExecRequest::shell("s", "head -c 5000000 /dev/zero")).unwrap();
    assert_eq!(long.stdout.total, 5_000_000);
    drop(client);
    assert!(bridge.wait().unwrap().success());
    let nobody = Command::new(PROGRAM).args(["connect", "--socket", "/no/such/socket"]).output().unwrap();
    assert_eq!(nobody.status.code(), Some(daemon::NOBODY_THERE));
}

#[test]
fn a_killed_client_takes_its_commands_along_and_leaves_its_jobs() {
    let daemon = Foreground::start(&[], &[]);
    let mut bridge = Command::new(PROGRAM)
        .args(["connect", "--socket"])
        .arg(&daemon.socket)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let client = Client::over(bridge.stdout.take().unwrap(), bridge.stdin.take().unwrap()).unwrap();
    let job = client.jobs().start(JobRequest::shell("s", "echo started; sleep 300")).unwrap();
    let pid_file = daemon.directory.path().join("pid");
    let command = format!("sleep 300 & echo $! > {}; wait", pid_file.display());
    let running = client.exec(ExecRequest::shell("s", command)).unwrap();
    assert!(eventually(|| std::fs::read_to_string(&pid_file).is_ok_and(|pid| pid.ends_with('\n'))));
    bridge.kill().unwrap();
    bridge.wait().unwrap();
    assert!(matches!(running.finish(), Err(CallError::Lost(_))));
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    assert!(eventually(|| !is_alive(pid.trim())), "its command ends");
    let other = daemon.client();
    assert!(eventually(|| other.info().unwrap().clients == 1));
    let listed = other.jobs().list().unwrap();
    assert_eq!((listed.len(), &listed[0].id, &listed[0].state), (1, &job.id, &JobState::Running));
    assert!(eventually(|| other.jobs().read(&job.id, 0, 100).unwrap().bytes == b"started\n"));
    other.jobs().kill(&job.id, Some(Duration::ZERO)).unwrap();
}

#[test]
fn many_that_start_at_once_meet_at_one_daemon() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    std::fs::create_dir_all(&home).unwrap();
    let detached = Detached {
        program: ShimProgram(PROGRAM.into()),
        socket: directory.path().join("run/s"),
        directory: directory.path().join("agent"),
        env: environment(&home),
        cwd: home,
        idle_exit: Duration::from_secs(1),
        login_files: None,
    };
    let meet = || -> BTreeSet<u64> {
        std::thread::scope(|scope| {
            let join = |_| scope.spawn(|| daemon::ensure(&detached, &ConnectOptions::default()).unwrap());
            let threads: Vec<_> = (0..8).map(join).collect();
            let clients: Vec<Client> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            clients.iter().map(|client| client.agent().instance).collect()
        })
    };
    let first = meet();
    assert_eq!(first.len(), 1);
    assert_eq!(std::fs::metadata(directory.path().join("run")).unwrap().permissions().mode() & 0o777, 0o700);
    // Left alone it goes, and the next ones meet at another.
    assert!(eventually(|| !detached.socket.exists()));
    let second = meet();
    assert_eq!(second.len(), 1);
    assert!(first.is_disjoint(&second));
    daemon::ensure(&detached, &ConnectOptions::default()).unwrap().shutdown().unwrap();
}

#[test]
fn an_idle_daemon_stays_for_its_jobs() {
    let daemon = Foreground::start(&["--idle-exit", "1"], &[]);
    let client = daemon.client();
    let id = client.jobs().start(JobRequest::shell("s", "sleep 2.5; echo done")).unwrap().id;
    drop(client);
    // Longer than it may be idle, but the job runs.
    let log = daemon.directory.path().join("agent/jobs").join(&id).join("head");
    assert!(eventually(|| std::fs::read(&log).is_ok_and(|log| log == b"done\n")));
    assert!(eventually(|| !daemon.socket.exists()), "then it leaves");
}

#[test]
fn term_ends_everything_in_order() {
    // Much longer than the clean-up takes even on a busy machine; nobody waits for its end.
    let mut daemon = Foreground::start(&["--grace", "20000"], &[]);
    let client = daemon.client();
    let marker = daemon.directory.path().join("marker");
    let command = format!(
        "trap 'echo cleaned > {}; exit' TERM; echo $$; while :; do sleep 0.05; done",
        marker.display()
    );
    let id = client.jobs().start(JobRequest::shell("s", command)).unwrap().id;
    assert!(eventually(|| !client.jobs().read(&id, 0, 100).unwrap().bytes.is_empty()));
    let mut running = client.exec(ExecRequest::shell("s", "sleep 300")).unwrap();
    // One that has not begun yet would be refused instead of ended.
    assert!(matches!(running.next_event().unwrap(), Some(Event::Started { .. })));
    daemon.signal("-TERM");
    let exit = running.finish().unwrap();
    assert_eq!(exit.ending, Ending::Cancelled);
    assert!(daemon.process.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(&marker).unwrap(), "cleaned\n");
    assert!(!daemon.socket.exists());
}

#[test]
fn a_killed_daemon_leaves_nothing_running_and_its_jobs_are_known_as_lost() {
    let mut daemon = Foreground::start(&[], &[]);
    let client = daemon.client();
    let id = client.jobs().start(JobRequest::shell("s", "echo $$; exec sleep 300")).unwrap().id;
    assert!(eventually(|| !client.jobs().read(&id, 0, 100).unwrap().bytes.is_empty()));
    let pid = String::from_utf8(client.jobs().read(&id, 0, 100).unwrap().bytes).unwrap();
    daemon.process.kill().unwrap();
    daemon.process.wait().unwrap();
    assert!(eventually(|| !is_alive(pid.trim())), "its shim ends it");
    assert!(matches!(client.info(), Err(CallError::Lost(_))));
    let directory = std::mem::replace(&mut daemon.directory, tempfile::tempdir().unwrap());
    let next = Foreground::start_in(directory, &[], &[]);
    let listed = next.client().jobs().list().unwrap();
    assert_eq!((listed.len(), &listed[0].state, listed[0].exit_code()), (1, &JobState::Lost, None));
    assert_eq!(next.client().jobs().read(&id, 0, 100).unwrap().bytes, pid.as_bytes());
    next.client().jobs().forget(&id).unwrap();
}

#[test]
fn a_later_daemon_ends_what_a_job_of_an_earlier_one_left() {
    let mut daemon = Foreground::start(&[], &[]);
    let jobs = daemon.client().jobs();
    let id = jobs.start(JobRequest::shell("s", "(setsid sleep 300 >/dev/null 2>&1 & echo $!)")).unwrap().id;
    jobs.wait(&id, None).unwrap();
    let pid = String::from_utf8(jobs.read(&id, 0, 100).unwrap().bytes).unwrap();
    daemon.process.kill().unwrap();
    daemon.process.wait().unwrap();
    let directory = std::mem::replace(&mut daemon.directory, tempfile::tempdir().unwrap());
    let next = Foreground::start_in(directory, &[], &[]);
    let jobs = next.client().jobs();
    assert!(is_alive(pid.trim()), "it was left on purpose");
    assert_eq!(jobs.list().unwrap()[0].left_running, 1);
    assert_eq!(jobs.kill(&id, Some(Duration::ZERO)).unwrap().left_running, 0);
    assert!(!is_alive(pid.trim()));
}

#[test]
fn a_killed_nursery_is_replaced() {
    let daemon = Foreground::start(&[], &[]);
    let client = daemon.client();
    run(&client, "true");
    // The process shims come from is the shim's parent.
    let nursery = run(&client, "cut -d' ' -f4 /proc/$PPID/stat");
    run(&client, &format!("kill -9 {}", nursery.trim()));
    assert_eq!(run(&client, "echo again"), "again\n");
}

#[test]
fn two_hundred_timeouts_leave_no_process_behind() {
    let daemon = Foreground::start(&["--grace", "0"], &[]);
    let client = daemon.client();
    run(&client, "true");
    let below = || world::descendants(daemon.process.id());
    assert!(eventually(|| below() == 1), "only the process shims come from");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let client = client.clone();
            scope.spawn(move || {
                for _ in 0..25 {
                    let command = "(setsid sleep 300 &) ; sleep 300 & sleep 300 | cat";
                    let request = ExecRequest::shell("s", command).timeout(Duration::from_millis(20));
                    assert_eq!(client.run(request).unwrap().code(), 124);
                }
            });
        }
    });
    assert!(eventually(|| below() == 1), "{} are left", below());
    assert_eq!(client.info().unwrap().left_running.len(), 0);
}

#[test]
fn a_storm_of_forks_is_ended() {
    let daemon = Foreground::start(&["--grace", "100"], &[]);
    let client = daemon.client();
    let storm = "ulimit -u 2000; f() { sleep 300 & f | f & }; for i in 1 2 3 4 5 6; do (setsid bash -c 'while :; do sleep 300 & sleep 0.002; done' &); done; sleep 300";
    let request = ExecRequest::shell("s", storm).timeout(Duration::from_millis(800));
    assert_eq!(client.run(request).unwrap().code(), 124);
    assert!(eventually(|| world::descendants(daemon.process.id()) == 1));
    assert_eq!(run(&client, "echo calm"), "calm\n");
}

#[test]
fn standard_input_and_output_serve_too() {
    let directory = tempfile::tempdir().unwrap();
    let mut agent = Command::new(PROGRAM)
        .args(["serve", "--stdio"])
        .env_clear()
        .envs(environment(directory.path()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let client = Client::over(agent.stdout.take().unwrap(), agent.stdin.take().unwrap()).unwrap();
    let mut running = client.exec(ExecRequest::shell("s", "echo $$; sleep 300")).unwrap();
    let pid = loop {
        if let Some(hermes_box::client::Event::Output { bytes, .. }) = running.next_event().unwrap() {
            break String::from_utf8(bytes).unwrap();
        }
    };
    running.signal(0, Target::Leader);
    drop((running, client));
    assert!(agent.wait().unwrap().success());
    assert!(!is_alive(pid.trim()), "its commands end with it");
}

#[test]
fn it_says_what_it_is_and_what_is_wrong() {
    let version = Command::new(PROGRAM).arg("--version").output().unwrap();
    assert!(String::from_utf8(version.stdout).unwrap().contains(env!("CARGO_PKG_VERSION")));
    let wrong = Command::new(PROGRAM).args(["daemon", "--sokcet", "x"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("'--sokcet' is not known"));
    let nowhere = Command::new(PROGRAM).args(["daemon", "--socket", "/no/such/place/s"]).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(1));
}

#[test]
fn strangers_on_the_socket_do_no_harm() {
    let daemon = Foreground::start(&[], &[]);
    for words in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 100], &[0; 9], b"\x05\0\0\0"] {
        let mut socket = std::os::unix::net::UnixStream::connect(&daemon.socket).unwrap();
        socket.write_all(words).unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        // It answers with a complaint or nothing, and hangs up.
        socket.read_to_end(&mut Vec::new()).unwrap();
    }
    assert_eq!(run(&daemon.client(), "echo still here"), "still here\n");
}

#[test]
fn an_agent_that_never_answers_is_given_up() {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let options = ConnectOptions { hello_timeout: Duration::from_millis(50), ..ConnectOptions::default() };
    let silent = Client::connect(Transport::socket(ours).unwrap(), &options);
    assert!(matches!(silent, Err(ConnectError::NoAnswer(_))));
    drop(theirs);
}
