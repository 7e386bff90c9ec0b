//! An engine for one test alone, which the test may stop, kill and start again.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::daemon::{self, Files, Network};
use super::{Engine, EngineError};

/// A private docker engine, without a bridge network. Dropping it removes all it made.
#[derive(Debug)]
pub struct PrivateEngine {
    engine: Engine,
    files: Files,
    storage: String,
    child: Option<Child>,
    _dir: TempDir,
}

impl PrivateEngine {
    /// Starts one. This needs root; the base image is made.
    pub fn start() -> Result<Self, EngineError> {
        if !rustix::process::geteuid().is_root() {
            return Err(EngineError::NotRoot { probe: "a test wants an engine of its own".to_owned() });
        }
        let dir = tempfile::Builder::new()
            .prefix("hermes-engine-")
            .tempdir_in("/var/tmp")
            .map_err(EngineError::file("make a directory in", "/var/tmp".as_ref()))?;
        let files = Files::new(dir.path());
        let (engine, child) = daemon::start(&files, &[Network::Off])?;
        let storage =
            engine.try_cli(["info", "--format", "{{.Driver}}"], Vec::new())?.out().trim().to_owned();
        Ok(Self { engine, files, storage, child: Some(child), _dir: dir })
    }

    /// The engine, to be used like any other.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Stops it in order; its containers end and stay as stopped ones.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            daemon::kill_containers(&self.engine);
            daemon::end(&self.files, &mut child);
        }
    }

    /// Kills the daemon alone with SIGKILL. Containers may live on.
    pub fn kill9(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _gone_already = kill_process(Pid::from_child(&child), Signal::KILL);
            let _reaped = child.wait();
        }
    }

    /// Starts it again with what it had stored.
    pub fn start_again(&mut self) -> Result<(), EngineError> {
        if self.child.is_none() {
            self.child = Some(daemon::launch(&self.files, &self.storage, Network::Off)?);
        }
        Ok(())
    }
}

impl Drop for PrivateEngine {
    fn drop(&mut self) {
        self.stop();
        // After a kill -9 there is no child to end, but shims and containers may be left.
        super::remains::clear(&self.files);
    }
}
