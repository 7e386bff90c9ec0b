//! Raw mode: every key reaches us at once, and the terminal is put back whatever happens.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// What the terminal is asked to do for us: mark pastes.
const ENTER: &[u8] = b"\x1b[?2004h";
/// The same taken back, the cursor shown, the style reset.
const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?25h\x1b[0m\r";

/// A terminal in raw mode; dropping it puts the terminal back. Cheap to clone; the last change counts for all.
#[derive(Debug, Clone)]
pub struct RawMode {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    terminal: OwnedFd,
    output: OwnedFd,
    cooked: Termios,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Raw,
    Cooked,
}

impl RawMode {
    /// Switches the terminal to raw mode: keys come from `terminal`, what it shows goes to `output`.
    pub fn enter(terminal: impl AsFd, output: impl AsFd) -> io::Result<Self> {
        let terminal = terminal.as_fd().try_clone_to_owned()?;
        let output = output.as_fd().try_clone_to_owned()?;
        let cooked = tcgetattr(&terminal)?;
        let inner = Inner { terminal, output, cooked, state: Mutex::new(State::Cooked) };
        let mode = Self { inner: Arc::new(inner) };
        mode.resume()?;
        Ok(mode)
    }

    /// Raw again, after [`suspend`](Self::suspend).
    pub fn resume(&self) -> io::Result<()> {
        let mut state = self.inner.lock();
        let mut raw = self.inner.cooked.clone();
        raw.make_raw();
        // Output keeps its line ends: whatever else prints (a panic) stays readable.
        raw.output_modes = self.inner.cooked.output_modes;
        tcsetattr(&self.inner.terminal, OptionalActions::Now, &raw)?;
        self.inner.write(ENTER)?;
        *state = State::Raw;
        Ok(())
    }

    /// The terminal as it was, for another program or for the end.
    pub fn suspend(&self) -> io::Result<()> {
        self.inner.restore()
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn restore(&self) -> io::Result<()> {
        let mut state = self.lock();
        if *state == State::Cooked {
            return Ok(());
        }
        *state = State::Cooked;
        let written = self.write(LEAVE);
        tcsetattr(&self.terminal, OptionalActions::Now, &self.cooked)?;
        written
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = std::fs::File::from(self.output.try_clone()?);
        file.write_all(bytes)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = self.restore();
    }
}
