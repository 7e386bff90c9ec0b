//! An agent as a process of its own: the first process of a container, or a daemon that outlives its clients.

mod address;
mod bridge;
mod detach;
mod peer;
mod program;
mod run;

use std::ffi::OsStr;
use std::path::Path;

pub use address::{Address, UnixError};
pub use detach::{DetachError, Detached, ensure, spawn_detached};
pub use program::main;
pub use run::{DaemonOptions, Role};

use crate::client::{Client, ConnectError, ConnectOptions, Transport};

/// The name (argument 0) under which any program that calls [`main_if_invoked`] acts as `hermes-box`.
pub const ARGV0: &str = "hermes-box";
/// The exit code of `hermes-box` when another agent serves already.
pub const ALREADY_RUNNING: i32 = 3;
/// The exit code of `hermes-box connect` when there is no agent to connect to.
pub const NOBODY_THERE: i32 = 4;
/// The variable with the token that clients must know.
pub const TOKEN_VARIABLE: &str = "HERMES_BOX_TOKEN";

/// To be called first thing in `main` by a program that can act as `hermes-box` or as a shim. Does not return when this process was
/// started as one of them.
pub fn main_if_invoked() {
    crate::shim::main_if_invoked();
    let mut arguments = std::env::args_os();
    if arguments.next().as_deref() == Some(OsStr::new(ARGV0)) {
        std::process::exit(main(arguments));
    }
}

/// Why there is no connection to an agent behind a socket.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The socket cannot be used.
    #[error(transparent)]
    Socket(#[from] UnixError),
    /// What listens there does not accept us.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

/// Connects to an agent's socket. The directory it lies in may be shared with a hostile command: a link is not followed, and anything but a
/// socket of one of `owners` (anybody's when empty) is refused. What answers is not trusted either.
pub fn connect_unix(path: &Path, owners: &[u32], options: &ConnectOptions) -> Result<Client, AttachError> {
    connect(&Address::Path(path.to_path_buf()), owners, options)
}

/// Connects to an agent wherever it listens; see [`connect_unix`].
pub fn connect(address: &Address, owners: &[u32], options: &ConnectOptions) -> Result<Client, AttachError> {
    let socket = address.connect(owners)?;
    let transport = Transport::socket(socket).map_err(ConnectError::Setup)?;
    Ok(Client::connect(transport, options)?)
}
