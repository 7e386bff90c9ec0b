//! Why there is no container engine.

use std::path::{Path, PathBuf};

use crate::MissingProgram;

/// Why a container engine could not be had.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EngineError {
    /// Nothing runs, and a private engine needs root.
    #[error(
        "no docker engine answers ({probe}), and starting a private one needs root: start docker or run as root"
    )]
    NotRoot {
        /// What the client said.
        probe: String,
    },
    /// A program is missing and cannot be installed here.
    #[error(transparent)]
    Missing(#[from] MissingProgram),
    /// A program could not be started.
    #[error("cannot run '{}': {reason}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file or directory of the engine could not be handled.
    #[error("cannot {action} '{}': {reason}", path.display())]
    File {
        /// What was being done.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// Why it failed.
        reason: String,
    },
    /// The private engine did not come up in any variant.
    #[error("the private docker engine did not come up:\n{attempts}")]
    NotStarted {
        /// Each variant that was tried and the last lines of its log.
        attempts: String,
    },
    /// The engine answers but an image could not be made or run.
    #[error("the engine cannot {action}:\n{report}")]
    Unusable {
        /// What it cannot do.
        action: String,
        /// The command that failed and its output.
        report: String,
    },
}

impl EngineError {
    pub(super) fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |error| Self::File { action, path, reason: error.to_string() }
    }
}
