//! Running commands.

pub(crate) mod collect;
pub(crate) mod drive;
pub(crate) mod prepare;
pub(crate) mod process;
pub(crate) mod shims;
pub(crate) mod spill;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Agent;
use super::call::{Arrived, CallContext};
use super::left::Remains;
use super::shell::script::Saving;
use super::shell::state::{Overlay, ShellState};
use super::shell::store::Session;
use crate::proto::exec::{
    Capture, Captured, Control, Ending, ExecRequest, Exit, Notice, Program, Status, StreamId,
};
use crate::proto::fault::Fault;
use crate::proto::message::Channel;
use crate::shim::wire::Step;
use crate::sys::wake::WakeFd;
use collect::Collector;
use drive::{Cancel, Finish, Outcome, Patron, Timing};
use prepare::{Attendance, Order, Prepared, Unprepared, read_dump};
use process::{Launch, Process};
use spill::Spills;

impl Agent {
    /// Runs a command for a client.
    pub(crate) fn exec(
        self: &Arc<Self>,
        context: &Arc<CallContext>,
        request: &ExecRequest,
    ) -> Result<Exit, Fault> {
        let order = Order {
            session: request.session.as_deref(),
            program: &request.program,
            cwd: request.cwd.as_deref(),
            env: &request.env,
            init: &request.init,
            stdin: request.stdin.clone(),
            streams: request.streams,
            pty: request.pty,
            saving: Saving::On,
            // Who only waits for the end need not be woken for the beginning.
            announce: request.capture == Capture::Stream,
        };
        let began = Instant::now();
        let attendance = Attendance { context, deadline: request.timeout.map(|timeout| began + timeout) };
        let prepared = match self.prepare(&order, &attendance) {
            Ok(prepared) => prepared,
            Err(Unprepared::Fault(fault)) => return Err(fault),
            Err(Unprepared::Over(finish)) => return Ok(self.never_ran(request, finish, began.elapsed())),
        };
        let timing = Timing {
            timeout: request.timeout.map(|timeout| timeout.saturating_sub(began.elapsed())),
            grace: request.grace.unwrap_or(self.options.grace),
            linger: self.options.linger,
        };
        let mut caller = Caller::new(context, request, &self.spills, timing.grace)?;
        let cwd = prepared.launch.start.cwd.clone();
        let Prepared { launch, session, state, mut notices } = prepared;
        let (process, outcome) =
            self.run_process(&launch, timing, &mut caller).map_err(|error| cannot_start(&error))?;
        let mut after = cwd.clone();
        if outcome.finish == Finish::Exited
            && let Some(session) = &session
            && process.state.is_some()
        {
            match self.keep_state(session, &state, &request.env, &process) {
                Ok((cwd, notice)) => {
                    after = cwd;
                    notices.extend(notice);
                }
                Err(why) => notices.push(Notice::StateNotKept(why)),
            }
        }
        if outcome.unkillable > 0 {
            notices.push(Notice::Unkillable(outcome.unkillable));
        }
        notices.extend(caller.notices());
        let (stdout, stderr) = caller.captured();
        let exit = Exit {
            ending: ending(&outcome, &cwd, &request.program),
            status: outcome.status,
            cwd: after,
            duration: outcome.duration,
            left_running: outcome.left,
            notices,
            stdout,
            stderr,
        };
        self.settle(process, &outcome, request.session.as_deref(), &describe(&request.program), None);
        Ok(exit)
    }

    /// Runs a command to its end. One whose shim never came to be, as the process it was to come from ended just then, is tried again.
    pub(crate) fn run_process(
        &self,
        launch: &Launch,
        timing: Timing,
        patron: &mut dyn Patron,
    ) -> io::Result<(Process, Outcome)> {
        const ATTEMPTS: usize = 3;
        let mut attempt = 1;
        loop {
            let mut process = Process::launch(&self.shims, launch)?;
            let outcome = drive::drive(&mut process, timing, patron);
            // A command that began has told so before anything else.
            let began = outcome.finish != Finish::GuardLost || outcome.guard.is_some();
            if began || attempt == ATTEMPTS {
                return Ok((process, outcome));
            }
            attempt += 1;
        }
    }

    /// The end of a command whose session was not ready when it was cancelled or its time was up.
    fn never_ran(&self, request: &ExecRequest, finish: Finish, duration: Duration) -> Exit {
        let ending = if finish == Finish::TimedOut { Ending::TimedOut } else { Ending::Cancelled };
        let why = "the command's own end came before theirs, so it did not run";
        Exit {
            ending,
            status: Status::Unknown,
            cwd: request.cwd.clone().unwrap_or_else(|| self.options.cwd.clone()),
            duration,
            left_running: 0,
            notices: vec![Notice::InitFailed(why.into())],
            stdout: Captured::default(),
            stderr: Captured::default(),
        }
    }

    /// Takes over what a shell has left behind; the session's directory from now on.
    fn keep_state(
        &self,
        session: &Session,
        before: &ShellState,
        overlay: &Overlay,
        process: &Process,
    ) -> Result<(PathBuf, Option<Notice>), String> {
        let dump = read_dump(process).map_err(|why| why.to_string())?;
        let dump = self.without_default_umask(dump);
        let next = before.after(&self.options.env, overlay, &dump).map_err(|_| "there is too much of it")?;
        let cwd = next.cwd.clone();
        let saved = session.save(next);
        Ok((cwd, saved.err().map(|error| Notice::StateNotKept(format!("only in memory: {error}")))))
    }

    /// Gives back everything a command held, and sees to what is left of it.
    pub(crate) fn settle(
        self: &Agent,
        process: Process,
        outcome: &Outcome,
        session: Option<&str>,
        command: &[u8],
        job: Option<&str>,
    ) {
        if outcome.guard_lost {
            self.end_orphans(outcome, process.mark);
        }
        if outcome.left > 0
            && outcome.finish == Finish::Exited
            && let Some(guard) = outcome.guard
        {
            self.left.adopt(process.shim, Remains { guard, session, command, job });
        }
    }
}

/// What a program is called in listings.
pub(crate) fn describe(program: &Program) -> Vec<u8> {
    const LONGEST: usize = 4096;
    let mut words = match program {
        Program::Shell(command) => command.clone(),
        Program::Argv(argv) => {
            argv.iter().map(|argument| argument.as_encoded_bytes()).collect::<Vec<_>>().join(&b' ')
        }
    };
    words.truncate(LONGEST);
    words
}

/// Why a command is over, in the words of the protocol.
pub(crate) fn ending(outcome: &Outcome, cwd: &std::path::Path, program: &Program) -> Ending {
    match outcome.finish {
        Finish::Exited => Ending::Exited,
        Finish::TimedOut => Ending::TimedOut,
        Finish::Cancelled => Ending::Cancelled,
        Finish::GuardLost => Ending::GuardLost,
        Finish::NotStarted(Step::Directory, errno) => {
            Ending::NoDirectory { path: cwd.to_path_buf(), reason: reason(errno) }
        }
        Finish::NotStarted(Step::Fork | Step::Program, errno) => {
            let program = match program {
                Program::Argv(argv) => argv.first().cloned().unwrap_or_default(),
                Program::Shell(_) => OsString::from("the shell"),
            };
            Ending::NotStarted { program, errno, reason: reason(errno) }
        }
    }
}

fn reason(errno: i32) -> String {
    let text = io::Error::from_raw_os_error(errno).to_string();
    // The number is given apart.
    text.split(" (os error").next().unwrap_or_default().to_string()
}

/// A command could not even be attempted.
pub(crate) fn cannot_start(error: &io::Error) -> Fault {
    Fault::Exhausted(format!("a command cannot be started: {error}"))
}

/// A client that waits for a command.
struct Caller<'a> {
    context: &'a Arc<CallContext>,
    bell: Arc<WakeFd>,
    spills: &'a Spills,
    grace: Duration,
    capture: Capture,
    stdout: Collector,
    stderr: Collector,
}

impl<'a> Caller<'a> {
    fn new(
        context: &'a Arc<CallContext>,
        request: &ExecRequest,
        spills: &'a Spills,
        grace: Duration,
    ) -> Result<Self, Fault> {
        let collector = || match request.capture {
            Capture::Stream => Collector::passing(request.spill),
            Capture::Collect(keep) => Collector::keeping(keep, request.spill),
        };
        let bell = context.bell().map_err(|error| cannot_start(&error))?;
        let (stdout, stderr) = (collector(), collector());
        Ok(Self { context, bell, spills, grace, capture: request.capture, stdout, stderr })
    }

    fn notices(&self) -> Vec<Notice> {
        let mut notices: Vec<Notice> = self.stdout.notice().into_iter().collect();
        notices.extend(self.stderr.notice());
        notices
    }

    fn captured(self) -> (Captured, Captured) {
        match self.capture {
            Capture::Collect(_) => (self.stdout.captured(), self.stderr.captured()),
            Capture::Stream => (self.stdout.summary(), self.stderr.summary()),
        }
    }
}

impl Patron for Caller<'_> {
    fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    fn heard(&self) {
        self.bell.clear();
    }

    fn started(&mut self, pid: u32) {
        self.context.started(pid);
    }

    fn cancelled(&self) -> Option<Cancel> {
        self.context.is_abandoned().then_some(Cancel { grace: self.grace })
    }

    fn controls(&mut self) -> Vec<Control> {
        self.context.take_controls()
    }

    fn input(&mut self) -> Arrived {
        self.context.take_input()
    }

    fn input_used(&mut self, bytes: usize) {
        self.context.consumed(bytes);
    }

    fn room(&mut self) -> usize {
        match self.capture {
            Capture::Collect(_) => usize::MAX,
            Capture::Stream => self.context.room(),
        }
    }

    fn output(&mut self, stream: StreamId, bytes: &[u8]) {
        let collector = match stream {
            StreamId::Stdout => &mut self.stdout,
            StreamId::Stderr => &mut self.stderr,
        };
        collector.add(bytes, self.spills);
        if self.capture == Capture::Stream {
            self.context.send(Channel::Output(stream), bytes);
        }
    }
}
