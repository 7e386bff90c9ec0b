//! A small script that outlives the test processes and ends an engine that nobody stopped, for example after an
//! interrupted test run.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use super::EngineError;
use super::daemon::Files;

const SCRIPT: &str = include_str!("watchdog.sh");
const PID_FILE: &str = "watchdog.pid";
/// After this long without a new user and without a living one, an engine ends by itself.
const IDLE_MINUTES: &str = "10";
const SECONDS_BETWEEN_LOOKS: &str = "20";

/// Starts the watchdog of an engine unless it runs. The caller holds the lock.
pub(super) fn start(files: &Files) -> Result<(), EngineError> {
    if running(&files.dir).is_some() {
        return Ok(());
    }
    let child = spawn(files, IDLE_MINUTES, SECONDS_BETWEEN_LOOKS)
        .map_err(|error| EngineError::Program { program: "/bin/sh".into(), reason: error.to_string() })?;
    let note = files.dir.join(PID_FILE);
    fs::write(&note, child.id().to_string()).map_err(EngineError::file("write", &note))
}

/// Ends the watchdog of an engine.
pub(super) fn stop(dir: &Path) {
    if let Some(pid) = running(dir) {
        let _gone_already = kill_process_group(pid, Signal::KILL);
    }
}

fn spawn(files: &Files, idle_minutes: &str, pause: &str) -> io::Result<Child> {
    Command::new("/bin/sh")
        .args(["-c", SCRIPT, "sh"])
        .arg(&files.dir)
        .args([idle_minutes, &files.cgroup(), pause])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

fn running(dir: &Path) -> Option<Pid> {
    let pid: i32 = fs::read_to_string(dir.join(PID_FILE)).ok()?.trim().parse().ok()?;
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    // The number may belong to another process by now.
    String::from_utf8_lossy(&arguments).contains(&*dir.to_string_lossy()).then(|| Pid::from_raw(pid))?
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::holders::Holders;
    use super::*;
    use crate::wait_until;

    const SOON: Duration = Duration::from_secs(20);

    fn sleeper() -> Child {
        Command::new("sleep").arg("300").spawn().expect("a process")
    }

    /// An engine directory whose daemon is the given process.
    fn engine_dir(root: &Path, daemon: &Child) -> Files {
        let files = Files::new(&root.join("engine"));
        fs::create_dir_all(&files.dir).expect("a directory");
        fs::write(files.pid(), daemon.id().to_string()).expect("written");
        fs::write(files.dir.join("last-used"), "").expect("written");
        files
    }

    #[test]
    fn an_engine_ends_with_its_last_user() {
        let root = tempfile::tempdir().expect("a directory");
        let (mut daemon, mut user) = (sleeper(), sleeper());
        let files = engine_dir(root.path(), &daemon);
        Holders::of(&files.dir).add(user.id()).expect("noted");
        let mut watchdog = spawn(&files, "0", "0.05").expect("a watchdog");

        wait_until(SOON, "it has looked", || files.dir.join("in-use").exists());
        assert!(daemon.try_wait().expect("a look").is_none() && files.dir.exists(), "a user lives");

        user.kill().expect("killed");
        // Not reaped before the end: a dead user counts as gone even while it is a zombie.
        wait_until(SOON, "the directory is gone", || !files.dir.exists());
        assert!(!daemon.wait().expect("its end").success());
        user.wait().expect("its end");
        assert!(watchdog.wait().expect("its end").success());
    }

    #[test]
    fn a_recently_used_engine_stays() {
        let root = tempfile::tempdir().expect("a directory");
        let mut daemon = sleeper();
        let files = engine_dir(root.path(), &daemon);
        let mut watchdog = spawn(&files, "5", "0.05").expect("a watchdog");
        wait_until(SOON, "it has looked", || files.dir.join("in-use").exists());
        assert!(daemon.try_wait().expect("a look").is_none() && files.dir.exists());
        fs::remove_dir_all(&files.dir).expect("removed");
        assert!(watchdog.wait().expect("its end").success(), "it ends with the directory");
        daemon.kill().expect("killed");
        daemon.wait().expect("its end");
    }
}
