//! Stopping, removing and making anew, one container at a time.

use serde::Serialize;

use super::Manager;
use crate::config::DriftPolicy;
use crate::docker::belongs;
use crate::docker::cleanup::{self, Removal};
use crate::docker::cli::{Request, deadline};
use crate::docker::drift::{self, Difference, Usage};
use crate::docker::inspect::{Observed, State};
use crate::error::SandboxError;
use crate::notice::Notice;
use crate::sandbox::Sandbox;

/// Whether a container that is in use may be taken from those who use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// No.
    No,
    /// Yes: their commands and jobs end.
    Yes,
}

/// What recreating did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recreated {
    /// The name of the new container.
    pub name: String,
    /// In what the old one differed from the settings.
    pub differences: Vec<Difference>,
    /// What there is to know about the new one.
    pub notices: Vec<Notice>,
}

impl Manager {
    /// The container that [`Manager::stop`] and [`Manager::remove`] would end, or why they would not.
    pub fn endable(&self, word: Option<&str>, force: Force) -> Result<Observed, SandboxError> {
        let one = self.find(word)?;
        self.may_end(&one, force)?;
        Ok(one)
    }

    /// Stops a container.
    pub fn stop(&self, word: Option<&str>, force: Force) -> Result<Observed, SandboxError> {
        let one = self.find(word)?;
        self.may_end(&one, force)?;
        cleanup::stop(&*self.attach().engine, &one.id)?;
        Ok(one)
    }

    /// Stops and removes a container. Its kept directories stay.
    pub fn remove(&self, word: Option<&str>, force: Force) -> Result<Observed, SandboxError> {
        let one = self.find(word)?;
        self.may_end(&one, force)?;
        if one.state == State::Running {
            // One that cannot be stopped can still be removed.
            let _ = cleanup::stop(&*self.attach().engine, &one.id);
        }
        cleanup::remove(&*self.attach().engine, &one.id, Removal::Forced)?;
        self.attach().registry.forget(&one.name);
        Ok(one)
    }

    /// Replaces this profile's container by one made from today's settings.
    pub fn recreate(&self, force: Force, progress: &mut dyn FnMut(&str)) -> Result<Recreated, SandboxError> {
        let name = self.identity().container_name();
        let differences = match self.find(None) {
            Ok(old) => {
                let differences = self.backend.differences(&old)?;
                self.remove(Some(&old.id), force)?;
                differences
            }
            Err(SandboxError::NoSuchSandbox(_)) => Vec::new(),
            Err(error) => return Err(error),
        };
        progress(&format!("making the container \"{name}\""));
        let sandbox = Sandbox::open(&self.config, &self.context)?;
        sandbox.client()?;
        Ok(Recreated { name, differences, notices: sandbox.take_notices() })
    }

    /// What the container's first process wrote, the last lines of it.
    pub fn logs(&self, word: Option<&str>, lines: usize) -> Result<String, SandboxError> {
        let one = self.find(word)?;
        let count = lines.to_string();
        let args = ["logs", "--timestamps", "--tail", &count, &one.id];
        let request = Request::new("reading the logs", &one.name, deadline::LOOK, args);
        let output = self.attach().engine.demand(&request)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned() + &output.stderr)
    }

    /// Only what is this profile's may be ended, and what is in use only by force.
    fn may_end(&self, one: &Observed, force: Force) -> Result<(), SandboxError> {
        if force == Force::Yes {
            return Ok(());
        }
        let refused =
            |because: &str| SandboxError::NotEnded { name: one.name.clone(), because: because.to_owned() };
        belongs::to_this_profile(self.identity(), one).map_err(refused)?;
        if one.state != State::Running {
            return Ok(());
        }
        match self.attach().usage(one) {
            Usage::Busy { clients, running } => {
                Err(refused(&format!("it is in use ({clients} clients, {running} running)")))
            }
            Usage::Idle | Usage::NoAgent | Usage::Unknown => Ok(()),
        }
    }

    /// Whether the settings would have this container replaced if it were used now.
    pub fn would_recreate(&self, word: Option<&str>) -> Result<bool, SandboxError> {
        let one = self.find(word)?;
        let differences = self.backend.differences(&one)?;
        let usage = if one.state == State::Running { self.attach().usage(&one) } else { Usage::Idle };
        let policy: DriftPolicy = self.config.container.on_drift;
        Ok(drift::decide(&differences, policy, usage) == drift::Verdict::Recreate)
    }
}
