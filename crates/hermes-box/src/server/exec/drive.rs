//! The loop that runs one command: its output, its input, its time, its end.
//!
//! It never blocks on anything but its one poll, so that a command's time limit holds whatever the client, the shell
//! or the shim do.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

use super::process::Process;
use crate::proto::exec::{Control, Status, StreamId, Target};
use crate::proto::frame::MAX_DATA;
use crate::server::call::Arrived;
use crate::shim::wire::{self, Mail, Order, Report, Step};
use crate::sys::{self, pty};

/// How long a shim may take beyond the grace it was told before it is taken for dead: longer than it waits itself for
/// processes that do not die.
const SHIM_PATIENCE: Duration = Duration::from_secs(8);
/// How often to see whether a shim was stopped when nobody else does.
const UNATTENDED_LOOK: Duration = Duration::from_secs(1);
/// The same while it is expected to end everything.
const ENDING_LOOK: Duration = Duration::from_millis(250);

/// The most that is read after a command's end: what a pipe can hold.
const DRAIN_LIMIT: usize = 1024 * 1024;
/// How many times the usual time to linger may be spent on processes that are busy.
const LONGEST_LINGER: u32 = 15;
/// Control-D.
const END_OF_TRANSMISSION: u8 = 4;

/// Whom a command runs for: a client's call, or a job.
pub(crate) trait Patron {
    /// Rings when one of the questions below may have a new answer.
    fn bell(&self) -> BorrowedFd<'_>;
    /// The bell was heard; whatever is asked next is up to date.
    fn heard(&self);
    /// The command runs.
    fn started(&mut self, pid: u32);
    /// Whether it is to be ended.
    fn cancelled(&self) -> Option<Cancel>;
    /// Signals and sizes.
    fn controls(&mut self) -> Vec<Control>;
    /// Input that has arrived.
    fn input(&mut self) -> Arrived;
    /// Input that was written to the command (or will never be).
    fn input_used(&mut self, bytes: usize);
    /// How many bytes of output can be taken now.
    fn room(&mut self) -> usize;
    /// Output.
    fn output(&mut self, stream: StreamId, bytes: &[u8]);
}

/// How a command is to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cancel {
    pub(crate) grace: Duration,
}

/// The times that matter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) timeout: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) linger: Duration,
}

/// How a command's process came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finish {
    Exited,
    TimedOut,
    Cancelled,
    NotStarted(Step, i32),
    GuardLost,
}

/// What is known at the end of a command.
pub(crate) struct Outcome {
    pub(crate) finish: Finish,
    pub(crate) status: Status,
    pub(crate) pid: Option<u32>,
    /// Its shim.
    pub(crate) guard: Option<u32>,
    /// Children it left running.
    pub(crate) left: u32,
    /// Processes that could not be ended.
    pub(crate) unkillable: u32,
    /// The shim did not live to end everything.
    pub(crate) guard_lost: bool,
    pub(crate) duration: Duration,
}

/// Runs a command to its end.
pub(crate) fn drive(process: &mut Process, timing: Timing, patron: &mut dyn Patron) -> Outcome {
    let began = Instant::now();
    let mut drive = Drive {
        patron,
        timing,
        buffer: vec![0; MAX_DATA],
        pending_input: None,
        input_over: false,
        stage: Stage::Running,
        ending: None,
        forked: None,
        guard: None,
        pid: None,
        status: None,
        left: 0,
        unkillable: 0,
        guard_lost: false,
        deadline: timing.timeout.map(|timeout| began + timeout),
        // Without word of the process shims come from, it is seen to from the beginning.
        next_look: process.attended.is_none().then_some(began + UNATTENDED_LOOK),
    };
    let finish = loop {
        match drive.turn(process) {
            Ok(Some(finish)) => break finish,
            Ok(None) => {}
            // A broken shim or poll: nothing can be known any more.
            Err(_) => break drive.shim_lost(),
        }
    };
    drive.drain(process);
    Outcome {
        finish,
        status: drive.status.unwrap_or(Status::Unknown),
        pid: drive.forked,
        guard: drive.guard,
        left: drive.left,
        unkillable: drive.unkillable,
        guard_lost: drive.guard_lost,
        duration: began.elapsed(),
    }
}

struct Drive<'a> {
    patron: &'a mut dyn Patron,
    timing: Timing,
    buffer: Vec<u8>,
    /// Input that did not fit in the pipe yet, and how much of it did.
    pending_input: Option<(Vec<u8>, usize)>,
    /// No more input will come.
    input_over: bool,
    stage: Stage,
    /// Why it is being ended, once it is.
    ending: Option<Finish>,
    forked: Option<u32>,
    guard: Option<u32>,
    pid: Option<u32>,
    status: Option<Status>,
    left: u32,
    unkillable: u32,
    guard_lost: bool,
    deadline: Option<Instant>,
    /// When to see whether the shim was stopped, if that is ours to do.
    next_look: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// The shell is over, but something it left running may hold the output; wait for more until then, and longer while it has
    /// something to do.
    Lingering {
        until: Instant,
        latest: Instant,
    },
    /// The shim was told to end everything and should be done by then.
    Ending(Instant),
}

impl Drive<'_> {
    /// Waits for something to happen and deals with it.
    fn turn(&mut self, process: &mut Process) -> io::Result<Option<Finish>> {
        if let Some(finish) = self.check_time(process) {
            return Ok(Some(finish));
        }
        // Input that was taken before there is anybody to read it could not be given to a second attempt.
        if self.forked.is_some() {
            self.fetch_input(process);
        }
        let room = self.patron.room();
        let ready = self.wait(process, room)?;
        if ready.bell {
            self.patron.heard();
        }
        if ready.unattended {
            process.attended = None;
            self.next_look = Some(Instant::now());
        }
        if ready.output {
            self.read(process, StreamId::Stdout, room);
        }
        if ready.errors {
            let room = self.patron.room();
            self.read(process, StreamId::Stderr, room);
        }
        if ready.input {
            self.write(process);
        }
        self.steer(process);
        if ready.shim
            && let Some(finish) = self.hear(process)?
        {
            return Ok(Some(finish));
        }
        // Nothing holds the output any more, so nothing is worth waiting for.
        let silent = process.output.is_none() && process.errors.is_none();
        Ok((matches!(self.stage, Stage::Lingering { .. }) && silent).then_some(Finish::Exited))
    }

    fn check_time(&mut self, process: &Process) -> Option<Finish> {
        let now = Instant::now();
        if self.next_look.is_some_and(|look| now >= look) {
            self.look_after_shim(now);
        }
        match self.stage {
            Stage::Running => {
                if self.deadline.is_some_and(|deadline| now >= deadline) {
                    self.end(process, Finish::TimedOut, self.timing.grace);
                }
                None
            }
            Stage::Lingering { until, .. } if now < until => None,
            Stage::Lingering { latest, .. } if now < latest && self.guard.is_some_and(is_busy) => {
                self.stage = Stage::Lingering { until: now + self.timing.linger, latest };
                None
            }
            Stage::Lingering { .. } => Some(Finish::Exited),
            Stage::Ending(until) => (now >= until).then(|| self.shim_lost()),
        }
    }

    /// Lets a shim go on that was stopped. The process it comes from does so at once; this is for when that is gone too.
    fn look_after_shim(&mut self, now: Instant) {
        let interval = if matches!(self.stage, Stage::Ending(_)) { ENDING_LOOK } else { UNATTENDED_LOOK };
        self.next_look = Some(now + interval);
        let seen = self.guard.and_then(|guard| sys::proc::look(guard as i32));
        if let Some(shim) = seen.filter(sys::proc::Process::is_stopped) {
            let _ = sys::proc::signal(&shim, Signal::CONT);
        }
    }

    fn wait(&mut self, process: &Process, room: usize) -> io::Result<Ready> {
        let until = match self.stage {
            Stage::Running => self.deadline,
            Stage::Lingering { until, .. } | Stage::Ending(until) => Some(until),
        };
        let until = until.into_iter().chain(self.next_look).min();
        let bell = self.patron.bell();
        let mut fds = vec![PollFd::new(&bell, PollFlags::IN), PollFd::new(&process.shim, PollFlags::IN)];
        // That it runs is told before anything it prints.
        let told = !process.announced || self.pid.is_some();
        let (readable, writable) = (room > 0 && told, self.pending_input.is_some());
        let output = watch(&mut fds, process.output.as_ref().filter(|_| readable), PollFlags::IN);
        let errors = watch(&mut fds, process.errors.as_ref().filter(|_| readable), PollFlags::IN);
        let input = watch(&mut fds, process.input.as_ref().filter(|_| writable), PollFlags::OUT);
        let unattended = watch(&mut fds, process.attended.as_deref(), PollFlags::IN);
        sys::poll::wait(&mut fds, until)?;
        let ready = |index: Option<usize>| index.is_some_and(|index| !fds[index].revents().is_empty());
        Ok(Ready {
            bell: ready(Some(0)),
            shim: ready(Some(1)),
            output: ready(output),
            errors: ready(errors),
            input: ready(input),
            unattended: ready(unattended),
        })
    }

    /// Passes on one piece of output; whether there may be more at once.
    fn read(&mut self, process: &mut Process, stream: StreamId, room: usize) -> Flow {
        let slot = match stream {
            StreamId::Stdout => &mut process.output,
            StreamId::Stderr => &mut process.errors,
        };
        let Some(fd) = slot else { return Flow::Over };
        let room = room.min(self.buffer.len());
        if room == 0 {
            return Flow::Dry;
        }
        match rustix::io::read(&*fd, &mut self.buffer[..room]) {
            Ok(0) => *slot = None,
            Ok(count) => {
                self.patron.output(stream, &self.buffer[..count]);
                return Flow::More(count);
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Flow::Dry,
            // A terminal whose last user has left says EIO.
            Err(_) => *slot = None,
        }
        Flow::Over
    }

    /// Reads what is in the pipes now, and no more: something left running may fill them for ever.
    fn drain(&mut self, process: &mut Process) {
        for stream in [StreamId::Stdout, StreamId::Stderr] {
            let mut budget = DRAIN_LIMIT;
            while budget > 0 {
                let room = self.patron.room().min(budget);
                if room == 0 {
                    // The client takes nothing at the moment. It will, or it is gone.
                    if self.patron.cancelled().is_some() || self.await_bell().is_err() {
                        return;
                    }
                    continue;
                }
                match self.read(process, stream, room) {
                    Flow::More(count) => budget -= count,
                    Flow::Dry | Flow::Over => break,
                }
            }
        }
    }

    fn await_bell(&mut self) -> io::Result<()> {
        let bell = self.patron.bell();
        sys::poll::wait(&mut [PollFd::new(&bell, PollFlags::IN)], None)?;
        self.patron.heard();
        Ok(())
    }

    /// Looks for input once the last piece is written.
    fn fetch_input(&mut self, process: &mut Process) {
        while self.pending_input.is_none() && !self.input_over {
            match self.patron.input() {
                Arrived::Bytes(bytes) if process.input.is_some() => self.pending_input = Some((bytes, 0)),
                // Nobody reads it, so it is thrown away; the client must not wait for ever.
                Arrived::Bytes(bytes) => self.patron.input_used(bytes.len()),
                Arrived::Nothing => return,
                Arrived::End => {
                    self.input_over = true;
                    match &process.terminal {
                        // A terminal has no end but this character.
                        Some(_) => self.pending_input = Some((vec![END_OF_TRANSMISSION], 0)),
                        None => process.input = None,
                    }
                }
            }
        }
    }

    fn write(&mut self, process: &mut Process) {
        let (Some(fd), Some((bytes, written))) = (&process.input, &mut self.pending_input) else { return };
        match rustix::io::write(fd, &bytes[*written..]) {
            Ok(count) => {
                *written += count;
                if *written < bytes.len() {
                    return;
                }
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return,
            // The command has closed its input.
            Err(_) => process.input = None,
        }
        let length = bytes.len();
        self.pending_input = None;
        self.patron.input_used(length);
    }

    /// Does what the patron wants.
    fn steer(&mut self, process: &Process) {
        if let Some(Cancel { grace }) = self.patron.cancelled() {
            match self.stage {
                Stage::Running => self.end(process, Finish::Cancelled, grace),
                // It may have become more urgent.
                Stage::Ending(_) if grace < self.timing.grace => self.order_end(process, grace),
                Stage::Ending(_) | Stage::Lingering { .. } => {}
            }
        }
        for control in self.patron.controls() {
            match (control, &process.terminal) {
                (Control::Cancel, _) | (Control::Resize(_), None) => {}
                (Control::Resize(size), Some(terminal)) => {
                    let _ = pty::resize(terminal, size);
                }
                (Control::Signal { number, target: Target::Foreground }, Some(terminal)) => {
                    pty::signal_foreground(terminal, number);
                }
                (Control::Signal { number, target }, _) => {
                    let _ = wire::send(&process.shim, &Order::Signal { number, target }, &[]);
                }
            }
        }
    }

    fn end(&mut self, process: &Process, why: Finish, grace: Duration) {
        self.ending = Some(why);
        self.order_end(process, grace);
    }

    fn order_end(&mut self, process: &Process, grace: Duration) {
        self.timing.grace = grace;
        let now = Instant::now();
        self.stage = Stage::Ending(now + grace + SHIM_PATIENCE);
        self.next_look = Some(now);
        // A shim that is gone shows as such at the next look.
        let order = Order::End { grace_ms: grace.as_millis() as u64 };
        let _ = wire::send(&process.shim, &order, &[]);
    }

    /// The shim is gone without having said goodbye, or does not answer.
    fn shim_lost(&mut self) -> Finish {
        self.left = 0;
        self.guard_lost = self.ending.is_some() || self.status.is_none();
        let unasked = if self.status.is_some() { Finish::Exited } else { Finish::GuardLost };
        self.ending.unwrap_or(unasked)
    }

    /// Takes in what the shim says.
    fn hear(&mut self, process: &mut Process) -> io::Result<Option<Finish>> {
        process.inbox.fill(&process.shim)?;
        loop {
            let report = match process.inbox.take()? {
                Mail::Nothing => return Ok(None),
                Mail::Message(report) => report,
                Mail::Ended => return Ok(Some(self.shim_lost())),
            };
            match report {
                Report::Forked { pid, guard } => (self.forked, self.guard) = (Some(pid), Some(guard)),
                Report::Started { pid } => {
                    self.pid = Some(pid);
                    self.patron.started(pid);
                }
                Report::Failed { step, errno } => return Ok(Some(Finish::NotStarted(step, errno))),
                Report::Exited { status, left } => {
                    self.status = Some(status);
                    if self.ending.is_none() {
                        self.left = left;
                        if left == 0 {
                            return Ok(Some(Finish::Exited));
                        }
                        let now = Instant::now();
                        let latest = now + self.timing.linger * LONGEST_LINGER;
                        self.stage = Stage::Lingering { until: now + self.timing.linger, latest };
                    }
                }
                Report::Gone { unkillable } => {
                    self.left = 0;
                    self.unkillable = unkillable;
                    return Ok(Some(self.ending.unwrap_or(Finish::Exited)));
                }
            }
        }
    }
}

/// Whether something below a shim is running rather than waiting: the other end of `> >(tee log)` is about to print the last lines, a
/// server that waits for requests is not.
fn is_busy(guard: u32) -> bool {
    sys::proc::descendants(guard as i32).iter().any(|process| matches!(process.state, b'R' | b'D'))
}

/// Adds a descriptor to those that are polled; its place among them.
fn watch<'f>(fds: &mut Vec<PollFd<'f>>, fd: Option<&'f OwnedFd>, flags: PollFlags) -> Option<usize> {
    fds.push(PollFd::from_borrowed_fd(fd?.as_fd(), flags));
    Some(fds.len() - 1)
}

#[allow(clippy::struct_excessive_bools, reason = "one per descriptor")]
struct Ready {
    bell: bool,
    shim: bool,
    output: bool,
    errors: bool,
    input: bool,
    /// Nobody looks after the shim any more.
    unattended: bool,
}

enum Flow {
    More(usize),
    Dry,
    Over,
}
