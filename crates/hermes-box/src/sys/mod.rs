//! Thin wrappers around system calls that the standard library and rustix do not offer in the form needed here.

pub(crate) mod fds;
pub(crate) mod mark;
pub(crate) mod memory;
pub(crate) mod poll;
pub(crate) mod proc;
pub(crate) mod pty;
pub(crate) mod secrets;
pub(crate) mod signals;
pub(crate) mod wake;
