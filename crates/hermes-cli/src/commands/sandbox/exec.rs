//! `hermes sandbox exec` and `shell`: a command in the sandbox as if it ran here.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use hermes_box::client::{Event, Running, Steering};
use hermes_box::proto::exec::{Ending, ExecRequest, Exit, Notice, Program, Stdin, StreamId, Streams, Target};

use hermes_sandbox::config::BackendKind;
use hermes_sandbox::sandbox::Access;

use super::terminal::{self, Raw};
use super::{Place, let_go, tell};
use crate::ui;

/// Run a command in the sandbox
///
/// One argument is a command line for the shell; several are a program and its arguments. Output is passed on as it
/// comes, signals reach the command, and its exit code is ours: 124 when the time is up, 126 when the directory or
/// program cannot be used, 127 when there is no such program, 128+N when signal N ended it. Ctrl-C interrupts the command
/// as on a terminal; a second one, SIGTERM or SIGHUP ends it and everything it started.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// End it, and everything it started, after so many seconds (0: never) [default: no limit]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// Carry directory, variables, functions and aliases from call to call under this name
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Run it in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Pass standard input on although it is a terminal
    #[arg(short, long)]
    interactive: bool,
    /// Give it a terminal
    #[arg(short, long)]
    tty: bool,
    /// The command
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Open a terminal in the sandbox
#[derive(Debug, clap::Args)]
pub struct ShellArgs {
    /// Start in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

/// Runs a command.
pub fn exec(place: &Place, args: Args) -> anyhow::Result<ExitCode> {
    let timeout = match args.timeout {
        None => None,
        Some(seconds) => {
            let wrong =
                || ui::WrongUsage(format!("--timeout cannot be {seconds}: give seconds, such as 30 or 0.5"));
            Some(Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?).filter(|d| !d.is_zero())
        }
    };
    let tty = args.tty && io::stdin().is_terminal();
    let feed = tty || args.interactive || !io::stdin().is_terminal();
    let mut request = request_for(args.command);
    request.session = args.session;
    request.cwd = args.cwd;
    request.timeout = timeout;
    request.stdin = if feed { Stdin::Stream } else { Stdin::Null };
    request.streams = Streams::Apart;
    request.pty = args.tty.then(terminal::size);
    drive(place, request, tty)
}

/// Opens a login shell on a terminal.
pub fn shell(place: &Place, args: ShellArgs) -> anyhow::Result<ExitCode> {
    if !io::stdin().is_terminal() {
        return Err(ui::WrongUsage(
            "`hermes sandbox shell` needs a terminal: use `hermes sandbox exec` in scripts".to_owned(),
        )
        .into());
    }
    // Whichever shell there is: bash where it is installed, else sh.
    let start = "if command -v bash >/dev/null 2>&1; then exec bash -l; else exec sh -l; fi";
    let mut request = request_for(vec![start.into()]);
    request.cwd = args.cwd;
    request.stdin = Stdin::Stream;
    request.pty = Some(terminal::size());
    drive(place, request, true)
}

fn request_for(command: Vec<OsString>) -> ExecRequest {
    match <[OsString; 1]>::try_from(command) {
        Ok([line]) => {
            let line = std::os::unix::ffi::OsStringExt::into_vec(line);
            ExecRequest { program: Program::Shell(line), ..ExecRequest::argv(Vec::<OsString>::new()) }
        }
        Err(words) => ExecRequest::argv(words),
    }
}

/// Runs a request to its end: input, output, signals and window size go through.
fn drive(place: &Place, mut request: ExecRequest, raw: bool) -> anyhow::Result<ExitCode> {
    let sandbox = place.sandbox()?;
    // What a session carries must outlive this process, as jobs do.
    let outlives = request.session.is_some() && sandbox.backend() == BackendKind::Local;
    let access = if outlives { Access::Agent(sandbox.jobs()?) } else { sandbox.access()? };
    tell(&sandbox);
    request.env.extend(sandbox.command_env());
    let client = match access {
        Access::Agent(client) => client,
        Access::Plain(plain) => {
            let code = if raw && request.pty.is_some() {
                super::plain::shell(&plain, &request)?
            } else {
                super::plain::exec(&plain, request, sandbox.config().term_grace)?
            };
            let_go(&sandbox)?;
            return Ok(code);
        }
    };
    if request.pty.is_some()
        && let Some(term) = std::env::var_os("TERM")
    {
        request.env.push(("TERM".into(), Some(term)));
    }
    let feeds = request.stdin == Stdin::Stream;
    let running = client.exec(request)?;
    let raw = if raw { Some(Raw::enter()?) } else { None };
    if feeds {
        feed(running.steering());
    }
    let signalled = terminal::pass_signals(running.steering())?;
    let exit = show(running);
    drop(raw);
    let exit = exit?;
    let_go(&sandbox)?;
    let code = match (&exit.ending, signalled.ended_by()) {
        (Ending::Cancelled, Some(signal)) => 128 + signal,
        // Nobody here cancelled it: the place went away under it.
        (Ending::Cancelled, None) => {
            ui::note("hermes: the sandbox was stopped or restarted: the command was ended");
            137
        }
        _ => exit.code(),
    };
    if signalled.interrupted() && exit.left_running > 0 {
        ui::note(&format!(
            "note: still running, detached by the command: {}; a second Ctrl-C while it runs ends everything",
            ui::count(exit.left_running.into(), "process")
        ));
    }
    explain(&exit);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(ui::FAILED)))
}

/// Passes standard input on. The thread may outlast the command, blocked on a terminal; the process ends anyway.
fn feed(steering: Steering) {
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut buffer = [0; 16 * 1024];
        loop {
            match stdin.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) if steering.write_stdin(&buffer[..n]).is_err() => return,
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        steering.close_stdin();
    });
}

/// Passes output on. A reader that went away ends the command, as it would end a local one.
fn show(mut running: Running) -> anyhow::Result<Exit> {
    let (mut out, mut err) = (io::stdout().lock(), io::stderr().lock());
    loop {
        match running.next_event()? {
            Some(Event::Output { stream, bytes }) => {
                let written = match stream {
                    StreamId::Stdout => out.write_all(&bytes).and_then(|()| out.flush()),
                    StreamId::Stderr => err.write_all(&bytes),
                };
                if let Err(e) = written {
                    running.signal(rustix::process::Signal::PIPE.as_raw(), Target::Tree);
                    let exit = running.finish()?;
                    // A reader that left is as it is with any program; a full disk is not.
                    return if e.kind() == io::ErrorKind::BrokenPipe {
                        Ok(exit)
                    } else {
                        Err(anyhow::Error::new(e).context("cannot pass the command's output on"))
                    };
                }
            }
            Some(Event::Exit(exit)) => return Ok(*exit),
            Some(Event::Started { .. }) => {}
            None => anyhow::bail!("the sandbox did not say how the command ended"),
        }
    }
}

/// Says on stderr why a command ended when its exit code alone does not.
fn explain(exit: &Exit) {
    match &exit.ending {
        Ending::TimedOut => {
            ui::note("hermes: the time was up: the command and everything it started were ended");
        }
        Ending::NoDirectory { path, reason } => {
            ui::note(&format!("hermes: cannot enter \"{}\" in the sandbox: {reason}", path.display()));
        }
        Ending::NotStarted { program, reason, .. } => {
            ui::note(&format!("hermes: cannot run \"{}\" in the sandbox: {reason}", program.display()));
        }
        Ending::GuardLost => {
            ui::note("hermes: the command's guard process was killed; what was left of it was ended");
        }
        Ending::Exited | Ending::Cancelled => {}
    }
    for notice in &exit.notices {
        match notice {
            Notice::DirectoryRecovered { from, to } => {
                ui::note(&format!("note: \"{}\" is gone, used \"{}\"", from.display(), to.display()));
            }
            Notice::StateNotKept(reason) => {
                ui::note(&format!("note: the session's state was not kept: {reason}"));
            }
            Notice::InitFailed(reason) => {
                ui::note(&format!("note: the shell's start files failed: {reason}"));
            }
            Notice::Unkillable(count) => ui::note(&format!("note: {count} processes could not be ended")),
            Notice::SpillFailed(_) | Notice::SpillFull | Notice::PlainShell => {}
        }
    }
}
