//! A container engine for tests: the one that runs, else a private one, with small images made on the spot.
//!
//! No registry is needed. A private engine is started once, is shared by all test processes, lives in its own
//! network and mount namespaces (so it changes nothing on the machine) and goes away with the last user.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use crate::command::{Finished, run_limited};

mod daemon;
mod error;
mod forbidding;
mod holders;
mod image;
mod podman;
mod private;
mod python;
mod remains;
mod scope;
mod shared;
mod silent;
mod watchdog;

pub use error::EngineError;
pub use image::Image;
pub use private::PrivateEngine;
pub use scope::{LABEL, Scope};
pub use shared::{Shutdown, Stopped, shared_dir};
pub use silent::SilentEngine;

/// Which engine answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// Docker.
    Docker,
    /// Podman, with a storage of its own.
    Podman,
}

/// How long one command of the engine's client may take.
const CLI_LIMIT: Duration = Duration::from_mins(2);

/// A container engine that answers.
#[derive(Debug, Clone)]
pub struct Engine {
    kind: EngineKind,
    program: PathBuf,
    env: Vec<(String, String)>,
    /// Where notes about this engine are kept: the lock for images, unpacked packages.
    dir: PathBuf,
}

impl Engine {
    /// Docker: the one that runs, else a private one. Found or started once per process and shared by all.
    pub fn get() -> Result<&'static Self, EngineError> {
        static DOCKER: OnceLock<Result<Engine, EngineError>> = OnceLock::new();
        DOCKER.get_or_init(|| shared::docker(&shared_dir())).as_ref().map_err(Clone::clone)
    }

    /// Podman with a storage of its own, when it is installed and can run a container.
    pub fn podman() -> Result<&'static Self, EngineError> {
        static PODMAN: OnceLock<Result<Engine, EngineError>> = OnceLock::new();
        PODMAN.get_or_init(|| shared::podman(&shared_dir())).as_ref().map_err(Clone::clone)
    }

    /// Stops the shared private engine and removes all that was made for tests.
    pub fn shutdown(when: Shutdown) -> Result<Stopped, EngineError> {
        shared::stop(&shared_dir(), when)
    }

    /// Keeps the shared private engine up as long as the process `holder` lives.
    pub fn hold_for(holder: u32) -> Result<(), EngineError> {
        shared::hold(&shared_dir(), holder)
    }

    /// Docker or podman.
    pub fn kind(&self) -> EngineKind {
        self.kind
    }

    /// The client program, as an absolute path.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The environment variables a program needs to reach this engine.
    pub fn env(&self) -> impl Iterator<Item = (&str, &str)> {
        self.env.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A command of the client with its environment set, to add arguments to.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.envs(self.env());
        command
    }

    /// Runs the client with these arguments to the end.
    #[track_caller]
    pub fn cli<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Finished {
        self.try_cli(args, Vec::new()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Makes the image if it is not there and gives its name.
    pub fn image(&self, image: Image) -> Result<&'static str, EngineError> {
        image::ensure(self, image)?;
        Ok(image.name())
    }

    /// A clean-up scope: what carries its label is removed with it.
    pub fn scope(&self) -> Scope {
        Scope::new(self.clone())
    }

    fn try_cli<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        input: Vec<u8>,
    ) -> Result<Finished, EngineError> {
        let mut command = self.command();
        command.args(args);
        run_limited(command, input, CLI_LIMIT).map_err(|error| EngineError::Program {
            program: self.program.clone(),
            reason: error.to_string(),
        })
    }
}
