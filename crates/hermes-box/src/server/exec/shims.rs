//! The processes that watch over commands, and the one they come from.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};

use crate::link::lock;
use crate::server::options::{Reaping, ShimProgram};
use crate::shim;
use crate::shim::wire::{self, Start};

/// Starts shims.
pub(crate) struct Shims {
    program: ShimProgram,
    reaping: Reaping,
    nursery: Mutex<Option<Nursery>>,
}

/// The process shims are forked from.
struct Nursery {
    socket: OwnedFd,
    child: Child,
    life: Option<Arc<OwnedFd>>,
}

/// A shim that was given a command.
pub(super) struct Started {
    /// The socket to it. Closing that tells the shim that nobody is interested any more.
    pub(super) socket: OwnedFd,
    /// Readable once the process it comes from is gone, and with it whoever looks after the shim. Older kernels have no such thing.
    pub(super) attended: Option<Arc<OwnedFd>>,
}

impl Shims {
    pub(crate) fn new(program: ShimProgram, reaping: Reaping) -> Self {
        Self { program, reaping, nursery: Mutex::new(None) }
    }

    /// Hands a command to a new shim.
    pub(super) fn start(&self, start: &Start, passed: &[BorrowedFd<'_>]) -> io::Result<Started> {
        let (ours, theirs) = socket_pair()?;
        let mut fds = vec![theirs.as_fd()];
        fds.extend_from_slice(passed);
        let mut nursery = lock(&self.nursery);
        if let Some(running) = &*nursery {
            // It may have been killed, which is no reason not to start another.
            match wire::send(&running.socket, start, &fds) {
                Ok(()) => return Ok(Started { socket: ours, attended: running.life.clone() }),
                Err(_) => self.collect(nursery.take()),
            }
        }
        let fresh = nursery.insert(self.spawn()?);
        wire::send(&fresh.socket, start, &fds)?;
        Ok(Started { socket: ours, attended: fresh.life.clone() })
    }

    /// The process shims come from, while it lives. What a killed shim leaves behind comes to it.
    pub(crate) fn nursery(&self) -> Option<i32> {
        lock(&self.nursery).as_ref().map(|nursery| nursery.child.id() as i32)
    }

    /// Lets the process shims come from go.
    pub(crate) fn dismiss(&self) {
        let nursery = lock(&self.nursery).take();
        self.collect(nursery);
    }

    fn spawn(&self) -> io::Result<Nursery> {
        let (ours, theirs) = socket_pair()?;
        let child = Command::new(&self.program.0)
            .arg0(shim::ARGV0)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let pid = Pid::from_child(&child);
        let life = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok().map(Arc::new);
        // Without the thread a stopped one is not noticed, which only a command that means harm brings about.
        let _ = std::thread::Builder::new()
            .name("box-nursery".into())
            .stack_size(64 * 1024)
            .spawn(move || keep_going(pid));
        Ok(Nursery { socket: ours, child, life })
    }

    fn collect(&self, nursery: Option<Nursery>) {
        let Some(Nursery { socket, mut child, .. }) = nursery else { return };
        drop(socket);
        if self.reaping == Reaping::Shims {
            let _ = child.wait();
        }
    }
}

/// Lets the process shims come from go on whenever a command has stopped it, for as long as it lives. It does the same for its shims.
fn keep_going(nursery: Pid) {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match rustix::process::waitid(WaitId::Pid(nursery), options) {
            // The signal itself takes back what was waited for.
            Ok(Some(status)) if status.stopped() => {
                if rustix::process::kill_process(nursery, Signal::CONT).is_err() {
                    return;
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

impl Drop for Shims {
    fn drop(&mut self) {
        self.dismiss();
    }
}

fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}
