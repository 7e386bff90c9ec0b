//! A shim at work: starts one command and watches over it and everything it starts.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, Signal};

use super::child::{self, Stdio};
use super::tree::{self, Children};
use super::wire::{self, Inbox, Mail, Order, Report, Start};
use crate::proto::exec::{Status, Target};
use crate::sys::{self, signals};

/// Time between TERM and KILL when the agent is gone and cannot say.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// Runs a command. The socket to the agent is the standard input; `fds` are the command's input, output and errors, then those to keep.
pub(super) fn run(start: &Start, fds: Vec<OwnedFd>) -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let children = signals::descriptor(&[libc::SIGCHLD])?;
    let mut fds = fds.into_iter();
    let (Some(input), Some(output), Some(errors)) = (fds.next(), fds.next(), fds.next()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let kept: Vec<OwnedFd> = fds.collect();
    keep(&kept, &start.keep)?;
    drop(kept);
    let pid = match child::start(start, &Stdio { input, output, errors }) {
        Ok(pid) => pid,
        Err(why) => {
            return wire::send(agent(), &Report::Failed { step: why.step, errno: why.errno }, &[]);
        }
    };
    if start.announce {
        // If the agent is gone already, the poll below notices.
        let _ = wire::send(agent(), &Report::Started { pid }, &[]);
    }
    let guard = Guard { pid: pid as i32, status: None, phase: Phase::Running, agent: true };
    guard.watch(&children, Inbox::default())
}

fn agent() -> BorrowedFd<'static> {
    rustix::stdio::stdin()
}

/// Gives the kept descriptors their agreed numbers. They close on exec, so the command only reaches them by the path
/// its script is told.
fn keep(fds: &[OwnedFd], numbers: &[i32]) -> io::Result<()> {
    for (fd, number) in fds.iter().zip(numbers) {
        let copy = rustix::io::fcntl_dupfd_cloexec(fd, *number)?;
        // The numbers are far above what a shim has open.
        if copy.into_raw_fd() != *number {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
    }
    Ok(())
}

/// Watches over one command.
struct Guard {
    pid: i32,
    status: Option<Status>,
    phase: Phase,
    agent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// Everything was asked to end and is killed at this time.
    Ending(Instant),
    /// The command ended by itself; others go on.
    Leaving,
}

impl Guard {
    fn watch(mut self, children: &OwnedFd, mut inbox: Inbox) -> io::Result<()> {
        loop {
            if self.reap() == Children::None {
                self.report(Report::Gone { unkillable: 0 });
                return Ok(());
            }
            let deadline = match self.phase {
                Phase::Ending(deadline) if Instant::now() >= deadline => {
                    self.kill();
                    return Ok(());
                }
                Phase::Ending(deadline) => Some(deadline),
                Phase::Running | Phase::Leaving => None,
            };
            let mut polled = vec![PollFd::new(children, PollFlags::IN)];
            let socket = agent();
            if self.agent {
                polled.push(PollFd::new(&socket, PollFlags::IN));
            }
            sys::poll::wait(&mut polled, deadline)?;
            let spoken = polled.get(1).is_some_and(|fd| !fd.revents().is_empty());
            drain(children);
            if spoken {
                self.listen(&mut inbox);
            }
        }
    }

    /// Takes in children that ended; reports when the command itself is among them.
    fn reap(&mut self) -> Children {
        let mut status = None;
        let left = tree::reap(|pid, how| {
            if pid == self.pid {
                status = Some(how);
            }
        });
        if let Some(status) = status {
            self.exited(status, left);
        }
        left
    }

    fn exited(&mut self, status: Status, children: Children) {
        self.status = Some(status);
        if self.phase == Phase::Running {
            self.phase = Phase::Leaving;
        }
        let left = match children {
            Children::None => 0,
            Children::Some => sys::proc::count_children(std::process::id() as i32),
        };
        self.report(Report::Exited { status, left });
    }

    fn listen(&mut self, inbox: &mut Inbox) {
        let _ = inbox.fill(agent());
        loop {
            match inbox.take() {
                Ok(Mail::Message(order)) => self.obey(order),
                Ok(Mail::Nothing) => return,
                Ok(Mail::Ended) | Err(_) => return self.orphaned(),
            }
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::End { grace_ms } => self.end(Duration::from_millis(grace_ms)),
            Order::Signal { number, target } => self.signal(number, target),
        }
    }

    /// Nobody is there to read the output or to wait for the end.
    fn orphaned(&mut self) {
        self.agent = false;
        if self.phase == Phase::Running {
            self.end(ORPHAN_GRACE);
        }
    }

    fn end(&mut self, grace: Duration) {
        let deadline = Instant::now() + grace.min(Duration::from_hours(1));
        match self.phase {
            Phase::Ending(earlier) => self.phase = Phase::Ending(earlier.min(deadline)),
            Phase::Running | Phase::Leaving => {
                tree::ask_to_end();
                self.phase = Phase::Ending(deadline);
            }
        }
    }

    fn signal(&self, number: i32, target: Target) {
        let (Some(signal), Some(pid)) = (Signal::from_named_raw(number), Pid::from_raw(self.pid)) else {
            return;
        };
        // The command may have ended meanwhile, which is fine.
        let _ = match target {
            Target::Tree => {
                tree::signal_all(signal);
                Ok(())
            }
            Target::Leader if self.status.is_none() => rustix::process::kill_process(pid, signal),
            Target::Foreground => rustix::process::kill_process_group(pid, signal),
            Target::Leader => Ok(()),
        };
    }

    fn kill(mut self) {
        let mut status = None;
        let unkillable = tree::kill_all(|pid, how| {
            if pid == self.pid {
                status = Some(how);
            }
        });
        if let Some(status) = status {
            self.exited(status, Children::None);
        }
        self.report(Report::Gone { unkillable });
    }

    fn report(&mut self, report: Report) {
        if self.agent && wire::send(agent(), &report, &[]).is_err() {
            self.agent = false;
        }
    }
}

/// Empties the descriptor; which signals came does not matter.
pub(super) fn drain(children: impl AsFd) {
    let mut buffer = [0; 1024];
    while rustix::io::read(&children, &mut buffer).is_ok_and(|count| count > 0) {}
}
