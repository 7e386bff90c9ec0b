//! What the user asked for, as plain data. Where the values come from is not known here.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::scope::Scope;
use hermes_guard::Secret;

/// Everything that decides where commands run.
#[derive(Debug, Clone, PartialEq)]
pub struct SandboxConfig {
    /// The kind of place.
    pub backend: BackendKind,
    /// Who shares a place.
    pub scope: Scope,
    /// Working directory inside the place; `None` is the backend's own default.
    pub cwd: Option<String>,
    /// How long a command may run when the caller does not say.
    pub timeout: Duration,
    /// How long a command or job that is to end has between being asked to and being killed.
    pub term_grace: Duration,
    /// How long an unused handle is kept, and the base of the orphan sweep's age.
    pub lifetime: Duration,
    /// Names of variables whose values are handed to commands in the place.
    pub forward_env: Vec<String>,
    /// Settings of the local backend.
    pub local: LocalConfig,
    /// Settings of the container backend.
    pub container: ContainerConfig,
    /// Settings of the ssh backend.
    pub ssh: SshConfig,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self {
            backend: BackendKind::Local,
            scope: Scope::Profile,
            cwd: None,
            timeout: Duration::from_mins(3),
            term_grace: Duration::from_secs(2),
            lifetime: Duration::from_mins(5),
            forward_env: Vec::new(),
            local: LocalConfig::default(),
            container: ContainerConfig::default(),
            ssh: SshConfig::default(),
        }
    }
}

/// The kinds of place there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    /// This machine, as the user who runs us.
    Local,
    /// A container of docker or podman.
    Docker,
    /// Another machine, through the system's ssh.
    Ssh,
}

impl BackendKind {
    /// The word used in settings and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Docker => "docker",
            Self::Ssh => "ssh",
        }
    }
}

/// The local backend.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LocalConfig {
    /// Variables that commands may see although the filter would remove them.
    pub env_passthrough: Vec<String>,
    /// Which home directory commands get.
    pub home_mode: HomeMode,
    /// Files to source before the first command; empty means the usual ones.
    pub shell_init_files: Vec<String>,
    /// Whether the usual start-up files are read when no files are named.
    pub source_bashrc: Switch,
}

/// Which `HOME` local commands see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HomeMode {
    /// The profile's `home/` directory if it exists, else the user's own.
    #[default]
    Auto,
    /// Always the user's own.
    Real,
    /// Always the profile's `home/` directory.
    Profile,
}

/// The container backend.
#[derive(Debug, Clone, PartialEq)]
pub struct ContainerConfig {
    /// The engine's command, as a path or a bare name; `None` looks for one.
    pub binary: Option<PathBuf>,
    /// The image.
    pub image: String,
    /// Variables set in the container, with their values.
    pub env: BTreeMap<String, Secret>,
    /// The user's mounts, in the engine's `source:target[:options]` form.
    pub volumes: Vec<String>,
    /// Mounts of our own: credentials, skills, caches. Always read-only.
    pub managed_mounts: Vec<ManagedMount>,
    /// Mounts the settings name and that must not be; told when a container is made.
    pub left_out: Vec<LeftOut>,
    /// Mount the directory we were started in at `/workspace`.
    pub mount_cwd: Switch,
    /// Whom commands run as.
    pub run_as: RunAs,
    /// What the container may use.
    pub limits: Limits,
    /// Whether the container reaches the network.
    pub network: Network,
    /// Arguments for the engine, put last.
    pub extra_args: Vec<String>,
    /// Whether `/root` and `/workspace` are kept on the host.
    pub filesystem: Filesystem,
    /// Whether a container is found again by the next process.
    pub reuse: Reuse,
    /// Whether exited containers of this profile are swept.
    pub orphan_sweep: Switch,
    /// What to do when the settings changed since the container was made.
    pub on_drift: DriftPolicy,
    /// How long an idle running container is kept; `None` is for ever.
    pub retention: Option<Duration>,
    /// How long pulling an image may take.
    pub pull_timeout: Duration,
}

impl Default for ContainerConfig {
    fn default() -> Self {
        Self {
            binary: None,
            image: "nikolaik/python-nodejs:python3.11-nodejs20".to_owned(),
            env: BTreeMap::new(),
            volumes: Vec::new(),
            managed_mounts: Vec::new(),
            left_out: Vec::new(),
            mount_cwd: Switch::Off,
            run_as: RunAs::ImageUser,
            limits: Limits::default(),
            network: Network::On,
            extra_args: Vec::new(),
            filesystem: Filesystem::Persistent,
            reuse: Reuse::AcrossProcesses,
            orphan_sweep: Switch::On,
            on_drift: DriftPolicy::Recreate,
            retention: Some(Duration::from_hours(7 * 24)),
            pull_timeout: Duration::from_mins(30),
        }
    }
}

/// A setting that is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// Do it.
    #[default]
    On,
    /// Do not.
    Off,
}

impl From<bool> for Switch {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

/// A read-only mount that we add ourselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedMount {
    /// Where it is on the host.
    pub source: PathBuf,
    /// Where it appears in the container.
    pub target: String,
    /// What the source must be; one of the wrong kind is left out and reported.
    pub kind: MountKind,
    /// What to do when it is not there.
    pub absent: WhenAbsent,
}

/// What to do about a source that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenAbsent {
    /// Make it, an empty directory of ours, so that what comes into it later is seen.
    Make,
    /// Leave the mount out and say so.
    Skip,
}

/// A mount that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The mount as it was given.
    pub mount: String,
    /// Why.
    pub reason: String,
}

/// What the source of a mount is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MountKind {
    /// An ordinary file.
    File,
    /// A directory.
    Directory,
}

/// Whom commands run as in a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunAs {
    /// The image's user.
    ImageUser,
    /// The user and group who run us.
    HostUser,
}

/// What a container may use; `None` is no limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limits {
    /// Processors, fractions allowed.
    pub cpus: Option<f64>,
    /// Memory in megabytes.
    pub memory_mb: Option<u64>,
    /// Disk in megabytes.
    pub disk_mb: Option<u64>,
    /// Number of processes.
    pub pids: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cpus: Some(1.0), memory_mb: Some(5120), disk_mb: Some(51_200), pids: Some(256) }
    }
}

/// Whether a container reaches the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// The engine's default network.
    On,
    /// None at all.
    Off,
}

/// Whether `/root` and `/workspace` outlive the container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Filesystem {
    /// Directories on the host.
    Persistent,
    /// Memory, gone with the container.
    Ephemeral,
}

/// Whether a container outlives the process that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reuse {
    /// The next process finds it again.
    AcrossProcesses,
    /// Every process makes its own and removes it.
    Never,
}

/// What to do when the settings changed since the container was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DriftPolicy {
    /// Make a new one when nobody uses the old one and nothing runs in it.
    #[default]
    Recreate,
    /// Keep it and say what differs.
    Warn,
    /// Keep it and say nothing.
    Ignore,
}

/// The ssh backend.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SshConfig {
    /// Host name, or an alias of the user's ssh configuration.
    pub host: String,
    /// Login name; empty leaves it to ssh.
    pub user: String,
    /// Port; `None` leaves it to ssh.
    pub port: Option<u16>,
    /// Private key; `None` leaves it to ssh.
    pub key: Option<PathBuf>,
    /// The ssh command; `None` is `ssh` on the search path.
    pub binary: Option<PathBuf>,
    /// Further `-o` options, `Name=value`.
    pub options: Vec<String>,
}
