//! `hermes sandbox`: where commands run, seen and steered by hand.

mod act;
mod exec;
mod jobs;
mod look;
mod output;
mod plain;
mod terminal;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Subcommand;
use hermes_home::Settings;
use hermes_sandbox::backend::Dispose;
use hermes_sandbox::config::{BackendKind, Reuse, SandboxConfig};
use hermes_sandbox::context::{Context, Environment};
use hermes_sandbox::from_settings;
use hermes_sandbox::manage::{Manager, Which};
use hermes_sandbox::sandbox::Sandbox;
use hermes_sandbox::scope::Caller;

use crate::app::App;
use crate::ui;

/// Run commands in sandboxes, and look after them
///
/// Commands run where `terminal.backend` says: on this machine, in a container that outlives the program, or on
/// another machine. Nothing ever runs anywhere else: if that place is not available, the command fails.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hermes sandbox ls                        where commands run, and what containers there are
  hermes sandbox exec -- make -j4          run a program there
  hermes sandbox exec -- 'cd /tmp && ls'   one argument is a shell command line
  hermes sandbox shell                     a terminal there
  hermes sandbox prune --dry-run           what would be removed, and why")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Exec(exec::Args),
    Shell(exec::ShellArgs),
    Jobs(jobs::Args),
    Ls(look::LsArgs),
    Inspect(look::InspectArgs),
    Diff(look::DiffArgs),
    Df(look::DfArgs),
    Logs(look::LogsArgs),
    Recreate(act::RecreateArgs),
    Stop(act::EndArgs),
    Rm(act::EndArgs),
    Prune(act::PruneArgs),
}

/// Runs `hermes sandbox`.
pub fn run(app: &App, args: Args) -> anyhow::Result<ExitCode> {
    let place = Place::of(app)?;
    match args.action {
        Action::Exec(args) => exec::exec(&place, args),
        Action::Shell(args) => exec::shell(&place, args),
        Action::Jobs(args) => jobs::run(&place, &args),
        Action::Ls(args) => look::ls(&place, &args),
        Action::Inspect(args) => look::inspect(&place, &args),
        Action::Diff(args) => look::diff(&place, &args),
        Action::Df(args) => look::df(&place, &args),
        Action::Logs(args) => look::logs(&place, &args),
        Action::Recreate(args) => act::recreate(&place, &args),
        Action::Stop(args) => act::stop(&place, &args),
        Action::Rm(args) => act::remove(&place, &args),
        Action::Prune(args) => act::prune(&place, &args),
    }
}

/// What the settings say about where commands run.
pub struct Place {
    config: SandboxConfig,
    context: Context,
}

impl Place {
    /// Reads the settings; nothing is asked or started.
    pub fn of(app: &App) -> anyhow::Result<Self> {
        Self::with(app, &app.settings()?)
    }

    /// The same for settings that are not saved yet.
    pub fn with(app: &App, settings: &Settings) -> anyhow::Result<Self> {
        let env: Environment = app.env.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        let cwd =
            std::env::current_dir().context("the current directory is gone: change to one that exists")?;
        let config = from_settings::config(settings)?;
        let context = from_settings::context(&app.home, settings, env, cwd, Caller::default())?;
        Ok(Self { config, context })
    }

    /// The sandbox itself, with progress on stderr.
    fn sandbox(&self) -> anyhow::Result<Sandbox> {
        let sandbox = Sandbox::open(&self.config, &self.context)?;
        sandbox.on_progress(ui::note);
        Ok(sandbox)
    }

    /// What looks after containers.
    fn manager(&self) -> anyhow::Result<Manager> {
        if !self.is_container() {
            anyhow::bail!(
                "the {} backend has no containers: commands run {}",
                self.backend(),
                self.describe()
            );
        }
        Ok(Manager::new(&self.config, &self.context)?)
    }

    fn is_container(&self) -> bool {
        self.config.backend == BackendKind::Docker
    }

    /// Jobs need a place that outlives this process.
    fn keeps_jobs(&self) -> anyhow::Result<()> {
        if self.is_container() && self.config.container.reuse == Reuse::Never {
            anyhow::bail!(
                "jobs need a container that outlives the program: terminal.docker_persist_across_processes is false"
            );
        }
        Ok(())
    }

    /// In words: backend, scope and what it is made of.
    pub fn describe(&self) -> String {
        let scope = self.config.scope.resolve(&self.context.caller);
        let scope = format!("scope {} ({})", scope.kind(), scope.id());
        match self.config.backend {
            BackendKind::Local => format!("on this machine; {scope}"),
            BackendKind::Docker => format!("in a container from {}; {scope}", self.config.container.image),
            BackendKind::Ssh => format!("on {} through ssh; {scope}", self.config.ssh.host),
        }
    }

    /// Whether the place can be reached, in words. Containers are only counted; an ssh host is not contacted.
    pub fn reachable(&self) -> anyhow::Result<String> {
        Ok(match self.config.backend {
            BackendKind::Local => "nothing else is needed".to_owned(),
            BackendKind::Docker => {
                let count = self.manager()?.list(Which::Ours)?.len() as u64;
                format!("the container engine answers; {} of this profile", ui::count(count, "container"))
            }
            BackendKind::Ssh => {
                "`hermes sandbox exec -- true` shows whether the host can be reached".to_owned()
            }
        })
    }

    /// Goes there, as a command would; in words what came of it. A container is not made for this: its image may be
    /// large, and it is fetched when it is first needed.
    pub fn try_out(&self) -> anyhow::Result<String> {
        if self.config.backend != BackendKind::Ssh {
            return self.reachable();
        }
        let sandbox = self.sandbox()?;
        sandbox.client()?;
        let_go(&sandbox)?;
        Ok(format!("{} can be reached", self.config.ssh.host))
    }

    /// The backend's name in the settings.
    pub fn backend(&self) -> &'static str {
        self.config.backend.as_str()
    }
}

/// Lets go of the sandbox as the settings say, and waits for a container that must not outlive us.
fn let_go(sandbox: &Sandbox) -> anyhow::Result<()> {
    sandbox.dispose(Dispose::Release)?;
    if !sandbox.wait_for_cleanup(CLEANUP) {
        ui::warn("the container could not be removed in time: `hermes sandbox prune` removes what is left");
    }
    Ok(())
}

/// How long the end of the program may wait for that.
const CLEANUP: Duration = Duration::from_secs(45);

/// Tells what the sandbox has to say about itself.
fn tell(sandbox: &Sandbox) {
    for notice in sandbox.take_notices() {
        ui::note(&format!("note: {notice}"));
    }
}
