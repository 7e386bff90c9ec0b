//! From the settings of a home to what a sandbox is opened with. The only place that knows both.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_home::settings::table::memory::SKILLS_EXTERNAL_DIRS;
use hermes_home::settings::table::terminal as t;
use hermes_home::settings::{self, SettingError, Spec};
use hermes_home::{Home, Settings};

use crate::config::{
    BackendKind, ContainerConfig, DriftPolicy, Filesystem, HomeMode, LeftOut, Limits, LocalConfig,
    ManagedMount, Network, Reuse, RunAs, SandboxConfig, SshConfig, Switch,
};
use crate::context::{Context, Environment, HostUser, default_cache_dir, machine_id};
use crate::managed::{self, Wishes};
use crate::scope::{Caller, Scope};
use hermes_guard::Secret;

/// Why settings do not describe a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A value cannot be used.
    #[error(transparent)]
    Value(#[from] SettingError),
    /// The backend is known but not part of this program.
    #[error(
        "the backend \"{0}\" is not part of this version: choose one of local, docker, podman, ssh with `hermes config set terminal.backend`"
    )]
    Backend(String),
    /// The scope needs a name.
    #[error(
        "terminal.scope is \"shared\", but terminal.scope_key is empty: set it to the name to share under"
    )]
    NoScopeKey,
    /// The ssh backend needs a host.
    #[error("terminal.backend is \"ssh\", but terminal.ssh_host is empty: set it to the host to work on")]
    NoSshHost,
}

/// What the settings ask for. Values of backends that are not chosen are not looked at, so they cannot get in the way.
pub fn config(settings: &Settings) -> Result<SandboxConfig, SettingsError> {
    let name = settings.get(&t::BACKEND)?;
    let backend = match name.as_str() {
        "local" => BackendKind::Local,
        "docker" | "podman" => BackendKind::Docker,
        "ssh" => BackendKind::Ssh,
        _ => return Err(SettingsError::Backend(name)),
    };
    let mut config = SandboxConfig {
        backend,
        scope: scope(settings)?,
        cwd: Some(settings.get(&t::CWD)?).filter(|c| !matches!(c.as_str(), "" | "." | "auto" | "cwd")),
        timeout: seconds(settings.get(&t::TIMEOUT)?),
        term_grace: Duration::try_from_secs_f64(settings.get(&t::DAEMON_TERM_GRACE_SECONDS)?)
            .unwrap_or_default(),
        lifetime: seconds(settings.get(&t::LIFETIME_SECONDS)?),
        ..SandboxConfig::default()
    };
    match backend {
        BackendKind::Local => config.local = local(settings)?,
        BackendKind::Docker => {
            config.forward_env = settings.get(&t::DOCKER_FORWARD_ENV)?;
            config.container = container(settings, &name)?;
        }
        BackendKind::Ssh => config.ssh = ssh(settings)?,
    }
    Ok(config)
}

fn scope(settings: &Settings) -> Result<Scope, SettingsError> {
    Ok(match settings.get(&t::SCOPE)?.as_str() {
        "session" => Scope::Session,
        "task" => Scope::Task,
        "shared" => match settings.get(&t::SCOPE_KEY)? {
            key if key.trim().is_empty() => return Err(SettingsError::NoScopeKey),
            key => Scope::Shared(key),
        },
        _ => Scope::Profile,
    })
}

fn local(settings: &Settings) -> Result<LocalConfig, SettingsError> {
    Ok(LocalConfig {
        env_passthrough: settings.get(&t::ENV_PASSTHROUGH)?,
        home_mode: match settings.get(&t::HOME_MODE)?.as_str() {
            "real" => HomeMode::Real,
            "profile" => HomeMode::Profile,
            _ => HomeMode::Auto,
        },
        shell_init_files: settings.get(&t::SHELL_INIT_FILES)?,
        source_bashrc: settings.get(&t::AUTO_SOURCE_BASHRC)?.into(),
    })
}

fn container(settings: &Settings, backend: &str) -> Result<ContainerConfig, SettingsError> {
    let binary = Some(settings.get(&t::DOCKER_BINARY)?).filter(|b| !b.trim().is_empty());
    let days = settings.get(&t::DOCKER_RETENTION_DAYS)?;
    let (managed_mounts, left_out) = managed_mounts(settings)?;
    Ok(ContainerConfig {
        binary: binary.or_else(|| (backend == "podman").then(|| "podman".to_owned())).map(PathBuf::from),
        image: settings.get(&t::DOCKER_IMAGE)?,
        env: settings.get(&t::DOCKER_ENV)?.into_iter().map(|(k, v)| (k, Secret::new(v))).collect(),
        volumes: settings.get(&t::DOCKER_VOLUMES)?,
        managed_mounts,
        left_out,
        mount_cwd: settings.get(&t::DOCKER_MOUNT_CWD_TO_WORKSPACE)?.into(),
        run_as: if settings.get(&t::DOCKER_RUN_AS_HOST_USER)? { RunAs::HostUser } else { RunAs::ImageUser },
        limits: limits(settings)?,
        network: if settings.get(&t::DOCKER_NETWORK)? { Network::On } else { Network::Off },
        extra_args: settings.get(&t::DOCKER_EXTRA_ARGS)?,
        filesystem: if settings.get(&t::CONTAINER_PERSISTENT)? {
            Filesystem::Persistent
        } else {
            Filesystem::Ephemeral
        },
        reuse: if settings.get(&t::DOCKER_PERSIST_ACROSS_PROCESSES)? {
            Reuse::AcrossProcesses
        } else {
            Reuse::Never
        },
        orphan_sweep: Switch::from(settings.get(&t::DOCKER_ORPHAN_REAPER)?),
        on_drift: match settings.get(&t::DOCKER_ON_DRIFT)?.as_str() {
            "warn" => DriftPolicy::Warn,
            "ignore" => DriftPolicy::Ignore,
            _ => DriftPolicy::Recreate,
        },
        retention: (days > 0).then(|| Duration::from_hours(days.unsigned_abs() * 24)),
        ..ContainerConfig::default()
    })
}

/// What of the home that these settings are of appears in its containers.
fn managed_mounts(settings: &Settings) -> Result<(Vec<ManagedMount>, Vec<LeftOut>), SettingsError> {
    let sources = settings.sources();
    let Some(home) = sources.config_file.parent() else { return Ok((Vec::new(), Vec::new())) };
    Ok(managed::mounts(&Wishes {
        home,
        user_home: sources.env.get("HOME").map(Path::new),
        credential_files: &settings.get(&t::CREDENTIAL_FILES)?,
        external_skills: &settings.get(&SKILLS_EXTERNAL_DIRS)?,
    }))
}

fn limits(settings: &Settings) -> Result<Limits, SettingsError> {
    let positive = |n: i64| u64::try_from(n).ok().filter(|n| *n > 0);
    Ok(Limits {
        cpus: Some(settings.get(&t::CONTAINER_CPU)?).filter(|c| *c > 0.0),
        memory_mb: positive(settings.get(&t::CONTAINER_MEMORY)?),
        disk_mb: positive(settings.get(&t::CONTAINER_DISK)?),
        ..Limits::default()
    })
}

fn ssh(settings: &Settings) -> Result<SshConfig, SettingsError> {
    let host = settings.get(&t::SSH_HOST)?;
    if host.trim().is_empty() {
        return Err(SettingsError::NoSshHost);
    }
    // The default port is left to ssh, so that a port in the user's ssh configuration counts.
    let port = u16::try_from(settings.get(&t::SSH_PORT)?).ok().filter(|p| *p != 22);
    Ok(SshConfig {
        host,
        user: settings.get(&t::SSH_USER)?,
        port,
        key: Some(settings.get(&t::SSH_KEY)?).filter(|k| !k.is_empty()).map(PathBuf::from),
        ..SshConfig::default()
    })
}

fn seconds(n: i64) -> Duration {
    Duration::from_secs(u64::try_from(n).unwrap_or(0))
}

/// The facts about this process and home that a sandbox is opened with.
pub fn context(
    home: &Home,
    settings: &Settings,
    env: Environment,
    host_cwd: PathBuf,
    caller: Caller,
) -> Result<Context, SettingsError> {
    let user = HostUser::current();
    let sandbox_dir = match settings.get(&t::SANDBOX_DIR)? {
        dir if dir.is_empty() => home.path("sandboxes"),
        dir => PathBuf::from(dir),
    };
    let dotenv = settings.sources().dotenv.entries().iter();
    Ok(Context {
        root: home.root().to_path_buf(),
        home: home.dir().to_path_buf(),
        profile: home.profile().as_str().to_owned(),
        caller,
        sandbox_dir,
        cache_dir: default_cache_dir(&env, user),
        machine: machine_id(),
        user,
        host_cwd,
        env,
        dotenv: dotenv.map(|e| (e.name.clone(), Secret::new(e.value.clone()))).collect(),
        private_env: settings::all().filter(|s| s.is_secret()).map(Spec::secret_variable).collect(),
    })
}
