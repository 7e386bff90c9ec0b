//! The process shims come from.
//!
//! Starting a program takes longer than anything else on our side of a command, so it happens once: this process has a single thread and
//! next to no memory, and becomes a shim by a mere fork. It is also the reaper of what a killed shim leaves behind.

#![allow(unsafe_code)]

use std::collections::HashSet;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, Signal, WaitOptions};

use super::guard;
use super::wire::{self, Inbox, Mail, Report, Start, Step};
use crate::sys::{self, fds, signals};

/// Starts a shim for every message that comes, until the agent is gone.
pub(super) fn run() -> io::Result<()> {
    // Signals meant for a command (a terminal's, a group's) must not end its guard.
    signals::block_all()?;
    fds::close_others_on_exec();
    let children = signals::descriptor(&[libc::SIGCHLD])?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let mut inbox = Inbox::default();
    let mut shims = HashSet::new();
    loop {
        let agent = agent();
        let mut polled = [PollFd::new(&children, PollFlags::IN), PollFd::new(&agent, PollFlags::IN)];
        sys::poll::wait(&mut polled, None)?;
        let (ended, spoken) = (!polled[0].revents().is_empty(), !polled[1].revents().is_empty());
        if ended {
            guard::drain(&children);
            look_after(&mut shims);
        }
        if spoken {
            inbox.fill(agent)?;
            loop {
                match inbox.take()? {
                    Mail::Message(start) => shims.extend(become_shim(&mut inbox, &start)?),
                    Mail::Nothing => break,
                    Mail::Ended => return Ok(()),
                }
            }
        }
    }
}

/// Takes in every child that has ended, and lets shims go on that a command has stopped: a stopped guard would neither see its command's
/// end nor end it. What a killed shim has left behind stays as it is.
fn look_after(shims: &mut HashSet<Pid>) {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
            Ok(Some((pid, status))) if status.stopped() => {
                if shims.contains(&pid) {
                    let _ = rustix::process::kill_process(pid, Signal::CONT);
                }
            }
            Ok(Some((pid, _))) => {
                shims.remove(&pid);
            }
            Err(rustix::io::Errno::INTR) => {}
            Ok(None) | Err(_) => return,
        }
    }
}

fn agent() -> BorrowedFd<'static> {
    rustix::stdio::stdin()
}

/// Forks; the child is a shim and does not return. Its process, unless there is none.
fn become_shim(inbox: &mut Inbox, start: &Start) -> io::Result<Option<Pid>> {
    let count = 4 + start.keep.len();
    if inbox.fds.len() < count {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut passed: Vec<OwnedFd> = inbox.fds.drain(..count).collect();
    let socket = passed.remove(0);
    // SAFETY: this process has a single thread, so the child may do whatever the parent may.
    match unsafe { libc::fork() } {
        -1 => {
            let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EAGAIN);
            // An agent that is gone needs no answer.
            let _ = wire::send(&socket, &Report::Failed { step: Step::Fork, errno }, &[]);
            Ok(None)
        }
        0 => {
            let code = match rustix::stdio::dup2_stdin(&socket) {
                Ok(()) => {
                    drop(socket);
                    i32::from(guard::run(start, passed).is_err())
                }
                Err(_) => 1,
            };
            std::process::exit(code)
        }
        pid => Ok(Pid::from_raw(pid)),
    }
}
