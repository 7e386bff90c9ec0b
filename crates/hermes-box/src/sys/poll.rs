//! Waiting for descriptors.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec};

/// Waits until one of `fds` has something to say, or until `deadline`. Interruptions are not reported.
pub(crate) fn wait(fds: &mut [PollFd<'_>], deadline: Option<Instant>) -> io::Result<()> {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match rustix::event::poll(fds, left.map(timespec).as_ref()) {
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}
