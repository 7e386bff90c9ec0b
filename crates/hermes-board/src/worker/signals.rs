//! Signals as something to wait for, together with whatever else there is to wait for.

use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1};

/// Signals that came. From now on they do nothing else.
#[derive(Debug)]
pub struct Signals {
    pipe: UnixStream,
    end: Arc<AtomicBool>,
    look: Arc<AtomicBool>,
    child: Arc<AtomicBool>,
}

/// What woke somebody who waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// The time was up.
    Timeout,
    /// A signal came, or something can be read.
    Something,
}

impl Signals {
    /// Listens: to those that want an end, to the one that says there is something to look at, and to children that ended.
    pub fn listen() -> io::Result<Self> {
        let (pipe, other) = UnixStream::pair()?;
        pipe.set_nonblocking(true)?;
        let signals = Self { pipe, end: Arc::default(), look: Arc::default(), child: Arc::default() };
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&signals.end))?;
        }
        signal_hook::flag::register(SIGUSR1, Arc::clone(&signals.look))?;
        signal_hook::flag::register(SIGCHLD, Arc::clone(&signals.child))?;
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD] {
            signal_hook::low_level::pipe::register(signal, other.try_clone()?)?;
        }
        Ok(signals)
    }

    /// Waits for a signal, or for something that can be read, or for the time to be up.
    pub fn wait(&mut self, others: &[BorrowedFd<'_>], limit: Duration) -> Woken {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut polled = vec![PollFd::new(&self.pipe, PollFlags::IN)];
            polled.extend(others.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
            let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
            match rustix::event::poll(&mut polled, Some(&left)) {
                Ok(0) => return Woken::Timeout,
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                // Without a way to wait, waiting is all that is left.
                Err(_) => {
                    std::thread::sleep(limit.min(Duration::from_millis(100)));
                    return Woken::Timeout;
                }
            }
        }
        let mut buffer = [0; 64];
        while self.pipe.read(&mut buffer).is_ok_and(|count| count > 0) {}
        Woken::Something
    }

    /// Whether somebody wants an end.
    pub fn wants_end(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }

    /// Whether somebody said that there is something to look at, since this was last asked.
    pub fn take_look(&self) -> bool {
        self.look.swap(false, Ordering::Relaxed)
    }

    /// Whether a child ended, since this was last asked.
    pub fn take_child(&self) -> bool {
        self.child.swap(false, Ordering::Relaxed)
    }
}
