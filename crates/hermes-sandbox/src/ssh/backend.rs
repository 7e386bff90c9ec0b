//! The other machine as a place to run commands.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hermes_box::client::{Client, ConnectError, ConnectOptions};

use super::errors::{SshError, classify};
use super::link::Link;
use crate::agent_command;
use crate::backend::{Backend, Dispose, Ensured, Trust};
use crate::config::SandboxConfig;
use crate::context::Context;
use crate::error::SandboxError;
use crate::host::call::CallError;
use crate::install;
use crate::program::Program;

/// Looking around, over a connection that may still have to be made.
const SURVEY: Duration = Duration::from_secs(15);
/// Sending a few megabytes over a slow line.
const UPLOAD: Duration = Duration::from_mins(3);
/// Making a connection, starting the agent there, and its hello.
const HELLO: Duration = Duration::from_secs(25);
/// How long an agent without clients and jobs stays on the other machine.
const IDLE_EXIT: Duration = Duration::from_hours(1);

/// See the module.
#[derive(Debug)]
pub struct SshBackend {
    link: Link,
    program: Program,
    /// Where the program is on the other side, once known.
    installed: Mutex<Option<String>>,
    /// The agent's own directory is chosen by what makes two callers share it.
    agent_name: String,
}

impl SshBackend {
    /// Prepares the backend; the other machine is not asked yet.
    pub fn new(config: &SandboxConfig, context: &Context, agent_name: String) -> Result<Self, SandboxError> {
        let link = Link::new(&config.ssh, context)?;
        Ok(Self { link, program: Program::embedded(), installed: Mutex::new(None), agent_name })
    }

    /// The host, for messages.
    pub fn host(&self) -> &str {
        self.link.host()
    }

    /// Looks for the program, and sends it if it is not there.
    fn install(&self, progress: &mut dyn FnMut(&str)) -> Result<String, SshError> {
        let survey_text =
            self.link.run("looking around", &install::survey_script(self.program), None, SURVEY)?;
        let survey = install::read_survey(&survey_text)
            .ok_or_else(|| self.install_error("its shell does not answer as a shell should"))?;
        if let Some(path) = survey.program {
            return Ok(path);
        }
        let (system, machine) = install::our_system();
        if (survey.system.as_str(), survey.machine.as_str()) != (system, machine) {
            return Err(SshError::WrongMachine {
                host: self.host().to_owned(),
                system: format!("{} {}", survey.system, survey.machine),
                ours: format!("{system} {machine}"),
            });
        }
        progress(&format!("copying the box program to \"{}\"", self.host()));
        let bytes = Some(self.program.bytes().to_vec());
        match self.link.run("copying the box program", &install::upload_script(self.program), bytes, UPLOAD) {
            Ok(text) => install::read_upload(&text).map_err(|detail| self.install_error(&detail)),
            Err(SshError::Failed { detail, .. }) => Err(self.install_error(&detail)),
            Err(error) => Err(error),
        }
    }

    fn install_error(&self, detail: &str) -> SshError {
        SshError::Install { host: self.host().to_owned(), detail: detail.to_owned() }
    }

    fn installed(&self) -> Option<String> {
        self.installed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Backend for SshBackend {
    fn ensure(&self, trust: Trust, progress: &mut dyn FnMut(&str)) -> Result<Ensured, SandboxError> {
        if trust == Trust::Records && self.installed().is_some() {
            return Ok(Ensured::default());
        }
        if trust == Trust::Nothing {
            self.link.drop_dead_connection();
        }
        let path = match self.install(progress) {
            // The connection that is shared may lead nowhere any more.
            Err(SshError::TimedOut { .. } | SshError::Dropped { .. }) if trust != Trust::Nothing => {
                self.link.drop_dead_connection();
                self.install(progress)?
            }
            other => other?,
        };
        *self.installed.lock().unwrap_or_else(PoisonError::into_inner) = Some(path);
        Ok(Ensured::default())
    }

    fn connect(&self) -> Result<Client, SandboxError> {
        let program = match self.installed() {
            Some(path) => path,
            None => self.install(&mut |_| ())?,
        };
        let host = self.host().to_owned();
        let script = agent_command::start_and_connect(&program, &self.agent_name, IDLE_EXIT);
        let piped = self
            .link
            .open(&script)
            .map_err(|source| SshError::Call(CallError::Io { program: "ssh".into(), source }))?;
        let options = ConnectOptions { hello_timeout: HELLO, ..ConnectOptions::default() };
        let fate = piped.fate;
        Client::connect(piped.transport, &options).map_err(|source| {
            let ended = match &source {
                ConnectError::Refused(_) => None,
                _ => fate.await_end(Duration::from_secs(2)).filter(|ended| ended.code != 0),
            };
            match ended {
                Some(ended) => classify(&host, "connecting", ended.code, &ended.stderr).into(),
                None => SandboxError::Connect { place: format!("on \"{host}\""), source },
            }
        })
    }

    /// The other machine is not ours to stop, and its jobs are meant to go on.
    fn dispose(&self, how: Dispose) -> Result<(), SandboxError> {
        match how {
            Dispose::Release => Ok(()),
            Dispose::Remove => {
                let place = format!("on \"{}\"", self.host());
                self.connect()?.shutdown().map_err(|source| SandboxError::Agent { place, source })
            }
        }
    }
}
