//! What an agent and a shim say to each other over the socket that is the shim's standard input.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use crate::proto::exec::{Status, Target};
use crate::proto::wire::{Wire, wire_enum, wire_struct};
use crate::sys::fds;

/// The longest message. Arguments and environment have their own limit in the kernel, well below.
const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// Where a shim keeps the file the shell leaves its state in; the script opens it as `/proc/$PPID/fd/20`.
pub(crate) const STATE_FD: i32 = 20;
/// Where a shim keeps a script that is too long for an argument.
pub(crate) const SCRIPT_FD: i32 = 21;
/// Where a shim keeps a command that is too long for an argument.
pub(crate) const COMMAND_FD: i32 = 22;

wire_struct! {
    /// A command for a new shim. With it come the shim's socket to the agent, the command's input, output and errors, and what is named
    /// in `keep`, in that order.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Start {
        /// Program and arguments.
        pub argv: Vec<OsString>,
        /// The whole environment.
        pub env: Vec<(OsString, OsString)>,
        /// Where.
        pub cwd: PathBuf,
        /// Whether the input is a terminal to take control of.
        pub terminal: bool,
        /// Whether anybody wants to know that it runs.
        pub announce: bool,
        /// Under which numbers the shim keeps further descriptors.
        pub keep: Vec<i32>,
        /// What every process of the command carries; see [`crate::sys::mark`].
        pub mark: u64,
    }
}

wire_enum! {
    /// Later messages to a shim.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Order {
        /// End everything: TERM, wait that long, then KILL.
        1 = End {
            /// Milliseconds.
            grace_ms: u64,
        },
        /// Send a signal.
        2 = Signal {
            /// Its number.
            number: i32,
            /// For whom.
            target: Target,
        },
    }
}

wire_enum! {
    /// What kept a command from being started.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Step {
        /// No new process.
        1 = Fork,
        /// The directory cannot be entered.
        2 = Directory,
        /// The program cannot be run.
        3 = Program,
    }
}

wire_enum! {
    /// Messages from a shim.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Report {
        /// The command runs as this process.
        1 = Started {
            /// The process.
            pid: u32,
        },
        /// The command was not started. Nothing follows.
        2 = Failed {
            /// What failed.
            step: Step,
            /// The system's error number.
            errno: i32,
        },
        /// The command's own process is over.
        3 = Exited {
            /// How.
            status: Status,
            /// How many children are left (not counting theirs).
            left: u32,
        },
        /// A process that is about to become the command. Told by itself, so that it is known even if the command kills its
        /// guard at once.
        5 = Forked {
            /// The process.
            pid: u32,
            /// The shim.
            guard: u32,
        },
        /// Nothing is left, or nothing more can be ended. Nothing follows.
        4 = Gone {
            /// Processes that could not be ended.
            unkillable: u32,
        },
    }
}

/// Sends a message, with descriptors.
pub(crate) fn send(socket: impl AsFd, message: &impl Wire, passed: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    message.put(&mut bytes);
    let length = (bytes.len() - 4) as u32;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    fds::send_with_fds(socket.as_fd(), &bytes, passed)
}

/// Collects messages from what arrives in pieces.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    pub(crate) fds: Vec<OwnedFd>,
    ended: bool,
}

/// What an inbox holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mail<M> {
    /// A message.
    Message(M),
    /// Nothing complete yet.
    Nothing,
    /// The other side is gone.
    Ended,
}

impl Inbox {
    /// Reads what is there; waits if nothing is and the socket waits.
    pub(crate) fn fill(&mut self, socket: impl AsFd) -> io::Result<()> {
        let mut buffer = [0; 8192];
        match fds::recv_with_fds(socket.as_fd(), &mut buffer, &mut self.fds) {
            Ok(0) => self.ended = true,
            Ok(count) => self.bytes.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => self.ended = true,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Takes the next message out.
    pub(crate) fn take<M: Wire>(&mut self) -> io::Result<Mail<M>> {
        let nothing = if self.ended { Mail::Ended } else { Mail::Nothing };
        let Some((length, _)) = self.bytes.split_first_chunk::<4>() else { return Ok(nothing) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_MESSAGE {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let Some(body) = self.bytes.get(4..4 + length) else { return Ok(nothing) };
        let message = M::from_bytes(body).map_err(io::Error::other)?;
        self.bytes.drain(..4 + length);
        Ok(Mail::Message(message))
    }
}
