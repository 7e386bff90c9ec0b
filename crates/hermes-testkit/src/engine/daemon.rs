//! A private dockerd: how it is started, in which variants, and how one knows that it answers.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::image::{self, Image};
use super::{Engine, EngineError, EngineKind, remains};
use crate::command::{End, poll_until};
use crate::debian::{find_program, program_or_install};

const START_LIMIT: Duration = Duration::from_secs(40);
const LOG_LINES_SHOWN: usize = 6;

/// Whether containers get a bridge network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    Bridge,
    /// Only `none` and `host`: works where packet filters cannot be changed.
    Off,
}

/// The variants in the order of preference: each is tried until one runs a container.
const VARIANTS: [(&str, Network); 4] = [
    ("overlay2", Network::Bridge),
    ("overlay2", Network::Off),
    ("vfs", Network::Bridge),
    ("vfs", Network::Off),
];

/// The files of a private engine. All are below one directory, which can be removed as a whole.
#[derive(Debug, Clone)]
pub(super) struct Files {
    pub(super) dir: PathBuf,
}

impl Files {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_path_buf() }
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.dir.join("docker.sock")
    }

    pub(super) fn host(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    pub(super) fn pid(&self) -> PathBuf {
        self.dir.join("docker.pid")
    }

    fn log(&self) -> PathBuf {
        self.dir.join("dockerd.log")
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// The control group that holds every container of this engine, named after its directory.
    pub(super) fn cgroup(&self) -> String {
        let name = self.dir.to_string_lossy();
        format!("hermes-test{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"))
    }

    /// The process id of the running dockerd.
    pub(super) fn running(&self) -> Option<i32> {
        let pid = fs::read_to_string(self.pid()).ok()?.trim().parse().ok()?;
        (remains::is_alive(pid) && ping(&self.socket())).then_some(pid)
    }
}

/// The client for a private engine.
pub(super) fn client(files: &Files) -> Result<Engine, EngineError> {
    Ok(Engine {
        kind: EngineKind::Docker,
        program: program_or_install("docker", "docker.io")?,
        env: vec![("DOCKER_HOST".to_owned(), files.host())],
        dir: files.dir.clone(),
    })
}

/// Starts a private engine in the first variant that runs a container; makes the base image on the way.
pub(super) fn start(files: &Files, networks: &[Network]) -> Result<(Engine, Child), EngineError> {
    // The package of the daemon brings the client too.
    program_or_install("dockerd", "docker.io")?;
    let engine = client(files)?;
    let mut attempts = Vec::new();
    for (storage, network) in VARIANTS.into_iter().filter(|(_, network)| networks.contains(network)) {
        match start_variant(files, &engine, storage, network) {
            Ok(child) => return Ok((engine, child)),
            Err(reason) => attempts.push(format!("- {storage}, network {network:?}: {reason}")),
        }
    }
    Err(EngineError::NotStarted { attempts: attempts.join("\n") })
}

fn start_variant(files: &Files, engine: &Engine, storage: &str, network: Network) -> Result<Child, String> {
    let mut child = launch(files, storage, network).map_err(|error| error.to_string())?;
    match image::build(engine, Image::Base).and_then(|()| smoke(engine)) {
        Ok(()) => Ok(child),
        Err(error) => {
            let log = log_tail(files);
            end(files, &mut child);
            // Another variant must not find what this one stored.
            let _gone = fs::remove_dir_all(files.data());
            Err(format!("{error}\n{log}"))
        }
    }
}

/// Starts dockerd with one set of options and waits until it answers.
pub(super) fn launch(files: &Files, storage: &str, network: Network) -> Result<Child, EngineError> {
    let dockerd = program_or_install("dockerd", "docker.io")?;
    remove_stale(files);
    let settings = files.dir.join("daemon.json");
    fs::write(&settings, "{}").map_err(EngineError::file("write", &settings))?;
    let log = File::create(files.log()).map_err(EngineError::file("write", &files.log()))?;
    let errors = log.try_clone().map_err(EngineError::file("write", &files.log()))?;
    // Namespaces of its own: bridge, packet filters and mounts vanish with the engine, even after a kill -9.
    let mut command = Command::new("unshare");
    command
        .args(["--net", "--mount", "--propagation", "slave", "--", "/bin/sh", "-c"])
        .args(["ip link set lo up 2>/dev/null; exec \"$@\"", "sh"])
        .arg(&dockerd)
        .args(arguments(files, storage, network))
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        // Not ended by an interrupt that is meant for the test run.
        .process_group(0);
    let program = PathBuf::from("unshare");
    let mut child =
        command.spawn().map_err(|error| EngineError::Program { program, reason: error.to_string() })?;
    let answered = poll_until(START_LIMIT, || match child.try_wait() {
        Ok(Some(status)) => Some(Err(format!("dockerd ended with {status}"))),
        _ => ping(&files.socket()).then_some(Ok(())),
    });
    let problem = match answered {
        Some(Ok(())) => return Ok(child),
        Some(Err(reason)) => reason,
        None => format!("no answer within {START_LIMIT:?}"),
    };
    let log = log_tail(files);
    end(files, &mut child);
    Err(EngineError::NotStarted { attempts: format!("{problem}\n{log}") })
}

/// Removes what a killed daemon left in the way of the next one.
fn remove_stale(files: &Files) {
    let _none_there = fs::remove_file(files.pid());
    let _none_there = fs::remove_file(files.socket());
    // dockerd takes a zombie for a living containerd and waits for it in vain.
    let containerd = files.dir.join("exec/containerd/containerd.pid");
    let pid = fs::read_to_string(&containerd).ok().and_then(|text| text.trim().parse().ok());
    if pid.is_some_and(|pid| !remains::is_alive(pid)) {
        let _none_there = fs::remove_file(&containerd);
    }
}

fn arguments(files: &Files, storage: &str, network: Network) -> Vec<String> {
    let below = |name: &str| files.dir.join(name).display().to_string();
    let mut arguments = vec![
        format!("--config-file={}", below("daemon.json")),
        format!("--data-root={}", below("data")),
        format!("--exec-root={}", below("exec")),
        format!("--pidfile={}", files.pid().display()),
        format!("--host={}", files.host()),
        format!("--storage-driver={storage}"),
        format!("--cgroup-parent=/{}", files.cgroup()),
        "--exec-opt=native.cgroupdriver=cgroupfs".to_owned(),
        "--userland-proxy=false".to_owned(),
        "--shutdown-timeout=5".to_owned(),
    ];
    if network == Network::Off {
        arguments.extend(["--bridge=none", "--iptables=false", "--ip-masq=false"].map(str::to_owned));
    }
    arguments
}

/// Runs a container: a daemon that answers may still be unable to.
fn smoke(engine: &Engine) -> Result<(), EngineError> {
    let args = ["run", "--rm", Image::Base.name(), "/bin/bash", "-c", "echo up"];
    let finished = engine.try_cli(args, Vec::new())?;
    if finished.end == End::Code(0) && finished.out() == "up\n" {
        return Ok(());
    }
    Err(EngineError::Unusable { action: "run a container".to_owned(), report: finished.to_string() })
}

/// Ends a dockerd that we started, and everything that belongs to it.
pub(super) fn end(files: &Files, child: &mut Child) {
    remains::terminate(child.id().cast_signed(), || matches!(child.try_wait(), Ok(None)));
    let _reaped = child.wait();
    remains::clear(files);
}

/// Kills running containers, because dockerd would wait ten seconds for each that ignores a polite request.
pub(super) fn kill_containers(engine: &Engine) {
    let running = engine.try_cli(["ps", "--quiet"], Vec::new()).map(|finished| finished.lines());
    if let Ok(ids) = running
        && !ids.is_empty()
    {
        // Those that have ended meanwhile are fine.
        let _finished = engine.try_cli(["kill".to_owned()].into_iter().chain(ids), Vec::new());
    }
}

/// True when an engine answers on the socket.
fn ping(socket: &Path) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n")?;
        let mut start = [0; 12];
        stream.read_exact(&mut start)?;
        Ok(start.ends_with(b" 200"))
    };
    ask().unwrap_or(false)
}

fn log_tail(files: &Files) -> String {
    let text = fs::read_to_string(files.log()).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n")
}

/// The client program, when there is one already.
pub(super) fn installed_client() -> Option<PathBuf> {
    find_program("docker")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_of_an_engine_is_below_its_directory() {
        let files = Files::new(Path::new("/var/tmp/e"));
        let arguments = arguments(&files, "vfs", Network::Off);
        for name in ["--config-file=", "--data-root=", "--exec-root=", "--pidfile=", "--host=unix://"] {
            let argument = arguments.iter().find_map(|argument| argument.strip_prefix(name)).expect(name);
            assert!(argument.starts_with("/var/tmp/e/"), "{name}{argument}");
        }
        assert_eq!(files.cgroup(), "hermes-test-var-tmp-e");
    }
}
