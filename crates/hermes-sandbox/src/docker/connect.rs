//! A stream to the agent in a container: over the shared socket, else through the engine's `exec`.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use hermes_box::client::Transport;

use super::cli::{Engine, Request, deadline};
use super::errors::EngineError;
use super::maker::Place;
use super::socket;
use crate::agent_command;
use crate::host::call::Output;
use crate::host::stream::{self, Fate};

/// Connects over the socket in the directory shared with the container. No engine is asked.
pub fn over_socket(path: &Path, owner: Option<u32>) -> io::Result<(Transport, u32)> {
    let (stream, owner) = socket::connect(path, owner)?;
    Ok((Transport::socket(stream)?, owner))
}

/// Connects through `exec -i`.
pub fn over_exec(engine: &dyn Engine, place: &Place) -> io::Result<(Transport, Fate)> {
    let command = engine.command();
    let mut args: Vec<OsString> = ["exec", "-i", &place.id, &place.program].map(OsString::from).to_vec();
    args.extend(agent_command::connect(&place.socket).into_iter().map(OsString::from));
    let piped = stream::open(&command.program, &args, &command.env)?;
    Ok((piped.transport, piped.fate))
}

/// Why a stream through `exec` led nowhere, if the engine said so.
pub fn why(engine: &dyn Engine, place: &Place, fate: Fate) -> Option<EngineError> {
    let ended = fate.await_end(Duration::from_secs(2))?;
    if ended.code == 0 {
        return None;
    }
    let request = Request::new("connecting to the container", &place.name, deadline::LOOK, ["exec"]);
    let output = Output { code: ended.code, stdout: Vec::new(), stderr: ended.stderr };
    Some(engine.refusal(&request, &output))
}
