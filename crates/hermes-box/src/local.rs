//! An agent inside of this process.

use std::os::unix::net::UnixStream;
use std::sync::Arc;

use crate::client::{Client, ConnectError, ConnectOptions, Transport};
use crate::server::{Agent, AgentOptions};

/// Starts an agent on threads of this process and connects to it. Its commands end with the last handle; jobs need a
/// [daemon](crate::daemon) to outlive this process.
pub fn serve_in_process(options: AgentOptions) -> Result<Client, ConnectError> {
    attach(&Agent::new(options))
}

/// Connects another client to an agent of this process.
pub fn attach(agent: &Arc<Agent>) -> Result<Client, ConnectError> {
    let (ours, theirs) = UnixStream::pair()?;
    let transport = Transport::socket(theirs)?;
    let agent = Arc::clone(agent);
    let serve = move || agent.serve(transport);
    std::thread::Builder::new().name("box-serve".into()).stack_size(256 * 1024).spawn(serve)?;
    Client::connect(Transport::socket(ours)?, &ConnectOptions::default())
}
