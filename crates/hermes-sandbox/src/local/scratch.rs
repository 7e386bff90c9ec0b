//! A directory for the long output of this process's commands, gone with the process.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files;

/// Makes the directory of a process, and takes away those of processes that are gone: one that was killed
/// could not do so itself.
pub fn prepare(root: &Path, pid: u32) -> PathBuf {
    for entry in fs::read_dir(root).into_iter().flatten().filter_map(Result::ok) {
        let owner = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        if owner.is_some_and(|owner| owner != pid && !is_alive(owner)) {
            // Another process may be doing the same.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let own = root.join(pid.to_string());
    // Without it output is kept in memory, within tighter bounds.
    let _ = files::private_dir(&own);
    own
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dead_processes_left_is_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::process::id();
        // Process numbers end long before this one.
        for name in ["4294967295", "1", "not-a-number"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let made = prepare(dir.path(), own);
        assert!(made.is_dir());
        assert!(!dir.path().join("4294967295").exists());
        assert!(dir.path().join("1").exists() && dir.path().join("not-a-number").exists());
    }
}
