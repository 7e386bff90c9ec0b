//! How a single question ends: by a signal or with an outcome, what is said about it, and the exit code.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use hermes_agent::{Control, Outcome, TurnReport};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::ui;

/// Signals that interrupt the turn, so that tools end and what was said is kept. The second one ends the program.
#[derive(Debug)]
pub struct Interrupts {
    control: Control,
    signal: Arc<AtomicI32>,
}

impl Interrupts {
    /// Interrupts from now on.
    pub fn watch() -> io::Result<Self> {
        let (control, signal) = (Control::new(), Arc::new(AtomicI32::new(SIGINT)));
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let (turn, came) = (control.clone(), Arc::clone(&signal));
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                if turn.is_interrupted() {
                    std::process::exit(128 + signal);
                }
                came.store(signal, Ordering::SeqCst);
                turn.interrupt();
            }
        })?;
        Ok(Self { control, signal })
    }

    /// The handle on the turn.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The exit code that tells how a turn ended; that of an interrupted one names the signal, as a shell does.
    pub fn exit_code(&self, outcome: Outcome) -> ExitCode {
        match outcome {
            Outcome::Completed => ExitCode::SUCCESS,
            Outcome::Interrupted => {
                let code = 128 + self.signal.load(Ordering::SeqCst);
                ExitCode::from(u8::try_from(code).unwrap_or(ui::FAILED))
            }
            Outcome::Partial | Outcome::OutOfCalls | Outcome::OutOfBudget | Outcome::Failed => {
                ExitCode::from(ui::FAILED)
            }
        }
    }
}

/// Says what went wrong, if anything did.
pub fn say(report: &TurnReport) {
    if let Some(error) = &report.error {
        ui::note(&format!("hermes: {error}"));
    }
    if report.outcome == Outcome::Interrupted {
        ui::note("hermes: interrupted");
    }
}

/// A reader that left had enough: the exit code still tells about the turn.
pub fn unless_reader_left(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}
