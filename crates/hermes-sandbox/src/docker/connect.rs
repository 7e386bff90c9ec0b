//! A client of the agent in a container: over the shared socket, or through the engine's `exec`.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use hermes_box::client::{Client, ConnectError, ConnectOptions};
use hermes_box::daemon::{self, AttachError, NOBODY_THERE, UnixError};

use super::cli::{Engine, Request, deadline};
use super::errors::EngineError;
use super::maker::Place;
use crate::agent_command;
use crate::error::SandboxError;
use crate::host::call::{CallError, Output};
use crate::host::stream;

/// How long an agent may take to say hello over the shared socket. Short, as something else may have taken its place there, or the
/// container may be paused; one that is only slow is reached by the other way.
const SOCKET_HELLO: Duration = Duration::from_secs(2);
/// How long it may take through the engine, which says at once when the container is paused or gone.
const EXEC_HELLO: Duration = Duration::from_secs(15);
/// How often to look for an agent that is about to serve.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

fn options(hello_timeout: Duration) -> ConnectOptions {
    ConnectOptions { hello_timeout, ..ConnectOptions::default() }
}

/// Connects over the socket in the directory shared with the container. No engine is asked. The socket may
/// be about to appear; `owners` are the users it may belong to, anybody when empty.
pub fn over_socket(path: &Path, owners: &[u32], within: Duration) -> Result<Client, AttachError> {
    let until = Instant::now() + within;
    loop {
        match daemon::connect_unix(path, owners, &options(SOCKET_HELLO)) {
            Err(AttachError::Socket(UnixError::Absent(_))) if Instant::now() < until => {
                std::thread::sleep(LOOK_AGAIN);
            }
            result => return result,
        }
    }
}

/// Connects through `exec -i`. The agent may be about to serve.
pub fn over_exec(engine: &dyn Engine, place: &Place, within: Duration) -> Result<Client, SandboxError> {
    let until = Instant::now() + within;
    loop {
        match try_exec(engine, place) {
            Err(Refusal::NobodyThere) if Instant::now() < until => std::thread::sleep(LOOK_AGAIN * 10),
            Err(Refusal::NobodyThere) => {
                let source = ConnectError::Broken("no agent runs in it".to_owned());
                return Err(SandboxError::Connect { place: in_words(&place.name), source });
            }
            Err(Refusal::Other(error)) => return Err(error),
            Ok(client) => return Ok(client),
        }
    }
}

enum Refusal {
    NobodyThere,
    Other(SandboxError),
}

fn try_exec(engine: &dyn Engine, place: &Place) -> Result<Client, Refusal> {
    let command = engine.command();
    let mut args: Vec<OsString> = ["exec", "-i", &place.id, &place.program].map(OsString::from).to_vec();
    args.extend(agent_command::connect_in_box().into_iter().map(OsString::from));
    let piped = stream::open(&command.program, &args, &command.env).map_err(|source| {
        let program = command.program.clone();
        Refusal::Other(EngineError::Call(CallError::Io { program, source }).into())
    })?;
    let fate = piped.fate;
    Client::connect(piped.transport, &options(EXEC_HELLO)).map_err(|source| {
        let ended = match &source {
            // It answered, so the engine has nothing to add.
            ConnectError::Refused(_) => None,
            _ => fate.await_end(Duration::from_secs(2)).filter(|ended| ended.code != 0),
        };
        match ended {
            Some(ended) if ended.code == NOBODY_THERE => Refusal::NobodyThere,
            Some(ended) => {
                let request =
                    Request::new("connecting to the container", &place.id, deadline::LOOK, ["exec"]);
                let output = Output { code: ended.code, stdout: Vec::new(), stderr: ended.stderr };
                Refusal::Other(engine.refusal(&request, &output).into())
            }
            None => Refusal::Other(SandboxError::Connect { place: in_words(&place.name), source }),
        }
    })
}

/// A container in a sentence.
pub fn in_words(name: &str) -> String {
    format!("in the container \"{name}\"")
}
