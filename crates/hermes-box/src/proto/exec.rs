//! Commands: what to run and how it ended.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::wire::{wire_enum, wire_struct};

wire_enum! {
    /// What to run.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Program {
        /// A command line for the shell (bash, else sh). Bytes, since file names need not be UTF-8.
        1 = Shell(Vec<u8>),
        /// A program and its arguments, without any shell. It sees the session's directory and
        /// variables but cannot change them.
        2 = Argv(Vec<OsString>),
    }
}

wire_enum! {
    /// Where a command's standard input comes from.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Stdin {
        /// `/dev/null`.
        1 = Null,
        /// Sent by the client, until it closes it.
        2 = Stream,
    }
}

wire_enum! {
    /// How standard output and standard error come back.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Streams {
        /// Both through one pipe, so their order is the order they were written in.
        1 = Merged,
        /// Two pipes; the order between the two is not known.
        2 = Apart,
    }
}

wire_enum! {
    /// Which output a piece belongs to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum StreamId {
        /// Standard output, everything when merged, or the terminal.
        1 = Stdout,
        /// Standard error, when kept apart.
        2 = Stderr,
    }
}

wire_struct! {
    /// The size of a terminal in characters.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct WinSize {
        /// Lines.
        pub rows: u16,
        /// Columns.
        pub cols: u16,
    }
}

wire_enum! {
    /// How a session's shell is prepared before its first command.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum SessionInit {
        /// As the agent was told at its start.
        1 = Default,
        /// Nothing but the environment.
        2 = Bare,
        /// A login shell, then these files if they exist (`~/` is the home directory). What they print is
        /// thrown away, what they set is kept.
        3 = Login {
            /// Files to source, in this order.
            files: Vec<PathBuf>,
        },
    }
}

wire_struct! {
    /// How much of the output is kept when it is collected by the agent.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Keep {
        /// Bytes kept from the beginning.
        pub head: u64,
        /// Bytes kept from the end.
        pub tail: u64,
    }
}

wire_enum! {
    /// What happens to the output.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Capture {
        /// Sent as it comes; a client that does not read makes the command wait.
        1 = Stream,
        /// Kept by the agent within bounds, sent at the end; the command never waits.
        2 = Collect(Keep),
    }
}

wire_enum! {
    /// Whether the whole output also goes to a file in the agent's directory.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Spill {
        /// Never.
        1 = Off,
        /// Once more was printed than is kept (or than 64 KiB, when it is streamed), up to this many bytes.
        2 = UpTo(u64),
    }
}

wire_struct! {
    /// A command to run.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ExecRequest {
        /// Whose directory, variables, functions and aliases it sees and changes. Without one it starts
        /// from the agent's own environment and leaves nothing behind.
        pub session: Option<String>,
        /// What to run.
        pub program: Program,
        /// Where, instead of the session's directory. `~` and `~/x` mean the home directory.
        pub cwd: Option<PathBuf>,
        /// Variables for this call only; `None` takes one away.
        pub env: Vec<(OsString, Option<OsString>)>,
        /// Standard input.
        pub stdin: Stdin,
        /// When to end it.
        pub timeout: Option<Duration>,
        /// How long its processes have between TERM and KILL; the agent's default otherwise.
        pub grace: Option<Duration>,
        /// Run on a terminal of this size.
        pub pty: Option<WinSize>,
        /// One output or two; a terminal has only one.
        pub streams: Streams,
        /// How the session is prepared if this is its first command.
        pub init: SessionInit,
        /// What happens to the output.
        pub capture: Capture,
        /// Whether the whole output is kept in a file.
        pub spill: Spill,
    }
}

impl ExecRequest {
    /// A shell command in a session, with everything else at its default: no input, merged and
    /// streamed output, no time limit.
    pub fn shell(session: impl Into<String>, command: impl Into<Vec<u8>>) -> Self {
        Self { session: Some(session.into()), ..Self::program(Program::Shell(command.into())) }
    }

    /// A program and its arguments, without a shell and without a session.
    pub fn argv<A: Into<OsString>>(argv: impl IntoIterator<Item = A>) -> Self {
        Self::program(Program::Argv(argv.into_iter().map(Into::into).collect()))
    }

    fn program(program: Program) -> Self {
        Self {
            session: None,
            program,
            cwd: None,
            env: Vec::new(),
            stdin: Stdin::Null,
            timeout: None,
            grace: None,
            pty: None,
            streams: Streams::Merged,
            init: SessionInit::Default,
            capture: Capture::Stream,
            spill: Spill::Off,
        }
    }

    /// Ends it after `timeout`.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Runs it in this directory.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets a variable for this call only.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }
}

wire_enum! {
    /// How the command's own process ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Status {
        /// It exited with this code.
        1 = Code(i32),
        /// It was ended by this signal.
        2 = Signal(i32),
        /// It never ran, or how it ended is not known.
        3 = Unknown,
    }
}

wire_enum! {
    /// Why a command is over.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Ending {
        /// It came to its end by itself.
        1 = Exited,
        /// Its time was up; its processes were ended.
        2 = TimedOut,
        /// The client cancelled it; its processes were ended.
        3 = Cancelled,
        /// It was not started: its directory cannot be entered.
        4 = NoDirectory {
            /// The directory asked for.
            path: PathBuf,
            /// The system's reason.
            reason: String,
        },
        /// It was not started: the program cannot be run.
        5 = NotStarted {
            /// The program asked for.
            program: OsString,
            /// The system's error number.
            errno: i32,
            /// The system's reason.
            reason: String,
        },
        /// Its guard process was killed, so its end was not seen; its processes were ended.
        6 = GuardLost,
    }
}

wire_enum! {
    /// Something that did not go as it should have, though the command ran.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Notice {
        /// The session's directory was gone; this one was used.
        1 = DirectoryRecovered {
            /// What it was.
            from: PathBuf,
            /// What was used.
            to: PathBuf,
        },
        /// Directory, variables and functions of this call could not be kept.
        2 = StateNotKept(String),
        /// The session's start files failed; its commands run without what they set.
        3 = InitFailed(String),
        /// The file with the whole output could not be written on.
        4 = SpillFailed(String),
        /// The whole output is longer than its file may be.
        5 = SpillFull,
        /// Processes that could not be ended (of another user, or stuck in the kernel).
        6 = Unkillable(u32),
        /// No bash: only directory and exported variables are kept between calls.
        7 = PlainShell,
    }
}

wire_struct! {
    /// What was kept of one output.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    pub struct Captured {
        /// The beginning, or everything.
        pub head: Vec<u8>,
        /// The end, when not everything fits.
        pub tail: Vec<u8>,
        /// Bytes left out between the two.
        pub omitted: u64,
        /// Bytes printed.
        pub total: u64,
        /// The file that holds everything (or as much as it may), if there is one.
        pub spill: Option<PathBuf>,
    }
}

impl Captured {
    /// Whether anything was left out.
    pub fn is_truncated(&self) -> bool {
        self.omitted > 0
    }

    /// What was kept, without a mark where something is missing.
    pub fn bytes(&self) -> Vec<u8> {
        [self.head.as_slice(), self.tail.as_slice()].concat()
    }
}

wire_struct! {
    /// How a command ended.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Exit {
        /// Why it is over.
        pub ending: Ending,
        /// How its process ended.
        pub status: Status,
        /// The session's directory after it (or the directory it ran in, without a session).
        pub cwd: PathBuf,
        /// How long it ran.
        pub duration: Duration,
        /// Processes it left running on purpose.
        pub left_running: u32,
        /// What did not go as it should have.
        pub notices: Vec<Notice>,
        /// Standard output, or everything, when collected. When streamed only `total` and `spill` are set.
        pub stdout: Captured,
        /// Standard error, when collected and kept apart.
        pub stderr: Captured,
    }
}

impl Exit {
    /// The exit code as a shell would give it: 124 timed out, 126 no directory or not runnable,
    /// 127 no such program, 130 cancelled, 128 + n ended by signal n.
    pub fn code(&self) -> i32 {
        match (&self.ending, self.status) {
            (Ending::TimedOut, _) => 124,
            (Ending::Cancelled, _) => 130,
            (Ending::NotStarted { errno, .. }, _) if *errno == libc::ENOENT => 127,
            (Ending::NoDirectory { .. } | Ending::NotStarted { .. }, _) => 126,
            (_, Status::Code(code)) => code,
            (_, Status::Signal(signal)) => 128 + signal,
            (_, Status::Unknown) => 137,
        }
    }
}

wire_enum! {
    /// Whom a signal is for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Target {
        /// The command's own process.
        1 = Leader,
        /// Everything the command started.
        2 = Tree,
        /// What runs in the foreground of its terminal; its process group when it has none.
        3 = Foreground,
    }
}

wire_enum! {
    /// What a client may ask of a running call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Control {
        /// End it: TERM, grace, KILL for a command; stop for everything else.
        1 = Cancel,
        /// Send a signal.
        2 = Signal {
            /// Its number.
            number: i32,
            /// For whom.
            target: Target,
        },
        /// The terminal has a new size.
        3 = Resize(WinSize),
    }
}
