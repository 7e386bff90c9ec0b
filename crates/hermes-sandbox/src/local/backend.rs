//! This machine as a place to run commands: the agent is a part of this process.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hermes_box::client::Client;
use hermes_box::proto::exec::SessionInit;
use hermes_box::server::{Agent, AgentOptions, ShimProgram};

use super::dirs;
use super::env_filter::{self, Rules};
use super::{jobs, scratch, shapes};
use crate::backend::{Backend, Dispose, Ensured, Trust};
use crate::config::{LocalConfig, SandboxConfig, Switch};
use crate::context::{Context, Environment};
use crate::digest;
use crate::error::SandboxError;
use crate::files;
use crate::program::{FILE_NAME, Program};

/// See the module.
pub struct LocalBackend {
    config: SandboxConfig,
    context: Context,
    agent: Mutex<Option<Arc<Agent>>>,
}

impl LocalBackend {
    /// Prepares the backend.
    pub fn new(config: &SandboxConfig, context: &Context) -> Self {
        Self { config: config.clone(), context: context.clone(), agent: Mutex::new(None) }
    }

    /// What the agent is told at its start.
    fn options(&self) -> Result<AgentOptions, SandboxError> {
        let env = self.environment();
        let cwd = self.context.caller.cwd.as_deref().or(self.config.cwd.as_deref());
        let start = dirs::start_dir(cwd, &self.context.host_cwd, &env);
        let pairs = env.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut options = AgentOptions::new(pairs, start);
        // The small static program starts faster than we do, and it works in programs that know nothing of shims.
        let program = Program::embedded().write_out(&self.context.cache_dir)?;
        options.shim = ShimProgram(program.join(FILE_NAME));
        options.init = self.session_init()?;
        Ok(options)
    }

    /// How the first shell of a session is prepared. What login files export passes the same rules as what we were started with.
    fn session_init(&self) -> Result<SessionInit, SandboxError> {
        let mut files = login_files(&self.config.local);
        let forgetting = shapes::forgetting(&self.config.local.env_passthrough);
        let name = digest::base32(&digest::of_parts([forgetting.as_bytes()]));
        let path = self.boxes().join(format!("forget-{}.sh", &name[..8]));
        if !std::fs::read(&path).is_ok_and(|there| there == forgetting.as_bytes()) {
            files::write_private(&path, forgetting.as_bytes())
                .map_err(SandboxError::file("write the file", &path))?;
        }
        files.push(path);
        Ok(SessionInit::Login { files })
    }

    /// What commands see of our environment.
    pub fn environment(&self) -> Environment {
        let rules = Rules {
            passthrough: &self.config.local.env_passthrough,
            private: &self.context.private_env,
            dotenv: &self.context.dotenv,
            home: &self.context.home,
            home_mode: self.config.local.home_mode,
        };
        env_filter::filter(&self.context.env, &rules)
    }

    /// A client of the daemon that keeps background jobs. It is started when it is needed.
    pub fn jobs(&self) -> Result<Client, SandboxError> {
        let scope = self.config.scope.resolve(&self.context.caller);
        let name = digest::base32(&digest::of_parts([scope.kind().as_bytes(), scope.id().as_bytes()]));
        let directory = self.boxes().join(format!("jobs-{}", &name[..8]));
        files::private_dir(&directory).map_err(SandboxError::file("make the directory", &directory))?;
        Ok(jobs::connect(&directory, &self.options()?)?)
    }

    fn boxes(&self) -> PathBuf {
        self.context.sandbox_dir.join(".boxes").join("local")
    }

    fn agent(&self) -> Result<Arc<Agent>, SandboxError> {
        let mut agent = self.agent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(agent) = &*agent {
            return Ok(Arc::clone(agent));
        }
        let mut options = self.options()?;
        options.directory = Some(scratch::prepare(&self.boxes(), std::process::id()));
        let fresh = Agent::new(options);
        *agent = Some(Arc::clone(&fresh));
        Ok(fresh)
    }
}

/// What the first shell of a session reads besides what login shells read anyway.
fn login_files(config: &LocalConfig) -> Vec<PathBuf> {
    const USUAL: [&str; 3] = ["~/.profile", "~/.bash_profile", "~/.bashrc"];
    if !config.shell_init_files.is_empty() {
        config.shell_init_files.iter().map(PathBuf::from).collect()
    } else if config.source_bashrc == Switch::On {
        USUAL.map(PathBuf::from).to_vec()
    } else {
        Vec::new()
    }
}

impl Backend for LocalBackend {
    fn ensure(&self, _trust: Trust, _progress: &mut dyn FnMut(&str)) -> Result<Ensured, SandboxError> {
        self.agent().map(|_| Ensured::default())
    }

    fn connect(&self) -> Result<Client, SandboxError> {
        let agent = self.agent()?;
        hermes_box::local::attach(&agent)
            .map_err(|source| SandboxError::Connect { place: "on this machine".to_owned(), source })
    }

    fn dispose(&self, _how: Dispose) -> Result<(), SandboxError> {
        *self.agent.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

impl Drop for LocalBackend {
    fn drop(&mut self) {
        // The next process takes it away should this fail.
        let _ = std::fs::remove_dir_all(self.boxes().join(std::process::id().to_string()));
    }
}
