//! Commands on the other machine: one at a time with a deadline, or as a stream that stays open.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::errors::{SshError, classify};
use super::options::{self, HostKeys};
use crate::agent_command::quoted;
use crate::config::SshConfig;
use crate::context::Context;
use crate::host::call::{self, Call, CallError, Output};
use crate::host::find;
use crate::host::stream::{self, Piped};

/// How to run things on one other machine.
#[derive(Debug, Clone)]
pub struct Link {
    program: PathBuf,
    /// Options and destination.
    args: Vec<String>,
    host: String,
    control_path: PathBuf,
    env: crate::context::Environment,
}

impl Link {
    /// Prepares a link; nothing is connected yet.
    pub fn new(config: &SshConfig, context: &Context) -> Result<Self, SshError> {
        if config.host.is_empty() {
            return Err(SshError::NoHost);
        }
        let name = config.binary.clone().unwrap_or_else(|| "ssh".into());
        let program = find::program(&name, &context.env)
            .ok_or_else(|| SshError::NotInstalled(name.display().to_string()))?;
        let control_path = options::control_path(config, context).map_err(|error| SshError::Install {
            host: config.host.clone(),
            detail: format!("there is no place for shared connections: {error}"),
        })?;
        let mut link = Self {
            program,
            args: Vec::new(),
            host: config.host.clone(),
            control_path,
            env: context.env.clone(),
        };
        link.args = options::arguments(config, &link.control_path, link.host_keys(config));
        Ok(link)
    }

    /// The host, for messages.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Runs a script of `sh` there.
    pub fn run(
        &self,
        doing: &'static str,
        script: &str,
        stdin: Option<Vec<u8>>,
        within: Duration,
    ) -> Result<String, SshError> {
        let mut args: Vec<OsString> = self.args.iter().map(OsString::from).collect();
        args.push(in_sh(script).into());
        let output = self.call(doing, args, stdin, within)?;
        if output.code != 0 {
            return Err(classify(&self.host, doing, output.code, &output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs a script there as a stream.
    pub fn open(&self, script: &str) -> io::Result<Piped> {
        let mut args: Vec<OsString> = ["-T"].map(OsString::from).to_vec();
        args.extend(self.args.iter().map(OsString::from));
        args.push(in_sh(script).into());
        stream::open(&self.program, &args, &self.env)
    }

    /// Ends a shared connection that no longer answers, so that the next command makes a new one. One that
    /// works is left alone: others use it too.
    pub fn drop_dead_connection(&self) {
        let mut args: Vec<OsString> = ["-O", "check"].map(OsString::from).to_vec();
        args.extend(self.args.iter().map(OsString::from));
        let alive = self
            .call("checking the shared connection", args, None, Duration::from_secs(3))
            .is_ok_and(|output| output.code == 0);
        // A master that answers may still sit on a network that is gone; only a command tells.
        let works =
            alive && self.run("testing the connection", "exit 0", None, Duration::from_secs(15)).is_ok();
        if !works {
            let _ = std::fs::remove_file(&self.control_path);
        }
    }

    fn call(
        &self,
        doing: &'static str,
        args: Vec<OsString>,
        stdin: Option<Vec<u8>>,
        within: Duration,
    ) -> Result<Output, SshError> {
        let call = Call {
            program: &self.program,
            args,
            env: &self.env,
            extra_env: Vec::new(),
            stdin,
            deadline: within,
        };
        call::run(&call, None).map_err(|error| match error {
            CallError::TimedOut { after, .. } => SshError::TimedOut { host: self.host.clone(), doing, after },
            CallError::NotFound(path) => SshError::NotInstalled(path.display().to_string()),
            other => SshError::Call(other),
        })
    }

    /// Asks ssh what the user's configuration says, so as not to loosen it.
    fn host_keys(&self, config: &SshConfig) -> HostKeys {
        let args: Vec<OsString> = vec!["-G".into(), "--".into(), config.host.clone().into()];
        let strict = self
            .call("reading the configuration", args, None, Duration::from_secs(5))
            .is_ok_and(|output| says_strict(&String::from_utf8_lossy(&output.stdout)));
        if strict { HostKeys::AsConfigured } else { HostKeys::AcceptNew }
    }
}

fn says_strict(configuration: &str) -> bool {
    configuration
        .lines()
        .any(|line| matches!(line.trim(), "stricthostkeychecking true" | "stricthostkeychecking yes"))
}

/// A command line for whatever login shell the other side has: `sh` and one quoted word.
fn in_sh(script: &str) -> String {
    format!("exec sh -c {}", quoted(script))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_survive_two_shells() {
        assert_eq!(in_sh("echo 'a b'"), "exec sh -c 'echo '\\''a b'\\'''");
    }

    #[test]
    fn a_strict_configuration_is_noticed() {
        assert!(says_strict("host x\nstricthostkeychecking true\n"));
        assert!(!says_strict("stricthostkeychecking ask\n"));
    }
}
