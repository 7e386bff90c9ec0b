//! The engine's command: finding it, and asking it one thing with a deadline.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::errors::{Asked, EngineError, classify};
use crate::context::Environment;
use crate::host::call::{self, Call, CallError, OnLine, Output};
use crate::host::find;
use hermes_guard::Secret;

/// Deadlines, by what is asked.
pub mod deadline {
    use std::time::Duration;

    /// Looking at containers, images or the engine itself.
    pub const LOOK: Duration = Duration::from_secs(10);
    /// Looking at everything, for a sweep.
    pub const SWEEP: Duration = Duration::from_secs(15);
    /// Making and starting a container.
    pub const CREATE: Duration = Duration::from_mins(2);
    /// Starting, unpausing, stopping or removing one.
    pub const CHANGE: Duration = Duration::from_secs(30);
    /// Taking away what a failed creation left.
    pub const TIDY: Duration = Duration::from_secs(10);
    /// Copying our program into a volume.
    pub const COPY: Duration = Duration::from_mins(1);
}

/// One thing to ask the engine.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// Arguments after the engine's own name.
    pub args: Vec<String>,
    /// In words, for messages: "starting the container".
    pub doing: &'a str,
    /// The container, image or name it is about.
    pub subject: &'a str,
    /// How long it may take.
    pub deadline: Duration,
    /// What the command reads.
    pub stdin: Option<Vec<u8>>,
    /// Variables for the command itself.
    pub env: Vec<(String, Secret)>,
}

impl<'a> Request<'a> {
    /// A request without input.
    pub fn new<S: Into<String>>(
        doing: &'a str,
        subject: &'a str,
        deadline: Duration,
        args: impl IntoIterator<Item = S>,
    ) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        Self { args, doing, subject, deadline, stdin: None, env: Vec::new() }
    }
}

/// Something that answers as an engine's command does: the command itself, or a recorder in tests.
pub trait Engine: Send + Sync {
    /// Asks and waits for the answer, whatever its exit code.
    fn ask(&self, request: &Request<'_>, on_line: Option<OnLine<'_>>) -> Result<Output, EngineError>;

    /// The program and its environment, for a stream that stays open.
    fn command(&self) -> EngineCommand;

    /// Asks, and turns a non-zero exit code into an error.
    fn demand(&self, request: &Request<'_>) -> Result<Output, EngineError> {
        let output = self.ask(request, None)?;
        if output.code == 0 { Ok(output) } else { Err(self.refusal(request, &output)) }
    }

    /// What a failed answer means.
    fn refusal(&self, request: &Request<'_>, output: &Output) -> EngineError {
        let program = self.command().program.display().to_string();
        let asked = Asked { program: &program, doing: request.doing, subject: request.subject };
        classify(asked, output.code, &output.stderr)
    }
}

/// How to start the engine's command.
#[derive(Debug, Clone)]
pub struct EngineCommand {
    /// The program.
    pub program: PathBuf,
    /// Its environment: contexts and `DOCKER_HOST` are in there.
    pub env: Environment,
}

/// The real thing.
#[derive(Debug, Clone)]
pub struct Cli {
    command: EngineCommand,
}

impl Cli {
    /// Finds the engine's command.
    ///
    /// A command the user named is used or refused, never silently replaced by another.
    pub fn find(named: Option<&Path>, env: &Environment) -> Result<Self, EngineError> {
        let program = match named {
            Some(name) => {
                find::program(name, env).ok_or_else(|| EngineError::Unusable(name.to_path_buf()))?
            }
            None => search(env).ok_or_else(not_installed)?,
        };
        Ok(Self { command: EngineCommand { program, env: env.clone() } })
    }
}

/// Places where installers put the command without telling the search path.
const USUAL_PLACES: [&str; 3] = [
    "/usr/local/bin/docker",
    "/opt/homebrew/bin/docker",
    "/Applications/Docker.app/Contents/Resources/bin/docker",
];

fn search(env: &Environment) -> Option<PathBuf> {
    let on_path = ["docker", "podman"].iter().find_map(|name| find::program(Path::new(name), env));
    on_path.or_else(|| USUAL_PLACES.iter().map(PathBuf::from).find(|path| find::is_executable(path)))
}

fn not_installed() -> EngineError {
    EngineError::NotInstalled {
        looked_for: format!("\"docker\" and \"podman\" on the search path, {}", USUAL_PLACES.join(", ")),
    }
}

impl Engine for Cli {
    fn ask(&self, request: &Request<'_>, on_line: Option<OnLine<'_>>) -> Result<Output, EngineError> {
        let call = Call {
            program: &self.command.program,
            args: request.args.iter().map(OsString::from).collect(),
            env: &self.command.env,
            extra_env: request.env.clone(),
            stdin: request.stdin.clone(),
            deadline: request.deadline,
        };
        call::run(&call, on_line).map_err(|error| match error {
            CallError::TimedOut { program, after } => EngineError::TimedOut {
                program: program.display().to_string(),
                doing: request.doing.to_owned(),
                after,
            },
            other => EngineError::Call(other),
        })
    }

    fn command(&self) -> EngineCommand {
        self.command.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn tool(dir: &Path, name: &str, script: &str) -> PathBuf {
        let path = dir.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn env_with_path(dir: &Path) -> Environment {
        [("PATH", dir)].into_iter().collect()
    }

    #[test]
    fn docker_comes_before_podman_and_podman_is_enough() {
        let dir = tempfile::tempdir().unwrap();
        let podman = tool(dir.path(), "podman", "");
        assert_eq!(Cli::find(None, &env_with_path(dir.path())).unwrap().command().program, podman);
        let docker = tool(dir.path(), "docker", "");
        assert_eq!(Cli::find(None, &env_with_path(dir.path())).unwrap().command().program, docker);
    }

    #[test]
    fn the_users_choice_may_be_a_bare_name_or_a_path() {
        let dir = tempfile::tempdir().unwrap();
        tool(dir.path(), "docker", "");
        let podman = tool(dir.path(), "podman", "");
        let env = env_with_path(dir.path());
        assert_eq!(Cli::find(Some(Path::new("podman")), &env).unwrap().command().program, podman);
        assert_eq!(Cli::find(Some(&podman), &env).unwrap().command().program, podman);
    }

    #[test]
    fn an_unusable_choice_is_an_error_not_another_engine() {
        let dir = tempfile::tempdir().unwrap();
        tool(dir.path(), "docker", "");
        let error = Cli::find(Some(Path::new("nerdctl")), &env_with_path(dir.path())).unwrap_err();
        assert!(matches!(&error, EngineError::Unusable(path) if path == Path::new("nerdctl")));
        assert!(error.to_string().contains("HERMES_DOCKER_BINARY"));
    }

    #[test]
    fn an_engine_that_never_answers_is_a_clear_error() {
        let dir = tempfile::tempdir().unwrap();
        tool(dir.path(), "docker", "exec /bin/sleep 600");
        let cli = Cli::find(None, &env_with_path(dir.path())).unwrap();
        let request = Request::new("listing containers", "", Duration::from_millis(200), ["ps"]);
        let error = cli.demand(&request).unwrap_err();
        assert!(matches!(error, EngineError::TimedOut { .. }));
        assert!(error.to_string().contains("while listing containers"), "{error}");
    }

    #[test]
    fn contexts_and_hosts_reach_the_engine() {
        let dir = tempfile::tempdir().unwrap();
        tool(dir.path(), "docker", "echo $DOCKER_HOST $DOCKER_CONTEXT $1");
        let mut env = env_with_path(dir.path());
        env.set("DOCKER_HOST", "tcp://far:1");
        env.set("DOCKER_CONTEXT", "far");
        let cli = Cli::find(None, &env).unwrap();
        let output = cli.demand(&Request::new("asking", "", deadline::LOOK, ["ps"])).unwrap();
        assert_eq!(output.stdout, b"tcp://far:1 far ps\n");
    }
}
