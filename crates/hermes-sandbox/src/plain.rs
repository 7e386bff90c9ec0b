//! Commands by the engine's own `exec`, for places where our program cannot run. Slower, and less: no background jobs, no
//! search. Everything happens in the container; nothing here ever runs on the host.
//!
//! A command is recognised by a word in its environment that everything it starts inherits. That is how a time limit or a
//! cancel finds all of it, daemons that detached themselves included.

mod files;
mod process;
mod script;

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc::Sender;
use std::time::Duration;

pub use files::{PlainKind, PlainStat};

use crate::docker::cli::EngineCommand;
use process::Process;

/// Why a command or file operation did not come about.
#[derive(Debug, thiserror::Error)]
pub enum PlainError {
    /// The engine's command could not be started or waited for.
    #[error("the engine's command \"{}\" could not be run: {source}", .program.display())]
    Engine {
        /// The command.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The engine could not run a shell in the container.
    #[error("the engine could not run a shell in the container: {0}")]
    NoShell(String),
    /// A file operation.
    #[error("cannot {doing} \"{path}\" in the container: {detail}")]
    File {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: String,
        /// What the shell there said.
        detail: String,
    },
}

/// A container whose commands are run by its engine.
#[derive(Debug, Clone)]
pub struct Plain {
    engine: EngineCommand,
    container: String,
}

/// A command to run.
#[derive(Debug, Clone, Default)]
pub struct PlainRequest {
    /// The command line, for bash where it is installed, else sh.
    pub command: OsString,
    /// Carry directory and exported variables from call to call under this name.
    pub session: Option<String>,
    /// Where, instead of the session's directory.
    pub cwd: Option<PathBuf>,
    /// Variables for the command. Their values never are arguments.
    pub env: Vec<(OsString, OsString)>,
    /// When to end it.
    pub timeout: Option<Duration>,
    /// Time between asking it to end and killing it.
    pub grace: Duration,
    /// What it reads and where it writes.
    pub streams: PlainStreams,
}

impl PlainRequest {
    /// A command line.
    pub fn shell(command: impl Into<OsString>) -> Self {
        Self { command: command.into(), grace: Duration::from_secs(2), ..Self::default() }
    }

    /// A program and its arguments.
    pub fn argv(words: &[OsString]) -> Self {
        let mut line = Vec::new();
        for word in words {
            line.push(b'\'');
            for byte in word.as_bytes() {
                match byte {
                    b'\'' => line.extend(b"'\\''"),
                    byte => line.push(*byte),
                }
            }
            line.extend(b"' ");
        }
        Self::shell(OsString::from_vec(line))
    }
}

/// The streams of a command.
#[derive(Debug, Clone, Default)]
pub enum PlainStreams {
    /// This is read, and what is written is kept, up to a bound.
    #[default]
    Kept,
    /// As `Kept`, with something to read.
    Fed(Vec<u8>),
    /// Those of this process. A terminal is not read from: [`Plain::shell`] is for that.
    Ours,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainExit {
    /// Its exit code; 124 when the time was up, 130 when it was cancelled.
    pub code: i32,
    /// Why.
    pub ending: PlainEnding,
    /// What it wrote, if that was kept.
    pub stdout: Vec<u8>,
    /// What it complained about, if that was kept.
    pub stderr: Vec<u8>,
}

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainEnding {
    /// By itself.
    Exited,
    /// The time was up.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// A command that runs.
pub struct PlainRunning {
    process: Process,
    plain: Plain,
    token: String,
    timeout: Option<Duration>,
    grace: Duration,
}

/// Cancels a command, from any thread.
#[derive(Debug, Clone)]
pub struct PlainCancel(Sender<process::Event>);

impl PlainCancel {
    /// Ends the command and everything it started.
    pub fn cancel(&self) {
        // It may be over, which is just as well.
        let _ = self.0.send(process::Event::Cancel);
    }
}

impl Plain {
    /// The container with this id, by way of this command.
    pub fn new(engine: EngineCommand, container: String) -> Self {
        Self { engine, container }
    }

    /// Runs a command to its end.
    pub fn run(&self, request: PlainRequest) -> Result<PlainExit, PlainError> {
        self.start(request)?.wait()
    }

    /// Starts a command.
    pub fn start(&self, request: PlainRequest) -> Result<PlainRunning, PlainError> {
        let token = token().map_err(|source| self.engine_error(source))?;
        let (session, cwd) = (request.session.unwrap_or_default(), request.cwd.unwrap_or_default());
        // Carried variables must not hide values that were handed over anew.
        let handed: Vec<String> =
            request.env.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        let words: [OsString; 5] = [
            token.clone().into(),
            script::session_name(&session).into(),
            cwd.into(),
            handed.join(" ").into(),
            request.command,
        ];
        let mut env = request.env;
        env.push((script::MARK.into(), token.clone().into()));
        let process = self.exec(script::RUN, &words, &env, request.streams)?;
        Ok(PlainRunning {
            process,
            plain: self.clone(),
            token,
            timeout: request.timeout,
            grace: request.grace,
        })
    }

    /// A terminal of our own in the container.
    pub fn shell(&self, cwd: Option<&str>) -> Result<i32, PlainError> {
        let mut command = self.command();
        command.args(["exec", "-it"]);
        if let Some(cwd) = cwd {
            command.args(["-w", cwd]);
        }
        command.args([&self.container, "sh", "-c", script::SHELL]);
        let status = command.status().map_err(|source| self.engine_error(source))?;
        Ok(process::code_of(status))
    }

    /// A script in the container, with the better of its shells.
    fn exec(
        &self,
        script: &str,
        words: &[OsString],
        env: &[(OsString, OsString)],
        streams: PlainStreams,
    ) -> Result<Process, PlainError> {
        let mut command = self.command();
        command.arg("exec");
        if !matches!(streams, PlainStreams::Kept) {
            command.arg("-i");
        }
        for (name, value) in env {
            // The engine's command takes the value from its own environment.
            command.arg("-e").arg(name).env(name, value);
        }
        command.args([&self.container, "sh", "-c", script::BEST_SHELL, "sh", script, "hermes"]).args(words);
        Process::start(command, streams).map_err(|source| self.engine_error(source))
    }

    fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.engine.program);
        command.env_clear().envs(self.engine.env.iter()).stdin(Stdio::null());
        command
    }

    fn engine_error(&self, source: io::Error) -> PlainError {
        PlainError::Engine { program: self.engine.program.clone(), source }
    }

    /// Ends everything that carries the token. Returns when nothing is left of it, or does not go.
    fn end(&self, token: &str, grace: Duration) {
        let words = [token.into(), grace.as_secs().max(1).to_string().into()];
        // Should the engine not answer, the command's own end shows it.
        if let Ok(process) = self.exec(script::END, &words, &[], PlainStreams::Kept) {
            let _ = process.wait(Some(grace + process::PATIENCE));
        }
    }
}

impl PlainRunning {
    /// A handle to cancel it with.
    pub fn cancel_handle(&self) -> PlainCancel {
        PlainCancel(self.process.sender())
    }

    /// Waits for its end.
    pub fn wait(self) -> Result<PlainExit, PlainError> {
        let Self { process, plain, token, timeout, grace } = self;
        let (output, ending) = match process.wait(timeout) {
            process::Waited::Ended(output) => (output, PlainEnding::Exited),
            process::Waited::TimedOut(process) => {
                (over(&plain, &token, grace, process), PlainEnding::TimedOut)
            }
            process::Waited::Cancelled(process) => {
                (over(&plain, &token, grace, process), PlainEnding::Cancelled)
            }
        };
        if ending == PlainEnding::Exited
            && let Some(reason) = script::no_shell(output.code, &output.stderr)
        {
            return Err(PlainError::NoShell(reason));
        }
        let code = match ending {
            PlainEnding::Exited => output.code,
            PlainEnding::TimedOut => 124,
            PlainEnding::Cancelled => 130,
        };
        Ok(PlainExit { code, ending, stdout: output.stdout, stderr: output.stderr })
    }
}

/// Ends a command in the container, and then takes what the engine's command has to say about it.
fn over(plain: &Plain, token: &str, grace: Duration, process: Process) -> process::Output {
    plain.end(token, grace);
    match process.wait(Some(process::PATIENCE)) {
        process::Waited::Ended(output) => output,
        process::Waited::TimedOut(process) | process::Waited::Cancelled(process) => process.abandon(),
    }
}

fn token() -> io::Result<String> {
    let mut bytes = [0u8; 12];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(crate::digest::hex(&bytes))
}
