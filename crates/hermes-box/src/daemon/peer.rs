//! Who is at the other end of a socket, and whether it may be a client.
//!
//! The commands an agent runs can reach its sockets. They are all below the agent in the tree of processes (the agent reaps what
//! they orphan), so a peer that is found there is refused. A client comes from elsewhere: `exec`ed into the container from
//! outside its parent is 0, and through a shared directory its number is not known here at all.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec};

use crate::proto::hello::Refusal;
use crate::sys::proc;

/// What the kernel says about a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer {
    /// 0 when it is in another process namespace.
    pub(crate) pid: i32,
    pub(crate) uid: u32,
}

/// Which users may be clients besides root and the agent's own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Admission {
    pub(crate) uids: Vec<u32>,
}

/// Asks the kernel.
pub(crate) fn credentials(socket: impl AsFd) -> io::Result<Peer> {
    let mut credentials = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the buffer is as long as `length` says, and any bytes are a valid `ucred`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &raw mut length,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Peer { pid: credentials.pid, uid: credentials.uid })
}

impl Admission {
    /// Whether whoever connected this socket may be a client.
    pub(crate) fn judge(&self, socket: impl AsFd) -> Result<(), Refusal> {
        let Ok(peer) = credentials(&socket) else { return Err(Refusal::OtherUser) };
        let own = Peer { pid: std::process::id() as i32, uid: rustix::process::geteuid().as_raw() };
        self.decide(peer, own, |pid| proc::look(pid).map(|process| process.parent))?;
        // Its number may have been passed on while we looked, but not if the process itself still lives.
        match alive(&socket) {
            Some(false) => Err(Refusal::OwnCommand),
            Some(true) | None => Ok(()),
        }
    }

    /// The decision, from what is known.
    fn decide(&self, peer: Peer, own: Peer, parent: impl Fn(i32) -> Option<i32>) -> Result<(), Refusal> {
        if peer.uid != 0 && peer.uid != own.uid && !self.uids.contains(&peer.uid) {
            return Err(Refusal::OtherUser);
        }
        if peer.pid == 0 || peer.pid == own.pid {
            return Ok(());
        }
        let mut pid = peer.pid;
        // Deeper than any tree of processes can be.
        for _ in 0..100_000 {
            match parent(pid) {
                // Without a look at it nothing is known about it.
                None => return Err(Refusal::OwnCommand),
                Some(parent) if parent == own.pid => return Err(Refusal::OwnCommand),
                Some(0) => return Ok(()),
                Some(parent) => pid = parent,
            }
        }
        Err(Refusal::OwnCommand)
    }
}

/// Whether the process that connected still lives; `None` when the kernel (before 6.5) cannot tell.
fn alive(socket: impl AsFd) -> Option<bool> {
    const SO_PEERPIDFD: libc::c_int = 77;
    let mut raw: libc::c_int = -1;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the buffer is as long as `length` says.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PEERPIDFD,
            (&raw mut raw).cast(),
            &raw mut length,
        )
    };
    if result < 0 || raw < 0 {
        return None;
    }
    // SAFETY: the kernel just gave us this descriptor.
    let pidfd = unsafe { OwnedFd::from_raw_fd(raw) };
    let mut fds = [PollFd::new(&pidfd, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut fds, Some(&now)).ok().map(|ready| ready == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 is the agent; 10 and its child 11 are commands; 20 was started from outside, 21 by it.
    fn parent(pid: i32) -> Option<i32> {
        match pid {
            10 => Some(1),
            11 => Some(10),
            1 | 20 => Some(0),
            21 => Some(20),
            _ => None,
        }
    }

    fn decide(pid: i32, uid: u32) -> Result<(), Refusal> {
        Admission { uids: vec![1000] }.decide(Peer { pid, uid }, Peer { pid: 1, uid: 500 }, parent)
    }

    #[test]
    fn commands_are_refused_however_deep() {
        assert_eq!(decide(10, 500), Err(Refusal::OwnCommand));
        assert_eq!(decide(11, 0), Err(Refusal::OwnCommand));
    }

    #[test]
    fn what_comes_from_outside_is_let_in() {
        assert_eq!(decide(20, 500), Ok(()));
        assert_eq!(decide(21, 0), Ok(()));
        assert_eq!(decide(0, 1000), Ok(()));
    }

    #[test]
    fn strangers_and_the_vanished_are_refused() {
        assert_eq!(decide(20, 7), Err(Refusal::OtherUser));
        assert_eq!(decide(0, 7), Err(Refusal::OtherUser));
        assert_eq!(decide(99, 500), Err(Refusal::OwnCommand));
    }
}
