//! The result of a command, with assertions whose failure shows the command, its end and both streams.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It ran past its time limit and was killed with all it had started.
    TimedOut,
    /// It exited, but a process it left behind held its output open past the time limit.
    OutputHeldOpen,
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Code(-1),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "ended by signal {signal}"),
            Self::TimedOut => write!(f, "killed: it ran past its time limit"),
            Self::OutputHeldOpen => {
                write!(f, "it exited, but a process it left behind held its output open past the time limit")
            }
        }
    }
}

/// A command that has ended.
#[derive(Debug, Clone)]
#[must_use = "say what the command should have done, at least with `success()`"]
pub struct Finished {
    /// The command as typed.
    pub command: String,
    /// How it ended.
    pub end: End,
    /// All it wrote to standard output.
    pub stdout: Vec<u8>,
    /// All it wrote to standard error.
    pub stderr: Vec<u8>,
    /// How long it ran, for reports.
    pub elapsed: Duration,
}

impl Finished {
    /// Standard output as text.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Lines of standard output.
    pub fn lines(&self) -> Vec<String> {
        self.out().lines().map(str::to_owned).collect()
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        match serde_json::from_slice(&self.stdout) {
            Ok(value) => value,
            Err(error) => self.fail(&format!("standard output is not JSON: {error}")),
        }
    }

    /// It must have exited with 0.
    #[track_caller]
    pub fn success(&self) -> &Self {
        self.code(0)
    }

    /// It must have exited with this code.
    #[track_caller]
    pub fn code(&self, code: i32) -> &Self {
        self.check(self.end == End::Code(code), || format!("expected exit code {code}"))
    }

    /// This signal must have ended it.
    #[track_caller]
    pub fn signal(&self, signal: rustix::process::Signal) -> &Self {
        let number = signal.as_raw();
        self.check(self.end == End::Signal(number), || format!("expected its end by signal {number}"))
    }

    /// Standard output must hold this text.
    #[track_caller]
    pub fn stdout_has(&self, text: &str) -> &Self {
        self.check(self.out().contains(text), || format!("expected {text:?} on standard output"))
    }

    /// Standard output must not hold this text.
    #[track_caller]
    pub fn stdout_lacks(&self, text: &str) -> &Self {
        self.check(!self.out().contains(text), || format!("expected no {text:?} on standard output"))
    }

    /// Standard output must be exactly this text.
    #[track_caller]
    pub fn stdout_is(&self, text: &str) -> &Self {
        self.check(self.out() == text, || format!("expected exactly {text:?} on standard output"))
    }

    /// Standard error must hold this text.
    #[track_caller]
    pub fn stderr_has(&self, text: &str) -> &Self {
        self.check(self.err().contains(text), || format!("expected {text:?} on standard error"))
    }

    /// Standard error must not hold this text.
    #[track_caller]
    pub fn stderr_lacks(&self, text: &str) -> &Self {
        self.check(!self.err().contains(text), || format!("expected no {text:?} on standard error"))
    }

    /// Neither stream may hold this text.
    #[track_caller]
    pub fn output_lacks(&self, text: &str) -> &Self {
        self.stdout_lacks(text).stderr_lacks(text)
    }

    #[track_caller]
    fn check(&self, holds: bool, problem: impl FnOnce() -> String) -> &Self {
        if !holds {
            self.fail(&problem());
        }
        self
    }

    #[track_caller]
    fn fail(&self, problem: &str) -> ! {
        panic!("{problem}\n{self}")
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "command: {}", self.command)?;
        writeln!(f, "end:     {} (after {:?})", self.end, self.elapsed)?;
        write_stream(f, "stdout", &self.out())?;
        write_stream(f, "stderr", &self.err())
    }
}

fn write_stream(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    if text.is_empty() {
        return writeln!(f, "{name}:  (empty)");
    }
    writeln!(f, "{name}:")?;
    text.lines().try_for_each(|line| writeln!(f, "  | {line}"))
}
