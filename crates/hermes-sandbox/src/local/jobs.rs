//! Background jobs on this machine: they belong to a daemon that outlives us.

use std::path::Path;
use std::time::Duration;

use hermes_box::client::{Client, ConnectOptions};
use hermes_box::daemon::{self, DetachError, Detached};
use hermes_box::server::AgentOptions;

use crate::agent_command::SOCKET_NAME;

/// How long a daemon without clients and jobs stays.
const IDLE_EXIT: Duration = Duration::from_mins(10);

/// Connects to the daemon of a directory, and starts it with these options if it does not run.
pub fn connect(directory: &Path, options: &AgentOptions) -> Result<Client, DetachError> {
    let login_files = match &options.init {
        hermes_box::proto::exec::SessionInit::Login { files } => Some(files.clone()),
        _ => None,
    };
    let detached = Detached {
        program: options.shim.clone(),
        socket: directory.join(SOCKET_NAME),
        directory: directory.to_path_buf(),
        env: options.env.clone(),
        cwd: options.cwd.clone(),
        idle_exit: IDLE_EXIT,
        login_files,
    };
    daemon::ensure(&detached, &ConnectOptions::default())
}
