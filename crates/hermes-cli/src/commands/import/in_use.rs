//! Who uses a home: files must not be swapped under a running program.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::commands::backup::rules;

/// A process that has a database of the home open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub pid: u32,
    pub program: String,
    pub database: PathBuf,
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({}) has {} open", self.pid, self.program, self.database.display())
    }
}

/// Looks through the processes in `proc_dir` (`/proc`) for open databases below `home`, except our own.
///
/// Processes of other users cannot be looked into; they cannot use a private home either.
pub fn database_users(home: &Path, proc_dir: &Path, own_pid: u32) -> Vec<User> {
    let home = fs::canonicalize(home).unwrap_or_else(|_| home.to_path_buf());
    let mut users = Vec::new();
    for entry in proc_dir.read_dir().into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if pid == own_pid {
            continue;
        }
        if let Some(database) = open_database(&entry.path(), &home) {
            let program = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            users.push(User { pid, program: program.trim().to_owned(), database });
        }
    }
    users
}

fn open_database(process: &Path, home: &Path) -> Option<PathBuf> {
    let files = process.join("fd").read_dir().into_iter().flatten().flatten();
    files.filter_map(|fd| fs::read_link(fd.path()).ok()).find(|path| {
        let base = rules::sidecar_of(path).unwrap_or(path);
        path.starts_with(home) && rules::is_database(base)
    })
}
