//! Finds processes by a directory they carry in their environment, so that none outlives its test.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::command::poll_until;

/// A killed process is gone at once, unless the kernel holds it.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// A running process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its process id.
    pub pid: i32,
    /// Its arguments, joined with spaces.
    pub command: String,
}

impl Process {
    /// Ends it with SIGKILL; a process that is already gone is fine.
    pub fn kill(&self) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _gone_already = kill_process(pid, Signal::KILL);
        }
    }
}

/// Processes whose environment names a path below `root`; zombies have no environment and are not listed.
///
/// Environments are read from `/proc`; on a system without it nothing is found.
pub(crate) fn of(root: &Path) -> Vec<Process> {
    let Ok(listing) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = listing.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| *pid != own_pid())
        .filter_map(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
            names_path(&environment, root).then(|| Process { pid, command: command_line(pid) })
        })
        .collect()
}

/// Kills the processes of a directory that is about to be removed, and waits until they are gone: one that still
/// writes would bring files back.
pub(crate) fn kill_all_of(root: &Path) {
    poll_until(KILL_LIMIT, || {
        let left = of(root);
        left.iter().for_each(Process::kill);
        left.is_empty().then_some(())
    });
}

fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

fn names_path(environment: &[u8], root: &Path) -> bool {
    let root = root.as_os_str().as_bytes();
    environment.split(|byte| *byte == 0).any(|variable| {
        let value = variable.splitn(2, |byte| *byte == b'=').nth(1).unwrap_or_default();
        value.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    })
}

fn command_line(pid: i32) -> String {
    let raw = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&raw).trim_end_matches('\0').replace('\0', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_at_or_below_the_root_count() {
        let root = Path::new("/tmp/home-a");
        assert!(names_path(b"A=1\0HOME=/tmp/home-a\0", root));
        assert!(names_path(b"HOME=/tmp/home-a/home\0", root));
        assert!(!names_path(b"HOME=/tmp/home-ab\0OTHER=x\0", root));
        assert!(!names_path(b"/tmp/home-a\0", root));
    }
}
