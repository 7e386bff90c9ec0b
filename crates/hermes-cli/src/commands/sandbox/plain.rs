//! A command or a terminal in a container that our agent cannot run in.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use hermes_box::proto::exec::{ExecRequest, Program};
use hermes_sandbox::plain::{Plain, PlainCancel, PlainEnding, PlainRequest, PlainStreams};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::ui;

/// Runs a command with our own input and output.
pub fn exec(plain: &Plain, request: ExecRequest, grace: Duration) -> anyhow::Result<ExitCode> {
    if request.pty.is_some() {
        anyhow::bail!("there is no terminal for a command in this container: use `hermes sandbox shell`");
    }
    let running = plain.start(PlainRequest {
        session: request.session,
        cwd: request.cwd,
        env: request.env.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        timeout: request.timeout,
        grace,
        streams: PlainStreams::Ours,
        ..match request.program {
            Program::Shell(line) => PlainRequest::shell(OsString::from_vec(line)),
            Program::Argv(words) => PlainRequest::argv(&words),
        }
    })?;
    let ended_by = cancel_on_signals(running.cancel_handle())?;
    let exit = running.wait()?;
    let code = match exit.ending {
        PlainEnding::Exited => exit.code,
        PlainEnding::TimedOut => {
            ui::note("hermes: the time was up: the command and everything it started were ended");
            exit.code
        }
        PlainEnding::Cancelled => 128 + ended_by.load(Ordering::SeqCst),
    };
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(ui::FAILED)))
}

/// Opens a terminal.
pub fn shell(plain: &Plain, request: &ExecRequest) -> anyhow::Result<ExitCode> {
    let cwd = request.cwd.as_ref().map(|cwd| cwd.display().to_string());
    let code = plain.shell(cwd.as_deref())?;
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(ui::FAILED)))
}

/// The engine passes no signals on, so the first that would end us ends everything. Returns which it was.
fn cancel_on_signals(cancel: PlainCancel) -> std::io::Result<Arc<AtomicI32>> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let ended_by = Arc::new(AtomicI32::new(SIGINT));
    let told = Arc::clone(&ended_by);
    std::thread::spawn(move || {
        for signal in signals.forever() {
            told.store(signal, Ordering::SeqCst);
            cancel.cancel();
        }
    });
    Ok(ended_by)
}
