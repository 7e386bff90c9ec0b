//! Starting a daemon that outlives whoever needs it.

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::address::{Address, UnixError};
use super::{ARGV0, connect_unix};
use crate::client::{Client, ConnectError, ConnectOptions};
use crate::server::ShimProgram;

/// A daemon to be started.
#[derive(Debug, Clone)]
pub struct Detached {
    /// The program: `hermes-box`, or one that calls [`super::main_if_invoked`] first.
    pub program: ShimProgram,
    /// Its socket. The directory is made if missing, for its owner alone.
    pub socket: PathBuf,
    /// Where it keeps state, logs and long output.
    pub directory: PathBuf,
    /// The environment its sessions begin with.
    pub env: BTreeMap<OsString, OsString>,
    /// The directory its sessions begin in.
    pub cwd: PathBuf,
    /// Leave after so long without clients and jobs.
    pub idle_exit: Duration,
    /// Files its sessions read at their start, in a login shell; `None` for bare sessions.
    pub login_files: Option<Vec<PathBuf>>,
}

/// Why there is no daemon.
#[derive(Debug, thiserror::Error)]
pub enum DetachError {
    /// The directory of its socket cannot be used.
    #[error("the directory of '{}' cannot be used: {source}", socket.display())]
    Directory {
        /// The socket.
        socket: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program cannot be run.
    #[error("'{}' cannot be run: {source}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It ended instead of serving.
    #[error("the box agent did not start: {0}")]
    Failed(String),
    /// Something is wrong with its socket.
    #[error(transparent)]
    Socket(#[from] UnixError),
    /// It runs but cannot be talked to.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

/// Starts a daemon and returns when it serves. When one runs already that is fine too.
pub fn spawn_detached(daemon: &Detached) -> Result<(), DetachError> {
    let parent = daemon.socket.parent().unwrap_or(Path::new("."));
    crate::server::private_directory(parent)
        .map_err(|source| DetachError::Directory { socket: daemon.socket.clone(), source })?;
    let mut command = Command::new(&daemon.program.0);
    command
        .arg0(ARGV0)
        .args(["daemon", "--detach", "--single"])
        .args([OsString::from("--socket"), daemon.socket.clone().into()])
        .args([OsString::from("--directory"), daemon.directory.clone().into()])
        .args([OsString::from("--cwd"), daemon.cwd.clone().into()])
        .args(["--idle-exit", &daemon.idle_exit.as_secs().max(1).to_string()])
        .env_clear()
        .envs(&daemon.env)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    if let Some(files) = &daemon.login_files {
        command.arg("--login");
        for file in files {
            command.args([OsString::from("--init-file"), file.clone().into()]);
        }
    }
    let output = command
        .output()
        .map_err(|source| DetachError::Program { program: daemon.program.0.clone(), source })?;
    match output.status.code() {
        Some(0 | super::ALREADY_RUNNING) => Ok(()),
        _ => Err(DetachError::Failed(String::from_utf8_lossy(&output.stderr).trim().to_string())),
    }
}

/// Connects to the daemon at its socket; starts it first if nobody listens there.
pub fn ensure(daemon: &Detached, options: &ConnectOptions) -> Result<Client, DetachError> {
    // One that is just leaving may be met; a few looks are enough to see it gone.
    const ATTEMPTS: usize = 5;
    let owners = [rustix::process::geteuid().as_raw()];
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut last = None;
    for _ in 0..ATTEMPTS {
        match connect_unix(&daemon.socket, &owners, options) {
            Ok(client) => return Ok(client),
            Err(super::AttachError::Socket(UnixError::Absent(_))) => spawn_detached(daemon)?,
            Err(super::AttachError::Socket(error)) => return Err(error.into()),
            Err(super::AttachError::Connect(error)) => last = Some(error),
        }
        if Instant::now() > deadline {
            break;
        }
    }
    match last {
        Some(error) => Err(error.into()),
        None => Ok(connect_unix(&daemon.socket, &owners, options)?),
    }
}

impl From<super::AttachError> for DetachError {
    fn from(error: super::AttachError) -> Self {
        match error {
            super::AttachError::Socket(error) => Self::Socket(error),
            super::AttachError::Connect(error) => Self::Connect(error),
        }
    }
}

/// Holds the right to serve at a socket for as long as it lives.
pub(super) struct Single(#[expect(dead_code, reason = "the lock lives in it")] File);

impl Single {
    /// Claims it; `None` when somebody else has it and serves. One that is just leaving is waited for.
    pub(super) fn claim(socket: &Path) -> io::Result<Option<Self>> {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            if let Some(single) = Self::try_claim(socket)? {
                return Ok(Some(single));
            }
            if Address::Path(socket.to_path_buf()).connect(&[]).is_ok() {
                return Ok(None);
            }
            if Instant::now() > deadline {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another agent neither serves nor leaves",
                ));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The file is never removed: removing it would let two hold it.
    fn try_claim(socket: &Path) -> io::Result<Option<Self>> {
        let mut name = socket.as_os_str().to_os_string();
        name.push(".lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(PathBuf::from(name))?;
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self(file))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// The way a detached daemon says that it serves, or why not.
pub(super) struct Ready(Option<OwnedFd>);

impl Ready {
    pub(super) fn nobody() -> Self {
        Self(None)
    }

    pub(super) fn tell(self) {
        if let Some(pipe) = self.0 {
            let _ = File::from(pipe).write_all(b"ready");
        }
    }
}

/// Leaves the caller's session and terminal. The process that was started waits here until the daemon serves (exit code 0)
/// or is gone; only the daemon returns.
pub(super) fn detach() -> io::Result<Ready> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // SAFETY: this process has a single thread still.
    match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error()),
        0 => {}
        child => {
            drop(writer);
            let mut said = Vec::new();
            let _ = File::from(reader).read_to_end(&mut said);
            // SAFETY: it is our child; it ends at once.
            unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
            std::process::exit(i32::from(said != b"ready"));
        }
    }
    drop(reader);
    rustix::process::setsid()?;
    // SAFETY: as above. Its child is no session leader and can never get a terminal again.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Ready(Some(writer))),
        // SAFETY: nothing of the parent's is to be run.
        _ => unsafe { libc::_exit(0) },
    }
}

/// Standard input, output and errors lead nowhere from here on.
pub(super) fn silence() -> io::Result<()> {
    let null = fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}
