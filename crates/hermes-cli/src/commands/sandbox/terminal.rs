//! The terminal we run on: raw mode, size, and signals that are meant for the command.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

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

/// Interrupts after which the command is ended for good.
const ENOUGH: usize = 3;

/// Passes signals on to the command; the third interrupt ends it for good. Returns the signal that did, once one did.
pub fn pass_signals(steering: Steering) -> io::Result<Arc<AtomicI32>> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH])?;
    let ended_by = Arc::new(AtomicI32::new(0));
    let told = Arc::clone(&ended_by);
    std::thread::spawn(move || {
        let mut interrupts = 0;
        for signal in signals.forever() {
            match signal {
                SIGWINCH => steering.resize(size()),
                // Whoever ends us wants everything ended that was started here, gently and then for good.
                SIGTERM | SIGHUP => {
                    told.store(signal, Ordering::SeqCst);
                    steering.cancel();
                }
                SIGINT if interrupts + 1 >= ENOUGH => {
                    told.store(SIGINT, Ordering::SeqCst);
                    steering.cancel();
                }
                // All at once, as a terminal does: a shell decides by how its child took the signal.
                SIGINT | SIGQUIT => {
                    interrupts += 1;
                    steering.signal(signal, Target::Foreground);
                }
                other => steering.signal(other, Target::Leader),
            }
        }
    });
    Ok(ended_by)
}
