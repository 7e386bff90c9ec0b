//! Why there is no place to run commands in.

use std::io;
use std::path::PathBuf;

use hermes_box::client::{CallError, ConnectError};

use crate::docker::drift::Difference;
use crate::docker::errors::EngineError;
use crate::docker::spec::SpecError;
use crate::program::ProgramError;
use crate::ssh::errors::SshError;

/// Any failure of a sandbox. None of them ever means that something ran somewhere else instead.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The container engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The other machine.
    #[error(transparent)]
    Ssh(#[from] SshError),
    /// The settings.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The box program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The agent in the place.
    #[error("the box agent {place} could not be reached: {source}")]
    Connect {
        /// Where: "in the container \"x\"".
        place: String,
        /// Why.
        source: ConnectError,
    },
    /// There is no agent, as our program cannot run there.
    #[error(
        "the box program cannot run in the container \"{name}\" ({reason}), so this cannot be done there: only plain \
         commands can be run (`hermes sandbox exec`). Use an engine on a machine like this one, or a cache directory that \
         programs may be run from (XDG_CACHE_HOME), and then `hermes sandbox recreate`"
    )]
    NoAgent {
        /// The container.
        name: String,
        /// Why.
        reason: String,
    },
    /// The daemon for background jobs on this machine.
    #[error("background jobs cannot be started: {0}")]
    Jobs(#[from] hermes_box::daemon::DetachError),
    /// The agent in the place, once reached.
    #[error("the box agent {place} failed: {source}")]
    Agent {
        /// Where.
        place: String,
        /// Why.
        source: CallError,
    },
    /// The container may not be used as it is.
    #[error(
        "the container \"{name}\" must not be used: {}; {because}. \
         Wait until it is free, or run `hermes sandbox recreate --force`",
        list(differences)
    )]
    Unusable {
        /// Its name.
        name: String,
        /// What is wrong with it.
        differences: Vec<Difference>,
        /// Why it was not replaced.
        because: String,
    },
    /// The container may not be ended.
    #[error("the container \"{name}\" is left alone: {because}; `--force` ends it all the same")]
    NotEnded {
        /// Its name.
        name: String,
        /// Why.
        because: String,
    },
    /// Something that is not ours has our container's name.
    #[error(
        "the container name \"{name}\" is taken by a container that is not ours ({reason}): rename or remove it"
    )]
    NameOccupied {
        /// The name.
        name: String,
        /// Why it is not ours.
        reason: String,
    },
    /// It was put right and broke again.
    #[error("the container \"{name}\" does not stay up: {detail}. Look at it with `hermes sandbox logs`")]
    NotStable {
        /// Its name.
        name: String,
        /// What was seen.
        detail: String,
    },
    /// There is no such box.
    #[error("there is no sandbox \"{0}\": `hermes sandbox ls` shows those there are")]
    NoSuchSandbox(String),
    /// A name that means several.
    #[error("\"{0}\" means more than one sandbox: give its whole name")]
    Ambiguous(String),
    /// What was asked makes no sense with this backend.
    #[error("the {backend} backend has no {what}")]
    NotHere {
        /// The backend.
        backend: &'static str,
        /// What was asked for.
        what: &'static str,
    },
    /// A file of ours.
    #[error("cannot {doing} \"{}\": {source}", .path.display())]
    File {
        /// What we were doing.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl SandboxError {
    pub(crate) fn file(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { doing, path, source }
    }
}

fn list(differences: &[Difference]) -> String {
    differences.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
