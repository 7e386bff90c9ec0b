//! Terminals.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use crate::proto::exec::WinSize;

/// A new terminal: our side and the command's side.
pub(crate) fn open(size: WinSize) -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let slave = match rustix::pty::ioctl_tiocgptpeer(&master, flags) {
        Ok(slave) => slave,
        Err(_) => open_by_name(&master)?,
    };
    resize(&master, size)?;
    Ok((master, slave))
}

/// For kernels before 4.13.
fn open_by_name(master: &OwnedFd) -> io::Result<OwnedFd> {
    let name = rustix::pty::ptsname(master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(&*name, flags, Mode::empty())?)
}

/// Tells the terminal its size.
pub(crate) fn resize(master: impl AsFd, size: WinSize) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(rustix::termios::tcsetwinsize(master, size)?)
}

/// Sends a signal to what runs in the terminal's foreground.
pub(crate) fn signal_foreground(master: impl AsFd, number: i32) {
    if let (Ok(group), Some(signal)) = (rustix::termios::tcgetpgrp(master), Signal::from_named_raw(number)) {
        // It may have ended meanwhile.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}
