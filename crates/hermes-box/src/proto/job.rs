//! Jobs: commands that belong to the agent and outlive the client that started them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::exec::{Ending, Notice, Program, SessionInit, Status, Stdin, Target, WinSize};
use super::wire::{wire_enum, wire_struct};

wire_struct! {
    /// How much of a job's output is kept.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct LogLimits {
        /// Bytes kept from the beginning.
        pub head: u64,
        /// Bytes kept from the end, at the least.
        pub tail: u64,
    }
}

impl Default for LogLimits {
    fn default() -> Self {
        Self { head: 1024 * 1024, tail: 15 * 1024 * 1024 }
    }
}

wire_struct! {
    /// A job to start.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JobRequest {
        /// Whose directory, variables, functions and aliases it starts with. It changes none of them.
        pub session: Option<String>,
        /// What to run.
        pub program: Program,
        /// Where, instead of the session's directory.
        pub cwd: Option<PathBuf>,
        /// Variables for the job; `None` takes one away.
        pub env: Vec<(OsString, Option<OsString>)>,
        /// `Null`, or `Stream` to be able to write to it later.
        pub stdin: Stdin,
        /// Run on a terminal of this size (then its input can always be written to).
        pub pty: Option<WinSize>,
        /// When to end it.
        pub timeout: Option<Duration>,
        /// How the session is prepared if this is its first command.
        pub init: SessionInit,
        /// Names and values that mean something to the client; given back in listings.
        pub labels: Vec<(String, String)>,
        /// How much of its output is kept.
        pub log: LogLimits,
    }
}

impl JobRequest {
    /// A shell command in a session, with everything else at its default.
    pub fn shell(session: impl Into<String>, command: impl Into<Vec<u8>>) -> Self {
        Self {
            session: Some(session.into()),
            program: Program::Shell(command.into()),
            cwd: None,
            env: Vec::new(),
            stdin: Stdin::Null,
            pty: None,
            timeout: None,
            init: SessionInit::Default,
            labels: Vec::new(),
            log: LogLimits::default(),
        }
    }

    /// Adds a label.
    #[must_use]
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.push((name.into(), value.into()));
        self
    }
}

wire_enum! {
    /// Where a job stands.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum JobState {
        /// It runs.
        1 = Running,
        /// It is over.
        2 = Ended {
            /// Why.
            ending: Ending,
            /// How its process ended.
            status: Status,
        },
        /// The agent that ran it is gone (a restarted box, say), and the job with it.
        3 = Lost,
    }
}

wire_struct! {
    /// What is known about a job.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JobInfo {
        /// Its name, unique in the agent's directory.
        pub id: String,
        /// What it runs, cut to a few thousand bytes.
        pub command: Vec<u8>,
        /// The labels it was given.
        pub labels: Vec<(String, String)>,
        /// The session it started from.
        pub session: Option<String>,
        /// The directory it started in.
        pub cwd: PathBuf,
        /// Its process.
        pub pid: u32,
        /// When it started, in milliseconds since 1970.
        pub started_ms: i64,
        /// When it ended.
        pub ended_ms: Option<i64>,
        /// Where it stands.
        pub state: JobState,
        /// Whether it runs on a terminal.
        pub pty: bool,
        /// Whether its input can be written to.
        pub stdin_open: bool,
        /// Bytes printed so far, which is also the offset of what comes next.
        pub output_end: u64,
        /// Bytes that are no longer kept.
        pub output_dropped: u64,
        /// Once it is over: processes of it that still run. Killing the job ends them.
        pub left_running: u32,
        /// What did not go as it should have.
        pub notices: Vec<Notice>,
    }
}

impl JobInfo {
    /// The exit code as a shell would give it, once the job is over and if it is known.
    pub fn exit_code(&self) -> Option<i32> {
        match &self.state {
            JobState::Running | JobState::Lost => None,
            JobState::Ended { ending, status } => Some(exit_code(ending, *status)),
        }
    }
}

fn exit_code(ending: &Ending, status: Status) -> i32 {
    let exit = super::exec::Exit {
        ending: ending.clone(),
        status,
        cwd: PathBuf::new(),
        duration: Duration::ZERO,
        left_running: 0,
        notices: Vec::new(),
        stdout: super::exec::Captured::default(),
        stderr: super::exec::Captured::default(),
    };
    exit.code()
}

wire_struct! {
    /// A piece of a job's output.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JobOutput {
        /// Where the piece begins; later than asked for when that part is no longer kept.
        pub offset: u64,
        /// The piece.
        pub bytes: Vec<u8>,
        /// Where the next piece begins.
        pub next: u64,
        /// Where the output ended at this moment.
        pub end: u64,
        /// Whether the job runs, so that more may come.
        pub running: bool,
    }
}

wire_struct! {
    /// A job and a signal for it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JobSignal {
        /// The job.
        pub id: String,
        /// The signal's number.
        pub number: i32,
        /// For whom.
        pub target: Target,
    }
}
