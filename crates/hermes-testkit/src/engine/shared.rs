//! The engine that all test processes share: found or started under a lock, held while someone lives, then gone.

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::daemon::{self, Files, Network};
use super::holders::Holders;
use super::{Engine, EngineError, EngineKind, Image, LABEL, podman as podman_engine, remains, watchdog};
use crate::command::{End, run_limited};

const PROBE_LIMIT: Duration = Duration::from_secs(20);

/// When the shared engine is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// Only if no living process uses it, apart from this one, whose use ends now.
    UnlessUsed {
        /// The process that [`Engine::hold_for`] named.
        holder: u32,
    },
    /// In any case.
    Now,
}

/// What became of the shared engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// All that was made for tests is gone.
    Removed,
    /// Nothing had been made.
    NothingThere,
    /// These living processes still use it, so it stays.
    StillUsed(Vec<u32>),
}

/// The directory of the shared engine; `HERMES_TEST_ENGINE_DIR` names another one.
pub fn shared_dir() -> PathBuf {
    let default = || format!("/var/tmp/hermes-test-engine-{}", rustix::process::geteuid().as_raw());
    std::env::var_os("HERMES_TEST_ENGINE_DIR").map_or_else(|| default().into(), PathBuf::from)
}

/// Docker: the one that answers, the private one that runs already, or a new private one.
pub(super) fn docker(dir: &Path) -> Result<Engine, EngineError> {
    let _lock = Lock::take(dir)?;
    note_use(dir, std::process::id())?;
    let files = Files::new(dir);
    let probe = match found(dir) {
        Ok(engine) => return Ok(engine),
        Err(reason) => reason,
    };
    if files.running().is_some() {
        return daemon::client(&files);
    }
    if !rustix::process::geteuid().is_root() {
        return Err(EngineError::NotRoot { probe });
    }
    // A killed engine leaves processes and files that would be in the way of the next.
    remains::clear(&files);
    let _none_there = fs::remove_dir_all(dir.join("data"));
    // The engine outlives this process on purpose; `stop` or the watchdog ends it.
    let (engine, _child) = daemon::start(&files, &[Network::Bridge, Network::Off])?;
    watchdog::start(&files)?;
    Ok(engine)
}

/// Podman with a storage below the directory.
pub(super) fn podman(dir: &Path) -> Result<Engine, EngineError> {
    let _lock = Lock::take(dir)?;
    note_use(dir, std::process::id())?;
    let engine = podman_engine::set_up(dir)?;
    watchdog::start(&Files::new(dir))?;
    Ok(engine)
}

/// Notes a process as a user.
pub(super) fn hold(dir: &Path, holder: u32) -> Result<(), EngineError> {
    let _lock = Lock::take(dir)?;
    note_use(dir, holder)
}

/// Ends the private engines and removes what tests made in a foreign one.
pub(super) fn stop(dir: &Path, when: Shutdown) -> Result<Stopped, EngineError> {
    if !dir.exists() {
        return Ok(Stopped::NothingThere);
    }
    let _lock = Lock::take(dir)?;
    let holders = Holders::of(dir);
    holders.remove(std::process::id());
    if let Shutdown::UnlessUsed { holder } = when {
        holders.remove(holder);
        let living = holders.living();
        if !living.is_empty() {
            return Ok(Stopped::StillUsed(living));
        }
    }
    let files = Files::new(dir);
    match files.running() {
        Some(pid) => {
            daemon::kill_containers(&daemon::client(&files)?);
            remains::terminate(pid, || remains::is_alive(pid));
        }
        None => remove_from_foreign_engine(dir),
    }
    remains::clear(&files);
    watchdog::stop(dir);
    podman_engine::remove_all(dir);
    // Holding the lock file open while it goes away is safe: see `Lock::take`.
    fs::remove_dir_all(dir).map_err(EngineError::file("remove", dir))?;
    Ok(Stopped::Removed)
}

/// The engine that answers to the client as it is configured here, or what the client said.
fn found(dir: &Path) -> Result<Engine, String> {
    let program = daemon::installed_client().ok_or("the program 'docker' is not installed")?;
    let ask = |args: &[&str]| {
        let mut command = Command::new(&program);
        command.args(args);
        let finished = run_limited(command, Vec::new(), PROBE_LIMIT).map_err(|error| error.to_string())?;
        let said = if finished.end == End::Code(0) { Ok(finished.out()) } else { Err(finished.err()) };
        said.map(|text| text.trim().to_owned()).map_err(|text| text.trim().to_owned())
    };
    ask(&["version", "--format", "{{.Server.Version}}"])?;
    // Programs under test get another home, so the endpoint is named instead of taken from a context there.
    let host = match std::env::var("DOCKER_HOST") {
        Ok(host) if !host.is_empty() => host,
        _ => ask(&["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"])?,
    };
    let mut env = vec![("DOCKER_HOST".to_owned(), host)];
    for name in ["DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"] {
        env.extend(std::env::var(name).map(|value| (name.to_owned(), value)));
    }
    Ok(Engine { kind: EngineKind::Docker, program, env, dir: dir.to_path_buf() })
}

fn remove_from_foreign_engine(dir: &Path) {
    let Ok(engine) = found(dir) else { return };
    let filter = format!("label={LABEL}");
    let listed = |list: &[&str]| {
        let args = list.iter().copied().chain(["--quiet", "--filter", filter.as_str()]);
        engine.try_cli(args, Vec::new()).map(|finished| finished.lines()).unwrap_or_default()
    };
    let containers = listed(&["ps", "--all"]);
    let volumes = listed(&["volume", "ls"]);
    let images = [Image::Base, Image::Busybox, Image::Empty].map(|image| image.name().to_owned()).to_vec();
    for (command, names) in [
        (["rm", "--force"].as_slice(), containers),
        (&["volume", "rm", "--force"], volumes),
        (&["image", "rm", "--force"], images),
    ] {
        let args = command.iter().map(|arg| (*arg).to_owned()).chain(names);
        // What is not there cannot be removed, which is as good.
        let _finished = engine.try_cli(args, Vec::new());
    }
}

fn note_use(dir: &Path, pid: u32) -> Result<(), EngineError> {
    Holders::of(dir).add(pid)?;
    let used = dir.join("last-used");
    fs::write(&used, "").map_err(EngineError::file("write", &used))
}

/// A lock on the directory among all processes, released when dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock and makes the directory if it is missing.
    pub(super) fn take(dir: &Path) -> Result<Self, EngineError> {
        let path = dir.join("lock");
        loop {
            make_own_dir(dir)?;
            let opened = File::options().create(true).append(true).open(&path);
            let file = match opened {
                // The directory was removed in between.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                other => other.map_err(EngineError::file("open", &path))?,
            };
            file.lock().map_err(EngineError::file("lock", &path))?;
            // Whoever held it may have removed the directory, and others may have made a new one. Only the
            // lock of the file that is there now counts.
            let same = |now: fs::Metadata| file.metadata().is_ok_and(|ours| ours.ino() == now.ino());
            if fs::metadata(&path).is_ok_and(same) {
                return Ok(Self { _file: file });
            }
        }
    }
}

/// Makes the directory and checks that it is ours: its place is writable by everyone.
fn make_own_dir(dir: &Path) -> Result<(), EngineError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(EngineError::file("make", dir))?;
    let metadata = fs::symlink_metadata(dir).map_err(EngineError::file("look at", dir))?;
    if metadata.is_dir()
        && metadata.uid() == rustix::process::geteuid().as_raw()
        && metadata.mode() & 0o022 == 0
    {
        return Ok(());
    }
    let reason = "it is not a directory that only we can write to".to_owned();
    Err(EngineError::File { action: "use", path: dir.to_path_buf(), reason })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_lock_of_a_removed_directory_does_not_count() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = root.path().join("engine");
        let first = Lock::take(&dir).expect("a lock");
        let path = dir.clone();
        let waiting = std::thread::spawn(move || Lock::take(&path).map(drop));
        fs::remove_dir_all(&dir).expect("removed");
        drop(first);
        waiting.join().expect("no panic").expect("the second lock");
        assert!(dir.join("lock").exists(), "the second lock is on a file that is there");
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let root = tempfile::tempdir().expect("a directory");
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o777)).expect("changed");
        let error = Lock::take(root.path()).expect_err("refused");
        assert!(error.to_string().contains("only we can write to"), "{error}");
    }
}
