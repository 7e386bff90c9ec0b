//! Where the files of a place are, for those who look at them beside the tools.

use std::path::PathBuf;

use hermes_box::client::Client;
use hermes_sandbox::config::{BackendKind, Switch};
use hermes_sandbox::error::SandboxError;

use super::Workplace;

/// Where a container sees the directory the program was started in.
const MOUNT: &str = "/workspace";

/// Where the files of a place are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilesAt {
    /// On this machine, under their own names.
    Host,
    /// In a container.
    Container {
        /// Its name.
        name: String,
        /// A directory of this machine that is seen there: its name there, and here.
        mounted: Option<(PathBuf, PathBuf)>,
    },
    /// On another machine.
    Remote {
        /// Its name.
        name: String,
    },
}

impl Workplace {
    /// Where the files of a conversation's place are. Nobody is asked.
    pub fn files_at(&self, session: &str) -> Result<FilesAt, SandboxError> {
        let name = || Ok::<_, SandboxError>(self.sandbox(session)?.describe().place);
        Ok(match self.0.config.backend {
            BackendKind::Local => FilesAt::Host,
            BackendKind::Ssh => FilesAt::Remote { name: name()? },
            BackendKind::Docker => {
                let mounts = self.0.config.container.mount_cwd == Switch::On;
                let mounted = mounts.then(|| (PathBuf::from(MOUNT), self.0.context.host_cwd.clone()));
                FilesAt::Container { name: name()?, mounted }
            }
        })
    }

    /// The agent in a conversation's place, made and connected to if need be. What there is to say about the place stays
    /// to be said by the next tool. Blocks.
    pub fn connect(&self, session: &str) -> Result<Client, SandboxError> {
        self.sandbox(session)?.client()
    }
}
