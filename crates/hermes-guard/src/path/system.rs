//! What belongs to the system.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Directories nothing is written in.
const PROTECTED: &[&str] = &[
    "/etc",
    "/boot",
    "/proc",
    "/sys",
    "/usr/lib/systemd",
    "/lib/systemd",
    "/private/etc",
    "/private/var",
    "/var/spool/cron",
];
/// Sockets that give whoever writes to them the machine.
const SOCKETS: &[&str] = &["docker.sock", "podman.sock", "containerd.sock"];
/// Files of a process that show its memory, its environment or its arguments.
const OF_A_PROCESS: &[&str] = &[
    "environ",
    "cmdline",
    "maps",
    "smaps",
    "smaps_rollup",
    "numa_maps",
    "mem",
    "auxv",
    "pagemap",
    "fd",
    "fdinfo",
    "map_files",
];
/// Files with the passwords of the machine's users.
const PASSWORDS: &[&str] = &["/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/sudoers"];
/// Files of the kernel that never end or show everybody's memory.
const OF_THE_KERNEL: &[&str] = &["kcore", "kmsg", "kpagecount", "kpageflags"];

/// Devices, and files that show the insides of processes.
pub(super) fn is_device(path: &Path) -> bool {
    if let Ok(rest) = path.strip_prefix("/dev") {
        // Shared memory holds ordinary files.
        return !rest.starts_with("shm") && rest != Path::new("");
    }
    let Ok(rest) = path.strip_prefix("/proc") else { return false };
    let names: Vec<&OsStr> = rest
        .components()
        .filter_map(|part| if let Component::Normal(name) = part { Some(name) } else { None })
        .collect();
    let listed = |name: &OsStr, list: &[&str]| name.to_str().is_some_and(|name| list.contains(&name));
    match names.as_slice() {
        [name] => listed(name, OF_THE_KERNEL),
        [_, task, _, name, ..] if *task == "task" => listed(name, OF_A_PROCESS),
        [_, name, ..] => listed(name, OF_A_PROCESS),
        [] => false,
    }
}

/// Whether its content is not for showing.
pub(super) fn is_secret(path: &Path) -> bool {
    PASSWORDS.iter().any(|file| path == Path::new(file)) || path.starts_with("/etc/sudoers.d")
}

/// What only the system's own programs write.
pub(super) fn is_protected(path: &Path) -> bool {
    PROTECTED.iter().any(|directory| path.starts_with(directory))
        || path.file_name().and_then(OsStr::to_str).is_some_and(|name| SOCKETS.contains(&name))
}
