//! The other machine as a place to run commands.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hermes_box::client::ConnectOptions;

use super::errors::{SshError, classify};
use super::link::{Link, quoted};
use crate::agent_command;
use crate::backend::{Backend, Connection, Dispose, Ensured, Trust};
use crate::config::SandboxConfig;
use crate::context::Context;
use crate::error::SandboxError;
use crate::install;
use crate::program::Program;

/// Looking around, over a connection that may still have to be made.
const SURVEY: Duration = Duration::from_secs(25);
/// Sending a few megabytes over a slow line.
const UPLOAD: Duration = Duration::from_mins(3);

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
        let path = self.install(progress)?;
        *self.installed.lock().unwrap_or_else(PoisonError::into_inner) = Some(path);
        Ok(Ensured::default())
    }

    fn connect(&self) -> Result<Connection, SandboxError> {
        let program = match self.installed() {
            Some(path) => path,
            None => self.install(&mut |_| ())?,
        };
        let words: Vec<String> = std::iter::once(program)
            .chain(agent_command::connect_and_start(&self.agent_name))
            .map(|word| quoted(&word))
            .collect();
        let piped = self.link.open(&format!("exec {}", words.join(" ")));
        let host = self.host().to_owned();
        let piped = piped.map_err(|source| {
            let program = "ssh".into();
            SshError::Call(crate::host::call::CallError::Io { program, source })
        })?;
        let fate = piped.fate;
        Ok(Connection {
            transport: piped.transport,
            options: ConnectOptions { hello_timeout: Duration::from_secs(20), ..ConnectOptions::default() },
            place: format!("on \"{host}\""),
            why: Some(Box::new(move || {
                let ended = fate.await_end(Duration::from_secs(2))?;
                (ended.code != 0).then(|| classify(&host, "connecting", ended.code, &ended.stderr).into())
            })),
        })
    }

    /// The other machine is not ours to stop, and its jobs are meant to go on.
    fn dispose(&self, how: Dispose) -> Result<(), SandboxError> {
        match how {
            Dispose::Release => Ok(()),
            Dispose::Remove => {
                let connection = self.connect()?;
                let place = connection.place.clone();
                let client = connection.client()?;
                client.shutdown().map_err(|source| SandboxError::Agent { place, source })
            }
        }
    }
}
