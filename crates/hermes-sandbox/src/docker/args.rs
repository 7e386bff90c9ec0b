//! The create request as the engine's arguments, in a fixed order.

use super::errors::LimitKind;
use super::labels;
use super::mounts::Mount;
use super::spec::{CreateSpec, Init, PROGRAM, RUN_DIR, Writable, limit_values};
use super::workdir::WORKSPACE;
use crate::agent_command::First;
use crate::config::{Network, Reuse, Switch};
use hermes_guard::Secret;

/// Arguments, and what must not be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunArgs {
    /// The arguments, `run` first.
    pub args: Vec<String>,
    /// Read by the engine's command as its variables file.
    pub env_file: Vec<u8>,
    /// Put into the environment of the engine's command: values a file cannot carry.
    pub inherited: Vec<(String, Secret)>,
}

/// What the host can do, as far as it changes the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Host {
    /// Limits that are left out because they cannot be enforced.
    pub unenforceable: Vec<LimitKind>,
    /// Whether ids of the host must be mapped for `--user` (podman without root).
    pub keep_id: bool,
}

/// The arguments of `run`.
pub fn run(spec: &CreateSpec, host: &Host) -> RunArgs {
    let env = Env::of(spec);
    let groups = [
        words(["run", "-d", "--pull", "never", "--name", &spec.name]),
        label_args(spec),
        words(["-w", &spec.workdir]),
        agent(spec),
        security(spec),
        user(spec, host),
        writable(spec),
        resources(spec, host),
        spec.mounts.iter().flat_map(Mount::args).collect(),
        env.args,
        spec.extra_args.clone(),
        words([spec.image.as_str()]),
        serve_command(spec),
    ];
    RunArgs { args: groups.concat(), env_file: env.file, inherited: env.inherited }
}

/// The same container, made but not started: what a rehearsal asks the engine for.
pub fn rehearsal(spec: &CreateSpec, host: &Host) -> RunArgs {
    let mut run = run(spec, host);
    run.args.splice(0..2, ["create".to_owned()]);
    run
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn label_args(spec: &CreateSpec) -> Vec<String> {
    label_list(spec)
        .into_iter()
        .flat_map(|(name, value)| ["--label".to_owned(), format!("{name}={value}")])
        .collect()
}

/// Every label of the container, those of the contract first.
pub fn label_list(spec: &CreateSpec) -> Vec<(&'static str, String)> {
    let reuse = match spec.reuse {
        Reuse::AcrossProcesses => labels::REUSE_SHARED,
        Reuse::Never => labels::REUSE_SINGLE,
    };
    // Without our program there is nothing to connect to; the word still says whether it sees our files.
    let transport = if spec.agent.run.is_some() { "socket" } else { "exec" };
    let mut list: Vec<(&'static str, String)> = labels::contract(&spec.identity).to_vec();
    list.extend(labels::own(&spec.identity));
    list.push((labels::REUSE, reuse.to_owned()));
    list.push(match &spec.plain {
        None => (labels::PROGRAM, spec.agent.program_hash.clone()),
        Some(reason) => (labels::PLAIN, reason.clone()),
    });
    list.extend([
        (labels::TRANSPORT, transport.to_owned()),
        (labels::FINGERPRINT, spec.fields.fingerprint()),
        (labels::FIELDS, spec.fields.to_json()),
    ]);
    list
}

fn agent(spec: &CreateSpec) -> Vec<String> {
    if spec.plain.is_some() {
        return match spec.init {
            Init::Agent => words(["--init", "--entrypoint", "sh"]),
            Init::Image => Vec::new(),
        };
    }
    let mut args = match spec.init {
        Init::Agent => words(["--entrypoint", PROGRAM]),
        Init::Image => Vec::new(),
    };
    args.extend(spec.agent.program.args());
    args.extend(spec.agent.run.iter().flat_map(Mount::args));
    args
}

/// What runs: our program alone, or as the command of the image's own supervisor.
fn serve_command(spec: &CreateSpec) -> Vec<String> {
    if spec.plain.is_some() {
        // Not every `sleep` can sleep for ever, and a shell that waits for it ends when it is told to.
        let sleep = ["-c", "trap 'exit 0' TERM; while :; do sleep 86400 & wait $!; done"];
        return match spec.init {
            Init::Agent => words(sleep),
            Init::Image => [words(["sh"]), words(sleep)].concat(),
        };
    }
    let mut command = match spec.init {
        Init::Agent => Vec::new(),
        Init::Image => words([PROGRAM]),
    };
    let first = First {
        run_dir: spec.agent.run.as_ref().map(|_| RUN_DIR),
        host_uid: spec.host_user.uid,
        directory: &spec.agent_dir,
        cwd: &spec.workdir,
        idle_exit: spec.idle_exit,
    };
    command.extend(first.args());
    command
}

fn security(spec: &CreateSpec) -> Vec<String> {
    let mut args = words([
        "--cap-drop",
        "ALL",
        "--cap-add",
        "DAC_OVERRIDE",
        "--cap-add",
        "CHOWN",
        "--cap-add",
        "FOWNER",
    ]);
    if spec.user.is_none() {
        // A root that may become another user must also be able to end that user's processes,
        // or a timeout would leave them behind.
        args.extend(words(["--cap-add", "SETUID", "--cap-add", "SETGID", "--cap-add", "KILL"]));
    }
    args.extend(words(["--security-opt", "no-new-privileges"]));
    let run = match spec.init {
        Init::Agent => "/run:rw,noexec,nosuid,size=64m",
        // Supervisors run their services from there.
        Init::Image => "/run:rw,exec,nosuid,size=64m",
    };
    args.extend(words([
        "--tmpfs",
        "/tmp:rw,nosuid,size=512m",
        "--tmpfs",
        "/var/tmp:rw,noexec,nosuid,size=256m",
        "--tmpfs",
        run,
    ]));
    args
}

fn user(spec: &CreateSpec, host: &Host) -> Vec<String> {
    let Some(user) = spec.user else { return Vec::new() };
    let mut args = words(["--user", &format!("{}:{}", user.uid, user.gid)]);
    if host.keep_id {
        args.extend(words(["--userns", "keep-id"]));
    }
    args
}

fn writable(spec: &CreateSpec) -> Vec<String> {
    match &spec.writable {
        Writable::Kept { home, workspace } => {
            let mut args = Mount::bind(home, "/root").args().to_vec();
            args.extend(workspace.iter().flat_map(|dir| Mount::bind(dir, WORKSPACE).args()));
            args
        }
        Writable::Volumes { home, workspace } => {
            let mut args = Mount::volume(home, "/root").args().to_vec();
            args.extend(workspace.iter().flat_map(|name| Mount::volume(name, WORKSPACE).args()));
            args
        }
        Writable::Memory { workspace } => {
            let mut args = match workspace {
                Switch::On => words(["--tmpfs", "/workspace:rw,exec,size=10g"]),
                Switch::Off => Vec::new(),
            };
            args.extend(words(["--tmpfs", "/home:rw,exec,size=1g", "--tmpfs", "/root:rw,exec,size=1g"]));
            args
        }
    }
}

fn resources(spec: &CreateSpec, host: &Host) -> Vec<String> {
    let mut args: Vec<String> = limit_values(&spec.limits)
        .into_iter()
        .filter(|(kind, _)| !host.unenforceable.contains(kind))
        .flat_map(|(kind, value)| match kind {
            LimitKind::Cpu => ["--cpus".to_owned(), value],
            LimitKind::Memory => ["--memory".to_owned(), value],
            LimitKind::Disk => ["--storage-opt".to_owned(), format!("size={value}")],
            LimitKind::Pids => ["--pids-limit".to_owned(), value],
        })
        .collect();
    if spec.network == Network::Off {
        args.push("--network=none".to_owned());
    }
    args
}

/// Variables on their way in: never as arguments, where every user of the machine could read them.
struct Env {
    args: Vec<String>,
    file: Vec<u8>,
    inherited: Vec<(String, Secret)>,
}

impl Env {
    fn of(spec: &CreateSpec) -> Self {
        let mut env = Self { args: Vec::new(), file: Vec::new(), inherited: Vec::new() };
        for (name, value) in &spec.env {
            // The engine's file has one variable a line and no quoting.
            if value.expose().contains(['\n', '\r']) {
                env.args.extend(words(["-e", name]));
                env.inherited.push((name.clone(), value.clone()));
            } else {
                env.file.extend_from_slice(format!("{name}={}\n", value.expose()).as_bytes());
            }
        }
        if !env.file.is_empty() {
            env.args.splice(0..0, words(["--env-file", "/dev/stdin"]));
        }
        env
    }
}
