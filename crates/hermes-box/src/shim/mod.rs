//! The shim: one small process per command, between the agent and the shell.
//!
//! It is the reaper of everything the command starts, so it can end the whole tree when its time is up, daemons included.
//! When the shell ends by itself, what it left in the background goes on (the user started it on purpose); the shim stays until the
//! last of it is gone, so that nothing becomes a zombie and the agent can list and end it. When the agent goes away while the shell
//! runs, the shim ends the command; when it goes away later, the shim leaves what runs alone.

mod child;
mod guard;
mod nursery;
mod tree;
pub(crate) mod wire;

use std::ffi::OsStr;

/// The name (argument 0) under which a program acts as a shim.
pub const ARGV0: &str = "hermes-box-shim";

/// To be called first thing in `main` by every program that an agent may start its shims from. Does not return when
/// this process was started as a shim.
pub fn main_if_invoked() {
    if std::env::args_os().next().as_deref() == Some(OsStr::new(ARGV0)) {
        main();
    }
}

/// Acts as the process shims come from: the socket to the agent is the standard input.
pub fn main() -> ! {
    // On an error the agent sees the socket close; there is nobody else to tell.
    std::process::exit(i32::from(nursery::run().is_err()))
}
