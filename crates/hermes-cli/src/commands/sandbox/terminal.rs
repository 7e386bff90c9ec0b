//! The terminal we run on: raw mode, size, and signals that are meant for the command.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use hermes_box::client::Steering;
use hermes_box::proto::exec::{Target, WinSize};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::Signals;

/// The terminal in raw mode, put back when dropped.
pub struct Raw(Termios);

impl Raw {
    /// Every key goes to the command; it decides what Ctrl-C means.
    pub fn enter() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Nothing better can be done if the terminal is gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// The size of our terminal, or a usual one.
pub fn size() -> WinSize {
    let usual = WinSize { rows: 24, cols: 80 };
    let ask = tcgetwinsize(io::stdout()).or_else(|_| tcgetwinsize(io::stdin()));
    ask.map_or(usual, |s| WinSize { rows: s.ws_row.max(1), cols: s.ws_col.max(1) })
}

/// What signals have done so far.
#[derive(Debug, Default)]
pub struct Signalled {
    ended_by: AtomicI32,
    interrupted: AtomicBool,
}

impl Signalled {
    /// The signal for which everything was ended, if one was.
    pub fn ended_by(&self) -> Option<i32> {
        Some(self.ended_by.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    /// Whether the command was interrupted.
    pub fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

/// Passes signals on to the command.
///
/// The first interrupt is the command's to deal with, as on a terminal: what it has detached stays. The second, like
/// being told to end, ends everything it started.
pub fn pass_signals(steering: Steering) -> io::Result<Arc<Signalled>> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH])?;
    let signalled = Arc::new(Signalled::default());
    let ours = Arc::clone(&signalled);
    std::thread::spawn(move || {
        for signal in signals.forever() {
            match signal {
                SIGWINCH => steering.resize(size()),
                SIGTERM | SIGHUP => end(&steering, &ours, signal),
                SIGINT if ours.interrupted.swap(true, Ordering::SeqCst) => end(&steering, &ours, signal),
                // All at once, as a terminal does: a shell decides by how its child took the signal.
                SIGINT | SIGQUIT => steering.signal(signal, Target::Foreground),
                other => steering.signal(other, Target::Leader),
            }
        }
    });
    Ok(signalled)
}

/// Whoever ends us wants everything ended that was started here, gently and then for good.
fn end(steering: &Steering, signalled: &Signalled, signal: i32) {
    signalled.ended_by.store(signal, Ordering::SeqCst);
    steering.cancel();
}
