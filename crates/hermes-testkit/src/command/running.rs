//! A command that is running: talk to it, read it line by line with a deadline, signal it, end it.

use std::io::Write;
use std::process::{Child, ChildStdin, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::stream::Stream;
use super::wait::poll_until;
use super::{End, Finished};

/// How long the last output of an ended program may take to come.
const SETTLE_LIMIT: Duration = Duration::from_secs(2);

/// A started command. Dropping it while it runs kills its whole process group.
#[derive(Debug)]
pub struct Running {
    child: Child,
    command: String,
    started: Instant,
    stdin: Option<ChildStdin>,
    stdout: Stream,
    stderr: Stream,
    lines_read: usize,
}

impl Running {
    pub(super) fn new(mut child: Child, command: String, input: Option<Vec<u8>>) -> Self {
        let stdin = match (input, child.stdin.take()) {
            (Some(input), Some(mut pipe)) => {
                // A thread, because a program that does not read would block us; one that exits early is fine.
                thread::spawn(move || drop(pipe.write_all(&input)));
                None
            }
            (_, pipe) => pipe,
        };
        let stdout = child.stdout.take().map(Stream::read_from).unwrap_or_default();
        let stderr = child.stderr.take().map(Stream::read_from).unwrap_or_default();
        let started = Instant::now();
        Self { child, command, started, stdin, stdout, stderr, lines_read: 0 }
    }

    /// Its process id, which is also the id of its process group.
    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Writes to its standard input.
    #[track_caller]
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let Some(stdin) = self.stdin.as_mut() else {
            panic!("standard input of '{}' is closed", self.command)
        };
        if let Err(error) = stdin.write_all(bytes.as_ref()).and_then(|()| stdin.flush()) {
            self.fail(&format!("cannot write to its standard input: {error}"));
        }
    }

    /// Closes its standard input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// The next line of standard output; None when the stream has ended or `limit` has passed.
    pub fn next_line(&mut self, limit: Duration) -> Option<String> {
        self.stdout.next_line(&mut self.lines_read, Instant::now() + limit)
    }

    /// Reads lines of standard output until one holds `text`; ends the test when none comes in time.
    #[track_caller]
    pub fn line_with(&mut self, text: &str, limit: Duration) -> String {
        let deadline = Instant::now() + limit;
        while let Some(line) = self.stdout.next_line(&mut self.lines_read, deadline) {
            if line.contains(text) {
                return line;
            }
        }
        self.fail(&format!("no line with {text:?} on standard output within {limit:?}"))
    }

    /// Waits until standard error holds `text`; ends the test when it does not in time.
    #[track_caller]
    pub fn stderr_with(&mut self, text: &str, limit: Duration) {
        if !self.stderr.wait_for(text, Instant::now() + limit) {
            self.fail(&format!("no {text:?} on standard error within {limit:?}"));
        }
    }

    /// Waits until standard output holds `text`. False when it ended or the time passed without it.
    pub fn stdout_shows(&self, text: &str, limit: Duration) -> bool {
        self.stdout.wait_for(text, Instant::now() + limit)
    }

    /// All of standard output so far.
    pub fn stdout_so_far(&self) -> String {
        String::from_utf8_lossy(&self.stdout.bytes()).into_owned()
    }

    /// All of standard error so far.
    pub fn stderr_so_far(&self) -> String {
        String::from_utf8_lossy(&self.stderr.bytes()).into_owned()
    }

    /// True until the program has exited.
    pub fn is_running(&mut self) -> bool {
        self.try_wait().is_none()
    }

    /// Sends a signal to the program alone.
    pub fn signal(&mut self, signal: Signal) {
        // Only while it is not reaped, so the number cannot belong to another process yet.
        if self.is_running() {
            let _gone_already = kill_process(self.group(), signal);
        }
    }

    /// Sends a signal to the program and everything it started in its process group.
    pub fn signal_group(&mut self, signal: Signal) {
        let _gone_already = kill_process_group(self.group(), signal);
    }

    /// Kills the program alone, as `kill -9` does, and waits until it is gone. Its children live on.
    /// Says how it ended: by the kill, or by itself before.
    pub fn kill9(&mut self) -> End {
        self.signal(Signal::KILL);
        match self.child.wait() {
            Ok(status) => End::from(status),
            Err(error) => panic!("cannot wait for '{}': {error}", self.command),
        }
    }

    /// Waits until all output has come, for a program that has ended. False when something holds it open.
    pub(crate) fn settle(&self) -> bool {
        // The pipes close at once, unless a process that was left behind has them.
        self.output_ended(Instant::now() + SETTLE_LIMIT)
    }

    /// Waits for its end and all its output; past `limit` the process group is killed.
    pub fn wait(mut self, limit: Duration) -> Finished {
        let deadline = Instant::now() + limit;
        let end = match poll_until(limit, || self.try_wait()) {
            Some(status) if self.output_ended(deadline) => return self.finished(End::from(status)),
            Some(_) => End::OutputHeldOpen,
            None => End::TimedOut,
        };
        self.end_group();
        self.settle();
        self.finished(end)
    }

    fn try_wait(&mut self) -> Option<ExitStatus> {
        match self.child.try_wait() {
            Ok(status) => status,
            Err(error) => panic!("cannot wait for '{}': {error}", self.command),
        }
    }

    fn output_ended(&self, deadline: Instant) -> bool {
        self.stdout.wait_end(deadline) && self.stderr.wait_end(deadline)
    }

    fn end_group(&mut self) {
        self.signal_group(Signal::KILL);
        let _status = self.child.wait();
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn finished(&self, end: End) -> Finished {
        Finished {
            command: self.command.clone(),
            end,
            stdout: self.stdout.bytes(),
            stderr: self.stderr.bytes(),
            elapsed: self.started.elapsed(),
        }
    }

    #[track_caller]
    fn fail(&mut self, problem: &str) -> ! {
        let state = match self.try_wait() {
            Some(status) => End::from(status).to_string(),
            None => "still running".to_owned(),
        };
        let report = self.finished(End::TimedOut);
        panic!(
            "{problem}\ncommand: {}\nstate:   {state}\nstdout:\n{}\nstderr:\n{}",
            self.command,
            report.out(),
            report.err()
        )
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Once the program is reaped its group id may belong to someone else; what it left behind on purpose
        // ends with the test home.
        if self.is_running() {
            self.end_group();
        }
    }
}
