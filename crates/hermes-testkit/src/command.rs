//! Running the real binary: a clean environment, a time limit, and reports that show all that happened.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::TestHome;

mod finished;
mod running;
mod stream;
mod wait;

pub use finished::{End, Finished};
pub use running::Running;
pub use wait::{poll_until, wait_until};

/// How long a command may run when the test does not say.
pub const DEFAULT_LIMIT: Duration = Duration::from_mins(1);

/// A command to run in a test home. The environment holds only what is listed here:
/// `PATH`, `HOME`, `HERMES_HOME`, `TMPDIR`, `LANG`, `TERM` and what the test adds.
///
/// A test of the binary takes its path from Cargo: `Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home)`.
/// Any other program works as well.
#[derive(Debug, Clone)]
pub struct Hermes {
    program: PathBuf,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    stdin: Option<Vec<u8>>,
    cwd: PathBuf,
    limit: Duration,
}

impl Hermes {
    /// A command that runs `program` as the user of `home`, in its work directory.
    pub fn new(program: impl AsRef<Path>, home: &TestHome) -> Self {
        let env = [
            ("PATH", std::env::var_os("PATH").unwrap_or_default()),
            ("HOME", home.user_home().into()),
            ("HERMES_HOME", home.path().into()),
            ("TMPDIR", home.temp_dir().into()),
            ("LANG", "C.UTF-8".into()),
            ("TERM", "dumb".into()),
        ];
        Self {
            program: program.as_ref().to_path_buf(),
            args: Vec::new(),
            env: env.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            stdin: None,
            cwd: home.work_dir(),
            limit: DEFAULT_LIMIT,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_os_string());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_os_string()));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.insert(name.as_ref().to_os_string(), value.as_ref().to_os_string());
        self
    }

    /// Sets environment variables, such as those of a container engine.
    #[must_use]
    pub fn envs<N: AsRef<OsStr>, V: AsRef<OsStr>>(self, variables: impl IntoIterator<Item = (N, V)>) -> Self {
        variables.into_iter().fold(self, |command, (name, value)| command.env(name, value))
    }

    /// Leaves out an environment variable, also one of those set for every command.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.remove(name.as_ref());
        self
    }

    /// Gives these bytes as standard input, then closes it.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Runs in this directory instead of the work directory of the home.
    #[must_use]
    pub fn cwd(mut self, dir: impl AsRef<Path>) -> Self {
        self.cwd = dir.as_ref().to_path_buf();
        self
    }

    /// Ends the command with everything it started when it takes longer than this.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs it to the end. Standard input is empty unless [`Hermes::stdin`] gave some.
    ///
    /// The end is reached when the program has exited and nothing holds its output open any more; past the
    /// time limit its process group is killed and the result says [`End::TimedOut`].
    pub fn run(&self) -> Finished {
        let mut running = self.start();
        running.close_stdin();
        running.wait(self.limit)
    }

    /// Starts it and gives a handle. Standard input stays open unless [`Hermes::stdin`] gave some.
    pub fn spawn(&self) -> Running {
        self.start()
    }

    fn start(&self) -> Running {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(&self.env)
            .current_dir(&self.cwd)
            // A group of its own, so that the time limit ends its children too.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        match command.spawn() {
            Ok(child) => Running::new(child, self.shown(), self.stdin.clone()),
            Err(error) => panic!("cannot start '{}' in '{}': {error}", self.shown(), self.cwd.display()),
        }
    }

    /// The command as shown in reports; the environment is left out because it may hold keys.
    fn shown(&self) -> String {
        let program = self.program.file_name().unwrap_or(self.program.as_os_str()).to_string_lossy();
        let args = self.args.iter().map(|arg| quoted(&arg.to_string_lossy()));
        std::iter::once(program.into_owned()).chain(args).collect::<Vec<_>>().join(" ")
    }
}

/// Runs a prepared command under a time limit, in a process group of its own.
pub(crate) fn run_limited(mut command: Command, input: Vec<u8>, limit: Duration) -> io::Result<Finished> {
    let program = command.get_program().to_string_lossy().into_owned();
    let args = command.get_args().map(|arg| quoted(&arg.to_string_lossy()));
    let shown = std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ");
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(Running::new(command.spawn()?, shown, Some(input)).wait(limit))
}

fn quoted(arg: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) { arg.to_owned() } else { format!("{arg:?}") }
}
