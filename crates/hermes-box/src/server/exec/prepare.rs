//! From a request to a process: which session, which directory, which variables, which words for the shell.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::drive::{Cancel, Finish, Patron, Timing};
use super::process::{Launch, Process};
use crate::link::outbox::Wake;
use crate::proto::exec::{Control, Notice, Program, SessionInit, Stdin, StreamId, Streams, WinSize};
use crate::proto::fault::Fault;
use crate::server::Agent;
use crate::server::call::{Arrived, CallContext};
use crate::server::shell::dump::{self, Dump, MAX_DUMP, Unusable};
use crate::server::shell::find::Shell;
use crate::server::shell::script::{self, Dialect, Saving};
use crate::server::shell::state::{ShellState, Variables, nearest_directory, resolve};
use crate::server::shell::store::Session;
use crate::shim::wire::Start;
use crate::sys::mark;
use crate::sys::wake::WakeFd;

/// The part of a request that says what to run.
pub(crate) struct Order<'a> {
    pub(crate) session: Option<&'a str>,
    pub(crate) program: &'a Program,
    pub(crate) cwd: Option<&'a Path>,
    pub(crate) env: &'a [(OsString, Option<OsString>)],
    pub(crate) init: &'a SessionInit,
    pub(crate) stdin: Stdin,
    pub(crate) streams: Streams,
    pub(crate) pty: Option<WinSize>,
    pub(crate) saving: Saving,
    /// Whether the client wants to know when it runs.
    pub(crate) announce: bool,
}

/// A command ready to be launched.
pub(crate) struct Prepared {
    pub(crate) launch: Launch,
    pub(crate) session: Option<Arc<Session>>,
    /// The session's state when the command starts.
    pub(crate) state: Arc<ShellState>,
    pub(crate) notices: Vec<Notice>,
}

/// Who waits for a command to be ready, and until when. Preparing a session runs files that may take long.
pub(crate) struct Attendance<'a> {
    pub(crate) context: &'a Arc<CallContext>,
    pub(crate) deadline: Option<Instant>,
}

impl Attendance<'_> {
    /// Whether the wait is over before the command has begun.
    fn check(&self) -> Result<(), Unprepared> {
        if self.context.is_abandoned() {
            return Err(Unprepared::Over(Finish::Cancelled));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Unprepared::Over(Finish::TimedOut));
        }
        Ok(())
    }
}

/// Why a command is not ready to be launched.
pub(crate) enum Unprepared {
    /// It cannot be run.
    Fault(Fault),
    /// It was cancelled or its time was up while its session was prepared.
    Over(Finish),
}

impl From<Fault> for Unprepared {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Agent {
    /// Works out everything that is needed to run a command.
    pub(crate) fn prepare(
        &self,
        order: &Order<'_>,
        attendance: &Attendance<'_>,
    ) -> Result<Prepared, Unprepared> {
        check_env(order.env)?;
        let mut notices = Vec::new();
        let session = order.session.map(|name| self.sessions.get(name)).transpose()?;
        let state = match &session {
            Some(session) => self.session_state(session, order, attendance, &mut notices)?,
            None => Arc::new(ShellState::new(&self.options.cwd)),
        };
        let mut env = state.environment(&self.options.env, order.env);
        let cwd = working_directory(&state, order.cwd, &env, &mut notices);
        env.insert("PWD".into(), cwd.clone().into());
        if order.pty.is_some() {
            env.entry("TERM".into()).or_insert_with(|| "xterm-256color".into());
        }
        let saving = if session.is_some() { order.saving } else { Saving::Off };
        let (argv, files, saves) = self.words(order.program, &state, saving)?;
        if saves && self.shell.as_ref().is_some_and(|shell| shell.dialect == Dialect::Plain) {
            notices.push(Notice::PlainShell);
        }
        let state_size = saves.then_some(MAX_DUMP);
        let start = Start {
            argv,
            env: env.into_iter().collect(),
            cwd,
            terminal: order.pty.is_some(),
            announce: order.announce,
            keep: Launch::keep(&files, state_size),
            mark: new_mark(),
        };
        let launch = Launch {
            start,
            files,
            state_size,
            stdin: order.stdin.clone(),
            streams: order.streams,
            pty: order.pty,
        };
        Ok(Prepared { launch, session, state, notices })
    }

    /// The program with its arguments, the files they refer to, and whether the shell's state is saved.
    #[allow(clippy::type_complexity, reason = "three parts of one launch")]
    fn words(
        &self,
        program: &Program,
        state: &ShellState,
        saving: Saving,
    ) -> Result<(Vec<OsString>, Vec<(i32, Vec<u8>)>, bool), Fault> {
        match program {
            Program::Argv(argv) => {
                if argv.is_empty() || argv.iter().any(|argument| argument.as_bytes().contains(&0)) {
                    return Err(Fault::Invalid("a program needs a name, without zero bytes".into()));
                }
                Ok((argv.clone(), Vec::new(), false))
            }
            Program::Shell(command) => {
                if command.contains(&0) {
                    return Err(Fault::Invalid("a command cannot contain a zero byte".into()));
                }
                let shell = self.shell.as_ref().ok_or(Fault::NoShell)?;
                let script = script::command(&shell.path, shell.dialect, state, saving, command);
                Ok((script.argv, script.files, saving == Saving::On))
            }
        }
    }

    /// What the session carries; prepares it if this is its first command.
    fn session_state(
        &self,
        session: &Session,
        order: &Order<'_>,
        attendance: &Attendance<'_>,
        notices: &mut Vec<Notice>,
    ) -> Result<Arc<ShellState>, Unprepared> {
        let waiter: Arc<dyn Wake> = Arc::clone(attendance.context) as Arc<dyn Wake>;
        let _preparing = loop {
            let seen = attendance.context.happenings();
            if let Some(state) = session.state() {
                return Ok(state);
            }
            if let Some(turn) = session.begin_preparing(&waiter) {
                break turn;
            }
            attendance.check()?;
            attendance.context.wait_past(seen, attendance.deadline);
        };
        // Whoever prepared it may have finished between the two looks.
        if let Some(state) = session.state() {
            return Ok(state);
        }
        let mut state = ShellState::new(&self.options.cwd);
        let init = match order.init {
            SessionInit::Default => &self.options.init,
            other => other,
        };
        if let (SessionInit::Login { files }, Some(shell)) = (init, &self.shell) {
            let logged_in = self.log_in(shell, files, order.env, &state, attendance);
            // A session that was not prepared to the end is prepared by its next command.
            attendance.check()?;
            match logged_in {
                Ok(prepared) => state = prepared,
                Err(why) => notices.push(Notice::InitFailed(why)),
            }
        }
        // Only in memory is fine; the next command tries again.
        let _ = session.save(state.clone());
        Ok(session.state().ok_or_else(|| Fault::Internal("a session cannot be kept".into()))?)
    }

    /// Runs the login files once and takes over what they set.
    fn log_in(
        &self,
        shell: &Shell,
        files: &[PathBuf],
        overlay: &[(OsString, Option<OsString>)],
        fresh: &ShellState,
        attendance: &Attendance<'_>,
    ) -> Result<ShellState, String> {
        let mut env = fresh.environment(&self.options.env, overlay);
        let home = env.get(std::ffi::OsStr::new("HOME")).cloned();
        let files: Vec<PathBuf> =
            files.iter().map(|file| resolve(file, &fresh.cwd, home.as_deref())).collect();
        let script = script::login(&shell.path, shell.dialect, &files);
        let cwd = nearest_directory(&fresh.cwd, can_enter);
        env.insert("PWD".into(), cwd.clone().into());
        let launch = Launch {
            start: Start {
                argv: script.argv,
                env: env.into_iter().collect(),
                cwd,
                terminal: false,
                announce: false,
                keep: Launch::keep(&script.files, Some(MAX_DUMP)),
                mark: new_mark(),
            },
            files: script.files,
            state_size: Some(MAX_DUMP),
            stdin: Stdin::Null,
            streams: Streams::Merged,
            pty: None,
        };
        let left = attendance.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timing = Timing {
            timeout: left.into_iter().chain([self.options.init_timeout]).min(),
            grace: LOGIN_GRACE,
            linger: Duration::ZERO,
        };
        let bell = attendance.context.bell().map_err(|error| error.to_string())?;
        let mut waiting = Waiting { context: attendance.context, bell };
        let (process, outcome) =
            self.run_process(&launch, timing, &mut waiting).map_err(|error| error.to_string())?;
        let dumped = read_dump(&process);
        self.settle(process, &outcome, None, b"login files", None);
        match (outcome.finish, dumped) {
            (Finish::TimedOut, _) => {
                Err(format!("they took longer than {} s", self.options.init_timeout.as_secs()))
            }
            (_, Ok(dump)) => {
                let dump = Dump { cwd: Some(fresh.cwd.clone()), ..self.without_default_umask(dump) };
                fresh
                    .after(&self.options.env, overlay, &dump)
                    .map_err(|_| "they define too many functions".into())
            }
            (_, Err(why)) => Err(why.to_string()),
        }
    }

    /// The umask is only worth keeping when it is not what every process here has.
    pub(crate) fn without_default_umask(&self, mut dump: Dump) -> Dump {
        dump.umask = dump.umask.filter(|umask| Some(*umask) != self.umask);
        dump
    }
}

/// Reads what a shell has left behind.
pub(crate) fn read_dump(process: &Process) -> Result<Dump, Unusable> {
    let state = process.state.as_ref().ok_or(Unusable::Nothing)?;
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    while (bytes.len() as u64) < MAX_DUMP {
        match rustix::io::pread(state, &mut buffer, bytes.len() as u64) {
            Ok(0) | Err(_) => break,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
        if dump::is_complete(&bytes) || bytes.first() == Some(&0) {
            break;
        }
    }
    dump::parse(&bytes)
}

/// Where a command runs. One that was asked for is taken as it is (entering it may fail); the session's own is replaced by what is
/// left of it when it is gone.
fn working_directory(
    state: &ShellState,
    asked: Option<&Path>,
    env: &Variables,
    notices: &mut Vec<Notice>,
) -> PathBuf {
    if let Some(asked) = asked {
        let home = env.get(std::ffi::OsStr::new("HOME"));
        return resolve(asked, &state.cwd, home.map(OsString::as_os_str));
    }
    let cwd = nearest_directory(&state.cwd, can_enter);
    if cwd != state.cwd {
        notices.push(Notice::DirectoryRecovered { from: state.cwd.clone(), to: cwd.clone() });
    }
    cwd
}

fn can_enter(path: &Path) -> bool {
    path.is_dir() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

fn check_env(env: &[(OsString, Option<OsString>)]) -> Result<(), Fault> {
    let sound = |name: &OsString, value: &Option<OsString>| {
        !name.is_empty()
            && !name.as_bytes().iter().any(|byte| matches!(byte, 0 | b'='))
            && !value.as_ref().is_some_and(|value| value.as_bytes().contains(&0))
    };
    match env.iter().find(|(name, value)| !sound(name, value)) {
        Some((name, _)) => Err(Fault::Invalid(format!("'{}' cannot be set as a variable", name.display()))),
        None => Ok(()),
    }
}

/// A mark for a new command's processes.
fn new_mark() -> u64 {
    mark::from_random(crate::server::random_number())
}

/// Time between TERM and KILL for login files.
const LOGIN_GRACE: Duration = Duration::from_millis(200);

/// Nobody listens to the login files, but whoever waits for them may have had enough. Everything else that arrives for the call is its
/// command's.
struct Waiting<'a> {
    context: &'a Arc<CallContext>,
    bell: Arc<WakeFd>,
}

impl Patron for Waiting<'_> {
    fn bell(&self) -> std::os::fd::BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&*self.bell)
    }
    fn heard(&self) {
        self.bell.clear();
    }
    fn started(&mut self, _: u32) {}
    fn cancelled(&self) -> Option<Cancel> {
        self.context.is_abandoned().then_some(Cancel { grace: LOGIN_GRACE })
    }
    fn controls(&mut self) -> Vec<Control> {
        Vec::new()
    }
    fn input(&mut self) -> Arrived {
        Arrived::Nothing
    }
    fn input_used(&mut self, _: usize) {}
    fn room(&mut self) -> usize {
        usize::MAX
    }
    fn output(&mut self, _: StreamId, _: &[u8]) {}
}
