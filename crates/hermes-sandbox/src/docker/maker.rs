//! Everything the steps of `ensure` and `create` need at hand.

use std::path::Path;

use super::cli::Engine;
use super::drift::{Fields, Usage};
use super::identity::Identity;
use super::inspect::Observed;
use crate::config::SandboxConfig;
use crate::context::Context;
use crate::digest;
use crate::error::SandboxError;
use crate::program::Program;
use crate::registry::Registry;

/// One attempt to have a container: who asks, for what, and with which tools.
pub struct Maker<'a> {
    /// The engine.
    pub engine: &'a dyn Engine,
    /// The settings.
    pub config: &'a SandboxConfig,
    /// Where we run.
    pub context: &'a Context,
    /// Which container is meant.
    pub identity: &'a Identity,
    /// Our records.
    pub registry: &'a Registry,
    /// The box program.
    pub program: Program,
    /// Whether there was a container before, so that a new one means that something is lost.
    pub existed: bool,
    /// The container of this process alone, if it has one.
    pub own: Option<&'a str>,
    /// Asks a running container whether anyone uses it.
    pub usage: &'a dyn Fn(&Observed) -> Usage,
}

impl Maker<'_> {
    /// The container's name: the same for everyone who shares it, or one that nobody else has.
    pub fn name(&self, single: Single) -> Result<String, SandboxError> {
        let name = self.identity.container_name();
        match single {
            Single::No => Ok(name),
            Single::Yes => {
                let mut bytes = [0u8; 5];
                rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
                    .map_err(|error| SandboxError::file("read", Path::new("/dev/urandom"))(error.into()))?;
                Ok(format!("{name}-{}", digest::base32(&bytes)))
            }
        }
    }
}

/// Whether the container is for this process alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Single {
    /// Shared.
    No,
    /// For this process.
    Yes,
}

/// A container that runs, and how its agent is called and reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it was made from, if it is one of ours.
    pub fields: Option<Fields>,
    /// The agent's program in it.
    pub program: String,
    /// Why that program cannot run in it, if it cannot.
    pub plain: Option<String>,
    /// Whether the agent's socket is in a directory shared with it.
    pub reach: crate::registry::Reach,
}
