//! Starting the command: everything between fork and exec.

#![allow(unsafe_code)]

use std::ffi::{CString, OsStr, OsString};
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::wire::{self, Report, Start, Step};
use crate::sys::{mark, memory, signals};

/// Why a command was not started.
#[derive(Debug)]
pub(super) struct NotStarted {
    pub(super) step: Step,
    pub(super) errno: i32,
}

/// The three descriptors every command gets.
pub(super) struct Stdio {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    pub(super) errors: OwnedFd,
}

/// Starts the command in a session of its own; its process number.
pub(super) fn start(start: &Start, stdio: &Stdio) -> Result<u32, NotStarted> {
    let image = Image::prepare(start).ok_or(NotStarted { step: Step::Program, errno: libc::EINVAL })?;
    let failed = |step| NotStarted { step, errno: errno() };
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|error| NotStarted { step: Step::Fork, errno: error.raw_os_error() })?;
    // SAFETY: this process has a single thread, so the child may do whatever the parent may.
    match unsafe { libc::fork() } {
        -1 => Err(failed(Step::Fork)),
        0 => {
            let NotStarted { step, errno } = become_command(start, stdio, &image);
            let mut message = vec![step_number(step)];
            message.extend_from_slice(&errno.to_ne_bytes());
            let _ = rustix::io::write(&writer, &message);
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(126) }
        }
        pid => {
            drop(writer);
            let mut message = Vec::new();
            // The pipe ends without a word when the program was started.
            let _ = std::fs::File::from(reader).read_to_end(&mut message);
            match message.split_first() {
                None => Ok(pid as u32),
                Some((step, errno)) => {
                    // SAFETY: it is our child and has ended.
                    unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
                    let errno = errno.try_into().map_or(libc::EIO, i32::from_ne_bytes);
                    Err(NotStarted { step: step_from(*step), errno })
                }
            }
        }
    }
}

/// Everything exec needs, laid out before the fork.
struct Image {
    candidates: Vec<CString>,
    argv: Vec<CString>,
    env: Vec<CString>,
    cwd: CString,
}

impl Image {
    /// `None` when an argument holds a zero byte.
    fn prepare(start: &Start) -> Option<Self> {
        let c_string = |text: &OsStr| CString::new(text.as_bytes()).ok();
        let program = start.argv.first()?;
        let env = start
            .env
            .iter()
            .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok());
        Some(Self {
            candidates: candidates(program, &start.env)?,
            argv: start.argv.iter().map(|argument| c_string(argument)).collect::<Option<_>>()?,
            env: env.collect::<Option<_>>()?,
            cwd: c_string(start.cwd.as_os_str())?,
        })
    }
}

/// The files a program's name may mean, along the command's own PATH.
fn candidates(program: &OsStr, env: &[(OsString, OsString)]) -> Option<Vec<CString>> {
    if program.as_bytes().contains(&b'/') {
        return Some(vec![CString::new(program.as_bytes()).ok()?]);
    }
    let path =
        env.iter().find(|(name, _)| name == "PATH").map_or(OsStr::new("/usr/bin:/bin"), |(_, path)| path);
    std::env::split_paths(path)
        .map(|directory| CString::new(directory.join(program).into_os_string().into_vec()).ok())
        .collect()
}

/// Turns the child into the command; returns only when that fails.
fn become_command(start: &Start, stdio: &Stdio, image: &Image) -> NotStarted {
    let failed = |step| NotStarted { step, errno: errno() };
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (argv, env) = (pointers(&image.argv), pointers(&image.env));
    signals::reset();
    mark::carry(start.mark);
    memory::offer_to_the_killer();
    let forked = Report::Forked { pid: std::process::id(), guard: std::os::unix::process::parent_id() };
    // Nobody to tell is noticed by the parent.
    let _ = wire::send(rustix::stdio::stdin(), &forked, &[]);
    // SAFETY: plain system calls on descriptors and strings that live until exec. Input, output and errors have numbers
    // above 2 (those three were taken when they arrived), so no dup2 destroys a later one's source.
    unsafe {
        libc::setsid();
        // Whoever kills the shim kills the shell too, so that no command runs unattended.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if start.terminal && libc::ioctl(stdio.input.as_raw_fd(), libc::TIOCSCTTY, 0) < 0 {
            return failed(Step::Fork);
        }
        for (from, to) in [(&stdio.input, 0), (&stdio.output, 1), (&stdio.errors, 2)] {
            if libc::dup2(from.as_raw_fd(), to) < 0 {
                return failed(Step::Fork);
            }
        }
        if libc::chdir(image.cwd.as_ptr()) < 0 {
            return failed(Step::Directory);
        }
        // Everything else closes by itself: all descriptors of a shim close on exec.
        let mut worst = libc::ENOENT;
        for candidate in &image.candidates {
            libc::execve(candidate.as_ptr(), argv.as_ptr(), env.as_ptr());
            match errno() {
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => worst = libc::EACCES,
                errno => return NotStarted { step: Step::Program, errno },
            }
        }
        NotStarted { step: Step::Program, errno: worst }
    }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

fn step_number(step: Step) -> u8 {
    match step {
        Step::Fork => 1,
        Step::Directory => 2,
        Step::Program => 3,
    }
}

fn step_from(number: u8) -> Step {
    match number {
        2 => Step::Directory,
        3 => Step::Program,
        _ => Step::Fork,
    }
}
