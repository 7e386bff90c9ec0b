//! Where commands run, and in what kind of box.

use std::collections::BTreeMap;

use super::super::spec::{choice, flag, float, int, list, secret, settings, table, text};

/// The image every container backend starts from unless told otherwise.
const IMAGE: &str = "nikolaik/python-nodejs:python3.11-nodejs20";

settings! {
    /// Where commands and file operations run.
    BACKEND: String = choice("terminal.backend", &["local", "docker", "podman", "ssh", "singularity", "modal", "daytona"], "local").env("TERMINAL_ENV").was(&["terminal.env_type"]).restart();
    /// Who shares one box: the whole profile, each session, each task, or everyone with the same `terminal.scope_key`.
    SCOPE: String = choice("terminal.scope", &["profile", "session", "task", "shared"], "profile").env("TERMINAL_SCOPE").restart();
    /// The key that boxes of the scope `shared` are found by.
    SCOPE_KEY: String = text("terminal.scope_key", "").env("TERMINAL_SCOPE_KEY").restart();
    /// The directory commands start in; `.` is the current one (local) or the box's own default.
    CWD: String = text("terminal.cwd", ".").env("TERMINAL_CWD");
    /// Seconds a command may take unless its call says otherwise.
    TIMEOUT: i64 = int("terminal.timeout", 180).at_least(1).env("TERMINAL_TIMEOUT");
    /// Most seconds a call may ask for in the foreground.
    MAX_FOREGROUND_TIMEOUT: i64 = int("TERMINAL_MAX_FOREGROUND_TIMEOUT", 600).at_least(1).env_only();
    /// Seconds a box stays in memory after its last use; also the base of the orphan sweep.
    LIFETIME_SECONDS: i64 = int("terminal.lifetime_seconds", 300).at_least(1).env("TERMINAL_LIFETIME_SECONDS");
    /// Variables that reach commands although they look like secrets. Keys of model providers never do.
    ENV_PASSTHROUGH: Vec<String> = list("terminal.env_passthrough", &[]);
    /// Credential files that are made available inside a box, read-only.
    CREDENTIAL_FILES: Vec<String> = list("terminal.credential_files", &[]);
    /// Files sourced by the first shell of a session; empty means the usual ones.
    SHELL_INIT_FILES: Vec<String> = list("terminal.shell_init_files", &[]);
    /// Whether the first shell of a session reads ~/.profile, ~/.bash_profile and ~/.bashrc.
    AUTO_SOURCE_BASHRC: bool = flag("terminal.auto_source_bashrc", true);
    /// The HOME commands see: the real one, the profile's, or the profile's where it exists.
    HOME_MODE: String = choice("terminal.home_mode", &["auto", "real", "profile"], "auto");
    /// Seconds between asking a command to end and killing it.
    DAEMON_TERM_GRACE_SECONDS: f64 = float("terminal.daemon_term_grace_seconds", 2.0).within(0.0, 600.0);
    /// Kept for older files: state always carries from call to call.
    PERSISTENT_SHELL: bool = flag("terminal.persistent_shell", true).env("TERMINAL_PERSISTENT_SHELL");
    /// Image of a docker or podman box.
    DOCKER_IMAGE: String = text("terminal.docker_image", IMAGE).env("TERMINAL_DOCKER_IMAGE");
    /// Variables whose values are handed into the container.
    DOCKER_FORWARD_ENV: Vec<String> = list("terminal.docker_forward_env", &[]).env("TERMINAL_DOCKER_FORWARD_ENV");
    /// Variables set in the container, with their values.
    DOCKER_ENV: BTreeMap<String, String> = table("terminal.docker_env").env("TERMINAL_DOCKER_ENV");
    /// Mounts, as `HOST:CONTAINER[:ro]`.
    DOCKER_VOLUMES: Vec<String> = list("terminal.docker_volumes", &[]).env("TERMINAL_DOCKER_VOLUMES");
    /// Whether the current directory is mounted as /workspace.
    DOCKER_MOUNT_CWD_TO_WORKSPACE: bool = flag("terminal.docker_mount_cwd_to_workspace", false).env("TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE");
    /// Whether commands in the container run as your own user.
    DOCKER_RUN_AS_HOST_USER: bool = flag("terminal.docker_run_as_host_user", false).env("TERMINAL_DOCKER_RUN_AS_HOST_USER");
    /// Further arguments for creating the container, put last.
    DOCKER_EXTRA_ARGS: Vec<String> = list("terminal.docker_extra_args", &[]).env("TERMINAL_DOCKER_EXTRA_ARGS");
    /// Whether the container has a network.
    DOCKER_NETWORK: bool = flag("terminal.docker_network", true).env("TERMINAL_DOCKER_NETWORK");
    /// Whether a container outlives the program and is found again.
    DOCKER_PERSIST_ACROSS_PROCESSES: bool = flag("terminal.docker_persist_across_processes", true).env("TERMINAL_DOCKER_PERSIST_ACROSS_PROCESSES");
    /// Whether stopped containers that nobody came back for are removed.
    DOCKER_ORPHAN_REAPER: bool = flag("terminal.docker_orphan_reaper", true).env("TERMINAL_DOCKER_ORPHAN_REAPER");
    /// What happens when the settings no longer fit the container: recreate it when idle, only warn, or ignore it.
    DOCKER_ON_DRIFT: String = choice("terminal.docker_on_drift", &["recreate", "warn", "ignore"], "recreate").env("TERMINAL_DOCKER_ON_DRIFT");
    /// Days an unused running container is kept; 0 keeps it for ever.
    DOCKER_RETENTION_DAYS: i64 = int("terminal.docker_retention_days", 7).at_least(0).at_most(3650).env("TERMINAL_DOCKER_RETENTION_DAYS");
    /// The engine's command: a path or a name; empty looks for docker, then podman.
    DOCKER_BINARY: String = text("HERMES_DOCKER_BINARY", "").env_only();
    /// Processor share of a container, in cores; 0 sets no limit.
    CONTAINER_CPU: f64 = float("terminal.container_cpu", 1.0).within(0.0, 4096.0).env("TERMINAL_CONTAINER_CPU");
    /// Memory of a container in MB; 0 sets no limit.
    CONTAINER_MEMORY: i64 = int("terminal.container_memory", 5120).at_least(0).env("TERMINAL_CONTAINER_MEMORY");
    /// Disk of a container in MB, where the engine can enforce it; 0 sets no limit.
    CONTAINER_DISK: i64 = int("terminal.container_disk", 51200).at_least(0).env("TERMINAL_CONTAINER_DISK");
    /// Whether the container's home and workspace are kept on the host.
    CONTAINER_PERSISTENT: bool = flag("terminal.container_persistent", true).env("TERMINAL_CONTAINER_PERSISTENT");
    /// Where homes and workspaces of boxes are kept; empty is `sandboxes` in the home.
    SANDBOX_DIR: String = text("terminal.sandbox_dir", "").env("TERMINAL_SANDBOX_DIR");
    /// Directory for large temporary files of boxes.
    SCRATCH_DIR: String = text("TERMINAL_SCRATCH_DIR", "").env_only();
    /// Gigabytes of sandbox files above which a warning is given.
    DISK_WARNING_GB: f64 = float("TERMINAL_DISK_WARNING_GB", 500.0).within(0.0, 1e9).env_only();
    /// Image of a singularity or apptainer box.
    SINGULARITY_IMAGE: String = text("terminal.singularity_image", "docker://nikolaik/python-nodejs:python3.11-nodejs20").env("TERMINAL_SINGULARITY_IMAGE");
    /// Image of a Modal box.
    MODAL_IMAGE: String = text("terminal.modal_image", IMAGE).env("TERMINAL_MODAL_IMAGE");
    /// How Modal is reached.
    MODAL_MODE: String = choice("terminal.modal_mode", &["auto", "direct", "managed"], "auto").env("TERMINAL_MODAL_MODE");
    /// Image of a Daytona box.
    DAYTONA_IMAGE: String = text("terminal.daytona_image", IMAGE).env("TERMINAL_DAYTONA_IMAGE");
    /// Host of the ssh backend, as ssh knows it.
    SSH_HOST: String = text("terminal.ssh_host", "").env("TERMINAL_SSH_HOST");
    /// User on that host; empty leaves it to the ssh configuration.
    SSH_USER: String = text("terminal.ssh_user", "").env("TERMINAL_SSH_USER");
    /// Port on that host.
    SSH_PORT: i64 = int("terminal.ssh_port", 22).at_least(1).at_most(65535).env("TERMINAL_SSH_PORT");
    /// Key file for that host; empty leaves it to the ssh configuration.
    SSH_KEY: String = text("terminal.ssh_key", "").env("TERMINAL_SSH_KEY");
    /// Password handed to sudo in commands.
    SUDO_PASSWORD: Option<String> = secret("terminal.sudo_password").env("SUDO_PASSWORD");
}
