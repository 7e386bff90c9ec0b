//! The create request: everything a new container is made from, decided before the engine is asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::drift::{self, Fields};
use super::errors::LimitKind;
use super::identity::Identity;
use super::image::Image;
use super::mounts::{self, Mount};
use super::site::Site;
use super::sweep;
use super::targets::{self, Absent, Access};
use super::workdir::{self, Workdir};
use crate::config::{
    ContainerConfig, Filesystem, LeftOut, Limits, Network, Reuse, RunAs, SandboxConfig, Switch, WhenAbsent,
};
use crate::context::{Context, HostUser};
use crate::notice::Notice;
use hermes_guard::Secret;

/// Where the box program's directory appears in a container.
pub const PROGRAM_DIR: &str = "/.hermes-box/bin";
/// The box program in a container.
pub const PROGRAM: &str = "/.hermes-box/bin/hermes-box";
/// The directory with the socket, shared with the host where that works.
pub const RUN_DIR: &str = "/.hermes-box/run";
/// The home of commands in a container.
const HOME: &str = "/root";

/// A create request.
#[derive(Debug, Clone)]
pub struct CreateSpec {
    /// The container's name.
    pub name: String,
    /// Labels that follow from who we are.
    pub identity: Identity,
    /// The image.
    pub image: String,
    /// Where commands start.
    pub workdir: String,
    /// How our program gets in and how it is reached.
    pub agent: AgentMounts,
    /// Who starts first.
    pub init: Init,
    /// Why our program cannot run in it; then it only sleeps, and commands are run by the engine.
    pub plain: Option<String>,
    /// Run as this user of the host.
    pub user: Option<HostUser>,
    /// `/root` and `/workspace`.
    pub writable: Writable,
    /// What it may use.
    pub limits: Limits,
    /// Whether it reaches the network.
    pub network: Network,
    /// Mounts besides those above, in order.
    pub mounts: Vec<Mount>,
    /// Variables with their values.
    pub env: BTreeMap<String, Secret>,
    /// The user's own arguments.
    pub extra_args: Vec<String>,
    /// Whether the next process may find it.
    pub reuse: Reuse,
    /// Who runs us on the host.
    pub host_user: HostUser,
    /// Where the agent keeps logs and long output.
    pub agent_dir: String,
    /// When the agent leaves of its own accord.
    pub idle_exit: Option<Duration>,
    /// Sources of mounts that are not there.
    pub absent: Vec<Absent>,
    /// What is compared with the settings later.
    pub fields: Fields,
}

/// How our program gets into a container and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentMounts {
    /// The program's directory: a path of the host, or a volume for an engine elsewhere.
    pub program: Mount,
    /// Content hash of the program.
    pub program_hash: String,
    /// The directory shared for the socket; nothing where sockets do not cross.
    pub run: Option<Mount>,
}

/// Who is the container's first process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Init {
    /// Our program: it reaps, and survives a command that kills everything.
    Agent,
    /// The image's own supervisor, which would not work as anything but the first.
    Image,
}

/// `/root` and `/workspace`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writable {
    /// Directories of the host.
    Kept {
        /// For `/root`.
        home: PathBuf,
        /// For `/workspace`, unless something else is there.
        workspace: Option<PathBuf>,
    },
    /// Volumes of an engine that does not see our directories.
    Volumes {
        /// For `/root`.
        home: String,
        /// For `/workspace`, unless something else is there.
        workspace: Option<String>,
    },
    /// Memory.
    Memory {
        /// `/workspace` too, unless something else is there.
        workspace: Switch,
    },
}

/// Why no request can be made of these settings.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum SpecError {
    /// A variable's name is not one.
    #[error(
        "\"{0}\" in docker_env is not a variable name: use letters, digits and underscores, no digit first"
    )]
    BadEnvName(String),
    /// A value that cannot be handed over.
    #[error("the value of \"{0}\" in docker_env contains a NUL character")]
    BadEnvValue(String),
    /// An argument that would break the agreement between us and the container.
    #[error("\"{0}\" in docker_extra_args is ours to set: remove it")]
    ReservedArgument(String),
    /// A mount at a place that is taken.
    #[error("\"{entry}\" in docker_volumes cannot be mounted there: {why}; {instead}")]
    TargetReserved {
        /// The entry.
        entry: String,
        /// What is there.
        why: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// Two mounts at one place.
    #[error(
        "\"{entry}\" in docker_volumes cannot be mounted: an earlier entry is at \"{target}\" too; remove one of them"
    )]
    TargetTwice {
        /// The later entry.
        entry: String,
        /// Where both want to be.
        target: String,
    },
    /// A mount of nothing.
    #[error(
        "\"{entry}\" in docker_volumes cannot be mounted: \"{path}\" is not there, and it is not below your home or \
         the directory you are in, where it would be made for you; make it, or correct the entry"
    )]
    SourceMissing {
        /// The entry.
        entry: String,
        /// The path that is not there.
        path: String,
    },
}

/// What the request is built from, besides the settings.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// Who we are.
    pub identity: &'a Identity,
    /// The image as the engine has it; nothing when it was not asked.
    pub image: Option<&'a Image>,
    /// How our program gets in.
    pub agent: AgentMounts,
    /// Whether the engine sees our files.
    pub site: Site,
}

/// Builds the request, and says what of the settings does not take effect.
pub fn build(
    config: &SandboxConfig,
    context: &Context,
    facts: &Facts<'_>,
) -> Result<(CreateSpec, Vec<Notice>), SpecError> {
    let container = &config.container;
    check_env(&container.env)?;
    check_extra_args(&container.extra_args)?;
    let user_home = context.env.get("HOME").map(Path::new);
    let (volumes, mut notices) = mounts::parse_volumes(&container.volumes, user_home, &context.host_cwd);
    targets::check(&volumes, container.filesystem)?;
    let Workdir { inside, mounted } = workdir::decide(
        workdir::Asked {
            cwd: context.caller.cwd.as_deref().or(config.cwd.as_deref()),
            mount: container.mount_cwd,
            host_cwd: &context.host_cwd,
            workspace_taken: mounts::occupies(&volumes, workdir::WORKSPACE),
        },
        Path::is_dir,
    );
    let mut all: Vec<Mount> = mounted.map(|dir| Mount::bind(dir, workdir::WORKSPACE)).into_iter().collect();
    let (ours, skipped) = mounts::managed(&container.managed_mounts, &volumes, mounts::kind_on_disk);
    notices.extend(container.left_out.iter().map(left_out));
    let mut absent = Vec::new();
    if facts.site == Site::Here {
        absent.extend(targets::absent(&volumes, context, mounts::kind_on_disk));
        notices.extend(absent.iter().filter_map(made));
        absent.extend(
            mounts::missing(&ours, mounts::kind_on_disk)
                .into_iter()
                .map(|(_, path)| Absent::Make { path: path.to_path_buf(), access: Access::Private }),
        );
        all.extend(volumes);
        all.extend(ours);
        notices.extend(skipped);
    } else {
        // The user's own mounts name paths of the engine's machine; ours can only name paths of this one.
        notices.extend(all.drain(..).chain(ours).map(|mount| not_visible(&mount)));
        all.extend(volumes);
    }
    notices.extend(mounts::too_wide(&all, user_home));

    let mut spec = CreateSpec {
        name: facts.identity.container_name(),
        identity: facts.identity.clone(),
        image: image_name(config, context),
        workdir: inside,
        agent: facts.agent.clone(),
        init: facts.image.map_or(Init::Agent, Image::init),
        plain: None,
        user: (container.run_as == RunAs::HostUser).then_some(context.user),
        writable: writable(container, context, facts, &all),
        limits: container.limits.clone(),
        network: container.network,
        mounts: all,
        env: env(container),
        extra_args: container.extra_args.clone(),
        reuse: container.reuse,
        host_user: context.user,
        agent_dir: agent_dir(container, facts.image).to_owned(),
        // Nobody finds a container of one process again, so it ends by itself should that process be killed.
        idle_exit: (container.reuse == Reuse::Never).then(|| sweep::threshold(config.lifetime)),
        absent,
        fields: Fields::default(),
    };
    if let Writable::Volumes { home, workspace } = &spec.writable {
        let volumes = std::iter::once(home.clone()).chain(workspace.clone()).collect();
        notices.push(Notice::KeptByEngine { volumes });
    }
    spec.fields = fields(&spec, facts.image.map(|image| image.id.as_str()), &of_the_home(container));
    Ok((spec, notices))
}

/// A place that its user can write to, on disk rather than in memory where there is one.
fn agent_dir(container: &ContainerConfig, image: Option<&Image>) -> &'static str {
    match (container.run_as, container.filesystem) {
        (RunAs::HostUser, Filesystem::Persistent) => "/root/.cache/hermes-box",
        (RunAs::ImageUser, _) if image.is_none_or(Image::runs_as_root) => "/var/lib/hermes-box",
        _ => "/tmp/.hermes-box",
    }
}

/// The image this caller gets.
pub fn image_name(config: &SandboxConfig, context: &Context) -> String {
    context.caller.image.clone().unwrap_or_else(|| config.container.image.clone())
}

fn left_out(one: &LeftOut) -> Notice {
    Notice::MountSkipped { mount: one.mount.clone(), reason: one.reason.clone() }
}

fn made(absent: &Absent) -> Option<Notice> {
    match absent {
        Absent::Make { path, .. } => Some(Notice::MountSourceMade { source: path.display().to_string() }),
        Absent::Refuse(_) => None,
    }
}

fn not_visible(mount: &Mount) -> Notice {
    Notice::MountSkipped {
        mount: format!("{}:{}", mount.describe_source(), mount.target),
        reason: "the container engine is on another machine".to_owned(),
    }
}

fn writable(container: &ContainerConfig, context: &Context, facts: &Facts<'_>, mounts: &[Mount]) -> Writable {
    let workspace_free = !mounts::occupies(mounts, workdir::WORKSPACE);
    match (container.filesystem, &facts.site) {
        (Filesystem::Persistent, Site::Here) => {
            let dir = kept_dir(&context.sandbox_dir, facts.identity);
            Writable::Kept {
                home: dir.join("home"),
                workspace: workspace_free.then(|| dir.join("workspace")),
            }
        }
        (Filesystem::Persistent, Site::Elsewhere { .. }) => {
            let name = facts.identity.container_name();
            Writable::Volumes {
                home: format!("{name}-home"),
                workspace: workspace_free.then(|| format!("{name}-workspace")),
            }
        }
        (Filesystem::Ephemeral, _) => Writable::Memory { workspace: workspace_free.into() },
    }
}

/// Where the persistent directories of an identity are.
pub fn kept_dir(sandbox_dir: &Path, identity: &Identity) -> PathBuf {
    sandbox_dir.join("docker").join(identity.directory_name())
}

/// A user of the host has no entry in the image, so nobody else would tell it where its home is.
fn env(container: &ContainerConfig) -> BTreeMap<String, Secret> {
    let mut env = container.env.clone();
    if container.run_as == RunAs::HostUser {
        env.entry("HOME".to_owned()).or_insert_with(|| Secret::new(HOME));
    }
    env
}

fn check_env(env: &BTreeMap<String, Secret>) -> Result<(), SpecError> {
    for (name, value) in env {
        if !is_env_name(name) {
            return Err(SpecError::BadEnvName(name.clone()));
        }
        if value.expose().contains('\0') {
            return Err(SpecError::BadEnvValue(name.clone()));
        }
    }
    Ok(())
}

/// Whether a text can be the name of a variable.
pub fn is_env_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn check_extra_args(args: &[String]) -> Result<(), SpecError> {
    const OURS: [&str; 3] = ["--name", "--entrypoint", "--cidfile"];
    let reserved = args.iter().find(|arg| {
        let flag = arg.split('=').next().unwrap_or(arg);
        OURS.contains(&flag)
    });
    reserved.map_or(Ok(()), |arg| Err(SpecError::ReservedArgument(arg.clone())))
}

/// Where directories of the home appear that are there whatever the settings say.
fn of_the_home(container: &ContainerConfig) -> Vec<&str> {
    let standing = container.managed_mounts.iter().filter(|mount| mount.absent == WhenAbsent::Make);
    standing.map(|mount| mount.target.as_str()).collect()
}

/// What the fingerprint is made of. The working directory is not in it: commands name their own.
/// Neither is our program: a newer one is welcome in an old container as long as both understand each other.
/// What the home offers by itself is not in it either: a directory that older homes have under another name is no reason
/// to give up a container.
fn fields(spec: &CreateSpec, image_id: Option<&str>, uncompared: &[&str]) -> Fields {
    let mut fields = Fields::default();
    let salt = spec.identity.key();
    fields.set("epoch", drift::DEFAULTS_EPOCH.to_string());
    fields.set("image", &spec.image);
    if let Some(id) = image_id {
        fields.set(drift::IMAGE_ID, id);
    }
    if let Some(user) = spec.user {
        fields.set("user", format!("{}:{}", user.uid, user.gid));
    }
    fields.set(drift::NETWORK, if spec.network == Network::Off { "none" } else { "default" });
    for (kind, value) in limit_values(&spec.limits) {
        fields.set(format!("limit:{kind}"), value);
    }
    match &spec.writable {
        Writable::Kept { home, workspace } => {
            fields.set(format!("mount:{HOME}"), home.display().to_string());
            if let Some(workspace) = workspace {
                fields.set(format!("mount:{}", workdir::WORKSPACE), workspace.display().to_string());
            }
        }
        Writable::Volumes { home, .. } => fields.set(format!("mount:{HOME}"), format!("volume {home}")),
        Writable::Memory { .. } => fields.set(format!("mount:{HOME}"), "memory"),
    }
    for mount in spec.mounts.iter().filter(|mount| !uncompared.contains(&mount.target.as_str())) {
        fields.set(format!("mount:{}", mount.target), mount.describe_source());
    }
    for (name, value) in &spec.env {
        fields.set_hashed(format!("env:{name}"), value.expose(), &salt);
    }
    if !spec.extra_args.is_empty() {
        // They may carry a value that is nobody's business.
        fields.set_hashed("extra-args", &spec.extra_args.join("\0"), &salt);
    }
    fields
}

/// The limits that are set, as the engine's arguments want them.
pub fn limit_values(limits: &Limits) -> Vec<(LimitKind, String)> {
    let mut values = Vec::new();
    if let Some(cpus) = limits.cpus.filter(|n| *n > 0.0) {
        values.push((LimitKind::Cpu, cpus.to_string()));
    }
    if let Some(memory) = limits.memory_mb.filter(|n| *n > 0) {
        values.push((LimitKind::Memory, format!("{memory}m")));
    }
    if let Some(disk) = limits.disk_mb.filter(|n| *n > 0) {
        values.push((LimitKind::Disk, format!("{disk}m")));
    }
    if let Some(pids) = limits.pids.filter(|n| *n > 0) {
        values.push((LimitKind::Pids, pids.to_string()));
    }
    values
}
