//! Reaching the agent of a container: the shared socket first, the engine's `exec` where that leads nowhere.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_box::client::{Client, ConnectError, ConnectOptions, Transport};
use hermes_box::proto::info::Info;

use super::cli::Engine;
use super::connect;
use super::drift::Usage;
use super::ensure::place_of;
use super::errors::EngineError;
use super::inspect::Observed;
use super::maker::Place;
use super::reclaim::Activity;
use crate::agent_command::SOCKET_NAME;
use crate::backend::{Connection, Why};
use crate::error::SandboxError;
use crate::host::call::CallError;
use crate::registry::{Reach, Registry};

/// How long an agent may take to say hello.
const HELLO: Duration = Duration::from_secs(10);
/// How often to look for a socket that is about to appear.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// What is needed to reach any container of a home.
#[derive(Clone)]
pub struct Attach {
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// Where the shared directories are.
    pub registry: Registry,
}

/// What is known about the socket beforehand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expect {
    /// Its owner, once it was seen.
    pub owner: Option<u32>,
    /// How long it may take to appear.
    pub within: Duration,
}

impl Attach {
    /// Opens a stream; also says who owns the socket, if it leads over one.
    pub fn open(&self, place: &Place, expect: Expect) -> Result<(Connection, Option<u32>), SandboxError> {
        if place.reach == Reach::Socket
            && let Some((transport, owner)) = self.over_socket(place, expect)
        {
            return Ok((connection(place, transport, None), Some(owner)));
        }
        let (transport, fate) = connect::over_exec(&*self.engine, place).map_err(|source| {
            let program = self.engine.command().program;
            EngineError::Call(CallError::Io { program, source })
        })?;
        let (engine, at) = (Arc::clone(&self.engine), place.clone());
        let why: Why = Box::new(move || connect::why(&*engine, &at, fate).map(SandboxError::from));
        Ok((connection(place, transport, Some(why)), None))
    }

    fn over_socket(&self, place: &Place, expect: Expect) -> Option<(Transport, u32)> {
        let until = Instant::now() + expect.within;
        loop {
            match connect::over_socket(&self.socket_path(place), expect.owner) {
                Ok(connected) => return Some(connected),
                Err(_) if Instant::now() < until => std::thread::sleep(LOOK_AGAIN),
                Err(_) => return None,
            }
        }
    }

    /// Where the socket appears on this machine.
    pub fn socket_path(&self, place: &Place) -> PathBuf {
        self.registry.run_dir(&place.name).join(SOCKET_NAME)
    }

    /// A client of a container that is said to run.
    pub fn client(&self, seen: &Observed) -> Result<Client, SandboxError> {
        self.open(&place_of(seen), Expect::default())?.0.client()
    }

    /// What its agent says about itself.
    pub fn info(&self, seen: &Observed) -> Result<Info, SandboxError> {
        let place = in_words(&seen.name);
        self.client(seen)?.info().map_err(|source| SandboxError::Agent { place, source })
    }

    /// Whether anyone uses it.
    pub fn usage(&self, seen: &Observed) -> Usage {
        if !seen.is_boxed() {
            return Usage::NoAgent;
        }
        match self.info(seen) {
            Ok(info) => usage(&info),
            // It is alive and speaks another language, so there may be others who speak it.
            Err(SandboxError::Connect { source: ConnectError::Refused(_), .. }) => Usage::Unknown,
            Err(_) => Usage::NoAgent,
        }
    }

    /// Whether anyone uses it, and since when nobody does.
    pub fn activity(&self, seen: &Observed) -> Activity {
        if !seen.is_boxed() {
            return Activity::Unknown;
        }
        self.info(seen).map_or(Activity::Unknown, |info| activity(&info))
    }
}

/// Clients besides the one that asked, and what runs.
fn counts(info: &Info) -> (usize, usize) {
    let clients = info.clients.saturating_sub(1) as usize;
    (clients, info.calls as usize + info.jobs_running as usize + info.left_running.len())
}

fn usage(info: &Info) -> Usage {
    match counts(info) {
        (0, 0) => Usage::Idle,
        (clients, running) => Usage::Busy { clients, running },
    }
}

fn activity(info: &Info) -> Activity {
    let (clients, running) = counts(info);
    Activity::Known { clients, running, idle: Duration::from_millis(info.idle_ms) }
}

fn connection(place: &Place, transport: Transport, why: Option<Why>) -> Connection {
    let options = ConnectOptions { hello_timeout: HELLO, ..ConnectOptions::default() };
    Connection { transport, options, place: in_words(&place.name), why }
}

fn in_words(name: &str) -> String {
    format!("in the container \"{name}\"")
}
