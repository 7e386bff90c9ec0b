//! Reaching the agent of a container: the shared socket first, the engine's `exec` where that leads nowhere.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_box::client::{Client, ConnectError};
use hermes_box::daemon::AttachError;
use hermes_box::proto::hello::Refusal;
use hermes_box::proto::info::Info;

use super::cli::Engine;
use super::connect::{self, in_words};
use super::drift::Usage;
use super::ensure::place_of;
use super::inspect::Observed;
use super::maker::Place;
use super::reclaim::Activity;
use crate::agent_command::SOCKET_NAME;
use crate::error::SandboxError;
use crate::registry::{Reach, Registry};

/// What is needed to reach any container of a home.
#[derive(Clone)]
pub struct Attach {
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// Where the shared directories are.
    pub registry: Registry,
}

/// What is known about a container that is about to be reached.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expect {
    /// The user its agent runs as, where we chose it.
    pub owner: Option<u32>,
    /// How long its agent may take to appear.
    pub within: Duration,
}

impl Attach {
    /// A client of the agent in a container.
    pub fn connect(&self, place: &Place, expect: Expect) -> Result<Client, SandboxError> {
        if let Some(reason) = &place.plain {
            return Err(SandboxError::NoAgent { name: place.name.clone(), reason: reason.clone() });
        }
        if place.reach == Reach::Socket {
            let owners: Vec<u32> = expect.owner.into_iter().collect();
            match connect::over_socket(&self.socket_path(place), &owners, expect.within) {
                Ok(client) => return Ok(client),
                // Where user ids are mapped the agent cannot recognise us over the socket.
                Err(AttachError::Connect(source @ ConnectError::Refused(_)))
                    if !matches!(source, ConnectError::Refused(Refusal::OtherUser)) =>
                {
                    return Err(SandboxError::Connect { place: in_words(&place.name), source });
                }
                Err(_) => {}
            }
        }
        connect::over_exec(&*self.engine, place, expect.within)
    }

    /// Where the socket appears on this machine.
    pub fn socket_path(&self, place: &Place) -> PathBuf {
        self.registry.run_dir(&place.name).join(SOCKET_NAME)
    }

    /// A client of a container that is said to run.
    pub fn client(&self, seen: &Observed) -> Result<Client, SandboxError> {
        self.connect(&place_of(seen), Expect::default())
    }

    /// What its agent says about itself.
    pub fn info(&self, seen: &Observed) -> Result<Info, SandboxError> {
        let place = in_words(&seen.name);
        self.client(seen)?.info().map_err(|source| SandboxError::Agent { place, source })
    }

    /// Whether anyone uses it.
    pub fn usage(&self, seen: &Observed) -> Usage {
        if seen.plain().is_some() {
            // Nobody in there counts; what runs in it may be somebody's.
            return Usage::Unknown;
        }
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
    // A running job counts as a call already.
    (clients, info.calls.max(info.jobs_running) as usize + info.left_running.len())
}

fn usage(info: &Info) -> Usage {
    match counts(info) {
        (0, 0) => Usage::Idle,
        (clients, running) => Usage::Busy { clients, running },
    }
}

/// What an agent's answer says about the use of its box.
pub fn activity(info: &Info) -> Activity {
    let (clients, running) = counts(info);
    Activity::Known { clients, running, idle: Duration::from_millis(info.idle_ms) }
}
