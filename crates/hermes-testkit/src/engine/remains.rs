//! Ends what a private engine left: its processes and its control groups, also after it was killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::daemon::Files;
use crate::command::poll_until;

const TERM_LIMIT: Duration = Duration::from_secs(20);
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// True for a process that runs; a zombie does not.
pub(super) fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses and may hold anything.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Asks a process to end, and kills it when it does not.
pub(super) fn terminate(pid: i32, mut runs: impl FnMut() -> bool) {
    let Some(target) = Pid::from_raw(pid) else { return };
    for (signal, limit) in [(Signal::TERM, TERM_LIMIT), (Signal::KILL, KILL_LIMIT)] {
        if !runs() || kill_process(target, signal).is_err() {
            return;
        }
        if poll_until(limit, || (!runs()).then_some(())).is_some() {
            return;
        }
    }
}

/// Kills every process that belongs to the engine and removes its control groups.
pub(super) fn clear(files: &Files) {
    // Killing a shim may let its container start a last process, so look again until there is none.
    let ended = poll_until(KILL_LIMIT, || {
        let left = processes(files);
        for pid in left.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            let _gone_already = kill_process(pid, Signal::KILL);
        }
        left.is_empty().then_some(())
    });
    if ended.is_some() {
        for group in control_groups(&files.cgroup()) {
            remove_tree_of_groups(&group);
        }
    }
}

/// Processes that run below the engine's control group, or whose arguments name its run directory.
fn processes(files: &Files) -> Vec<i32> {
    let group = format!("/{}/", files.cgroup());
    let run_dir = files.dir.join("exec").display().to_string();
    let Ok(listing) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = listing.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let read = |name| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let names = |bytes: Vec<u8>, part: &str| String::from_utf8_lossy(&bytes).contains(part);
        is_alive(*pid) && (names(read("cgroup"), &group) || names(read("cmdline"), &run_dir))
    })
    .collect()
}

/// The group in every hierarchy (version 1) or in the only one (version 2).
fn control_groups(name: &str) -> Vec<PathBuf> {
    let root = Path::new("/sys/fs/cgroup");
    let hierarchies = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    hierarchies.chain([root.to_path_buf()]).map(|dir| dir.join(name)).filter(|dir| dir.is_dir()).collect()
}

/// Removes a group with those below it. Files in it are the kernel's and go with the directory.
fn remove_tree_of_groups(group: &Path) {
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_tree_of_groups(&entry.path());
        }
    }
    // A group that is still busy stays; it is empty and harmless.
    let _busy = fs::remove_dir(group);
}
