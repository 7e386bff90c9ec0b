//! The client of a box agent: one connection, any number of calls at once, from any thread.

mod error;
mod files;
mod jobs;
mod overdue;
mod pending;
mod running;
mod slot;
mod wires;

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use crate::link::transport::Transport;
pub use error::{CallError, ConnectError};
pub use files::{FileReader, Files};
pub use jobs::{Following, JobEvent, Jobs};
pub use pending::Pending;
pub use running::{Event, Running, Steering};

use crate::proto::call::{self, Request};
use crate::proto::exec::{Capture, ExecRequest, Exit, Keep, Spill, Stdin};
use crate::proto::hello::Welcome;
use crate::proto::info::{Info, SessionInfo};
use crate::proto::{INPUT_WINDOW, OUTPUT_WINDOW};
use wires::Wires;

/// What [`Client::run`] keeps of the output unless told otherwise.
pub const DEFAULT_KEEP: Keep = Keep { head: 32 * 1024, tail: 64 * 1024 };
/// How long the file with the whole output of [`Client::run`] may get unless told otherwise.
pub const DEFAULT_SPILL: Spill = Spill::UpTo(64 * 1024 * 1024);

/// How to connect.
#[derive(Clone)]
pub struct ConnectOptions {
    /// What the agent was given to recognise its clients by.
    pub token: Option<Vec<u8>>,
    /// How long to wait for its greeting.
    pub hello_timeout: Duration,
    /// How long to wait for answers that do not depend on a command: files, listings, questions. Then the
    /// connection is given up.
    pub answer_timeout: Duration,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self { token: None, hello_timeout: Duration::from_secs(10), answer_timeout: Duration::from_mins(2) }
    }
}

impl std::fmt::Debug for ConnectOptions {
    // By hand, so that the token never ends up in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("hello_timeout", &self.hello_timeout)
            .field("answer_timeout", &self.answer_timeout)
            .finish_non_exhaustive()
    }
}

/// A handle to an agent. Clones share the connection, which closes with the last of them (and of the commands
/// started through them).
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

/// Closes the connection when the last handle is dropped; the threads hold the wires, not this.
struct Shared {
    wires: Arc<Wires>,
    welcome: Welcome,
    answer_timeout: Duration,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.wires.give_up(&CallError::Lost("it was closed".into()));
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("agent", &self.shared.welcome).finish_non_exhaustive()
    }
}

impl Client {
    /// Says hello over a pair of streams.
    pub fn over(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Self, ConnectError> {
        Self::connect(Transport::new(reader, writer), &ConnectOptions::default())
    }

    /// Says hello over a transport.
    pub fn connect(transport: Transport, options: &ConnectOptions) -> Result<Self, ConnectError> {
        let (wires, welcome) = Wires::connect(transport, options.token.clone(), options.hello_timeout)?;
        Ok(Self { shared: Arc::new(Shared { wires, welcome, answer_timeout: options.answer_timeout }) })
    }

    /// What the agent said about itself at the beginning: its version, build, process and instance.
    pub fn agent(&self) -> &Welcome {
        &self.shared.welcome
    }

    /// Why the connection can no longer be used, if so.
    pub fn lost(&self) -> Option<CallError> {
        self.shared.wires.lost()
    }

    /// Starts a command. Its output comes through [`Running::next_event`]; dropping the handle cancels it.
    pub fn exec(&self, request: ExecRequest) -> Result<Running, CallError> {
        Running::start(self, request)
    }

    /// Runs a command to its end and returns what was kept of its output. A request that streams is collected with
    /// [`DEFAULT_KEEP`] and [`DEFAULT_SPILL`].
    pub fn run(&self, request: ExecRequest) -> Result<Exit, CallError> {
        self.exec(collected(request))?.finish()
    }

    /// Like [`Client::run`], with `input` on the command's standard input.
    pub fn run_with_input(&self, mut request: ExecRequest, input: &[u8]) -> Result<Exit, CallError> {
        request.stdin = Stdin::Stream;
        let running = self.exec(collected(request))?;
        let steering = running.steering();
        // What fits in the window is on its way at once; more has to be fed while the output is read.
        let (now, later) = input.split_at(input.len().min(INPUT_WINDOW as usize));
        // A command may end without reading its input, which is no error.
        let _ = steering.write_stdin(now);
        if later.is_empty() {
            steering.close_stdin();
            return running.finish();
        }
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let _ = steering.write_stdin(later);
                steering.close_stdin();
            });
            running.finish()
        })
    }

    /// The agent's jobs.
    pub fn jobs(&self) -> Jobs {
        Jobs::new(self.clone())
    }

    /// The files where the agent runs.
    pub fn files(&self) -> Files {
        Files::new(self.clone())
    }

    /// What the agent says about itself now.
    pub fn info(&self) -> Result<Info, CallError> {
        self.call(call::info())
    }

    /// Whether the agent answers within this time. The connection is kept even if not: it may only be slow, and commands may be running
    /// over it.
    pub fn answers_within(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        self.begin(call::info()).is_ok_and(|pending| pending.arrives_by(deadline))
    }

    /// What a session carries from command to command.
    pub fn session(&self, id: &str) -> Result<SessionInfo, CallError> {
        self.call(call::session(id))
    }

    /// Forgets what a session carries; its next command starts afresh.
    pub fn forget_session(&self, id: &str) -> Result<(), CallError> {
        self.call(call::session_forget(id))
    }

    /// Ends the processes a command left running ([`Info::left_running`] lists them).
    pub fn end_left_running(&self, id: u64) -> Result<(), CallError> {
        self.call(call::end_left_running(id))
    }

    /// Ends every command and job, then the agent itself.
    pub fn shutdown(&self) -> Result<(), CallError> {
        self.call(call::shutdown())
    }

    /// Makes any call and waits for its answer, for as long as [`ConnectOptions::answer_timeout`] says.
    pub fn call<R: Request>(&self, request: R) -> Result<R::Answer, CallError> {
        self.begin(request)?.wait()
    }

    /// Makes any call; the handle waits for the answer or cancels.
    pub fn begin<R: Request>(&self, request: R) -> Result<Pending<R::Answer>, CallError> {
        Pending::start(self, request.into_call(), OUTPUT_WINDOW)
    }
}

/// A request whose output the agent collects.
fn collected(mut request: ExecRequest) -> ExecRequest {
    if request.capture == Capture::Stream {
        request.capture = Capture::Collect(DEFAULT_KEEP);
        if request.spill == Spill::Off {
            request.spill = DEFAULT_SPILL;
        }
    }
    request
}
