//! The processes that watch over commands, and one that waits for the next command.
//!
//! Starting a process takes longer than anything else on our side of a command. So the shim of the next command is started while the one
//! before runs, and waits (asleep) for what to do.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::link::lock;
use crate::server::options::{Reaping, ShimProgram};
use crate::shim;
use crate::shim::wire::{self, Start};

/// The process that watches over a command. Closing the socket tells it that nobody is interested any more.
pub(crate) struct Shim {
    pub(crate) socket: OwnedFd,
    child: Child,
    reaping: Reaping,
}

impl Shim {
    pub(crate) fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Waits for a shim that has said its last word (or is dead).
    pub(crate) fn collect(mut self) {
        drop(self.socket);
        if self.reaping == Reaping::Shims {
            let _ = self.child.wait();
        }
    }
}

/// Starts shims.
pub(crate) struct Shims {
    program: ShimProgram,
    reaping: Reaping,
    spare: Mutex<Option<Shim>>,
}

impl Shims {
    pub(crate) fn new(program: ShimProgram, reaping: Reaping) -> Self {
        Self { program, reaping, spare: Mutex::new(None) }
    }

    /// Hands a command to a shim.
    pub(super) fn start(&self, start: &Start, passed: &[BorrowedFd<'_>]) -> io::Result<Shim> {
        let spare = lock(&self.spare).take();
        if let Some(shim) = spare {
            // It may have been killed.
            match wire::send(&shim.socket, start, passed) {
                Ok(()) => return Ok(shim),
                Err(_) => shim.collect(),
            }
        }
        let shim = self.spawn()?;
        wire::send(&shim.socket, start, passed)?;
        Ok(shim)
    }

    /// Makes sure that a shim waits for the next command. When none can be started, the next command tries again and says why.
    pub(super) fn prepare_next(&self) {
        let mut spare = lock(&self.spare);
        if spare.is_none() {
            *spare = self.spawn().ok();
        }
    }

    /// Lets the waiting shim go.
    pub(crate) fn dismiss(&self) {
        let spare = lock(&self.spare).take();
        if let Some(shim) = spare {
            shim.collect();
        }
    }

    fn spawn(&self) -> io::Result<Shim> {
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let child = Command::new(&self.program.0)
            .arg0(shim::ARGV0)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Shim { socket: ours, child, reaping: self.reaping })
    }
}

impl Drop for Shims {
    fn drop(&mut self) {
        self.dismiss();
    }
}
