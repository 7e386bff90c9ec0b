//! Signal masks and dispositions.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Keeps these signals from interrupting the calling thread and the threads it starts.
pub(crate) fn block(signals: &[i32]) -> io::Result<()> {
    mask(libc::SIG_BLOCK, &set(signals))
}

/// Lets every signal through again.
pub(crate) fn unblock_all() -> io::Result<()> {
    mask(libc::SIG_SETMASK, &set(&[]))
}

/// Blocks every signal.
pub(crate) fn block_all() -> io::Result<()> {
    let mut all = set(&[]);
    // SAFETY: `all` is a valid signal set.
    unsafe { libc::sigfillset(&raw mut all) };
    mask(libc::SIG_SETMASK, &all)
}

/// A descriptor that is readable while one of these (blocked) signals is pending.
pub(crate) fn descriptor(signals: &[i32]) -> io::Result<OwnedFd> {
    let set = set(signals);
    // SAFETY: the set is valid; a new descriptor is asked for with -1.
    let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits for one of these (blocked) signals.
pub(crate) fn wait(signals: &[i32]) -> i32 {
    let set = set(signals);
    loop {
        // SAFETY: the set is valid and no information is asked for.
        let signal = unsafe { libc::sigwaitinfo(&raw const set, std::ptr::null_mut()) };
        if signal > 0 {
            return signal;
        }
    }
}

/// Gives every signal its default meaning again and lets all through, as a freshly logged-in shell has it.
pub(crate) fn reset() {
    for signal in 1..=64 {
        // SAFETY: setting the default disposition has no other effect; numbers that cannot be set are refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let _ = unblock_all();
}

fn set(signals: &[i32]) -> libc::sigset_t {
    // SAFETY: a signal set is plain memory that sigemptyset initialises.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
        set
    }
}

fn mask(how: i32, set: &libc::sigset_t) -> io::Result<()> {
    // SAFETY: the set is valid and the old one is not asked for.
    match unsafe { libc::pthread_sigmask(how, set, std::ptr::null_mut()) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}
