//! Runs git on the store and nothing else: no configuration of the user's, no hooks, no variables of theirs, a deadline.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::error::CheckpointError;

/// The git program.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    path: OsString,
}

impl Git {
    /// Looks for it on this PATH. Starts nothing.
    pub fn find(path: &OsStr) -> Option<Self> {
        let is_program = |file: &PathBuf| {
            use std::os::unix::fs::PermissionsExt;
            file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        let program = std::env::split_paths(path).map(|dir| dir.join("git")).find(is_program)?;
        Some(Self { program, path: path.to_owned() })
    }

    /// A command on the store at `dir`.
    pub(crate) fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("PATH", &self.path)
            .env("LC_ALL", "C")
            .env("GIT_DIR", dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .args(["-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "core.fsmonitor=false"])
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs one to its end; what it printed.
    pub(crate) fn output<A: AsRef<OsStr>>(
        &self,
        dir: &Path,
        args: impl IntoIterator<Item = A>,
        doing: &'static str,
        limit: Duration,
    ) -> Result<Vec<u8>, CheckpointError> {
        let mut command = self.command(dir);
        command.args(args);
        Self::feed(command, doing, limit, |_| Ok(()))
    }

    /// Runs one with what `write` writes as its input; what it printed.
    pub(crate) fn feed(
        mut command: Command,
        doing: &'static str,
        limit: Duration,
        write: impl FnOnce(&mut dyn Write) -> Result<(), CheckpointError>,
    ) -> Result<Vec<u8>, CheckpointError> {
        let failed = |error: std::io::Error| CheckpointError::Git { doing, message: error.to_string() };
        let mut child = command.stdin(Stdio::piped()).spawn().map_err(failed)?;
        let watch = Watch::start(&child, limit);
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let printed = reader(output);
        let complaints = reader(errors);
        let written = match input {
            Some(input) => {
                let mut input = std::io::BufWriter::with_capacity(128 * 1024, input);
                // A git that ended early says why itself; the broken pipe is not the reason.
                write(&mut input).and_then(|()| {
                    input.flush().map_err(|error| CheckpointError::Git { doing, message: error.to_string() })
                })
            }
            None => Ok(()),
        };
        let status = child.wait().map_err(failed)?;
        let timed_out = watch.end();
        let printed = printed.join().unwrap_or_default();
        let complaints = complaints.join().unwrap_or_default();
        if timed_out {
            return Err(CheckpointError::TooSlow { doing, limit });
        }
        if !status.success() {
            if let Err(error @ CheckpointError::Tree(_)) = written {
                return Err(error);
            }
            let message = String::from_utf8_lossy(&complaints).trim().to_owned();
            let message = if message.is_empty() { status.to_string() } else { message };
            return Err(CheckpointError::Git { doing, message });
        }
        written.map(|()| printed)
    }
}

fn reader(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before it broke is what there is.
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Ends a child that takes too long.
struct Watch {
    done: Sender<()>,
    thread: std::thread::JoinHandle<bool>,
}

impl Watch {
    fn start(child: &Child, limit: Duration) -> Self {
        let (done, waiting) = channel::<()>();
        let pid = rustix::process::Pid::from_child(child);
        let thread = std::thread::spawn(move || {
            let late = waiting.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            if late {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            late
        });
        Self { done, thread }
    }

    /// Whether it was ended.
    fn end(self) -> bool {
        drop(self.done);
        self.thread.join().unwrap_or(false)
    }
}
