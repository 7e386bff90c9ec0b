//! What an agent is told at its start.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::proto::exec::SessionInit;

/// The program that becomes a shim, when started under the name [`crate::shim::ARGV0`]: one that calls
/// [`crate::shim::main_if_invoked`] first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShimProgram(pub PathBuf);

impl ShimProgram {
    /// The program that runs now. Even one that was replaced on disk is found.
    pub fn this_program() -> Self {
        Self("/proc/self/exe".into())
    }
}

/// Who waits for the children of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaping {
    /// The agent waits for its shims and touches no other child: it is a guest in this process.
    Shims,
    /// Something else in this process waits for every child (the first process of a container).
    Elsewhere,
}

/// Bounds on what an agent keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Jobs that run at once.
    pub running_jobs: usize,
    /// Ended jobs that stay listed.
    pub ended_jobs: usize,
    /// How long they stay listed, from their end.
    pub job_age: Duration,
    /// Bytes of all files with long output.
    pub spill_bytes: u64,
    /// How long a file with long output stays.
    pub spill_age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            running_jobs: 256,
            ended_jobs: 64,
            job_age: Duration::from_hours(24),
            spill_bytes: 512 * 1024 * 1024,
            spill_age: Duration::from_hours(24),
        }
    }
}

/// What an agent is told at its start.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Where state, logs and long output go. It is made if missing, for its owner alone. Without one (or when nothing can be written
    /// there) everything is kept in memory, within tighter bounds.
    pub directory: Option<PathBuf>,
    /// What becomes a shim.
    pub shim: ShimProgram,
    /// The environment sessions begin with.
    pub env: BTreeMap<OsString, OsString>,
    /// The directory sessions begin in.
    pub cwd: PathBuf,
    /// The shell; found by itself when not given.
    pub shell: Option<PathBuf>,
    /// How sessions are prepared unless a request says otherwise; `Default` means `Bare` here.
    pub init: SessionInit,
    /// How long that may take.
    pub init_timeout: Duration,
    /// Time between TERM and KILL unless a request says otherwise.
    pub grace: Duration,
    /// How long to wait for more output after a command has ended while something it left running holds its output open.
    pub linger: Duration,
    /// Who waits for children.
    pub reaping: Reaping,
    /// Bounds.
    pub limits: Limits,
}

impl AgentOptions {
    /// Options with everything at its default: nothing on disk, the given environment and directory.
    pub fn new(env: BTreeMap<OsString, OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            directory: None,
            shim: ShimProgram::this_program(),
            env,
            cwd: cwd.into(),
            shell: None,
            init: SessionInit::Bare,
            init_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(2),
            linger: Duration::from_millis(20),
            reaping: Reaping::Shims,
            limits: Limits::default(),
        }
    }
}
