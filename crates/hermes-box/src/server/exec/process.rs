//! A command's process and everything that connects us to it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::pipe::PipeFlags;

use super::shims::{Shims, Started};
use crate::proto::exec::{Stdin, Streams, WinSize};
use crate::shim::wire::{Inbox, STATE_FD, Start};
use crate::sys::{fds, pty};

/// What to start and how to connect it.
pub(crate) struct Launch {
    pub(crate) start: Start,
    /// Files the script refers to.
    pub(crate) files: Vec<(i32, Vec<u8>)>,
    /// How large the file for the shell's state is; none when it is not wanted.
    pub(crate) state_size: Option<u64>,
    pub(crate) stdin: Stdin,
    pub(crate) streams: Streams,
    pub(crate) pty: Option<WinSize>,
}

impl Launch {
    /// The numbers under which a shim keeps what is passed to it besides input, output and errors.
    pub(crate) fn keep(files: &[(i32, Vec<u8>)], state_size: Option<u64>) -> Vec<i32> {
        files.iter().map(|(number, _)| *number).chain(state_size.map(|_| STATE_FD)).collect()
    }
}

/// See the module. All descriptors on our side do not wait.
pub(crate) struct Process {
    /// The way to the shim.
    pub(crate) shim: OwnedFd,
    pub(crate) inbox: Inbox,
    pub(crate) input: Option<OwnedFd>,
    pub(crate) output: Option<OwnedFd>,
    pub(crate) errors: Option<OwnedFd>,
    /// Our side of the terminal, if there is one.
    pub(crate) terminal: Option<OwnedFd>,
    /// Where the shell leaves its state.
    pub(crate) state: Option<OwnedFd>,
    /// Whether the shim tells that the command runs.
    pub(crate) announced: bool,
    /// Readable once nobody looks after the shim any more.
    pub(crate) attended: Option<Arc<OwnedFd>>,
    /// What its processes carry.
    pub(crate) mark: u64,
}

impl Process {
    /// Tells a shim what to run.
    pub(crate) fn launch(shims: &Shims, launch: &Launch) -> io::Result<Self> {
        let Launch { start, files, state_size, stdin, streams, pty } = launch;
        let wiring = match pty {
            Some(size) => Wiring::terminal(*size)?,
            None => Wiring::pipes(stdin, *streams)?,
        };
        // In the order of `Launch::keep`.
        let mut kept = Vec::new();
        for (_, content) in files {
            kept.push(fds::memory_with("hermes-script", content)?);
        }
        let state = state_size.map(|size| fds::bounded_memory("hermes-state", size)).transpose()?;
        if let Some(state) = &state {
            kept.push(state.try_clone()?);
        }
        let passed: Vec<BorrowedFd<'_>> = wiring.theirs.iter().chain(&kept).map(AsFd::as_fd).collect();
        let Started { socket: shim, attended } = shims.start(start, &passed)?;
        fds::set_nonblocking(&shim)?;
        let Wiring { input, output, errors, terminal, .. } = wiring;
        let (announced, mark, inbox) = (start.announce, start.mark, Inbox::default());
        Ok(Self { shim, inbox, input, output, errors, terminal, state, announced, attended, mark })
    }
}

/// The ends of pipes or of a terminal.
struct Wiring {
    /// The command's input, output and errors.
    theirs: [OwnedFd; 3],
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    errors: Option<OwnedFd>,
    terminal: Option<OwnedFd>,
}

impl Wiring {
    fn pipes(stdin: &Stdin, streams: Streams) -> io::Result<Self> {
        let (their_input, input) = match stdin {
            Stdin::Null => (null_device()?, None),
            Stdin::Stream => {
                let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
                fds::set_nonblocking(&writer)?;
                (reader, Some(writer))
            }
        };
        let (output, their_output) = output_pipe()?;
        let (errors, their_errors) = match streams {
            Streams::Merged => (None, their_output.try_clone()?),
            Streams::Apart => {
                let (errors, theirs) = output_pipe()?;
                (Some(errors), theirs)
            }
        };
        let theirs = [their_input, their_output, their_errors];
        Ok(Self { theirs, input, output: Some(output), errors, terminal: None })
    }

    fn terminal(size: WinSize) -> io::Result<Self> {
        let (master, slave) = pty::open(size)?;
        fds::set_nonblocking(&master)?;
        let theirs = [slave.try_clone()?, slave.try_clone()?, slave];
        let (input, output) = (Some(master.try_clone()?), Some(master.try_clone()?));
        Ok(Self { theirs, input, output, errors: None, terminal: Some(master) })
    }
}

fn output_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    fds::set_nonblocking(&reader)?;
    Ok((reader, writer))
}

fn null_device() -> io::Result<OwnedFd> {
    Ok(std::fs::File::open("/dev/null")?.into())
}
