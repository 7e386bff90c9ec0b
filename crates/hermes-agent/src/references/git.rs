//! Attaching what git says, with a deadline and without the programs that a repository's settings could name.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::{Attached, ReferenceError};

/// Most bytes of its output.
const LIMIT: u64 = 4 << 20;
/// Most bytes of what it complains about.
const COMPLAINTS: u64 = 4 << 10;

pub(super) fn attach(
    cwd: &Path,
    title: &str,
    arguments: &[&str],
    deadline: Duration,
) -> Result<Attached, ReferenceError> {
    let text = run(command(cwd, arguments), deadline)?;
    let text = if text.trim().is_empty() { "(nothing)".to_owned() } else { text };
    Ok(Attached { title: title.to_owned(), text, language: "diff".to_owned() })
}

fn command(cwd: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args([
            "--no-pager",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "log.showSignature=false",
            "-c",
            "color.ui=false",
        ])
        .args(arguments)
        // Settings of a repository may name programs for these.
        .args(["--no-ext-diff", "--no-textconv"])
        .current_dir(cwd)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command
}

/// Runs a program to its end, or ends it and everything it started.
fn run(mut command: Command, deadline: Duration) -> Result<String, ReferenceError> {
    let mut child = command.spawn().map_err(ReferenceError::NoGit)?;
    let output = collect(child.stdout.take(), LIMIT);
    let complaints = collect(child.stderr.take(), COMPLAINTS);
    let Ok(output) = output.recv_timeout(deadline) else {
        end(&mut child);
        return Err(ReferenceError::GitTooSlow(deadline));
    };
    if output.len() as u64 > LIMIT {
        end(&mut child);
        return Err(ReferenceError::Git(format!("its output is longer than {LIMIT} bytes")));
    }
    // It may close its output and go on; then it has had its time too.
    let Ok(complaints) = complaints.recv_timeout(deadline) else {
        end(&mut child);
        return Err(ReferenceError::GitTooSlow(deadline));
    };
    let status = child.wait().map_err(ReferenceError::NoGit)?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&output).into_owned());
    }
    let complaints = String::from_utf8_lossy(&complaints).trim().to_owned();
    Err(ReferenceError::Git(if complaints.is_empty() { status.to_string() } else { complaints }))
}

/// Reads a stream on a thread of its own, up to one byte more than the limit.
fn collect(stream: Option<impl Read + Send + 'static>, limit: u64) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            let mut bounded = stream.take(limit + 1);
            let _ = bounded.read_to_end(&mut bytes);
        }
        let _ = send.send(bytes);
    });
    receive
}

fn end(child: &mut Child) {
    if let Some(group) = Pid::from_raw(child.id() as i32) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        command
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_its_children() {
        let problem = run(shell("sleep 1000 & sleep 1000"), Duration::from_millis(50)).unwrap_err();
        assert!(matches!(problem, ReferenceError::GitTooSlow(_)), "{problem}");
    }

    #[test]
    fn endless_output_is_cut_off() {
        let problem = run(shell("yes"), Duration::from_mins(1)).unwrap_err();
        assert!(problem.to_string().contains("longer than"), "{problem}");
    }

    #[test]
    fn complaints_are_passed_on() {
        let problem = run(shell("echo no such thing >&2; exit 3"), Duration::from_mins(1)).unwrap_err();
        assert_eq!(problem.to_string(), "git failed: no such thing");
    }
}
