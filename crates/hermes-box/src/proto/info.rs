//! What an agent says about itself.

use std::path::PathBuf;

use super::wire::{wire_enum, wire_struct};

wire_enum! {
    /// Which shell commands run in, and so how much is carried from one to the next.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum ShellKind {
        /// Everything: directory, exported variables, functions, aliases, options.
        1 = Bash(PathBuf),
        /// Directory and exported variables.
        2 = PlainSh(PathBuf),
        /// There is none; only programs can be run.
        3 = Missing,
    }
}

wire_struct! {
    /// A command that ended by itself and left processes running.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LeftRunning {
        /// What to name it by.
        pub id: u64,
        /// The session it ran in.
        pub session: Option<String>,
        /// What it was, cut to a few thousand bytes.
        pub command: Vec<u8>,
        /// The processes still there (at most 64).
        pub pids: Vec<u32>,
    }
}

wire_struct! {
    /// An agent about itself.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Info {
        /// Its version.
        pub version: String,
        /// Its build.
        pub build: String,
        /// Its process.
        pub pid: u32,
        /// Different for every start.
        pub instance: u64,
        /// Milliseconds since it started.
        pub uptime_ms: u64,
        /// Connections open now, the asking one included.
        pub clients: u32,
        /// Calls running now, this one excluded.
        pub calls: u32,
        /// Jobs running now.
        pub jobs_running: u32,
        /// Jobs that are over and still listed.
        pub jobs_ended: u32,
        /// Milliseconds since anything was done for a client; 0 while a call or a job runs. Questions about
        /// the agent itself do not count.
        pub idle_ms: u64,
        /// Commands run since it started.
        pub commands: u64,
        /// Operations on files since it started.
        pub file_operations: u64,
        /// Commands that left processes running.
        pub left_running: Vec<LeftRunning>,
        /// The shell.
        pub shell: ShellKind,
        /// The directory for state, logs and long output; `None` when nothing can be written.
        pub directory: Option<PathBuf>,
        /// What does not work here, in words.
        pub problems: Vec<String>,
    }
}

wire_struct! {
    /// What is carried between the commands of a session.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SessionInfo {
        /// Its directory.
        pub cwd: PathBuf,
        /// Names of its exported variables.
        pub variables: Vec<String>,
        /// Whether a command has run in it yet.
        pub started: bool,
    }
}
