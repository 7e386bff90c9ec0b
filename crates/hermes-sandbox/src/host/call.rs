//! One command of this machine, run to its end: with a deadline, bounded output and nothing to read
//! from our terminal.

use std::ffi::OsString;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::context::Environment;
use hermes_guard::Secret;

/// How much of each output stream is kept; an engine that prints more has lost its mind.
const MAX_OUTPUT: usize = 16 << 20;

/// After the command ended, how long a grandchild that holds the pipe may keep us.
const DRAIN: Duration = Duration::from_millis(500);

/// A command to run.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments. Never a secret: every user of the machine can read them.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: &'a Environment,
    /// Further variables, for values that must not be arguments.
    pub extra_env: Vec<(String, Secret)>,
    /// What it reads; `None` is nothing.
    pub stdin: Option<Vec<u8>>,
    /// How long it may take.
    pub deadline: Duration,
}

/// What a finished command left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// Exit code; a signal is 128 plus its number.
    pub code: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, as text.
    pub stderr: String,
}

/// Why a command did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// There is no such program.
    #[error("\"{}\" was not found", .0.display())]
    NotFound(PathBuf),
    /// There is, but it may not be run.
    #[error("\"{}\" cannot be run: permission denied", .0.display())]
    NotExecutable(PathBuf),
    /// It did not end in time and was killed.
    #[error("\"{}\" did not answer within {} s", .program.display(), .after.as_secs())]
    TimedOut {
        /// The program.
        program: PathBuf,
        /// The time it was given.
        after: Duration,
    },
    /// Anything else the system refused.
    #[error("running \"{}\" failed: {source}", .program.display())]
    Io {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Something that wants each line of output as it comes, such as a progress display.
pub type OnLine<'a> = &'a mut dyn FnMut(&str);

/// Runs a command to its end.
pub fn run(call: &Call<'_>, on_line: Option<OnLine<'_>>) -> Result<Output, CallError> {
    let started = Instant::now();
    let mut child = spawn(call)?;
    let io_error = |source| CallError::Io { program: call.program.to_path_buf(), source };
    let (sender, chunks) = mpsc::channel();
    read_in_background(child.stdout.take(), Pipe::Out, &sender);
    read_in_background(child.stderr.take(), Pipe::Err, &sender);
    drop(sender);

    let mut collected = Collected::new(on_line);
    let deadline = started + call.deadline;
    let Some(status) = wait(&mut child, deadline, &chunks, &mut collected).map_err(io_error)? else {
        end(&mut child);
        return Err(CallError::TimedOut { program: call.program.to_path_buf(), after: call.deadline });
    };
    collected.drain(&chunks, Instant::now() + DRAIN);
    Ok(collected.finish(code_of(status)))
}

/// Starts the command in a process group of its own, so that a deadline ends its helpers too.
fn spawn(call: &Call<'_>) -> Result<Child, CallError> {
    let program = call.program.to_path_buf();
    let stdin = match &call.stdin {
        None => Stdio::null(),
        Some(bytes) => {
            stdin_of(bytes).map_err(|source| CallError::Io { program: program.clone(), source })?
        }
    };
    Command::new(&program)
        .args(&call.args)
        .env_clear()
        .envs(call.env.iter())
        .envs(call.extra_env.iter().map(|(name, value)| (name, value.expose())))
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => CallError::NotFound(program),
            io::ErrorKind::PermissionDenied => CallError::NotExecutable(program),
            _ => CallError::Io { program, source },
        })
}

/// An unlinked file as standard input: it can be read through `/dev/stdin`, and nothing of it is left
/// on the disk if we are killed.
fn stdin_of(bytes: &[u8]) -> io::Result<Stdio> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(Stdio::from(file))
}

#[derive(Clone, Copy)]
enum Pipe {
    Out,
    Err,
}

fn read_in_background(
    source: Option<impl Read + Send + 'static>,
    pipe: Pipe,
    sender: &Sender<(Pipe, Vec<u8>)>,
) {
    let Some(mut source) = source else { return };
    let sender = sender.clone();
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = source.read(&mut buffer) {
            if sender.send((pipe, buffer[..count].to_vec())).is_err() {
                break;
            }
        }
    });
}

/// Output gathered so far.
struct Collected<'a> {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    line: Vec<u8>,
    on_line: Option<OnLine<'a>>,
}

impl<'a> Collected<'a> {
    fn new(on_line: Option<OnLine<'a>>) -> Self {
        Self { stdout: Vec::new(), stderr: Vec::new(), line: Vec::new(), on_line }
    }

    fn take(&mut self, pipe: Pipe, bytes: &[u8]) {
        let kept = match pipe {
            Pipe::Out => &mut self.stdout,
            Pipe::Err => &mut self.stderr,
        };
        let room = MAX_OUTPUT.saturating_sub(kept.len());
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if self.on_line.is_some() {
            self.report_lines(bytes);
        }
    }

    /// Both streams feed the same display; a carriage return counts as a line end.
    fn report_lines(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if !matches!(byte, b'\n' | b'\r') {
                self.line.push(*byte);
                continue;
            }
            let line = String::from_utf8_lossy(&self.line).trim().to_owned();
            self.line.clear();
            if let (false, Some(on_line)) = (line.is_empty(), &mut self.on_line) {
                on_line(&line);
            }
        }
    }

    fn drain(&mut self, chunks: &Receiver<(Pipe, Vec<u8>)>, until: Instant) {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match chunks.recv_timeout(left) {
                Ok((pipe, bytes)) => self.take(pipe, &bytes),
                Err(_) => return,
            }
        }
    }

    fn finish(self, code: i32) -> Output {
        Output { code, stdout: self.stdout, stderr: String::from_utf8_lossy(&self.stderr).into_owned() }
    }
}

/// Waits until the command ends or the deadline passes; output is taken in meanwhile.
fn wait(
    child: &mut Child,
    deadline: Instant,
    chunks: &Receiver<(Pipe, Vec<u8>)>,
    collected: &mut Collected<'_>,
) -> io::Result<Option<ExitStatus>> {
    // Most commands close their output when they end, so waiting for output is waiting for the end.
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match chunks.recv_timeout(left.min(Duration::from_millis(100))) {
            Ok((pipe, bytes)) => collected.take(pipe, &bytes),
            Err(mpsc::RecvTimeoutError::Disconnected) => return wait_for_exit(child, deadline),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait()? {
                    return Ok(Some(status));
                }
                if left.is_zero() {
                    return Ok(None);
                }
            }
        }
    }
}

fn wait_for_exit(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    let pidfd =
        Pid::from_raw(child.id().cast_signed()).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        match &pidfd {
            Some(fd) => {
                let timeout =
                    Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
                // An interrupted poll only means one more turn of the loop.
                let _ = poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&timeout));
            }
            None => thread::sleep(left.min(Duration::from_millis(2))),
        }
    }
}

/// Kills the whole group and reaps the command.
fn end(child: &mut Child) {
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh<'a>(script: &str, env: &'a Environment) -> Call<'a> {
        Call {
            program: Path::new("/bin/sh"),
            args: vec!["-c".into(), script.into()],
            env,
            extra_env: Vec::new(),
            stdin: None,
            deadline: Duration::from_secs(20),
        }
    }

    #[test]
    fn code_and_both_streams_come_back() {
        let env = Environment::default();
        let output = run(&sh("echo out; echo err >&2; exit 3", &env), None).unwrap();
        assert_eq!(output, Output { code: 3, stdout: b"out\n".to_vec(), stderr: "err\n".into() });
    }

    #[test]
    fn a_signal_is_a_code_above_128() {
        let env = Environment::default();
        assert_eq!(run(&sh("kill -9 $$", &env), None).unwrap().code, 137);
    }

    #[test]
    fn stdin_is_empty_unless_given_and_can_be_opened_by_name() {
        let env = Environment::default();
        assert_eq!(run(&sh("cat", &env), None).unwrap().stdout, b"");
        let call = Call { stdin: Some(b"A=1\n".to_vec()), ..sh("/bin/cat /dev/stdin", &env) };
        assert_eq!(run(&call, None).unwrap().stdout, b"A=1\n");
    }

    #[test]
    fn the_environment_is_exactly_what_was_given() {
        let env: Environment = [("ONE", "1")].into_iter().collect();
        let call =
            Call { extra_env: vec![("TWO".into(), Secret::new("2"))], ..sh("echo $ONE$TWO$HOME", &env) };
        assert_eq!(run(&call, None).unwrap().stdout, b"12\n");
    }

    #[test]
    fn a_command_that_never_answers_is_ended_with_its_helpers() {
        let env = Environment::current();
        let dir = tempfile::tempdir().unwrap();
        let pids = dir.path().join("pids");
        let script = format!("sleep 600 & echo $! $$ > {}; wait", pids.display());
        let call = Call { deadline: Duration::from_millis(300), ..sh(&script, &env) };
        assert!(matches!(run(&call, None), Err(CallError::TimedOut { .. })));
        for pid in std::fs::read_to_string(&pids).unwrap().split_whitespace() {
            crate::testing::eventually(&format!("{pid} has ended"), || {
                let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                state.is_empty() || state.contains(") Z ")
            });
        }
    }

    #[test]
    fn a_grandchild_that_holds_the_pipe_does_not_hold_us() {
        let env = Environment::current();
        let output = run(&sh("sleep 30 & echo done", &env), None).unwrap();
        assert_eq!(output.stdout, b"done\n");
    }

    #[test]
    fn lines_are_reported_as_they_come() {
        let env = Environment::default();
        let mut lines = Vec::new();
        run(&sh("printf 'one\\r\\ntwo\\rthree\\n'", &env), Some(&mut |line| lines.push(line.to_owned())))
            .unwrap();
        assert_eq!(lines, ["one", "two", "three"]);
    }

    #[test]
    fn a_missing_program_is_told_from_one_that_may_not_run() {
        let env = Environment::default();
        let missing = Call { program: Path::new("/nowhere/docker"), ..sh("", &env) };
        assert!(matches!(run(&missing, None), Err(CallError::NotFound(_))));
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("docker");
        std::fs::write(&plain, "").unwrap();
        let plain_call = Call { program: &plain, ..sh("", &env) };
        assert!(matches!(run(&plain_call, None), Err(CallError::NotExecutable(_))));
    }
}
