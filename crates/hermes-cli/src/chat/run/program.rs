//! Running another program for a moment: bounded in time and in what it prints.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// What a program printed and how it ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub output: Vec<u8>,
    pub status: Option<ExitStatus>,
}

/// Runs a command to its end or its deadline; then its process group is ended and `status` is missing.
pub(super) fn run(command: &mut Command, input: &[u8], deadline: Duration, most: u64) -> io::Result<Ran> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn()?;
    let group = Pid::from_raw(child.id().cast_signed());
    let (done, finished) = mpsc::channel();
    let stdin = child.stdin.take();
    let stdout = child.stdout.take();
    let input = input.to_vec();
    std::thread::spawn(move || {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input is content without it.
            let _ = stdin.write_all(&input);
        }
    });
    std::thread::spawn(move || {
        let mut output = Vec::new();
        if let Some(stdout) = stdout {
            let mut stdout = stdout.take(most);
            let _ = stdout.read_to_end(&mut output);
            // The rest is read and thrown away, so that the program can end.
            let _ = io::copy(stdout.get_mut(), &mut io::sink());
        }
        let _ = done.send((output, child.wait()));
    });
    if let Ok((output, status)) = finished.recv_timeout(deadline) {
        Ok(Ran { output, status: Some(status?) })
    } else {
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let output = finished.recv_timeout(Duration::from_secs(1)).map(|(o, _)| o).unwrap_or_default();
        Ok(Ran { output, status: None })
    }
}

/// Where a program is, on a search path.
pub(super) fn find(name: &str, search: &str) -> Option<PathBuf> {
    let places = search.split(':').filter(|dir| !dir.is_empty());
    places.map(|dir| PathBuf::from(dir).join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_program_that_hangs_is_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo begun; sleep 600 & wait"]);
        let ran = run(&mut command, b"", Duration::from_millis(300), 100).unwrap();
        assert!(ran.status.is_none());
        assert_eq!(ran.output, b"begun\n");
    }

    #[test]
    fn output_is_bounded_and_input_is_given() {
        let mut command = Command::new("sh");
        command.args(["-c", "cat; yes | head -c 100000"]);
        let ran = run(&mut command, b"in:", Duration::from_mins(1), 10).unwrap();
        assert!(ran.status.unwrap().success());
        assert_eq!(ran.output, b"in:y\ny\ny\ny");
    }
}
