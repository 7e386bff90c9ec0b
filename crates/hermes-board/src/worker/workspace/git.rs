//! Asking git: with a time limit, without hooks, and without what our own environment says about repositories.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::WorkspaceError;

/// How long git may take. A large checkout on a slow disk takes minutes, a question does not.
pub(super) const QUESTION: Duration = Duration::from_secs(30);
pub(super) const CHECKOUT: Duration = Duration::from_mins(10);

/// Variables that would lead git to another repository.
const FOREIGN: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Runs git in a repository and gives what it printed.
pub(super) fn git(
    repository: &Path,
    doing: &'static str,
    limit: Duration,
    arguments: &[&str],
) -> Result<String, WorkspaceError> {
    let failed = |said: String| WorkspaceError::Git { doing, repository: repository.to_owned(), said };
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(repository)
        .args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"])
        .args(arguments)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for name in FOREIGN {
        command.env_remove(name);
    }
    let mut child = command.spawn().map_err(|error| failed(format!("it cannot be started: {error}")))?;
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let deadline = Instant::now() + limit;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
                    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                }
                let _ = child.wait();
                return Err(failed(format!("it took longer than {} seconds", limit.as_secs())));
            }
            Err(error) => return Err(failed(error.to_string())),
        }
    };
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    if status.success() {
        return Ok(out.trim_end().to_owned());
    }
    let said: String = err.trim().chars().take(400).collect();
    Err(failed(if said.is_empty() { status.to_string() } else { said }))
}

fn reader(from: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            let _ = from.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
