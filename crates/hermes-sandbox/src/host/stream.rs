//! A command of this machine as a byte stream: `docker exec -i`, `ssh`.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hermes_box::client::Transport;

use crate::context::Environment;

/// How much of what it complains about is kept.
const MAX_STDERR: u64 = 64 << 10;

/// A running command whose input and output are a stream.
#[derive(Debug)]
pub struct Piped {
    /// The stream. Closing it ends the command.
    pub transport: Transport,
    /// What became of the command, for when the stream turns out to lead nowhere.
    pub fate: Fate,
}

/// Starts a command in a process group of its own, so that an interrupt typed at our terminal does not
/// reach it.
pub fn open(program: &Path, args: &[OsString], env: &Environment) -> io::Result<Piped> {
    let mut child = Command::new(program)
        .args(args)
        .env_clear()
        .envs(env.iter())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let missing = || io::Error::other("a pipe of the command is missing");
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let complaints = child.stderr.take().map(read_complaints);
    let child = Arc::new(Mutex::new(child));
    let closing = Arc::clone(&child);
    let transport = Transport::new(stdout, stdin).on_close(move || end(&closing));
    Ok(Piped { transport, fate: Fate { child, complaints } })
}

/// A command behind a stream, to be asked why it ended.
#[derive(Debug)]
pub struct Fate {
    child: Arc<Mutex<Child>>,
    complaints: Option<JoinHandle<String>>,
}

/// How a command behind a stream ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code; a signal is 128 plus its number.
    pub code: i32,
    /// What it complained about.
    pub stderr: String,
}

impl Fate {
    /// How it ended, if it does so within the time; `None` if it still runs or we ended it ourselves.
    pub fn await_end(self, within: Duration) -> Option<Ended> {
        let until = Instant::now() + within;
        let status = loop {
            let status = self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait().ok()?;
            match status {
                Some(status) => break status,
                None if Instant::now() >= until => return None,
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        if status.signal() == Some(rustix::process::Signal::KILL.as_raw()) {
            return None;
        }
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        let stderr = self.complaints.and_then(|thread| thread.join().ok()).unwrap_or_default();
        Some(Ended { code, stderr })
    }
}

/// Keeps the beginning, and reads on to the end so that the command never blocks on it.
fn read_complaints(stderr: ChildStderr) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        let mut stderr = stderr;
        let _ = stderr.by_ref().take(MAX_STDERR).read_to_end(&mut kept);
        let _ = io::copy(&mut stderr, &mut io::sink());
        String::from_utf8_lossy(&kept).into_owned()
    })
}

fn end(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    // It may have ended by itself, which is just as well.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Piped {
        open(Path::new("/bin/sh"), &["-c".into(), script.into()], &Environment::current()).unwrap()
    }

    #[test]
    fn the_reason_it_ended_is_known() {
        let piped = sh("echo no such host >&2; exit 255");
        let ended = piped.fate.await_end(Duration::from_secs(20)).unwrap();
        assert_eq!(ended, Ended { code: 255, stderr: "no such host\n".into() });
    }

    #[test]
    fn one_that_still_runs_has_not_ended() {
        let piped = sh("exec sleep 600");
        assert_eq!(piped.fate.await_end(Duration::from_millis(20)), None);
    }

    #[test]
    fn dropping_the_client_side_ends_it() {
        let dir = tempfile::tempdir().unwrap();
        let pid_file = dir.path().join("pid");
        let piped = sh(&format!("echo $$ > {}; exec sleep 600", pid_file.display()));
        crate::testing::eventually("it has started", || {
            std::fs::read_to_string(&pid_file).is_ok_and(|text| text.ends_with('\n'))
        });
        let pid = std::fs::read_to_string(&pid_file).unwrap().trim().to_owned();
        // A client that gives up on the hello closes the transport.
        let options = hermes_box::client::ConnectOptions {
            hello_timeout: Duration::from_millis(50),
            ..Default::default()
        };
        assert!(hermes_box::client::Client::connect(piped.transport, &options).is_err());
        crate::testing::eventually("it has ended", || !Path::new(&format!("/proc/{pid}")).exists());
    }
}
