//! What the engine's command can answer instead of doing what it was told.
//!
//! This is the only place that reads the engine's words. Everywhere else decides on these variants,
//! on exit codes and on what `inspect` says.

use std::path::PathBuf;
use std::time::Duration;

/// A refusal or failure of the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No engine is installed.
    #[error(
        "no container engine was found: looked for {looked_for}; install docker or podman, or set \
         HERMES_DOCKER_BINARY to its command"
    )]
    NotInstalled {
        /// What was looked for.
        looked_for: String,
    },
    /// The command named by the user cannot be used.
    #[error(
        "the container engine \"{}\" named by HERMES_DOCKER_BINARY cannot be run: give the path of an \
         executable file or a name on the search path",
        .0.display()
    )]
    Unusable(PathBuf),
    /// The command is there, its service is not.
    #[error(
        "the container engine is not running ({detail}); start it, or check DOCKER_HOST and `{program} context ls`"
    )]
    NotRunning {
        /// The engine's command.
        program: String,
        /// What it said.
        detail: String,
    },
    /// The service does not let us in.
    #[error(
        "no permission to use the container engine ({detail}); add your user to its group, or use a \
         rootless engine"
    )]
    Permission {
        /// What it said.
        detail: String,
    },
    /// It did not answer in time.
    #[error(
        "the container engine did not answer within {} s while {doing}; check it with `{program} version`",
        .after.as_secs()
    )]
    TimedOut {
        /// The engine's command.
        program: String,
        /// What we were doing.
        doing: String,
        /// The time it was given.
        after: Duration,
    },
    /// The image is not on this machine.
    #[error("the image \"{image}\" is not there: check its name, or get it with `docker pull {image}`")]
    ImageMissing {
        /// Its name.
        image: String,
    },
    /// Another container has the name.
    #[error("the container name \"{name}\" is taken")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The container is gone.
    #[error("there is no container \"{id}\"")]
    NoSuchContainer {
        /// Name or id.
        id: String,
    },
    /// The container is there but in a state that does not allow what was asked.
    #[error("the container \"{id}\" is in a state that does not allow {doing}: {detail}")]
    WrongState {
        /// Name or id.
        id: String,
        /// What we were doing.
        doing: String,
        /// What it said.
        detail: String,
    },
    /// A limit this host cannot enforce.
    #[error("this engine cannot enforce the {limit} limit: {detail}")]
    LimitUnsupported {
        /// Which one.
        limit: LimitKind,
        /// What it said.
        detail: String,
    },
    /// A mount does not fit.
    #[error("a mount does not fit: {detail}; check the kind of each source and target in docker_volumes")]
    BadMount {
        /// What it said.
        detail: String,
    },
    /// The container was made, and its first process could not be run.
    #[error("the container's first process could not be started: {detail}")]
    CannotStart {
        /// What it said.
        detail: String,
    },
    /// No room on the engine's disk.
    #[error("the container engine has no disk space left: {detail}; free some with `docker system prune`")]
    DiskFull {
        /// What it said.
        detail: String,
    },
    /// The engine refused the arguments or failed inside.
    #[error("{doing} failed with exit code {code}: {detail}")]
    Failed {
        /// What we were doing.
        doing: String,
        /// Exit code of the command.
        code: i32,
        /// What it said.
        detail: String,
    },
    /// It answered something that is not what it promises.
    #[error("the container engine's answer while {doing} was not understood: {detail}")]
    Gibberish {
        /// What we were doing.
        doing: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The command itself could not be run.
    #[error("{0}")]
    Call(#[from] crate::host::call::CallError),
}

impl EngineError {
    /// Why this program cannot be run where it is, if that is why a container could not be started.
    pub fn refuses_program(&self, program: &str) -> Option<&'static str> {
        let Self::CannotStart { detail } = self else { return None };
        let detail = detail.to_lowercase();
        if !detail.contains(program) {
            None
        } else if detail.contains("permission denied") {
            Some("the directory it is mounted from forbids running programs")
        } else if detail.contains("exec format error") {
            Some("the engine's machine has another processor than this one")
        } else {
            None
        }
    }

    /// Whether a container could not be started because this program is not where it should be.
    pub fn lacks_program(&self, program: &str) -> bool {
        let Self::CannotStart { detail } = self else { return false };
        let missing = ["no such file", "not found", "is a directory"];
        detail.contains(program) && missing.iter().any(|word| detail.to_lowercase().contains(word))
    }
}

/// The limits a host may be unable to enforce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitKind {
    /// Processors.
    Cpu,
    /// Memory.
    Memory,
    /// Disk.
    Disk,
    /// Number of processes.
    Pids,
}

impl std::fmt::Display for LimitKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::Pids => "process",
        })
    }
}

/// What was asked of the engine, for messages and for reading its answer.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The engine's command, for advice.
    pub program: &'a str,
    /// In words: "starting the container".
    pub doing: &'a str,
    /// The container, image or name it was about.
    pub subject: &'a str,
}

/// Turns a failed answer into a variant.
pub fn classify(asked: Asked<'_>, code: i32, stderr: &str) -> EngineError {
    let detail = summary(stderr);
    let said = detail.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let Asked { program, doing, subject } = asked;
    let (doing, subject) = (doing.to_owned(), subject.to_owned());

    if has(&["permission denied while trying to connect", "dial unix", "got permission denied"])
        && has(&["permission denied"])
    {
        return EngineError::Permission { detail };
    }
    if has(&[
        "cannot connect to the docker daemon",
        "is the docker daemon running",
        "failed to connect to the docker api",
        "cannot connect to podman",
        "unable to connect to podman",
        "error during connect",
    ]) {
        return EngineError::NotRunning { program: program.to_owned(), detail };
    }
    if has(&["is already in use by"]) && has(&["name"]) {
        return EngineError::NameTaken { name: subject };
    }
    if has(&["no such container", "no container with name or id", "no such object"]) {
        return EngineError::NoSuchContainer { id: subject };
    }
    if has(&["no such image", "image not known", "unable to find image", "manifest unknown"])
        || (has(&["pull access denied", "repository does not exist"]))
    {
        return EngineError::ImageMissing { image: subject };
    }
    if let Some(limit) = unsupported_limit(&said) {
        return EngineError::LimitUnsupported { limit, detail };
    }
    if has(&["no space left on device"]) {
        return EngineError::DiskFull { detail };
    }
    if has(&["error mounting", "invalid mount", "bind source path does not exist", "error creating mount"])
        || (has(&["statfs"]) && has(&["no such file"]))
    {
        return EngineError::BadMount { detail };
    }
    if has(&[
        "is not running",
        "is paused",
        "is not paused",
        "cannot remove a running container",
        "container is running",
        "container state improper",
        "is restarting",
        "marked for removal",
        "removal of container",
    ]) {
        return EngineError::WrongState { id: subject, doing, detail };
    }
    if matches!(code, 126 | 127) || has(&["unable to start container process", "exec format error"]) {
        return EngineError::CannotStart { detail };
    }
    EngineError::Failed { doing, code, detail }
}

fn unsupported_limit(said: &str) -> Option<LimitKind> {
    let has = |word: &str| said.contains(word);
    if has("storage-opt") || has("storage option") || has("project quota") {
        return Some(LimitKind::Disk);
    }
    let refused =
        ["not support", "does not", "cgroup", "controller", "not mounted", "unavailable", "not available"]
            .iter()
            .any(|word| said.contains(word));
    if !refused {
        return None;
    }
    if has("pids") {
        Some(LimitKind::Pids)
    } else if has("nanocpus") || has("cpu cfs") || has("cpu.cfs") || has("cpu.max") || has("cpus") {
        Some(LimitKind::Cpu)
    } else if has("memory.limit") || has("memory.max") || has("memory limit") {
        Some(LimitKind::Memory)
    } else {
        None
    }
}

/// The engine's message without its prefix and usage hint, on one line and not too long.
fn summary(stderr: &str) -> String {
    const LONGEST: usize = 600;
    let lines: Vec<&str> =
        stderr.lines().map(str::trim).filter(|line| !line.is_empty() && !is_noise(line)).collect();
    let joined = lines.join("; ");
    let mut text = joined.as_str();
    for prefix in ["docker: ", "Error response from daemon: ", "Error: "] {
        text = text.strip_prefix(prefix).unwrap_or(text);
    }
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if text.is_empty() => "it gave no reason".to_owned(),
        None => text.to_owned(),
    }
}

fn is_noise(line: &str) -> bool {
    line.starts_with("Run '")
        || line.starts_with("See '")
        || line.starts_with("Usage:")
        || line.starts_with("time=\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classified(code: i32, stderr: &str) -> EngineError {
        classify(Asked { program: "docker", doing: "creating the container", subject: "x1" }, code, stderr)
    }

    /// Sentences that real engines print (docker 20.10 and 28, podman 4.3).
    #[test]
    fn what_real_engines_say() {
        use EngineError as E;
        type Row = (i32, &'static str, fn(&E) -> bool);
        let table: &[Row] = &[
            (
                125,
                "docker: Error response from daemon: Conflict. The container name \"/x1\" is already in use by container \"db34\". You have to remove (or rename) that container to be able to reuse that name.\n\nRun 'docker run --help' for more information",
                |e| matches!(e, E::NameTaken { name } if name == "x1"),
            ),
            (
                125,
                "Error: creating container storage: the container name \"x1\" is already in use by 7690. You have to remove that container to be able to reuse that name: that name is already in use",
                |e| matches!(e, E::NameTaken { .. }),
            ),
            (125, "docker: Error response from daemon: No such image: nothere:1", |e| {
                matches!(e, E::ImageMissing { .. })
            }),
            (125, "Error: nothere:1: image not known", |e| matches!(e, E::ImageMissing { .. })),
            (1, "Error response from daemon: No such container: nope", |e| {
                matches!(e, E::NoSuchContainer { .. })
            }),
            (1, "Error: No such object: nope", |e| matches!(e, E::NoSuchContainer { .. })),
            (125, "Error: no container with name or ID \"nope\" found: no such container", |e| {
                matches!(e, E::NoSuchContainer { .. })
            }),
            (
                125,
                "docker: Error response from daemon: --storage-opt is supported only for overlay over xfs with 'pquota' mount option",
                |e| matches!(e, E::LimitUnsupported { limit: LimitKind::Disk, .. }),
            ),
            (
                125,
                "Error: storage option overlay.size and overlay.inodes only supported for backingFS XFS. Found extfs",
                |e| matches!(e, E::LimitUnsupported { limit: LimitKind::Disk, .. }),
            ),
            (
                125,
                "docker: Error response from daemon: NanoCPUs can not be set, as your kernel does not support CPU CFS scheduler or the cgroup is not mounted",
                |e| matches!(e, E::LimitUnsupported { limit: LimitKind::Cpu, .. }),
            ),
            (
                127,
                "docker: Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: \"/nope\": stat /nope: no such file or directory: unknown",
                |e| matches!(e, E::CannotStart { .. }),
            ),
            (
                125,
                "docker: Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error mounting \"/a\" to rootfs at \"/root\": not a directory: unknown",
                |e| matches!(e, E::BadMount { .. }),
            ),
            (
                126,
                "Error: OCI runtime error: runc: error mounting \"/a\" to rootfs at \"/root\": not a directory",
                |e| matches!(e, E::BadMount { .. }),
            ),
            (
                1,
                "Error response from daemon: You cannot remove a running container db34. Stop the container before attempting removal or force remove",
                |e| matches!(e, E::WrongState { .. }),
            ),
            (
                2,
                "Error: cannot remove container 7690 as it is running - running or paused containers cannot be removed without force: container state improper",
                |e| matches!(e, E::WrongState { .. }),
            ),
            (
                1,
                "Error response from daemon: Container x1 is paused, unpause the container before exec",
                |e| matches!(e, E::WrongState { .. }),
            ),
            (
                1,
                "Cannot connect to the Docker daemon at unix:///tmp/x.sock. Is the docker daemon running?",
                |e| matches!(e, E::NotRunning { .. }),
            ),
            (
                1,
                "permission denied while trying to connect to the Docker daemon socket at unix:///d.sock: Get \"http://d\": dial unix /d.sock: connect: permission denied",
                |e| matches!(e, E::Permission { .. }),
            ),
            (1, "Error response from daemon: write /var/lib/docker/tmp/x: no space left on device", |e| {
                matches!(e, E::DiskFull { .. })
            }),
            (
                125,
                "docker: Error response from daemon: invalid CapAdd: unknown capability: \"CAP_BOGUS\"",
                |e| matches!(e, E::Failed { code: 125, .. }),
            ),
            (125, "unknown flag: --bogus\n\nUsage:  docker run [OPTIONS] IMAGE [COMMAND] [ARG...]", |e| {
                matches!(e, E::Failed { code: 125, .. })
            }),
        ];
        for (code, stderr, expected) in table {
            let error = classified(*code, stderr);
            assert!(expected(&error), "{stderr}\n  became {error:?}");
        }
    }

    #[test]
    fn a_missing_program_is_told_from_one_that_may_not_run() {
        let said = |why: &str| {
            classified(127, &format!("unable to start container process: exec: \"/x/box\": {why}"))
        };
        assert!(said("stat /x/box: no such file or directory: unknown").lacks_program("/x/box"));
        assert!(!said("permission denied: unknown").lacks_program("/x/box"));
        assert!(said("permission denied: unknown").refuses_program("/x/box").is_some());
        assert!(said("exec format error").refuses_program("/x/box").is_some());
        assert_eq!(said("permission denied: unknown").refuses_program("/y/other"), None);
        assert_eq!(said("stat /x/box: no such file or directory").refuses_program("/x/box"), None);
        assert!(!said("stat /x/box: no such file or directory").lacks_program("/y/other"));
    }

    #[test]
    fn the_message_keeps_the_reason_and_drops_the_rest() {
        let error = classified(
            125,
            "docker: Error response from daemon: bad thing\n\nRun 'docker run --help' for more information\n",
        );
        assert_eq!(error.to_string(), "creating the container failed with exit code 125: bad thing");
        assert_eq!(
            classified(1, "").to_string(),
            "creating the container failed with exit code 1: it gave no reason"
        );
    }
}
