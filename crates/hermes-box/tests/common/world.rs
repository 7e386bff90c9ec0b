//! An agent to test, with a directory of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_box::client::{Client, ConnectOptions};
use hermes_box::daemon::{self, Detached};
use hermes_box::local;
use hermes_box::proto::exec::{ExecRequest, Exit};
use hermes_box::server::{Agent, AgentOptions, ShimProgram};

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_hermes-box");

/// An agent, a client of it, and the directory its sessions begin in.
pub struct World {
    pub client: Client,
    connect: Box<dyn Fn() -> Client>,
    pub directory: tempfile::TempDir,
}

impl World {
    /// An agent in this process.
    pub fn in_process() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let agent = Agent::new(options(directory.path()));
        let connect = move || local::attach(&Arc::clone(&agent)).unwrap();
        Self { client: connect(), connect: Box::new(connect), directory }
    }

    /// An agent as a program, behind a socket.
    pub fn daemon() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        let daemon = Detached {
            program: ShimProgram(PROGRAM.into()),
            socket: directory.path().join("run/agent.sock"),
            directory: directory.path().join("agent"),
            env: environment(&home),
            cwd: home,
            idle_exit: Duration::from_secs(20),
            login_files: None,
        };
        let connect = move || daemon::ensure(&daemon, &ConnectOptions::default()).unwrap();
        Self { client: connect(), connect: Box::new(connect), directory }
    }

    /// Another client of the same agent.
    pub fn another_client(&self) -> Client {
        (self.connect)()
    }

    /// Where sessions begin.
    pub fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// Runs a command in session "s".
    pub fn run(&self, command: &str) -> Exit {
        self.client.run(ExecRequest::shell("s", command)).unwrap()
    }

    /// What a command in session "s" prints.
    pub fn output(&self, command: &str) -> String {
        text(&self.run(command))
    }
}

/// What a command printed.
pub fn text(exit: &Exit) -> String {
    String::from_utf8(exit.stdout.bytes()).unwrap()
}

/// The environment of the tests' sessions.
pub fn environment(home: &Path) -> BTreeMap<OsString, OsString> {
    let path = std::env::var_os("PATH").unwrap();
    let pairs: [(&str, OsString); 4] =
        [("PATH", path), ("HOME", home.into()), ("LANG", "C.UTF-8".into()), ("BASE", "base".into())];
    pairs.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// Options of an agent whose sessions begin in `directory`/home.
pub fn options(directory: &Path) -> AgentOptions {
    let home = directory.join("home");
    std::fs::create_dir_all(&home).unwrap();
    AgentOptions {
        directory: Some(directory.join("agent")),
        shim: ShimProgram(PROGRAM.into()),
        ..AgentOptions::new(environment(&home), home)
    }
}

/// Whether a process exists and is not a zombie.
pub fn is_alive(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    !stat.rsplit(')').next().unwrap().trim().starts_with('Z')
}

/// Waits for something that must happen, for as long as a loaded machine may need.
pub fn eventually(mut happens: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(30);
    while Instant::now() < deadline {
        if happens() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// How many processes live below this one.
pub fn descendants(root: u32) -> usize {
    let processes: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let mut fields = stat.rsplit(')').next()?.split_whitespace();
            let state = fields.next()?;
            (state != "Z").then_some((pid, fields.next()?.parse().ok()?))
        })
        .collect();
    let (mut count, mut next) = (0, vec![root]);
    while let Some(parent) = next.pop() {
        for (pid, _) in processes.iter().filter(|(_, of)| *of == parent) {
            count += 1;
            next.push(*pid);
        }
    }
    count
}
