//! A command that runs, seen from the client.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::Client;
use super::error::CallError;
use super::overdue::Overdue;
use super::pending::Line;
use super::slot::{Arrival, Next, Unsent};
use crate::proto::OUTPUT_WINDOW;
use crate::proto::call::Call;
use crate::proto::exec::{Control, ExecRequest, Exit, StreamId, Target, WinSize};

/// What an agent is assumed to grant between TERM and KILL when it is not told.
const USUAL_GRACE: Duration = Duration::from_secs(2);

/// What a command does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It runs, as this process (as the box numbers them). Not told of a command whose output is collected.
    Started {
        /// The process.
        pid: u32,
    },
    /// It printed something.
    Output {
        /// Where to.
        stream: StreamId,
        /// What.
        bytes: Vec<u8>,
    },
    /// It is over. Nothing follows.
    Exit(Box<Exit>),
}

/// A running command. It waits when its output is not taken (unless it is collected), and is cancelled when the handle
/// is dropped.
pub struct Running {
    line: Arc<Line>,
    overdue: Option<Overdue>,
    over: bool,
}

impl Running {
    pub(super) fn start(client: &Client, request: ExecRequest) -> Result<Self, CallError> {
        let limit = request.timeout.map(|limit| limit + request.grace.unwrap_or(USUAL_GRACE));
        let line = Line::open(client, Call::Exec(request), OUTPUT_WINDOW)?;
        Ok(Self { line, overdue: limit.map(Overdue::new), over: false })
    }

    /// Waits for what comes next; `None` after the exit. A command with a time limit is not waited for when its agent no longer
    /// answers.
    pub fn next_event(&mut self) -> Result<Option<Event>, CallError> {
        self.event_by(None)
    }

    /// Waits for what comes next, at most this long. `Ok(None)` means that nothing came (or that it is over).
    pub fn next_event_within(&mut self, limit: Duration) -> Result<Option<Event>, CallError> {
        self.event_by(Some(Instant::now() + limit))
    }

    fn event_by(&mut self, deadline: Option<Instant>) -> Result<Option<Event>, CallError> {
        while !self.over {
            let look = self.overdue.as_ref().map(Overdue::next_look);
            match self.line.next(deadline.into_iter().chain(look).min()) {
                Next::Arrival(Arrival::Started(pid)) => return Ok(Some(Event::Started { pid })),
                Next::Arrival(Arrival::Output(stream, bytes)) => {
                    return Ok(Some(Event::Output { stream, bytes }));
                }
                Next::Over(result) => {
                    self.over = true;
                    return self.line.decode(&result?).map(|exit| Some(Event::Exit(Box::new(exit))));
                }
                Next::TimedOut => {}
            }
            if let Some(overdue) = &mut self.overdue
                && let Err(waited) = overdue.look(&self.line.client)
            {
                self.over = true;
                return Err(self.line.unresponsive(waited));
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break;
            }
        }
        Ok(None)
    }

    /// Whether the exit has been seen.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Waits for the end. Streamed output is thrown away.
    pub fn finish(mut self) -> Result<Exit, CallError> {
        loop {
            match self.next_event()? {
                Some(Event::Exit(exit)) => return Ok(*exit),
                Some(_) => {}
                None => return Err(CallError::Lost("the command's end was seen before".into())),
            }
        }
    }

    /// A handle to steer it from other threads.
    pub fn steering(&self) -> Steering {
        Steering::new(&self.line)
    }

    /// See [`Steering::write_stdin`].
    pub fn write_stdin(&self, bytes: &[u8]) -> Result<(), CallError> {
        self.steering().write_stdin(bytes)
    }

    /// See [`Steering::close_stdin`].
    pub fn close_stdin(&self) {
        self.line.end();
    }

    /// See [`Steering::signal`].
    pub fn signal(&self, number: i32, target: Target) {
        self.line.control(Control::Signal { number, target });
    }

    /// See [`Steering::resize`].
    pub fn resize(&self, size: WinSize) {
        self.line.control(Control::Resize(size));
    }

    /// See [`Steering::cancel`].
    pub fn cancel(&self) {
        self.line.control(Control::Cancel);
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Running")
    }
}

/// Steers a call from any thread. It does not keep the call alive.
#[derive(Clone)]
pub struct Steering {
    line: Weak<Line>,
}

impl Steering {
    pub(super) fn new(line: &Arc<Line>) -> Self {
        Self { line: Arc::downgrade(line) }
    }

    /// Writes to the standard input of a command started with `Stdin::Stream` or on a terminal. Waits while the command
    /// does not read; fails when it is over.
    pub fn write_stdin(&self, bytes: &[u8]) -> Result<(), CallError> {
        let over = || CallError::Lost("the command is over".into());
        let line = self.line.upgrade().ok_or_else(over)?;
        match line.write(bytes, None) {
            Ok(()) => Ok(()),
            Err(Unsent::Over | Unsent::TimedOut) => Err(over()),
        }
    }

    /// Closes the standard input, after what was written.
    pub fn close_stdin(&self) {
        if let Some(line) = self.line.upgrade() {
            line.end();
        }
    }

    /// Sends a signal.
    pub fn signal(&self, number: i32, target: Target) {
        self.control(Control::Signal { number, target });
    }

    /// The terminal has a new size.
    pub fn resize(&self, size: WinSize) {
        self.control(Control::Resize(size));
    }

    /// Ends the command and everything it started. Its end comes as usual, with what was printed so far.
    pub fn cancel(&self) {
        self.control(Control::Cancel);
    }

    fn control(&self, control: Control) {
        if let Some(line) = self.line.upgrade() {
            line.control(control);
        }
    }
}

impl std::fmt::Debug for Steering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Steering")
    }
}
