//! Who uses a home: files must not be swapped under a running program.
//!
//! A gateway says so in its pid file; every other process of either program that works with conversations, boards or
//! answers has a database open.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use hermes_home::Profile;
use hermes_home::profiles::{ProfileError, Profiles};

use crate::commands::backup::rules;

/// Someone who would lose the ground under their feet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum User {
    /// A profile's gateway runs.
    Gateway { profile: Profile, pid: i32 },
    /// A process has a database of the home open.
    Database { pid: u32, program: String, database: PathBuf },
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gateway { profile, pid } => {
                write!(f, "the gateway of profile \"{profile}\" runs as process {pid}")
            }
            Self::Database { pid, program, database } => {
                write!(f, "process {pid} ({program}) has {} open", database.display())
            }
        }
    }
}

/// The first user that is found of the home at `home`, which is a root or a profile's.
pub fn first_user(home: &Path, user_home: &Path) -> Result<Option<User>, ProfileError> {
    let profiles = Profiles::new(home, user_home).list()?;
    let gateways = profiles.into_iter().filter_map(|summary| {
        let pid = summary.gateway?.pid;
        Some(User::Gateway { profile: summary.profile, pid })
    });
    let databases = || database_users(home, Path::new("/proc"), std::process::id()).into_iter();
    Ok(gateways.chain(databases()).next())
}

/// Looks through the processes in `proc_dir` (`/proc`) for open databases below `home`, except our own.
///
/// Processes of other users cannot be looked into; they cannot use a private home either.
fn database_users(home: &Path, proc_dir: &Path, own_pid: u32) -> Vec<User> {
    let home = fs::canonicalize(home).unwrap_or_else(|_| home.to_path_buf());
    let mut users = Vec::new();
    for entry in proc_dir.read_dir().into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if pid == own_pid {
            continue;
        }
        if let Some(database) = open_database(&entry.path(), &home) {
            let program = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            users.push(User::Database { pid, program: program.trim().to_owned(), database });
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
