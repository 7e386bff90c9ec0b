//! An agent as a process of its own.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::address::Address;
use super::peer::Admission;
use crate::client::Transport;
use crate::proto::hello::Refusal;
use crate::server::conn::{self, Visitor};
use crate::server::{Agent, AgentOptions, Reaping};
use crate::sys::{memory, signals};

/// Connections at once, accepted or not.
const MAX_CONNECTIONS: usize = 64;
/// How long a connection may take to say hello.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the last answers may take to be given.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// How long clients get to take their last answers.
const FAREWELL: Duration = Duration::from_millis(300);

/// What a daemon is told at its start.
#[derive(Debug, Clone)]
pub struct DaemonOptions {
    /// What its agent is told.
    pub agent: AgentOptions,
    /// Where it listens.
    pub addresses: Vec<Address>,
    /// Permissions of sockets in the file system.
    pub socket_mode: u32,
    /// Users who may be clients, besides root and its own.
    pub allowed_uids: Vec<u32>,
    /// What clients must know.
    pub token: Option<Vec<u8>>,
    /// Leave after so long without clients and jobs.
    pub idle_exit: Option<Duration>,
    /// Whether it is the first process of a container.
    pub role: Role,
}

/// Which place a daemon has among the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The first process: everything else in the container ends with it.
    Init,
    /// One among others.
    Guest,
}

/// Serves until it is told to leave. Must be called before the process has other threads.
pub(super) fn run(options: DaemonOptions, ready: impl FnOnce()) -> io::Result<()> {
    let mut agent_options = options.agent;
    agent_options.reaping = Reaping::Elsewhere;
    become_reaper()?;
    let listeners: Vec<UnixListener> = options
        .addresses
        .iter()
        .map(|address| address.listen(options.socket_mode))
        .collect::<io::Result<_>>()?;
    let agent = Agent::new(agent_options);
    agent.workers.on_quiet(memory::give_back);
    let daemon = Arc::new(Daemon {
        agent: Arc::clone(&agent),
        admission: Admission { uids: options.allowed_uids },
        token: options.token,
        connections: AtomicUsize::new(0),
    });
    watch_signals(&daemon)?;
    for listener in listeners {
        let daemon = Arc::clone(&daemon);
        thread("box-accept", move || daemon.accept(&listener))?;
    }
    ready();
    daemon.wait_for_the_end(options.idle_exit);
    if options.role == Role::Init {
        end_everybody(agent.options.grace);
    }
    Ok(())
}

/// Serves the one client at standard input and output.
pub(super) fn run_stdio(mut options: AgentOptions) -> io::Result<()> {
    options.reaping = Reaping::Elsewhere;
    become_reaper()?;
    let agent = Agent::new(options);
    let leaving = Arc::clone(&agent);
    thread("box-signals", move || {
        while wait_and_reap() == libc::SIGCHLD {}
        leaving.shut_down();
        std::process::exit(0);
    })?;
    agent.serve(Transport::new(io::stdin(), io::stdout()));
    agent.shut_down();
    Ok(())
}

struct Daemon {
    agent: Arc<Agent>,
    admission: Admission,
    token: Option<Vec<u8>>,
    connections: AtomicUsize,
}

impl Daemon {
    fn accept(self: &Arc<Self>, listener: &UnixListener) {
        loop {
            match listener.accept() {
                Ok((socket, _)) => self.welcome(socket),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Out of descriptors, most likely: a moment later some connection may have ended.
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    fn welcome(self: &Arc<Self>, socket: UnixStream) {
        let crowded = self.connections.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS;
        let daemon = Arc::clone(self);
        let serve = move || {
            let refusal =
                if crowded { Some(Refusal::Crowded) } else { daemon.admission.judge(socket.as_fd()).err() };
            daemon.serve(socket, refusal);
            daemon.connections.fetch_sub(1, Ordering::SeqCst);
            daemon.agent.activity.changes.note();
        };
        if thread("box-serve", serve).is_err() {
            self.connections.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn serve(&self, socket: UnixStream, refusal: Option<Refusal>) {
        // A socket that cannot be set up is closed, which tells the client enough.
        let Ok(handle) = socket.try_clone() else { return };
        if socket.set_read_timeout(Some(HELLO_TIMEOUT)).is_err() {
            return;
        }
        let Ok(transport) = Transport::socket(socket) else { return };
        let accepted = Box::new(move || {
            let _ = handle.set_read_timeout(None);
        });
        let visitor = Visitor { refusal, token: self.token.clone(), accepted };
        conn::serve(&self.agent, transport, visitor);
    }

    fn is_quiet(&self) -> bool {
        self.connections.load(Ordering::SeqCst) == 0 && self.agent.running_jobs() == 0
    }

    /// Returns when the agent was told to leave, or was idle for too long.
    fn wait_for_the_end(&self, idle_exit: Option<Duration>) {
        let changes = &self.agent.activity.changes;
        let mut deadline = None;
        loop {
            let seen = changes.seen();
            if self.agent.is_leaving() {
                break;
            }
            deadline = match (idle_exit, self.is_quiet()) {
                (Some(limit), true) => deadline.or_else(|| Some(Instant::now() + limit)),
                _ => None,
            };
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return self.agent.shut_down();
            }
            changes.wait_past(seen, deadline);
        }
        self.agent.wait_shut_down();
        // Whoever waits for the end of a command is to hear of it.
        let activity = &self.agent.activity;
        activity.calls_ended.wait_until(Some(Instant::now() + LAST_ANSWERS), || activity.owes_nothing());
        let alone = || self.connections.load(Ordering::SeqCst) == 0;
        changes.wait_until(Some(Instant::now() + FAREWELL), alone);
    }
}

/// The signals a daemon waits for instead of being interrupted by them.
const SIGNALS: &[i32] = &[libc::SIGCHLD, libc::SIGTERM, libc::SIGINT];

/// From here on orphans come to this process, and signals are waited for.
fn become_reaper() -> io::Result<()> {
    signals::block(SIGNALS)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

fn watch_signals(daemon: &Arc<Daemon>) -> io::Result<()> {
    let daemon = Arc::clone(daemon);
    thread("box-signals", move || {
        while wait_and_reap() == libc::SIGCHLD {}
        daemon.agent.shut_down();
        // Children still end while everything is shut down.
        loop {
            wait_and_reap();
        }
    })
}

/// Waits for a signal; takes in every child that has ended.
fn wait_and_reap() -> i32 {
    let signal = signals::wait(SIGNALS);
    reap();
    signal
}

fn reap() {
    while let Ok(Some(_)) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {}
}

/// The first process of a container ends everybody else in an orderly way before it leaves.
fn end_everybody(grace: Duration) {
    use rustix::process::{Signal, kill_process};
    if std::process::id() != 1 {
        return;
    }
    let everybody =
        || crate::sys::proc::all().into_iter().filter(|process| process.pid != 1 && !process.is_zombie());
    let deadline = Instant::now() + grace;
    for process in everybody() {
        if let Some(pid) = rustix::process::Pid::from_raw(process.pid) {
            let _ = kill_process(pid, Signal::TERM);
        }
    }
    while everybody().next().is_some() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.into()).stack_size(256 * 1024).spawn(work).map(drop)
}
