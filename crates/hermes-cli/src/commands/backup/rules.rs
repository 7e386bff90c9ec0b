//! What of a home belongs into a backup, decided by path alone.

use std::path::{Component, Path};

/// Directories that are made anew from something else, wherever they lie.
const REBUILT: &[&str] = &[
    "__pycache__",
    ".git",
    "node_modules",
    "venv",
    ".venv",
    "site-packages",
    ".cache",
    ".mypy_cache",
    ".pytest_cache",
];
/// Directories of a home that are programs or copies of it.
const NOT_DATA: &[&str] = &["hermes-agent", "backups", "checkpoints", SNAPSHOTS];
/// What only means something while a process runs.
const PROCESS_FILES: &[&str] = &["gateway.pid", "gateway.lock", "cron.pid"];
/// What a home says about the machine it is on. It is backed up, but an import keeps what is there.
const MACHINE_FILES: &[&str] = &["gateway_state.json", "processes.json"];
/// Files that show that a directory is a home.
const MARKERS: &[&str] = &["config.yaml", ".env", "state.db", "SOUL.md", "kanban.db", "auth.json"];
/// Directories whose files hold keys, conversations or who may talk to the agent.
const PRIVATE_DIRS: &[&str] =
    &["pairing", "platforms", "mcp-tokens", "sessions", "memories", "logs", SNAPSHOTS];

/// Where snapshots and what imports replaced are kept, in every home.
pub const SNAPSHOTS: &str = "state-snapshots";
const PROFILES: &str = "profiles";
const MEMORIES: &str = "memories";
/// Files that mean something only while a process holds them.
const LOCKS: &[&str] = &[".settings.lock", "auth.lock", ".lock"];
/// Marks an archive of ours, in its comment: a home may lack every file it could be known by.
pub const MARK: &str = "hermes backup";
/// How backups are called, and our unfinished ones.
pub const BACKUP_PREFIX: &str = "hermes-backup-";
const OUR_TEMPORARY: &[&str] = &[".hermes-write-", ".hermes-backup-"];
const SIDECARS: &[&str] = &["-wal", "-journal", "-shm"];

/// Whether something is part of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Take,
    /// It is left out, and the summary says so.
    LeaveOut,
    /// It is left out, and nobody would miss it.
    Ignore,
}

/// Judges a directory by its path relative to the root home.
pub fn directory(relative: &Path) -> Verdict {
    let name = name(relative);
    let left_out = REBUILT.contains(&name) || (is_in_home(relative) && NOT_DATA.contains(&name));
    let beside_profiles = relative.parent() == Some(Path::new(PROFILES));
    match () {
        () if starts_with_any(name, OUR_TEMPORARY) => Verdict::Ignore,
        // A profile may be called anything, also "venv"; hidden beside them is what is being built.
        () if beside_profiles => {
            if name.starts_with('.') {
                Verdict::Ignore
            } else {
                Verdict::Take
            }
        }
        () if left_out => Verdict::LeaveOut,
        () => Verdict::Take,
    }
}

/// Judges a file by its path relative to the root home.
pub fn file(relative: &Path) -> Verdict {
    let name = name(relative);
    let compiled = has_extension(relative, &["pyc", "pyo"]);
    let process = is_in_home(relative) && PROCESS_FILES.contains(&name);
    let backup = is_in_home(relative) && name.starts_with(BACKUP_PREFIX) && has_extension(relative, &["zip"]);
    let beside_profiles = relative.parent() == Some(Path::new(PROFILES));
    let lock = (is_in_home(relative) || beside_profiles) && LOCKS.contains(&name);
    match () {
        () if starts_with_any(name, OUR_TEMPORARY) || compiled || process || lock => Verdict::Ignore,
        () if sidecar_of(relative).is_some() => Verdict::Ignore,
        () if backup => Verdict::LeaveOut,
        () => Verdict::Take,
    }
}

/// Whether the content behind a symbolic link belongs into a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linked {
    /// If it is a file.
    File,
    /// The files in it, if it is a directory.
    Directory,
    /// It does not.
    Nothing,
}

/// Judges a link by its path relative to the root home: people keep settings, keys and memory in other places.
pub fn link(relative: &Path) -> Linked {
    let memory = |path: &Path| is_in_home(path) && name(path) == MEMORIES;
    match () {
        () if is_marker(relative) || (is_in_home(relative) && is_database(relative)) => Linked::File,
        () if relative.parent().is_some_and(memory) => Linked::File,
        () if memory(relative) => Linked::Directory,
        () => Linked::Nothing,
    }
}

/// Whether an import keeps what this machine has instead of what the backup says.
pub fn is_of_this_machine(relative: &Path) -> bool {
    let name = name(relative);
    is_in_home(relative) && (PROCESS_FILES.contains(&name) || MACHINE_FILES.contains(&name))
}

/// Whether the file shows that a directory is a home.
pub fn is_marker(relative: &Path) -> bool {
    is_in_home(relative) && MARKERS.contains(&name(relative))
}

/// Whether the name says that `SQLite` must read and write the file.
pub fn is_database(relative: &Path) -> bool {
    has_extension(relative, &["db", "sqlite", "sqlite3", "db3"])
}

/// The database a file belongs to, when it is the log, journal or index of one.
pub fn sidecar_of(relative: &Path) -> Option<&Path> {
    let text = relative.to_str()?;
    let base = SIDECARS.iter().find_map(|suffix| text.strip_suffix(suffix))?;
    Some(Path::new(base)).filter(|base| is_database(base))
}

/// The files that belong to a database, if they exist.
pub fn sidecars(database: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    SIDECARS.iter().map(move |suffix| {
        let mut name = database.as_os_str().to_owned();
        name.push(suffix);
        name.into()
    })
}

/// Whether a restored file must be 0600 whatever the archive says.
pub fn is_private(relative: &Path) -> bool {
    let name = name(relative);
    let in_private_dir = relative
        .components()
        .any(|c| matches!(c, Component::Normal(n) if PRIVATE_DIRS.iter().any(|d| n == *d)));
    in_private_dir
        || is_database(relative)
        || sidecar_of(relative).is_some()
        || name.starts_with(".env")
        || matches!(name, "auth.json" | "config.yaml")
        || has_extension(relative, &["pem", "key"])
}

/// Whether something lies directly in the root home or in a profile's.
pub fn is_in_home(relative: &Path) -> bool {
    let parents: Vec<_> = relative.components().collect();
    match parents.as_slice() {
        [_] => true,
        [Component::Normal(first), _, _] => *first == PROFILES,
        _ => false,
    }
}

fn name(relative: &Path) -> &str {
    relative.file_name().and_then(|n| n.to_str()).unwrap_or_default()
}

fn starts_with_any(name: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

fn has_extension(relative: &Path, extensions: &[&str]) -> bool {
    let extension = relative.extension().and_then(|e| e.to_str()).unwrap_or_default();
    extensions.iter().any(|e| e.eq_ignore_ascii_case(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_rebuilt_is_left_out_everywhere() {
        for path in ["node_modules", "workspace/app/node_modules", "skills/x/.git", "profiles/a/venv"] {
            assert_eq!(directory(Path::new(path)), Verdict::LeaveOut, "{path}");
        }
        for path in ["skills", "profiles", "profiles/a", "workspace/build", "home/.config"] {
            assert_eq!(directory(Path::new(path)), Verdict::Take, "{path}");
        }
    }

    #[test]
    fn what_is_named_like_our_directories_elsewhere_is_the_users() {
        for path in ["backups", "hermes-agent", "profiles/a/checkpoints", "profiles/a/state-snapshots"] {
            assert_eq!(directory(Path::new(path)), Verdict::LeaveOut, "{path}");
        }
        for path in ["workspace/backups", "skills/checkpoints", "profiles/backups/skills/hermes-agent"] {
            assert_eq!(directory(Path::new(path)), Verdict::Take, "{path}");
        }
        assert_eq!(file(Path::new("workspace/gateway.pid")), Verdict::Take);
    }

    #[test]
    fn a_profile_may_have_any_name() {
        for path in ["profiles/venv", "profiles/node_modules", "profiles/backups"] {
            assert_eq!(directory(Path::new(path)), Verdict::Take, "{path}");
        }
        assert_eq!(directory(Path::new("profiles/.new-x")), Verdict::Ignore);
        assert_eq!(directory(Path::new("profiles/a/venv")), Verdict::LeaveOut);
    }

    #[test]
    fn process_files_and_sidecars_are_ignored() {
        for path in ["gateway.pid", "profiles/a/cron.pid", "state.db-wal", "x/y.sqlite-shm", "a.pyc"] {
            assert_eq!(file(Path::new(path)), Verdict::Ignore, "{path}");
        }
        for path in ["state.db", "notes-wal", "gateway_state.json", "Cargo.lock", "x.zip"] {
            assert_eq!(file(Path::new(path)), Verdict::Take, "{path}");
        }
        assert_eq!(file(Path::new("hermes-backup-2026.zip")), Verdict::LeaveOut);
    }

    #[test]
    fn links_are_followed_where_a_home_cannot_do_without() {
        for path in
            ["config.yaml", "profiles/a/.env", "kanban.db", "memories/USER.md", "profiles/a/memories/x"]
        {
            assert_eq!(link(Path::new(path)), Linked::File, "{path}");
        }
        assert_eq!(link(Path::new("profiles/a/memories")), Linked::Directory);
        for path in ["skills", "workspace/config.yaml", "skills/memories/x.md", "memories/a/b", "x/y.db"] {
            assert_eq!(link(Path::new(path)), Linked::Nothing, "{path}");
        }
    }

    #[test]
    fn lock_files_are_ignored_where_we_make_them() {
        for path in [".settings.lock", "profiles/a/.settings.lock", "profiles/.lock"] {
            assert_eq!(file(Path::new(path)), Verdict::Ignore, "{path}");
        }
        assert_eq!(file(Path::new("workspace/.lock")), Verdict::Take);
    }

    #[test]
    fn secrets_are_known_by_name() {
        for path in
            [".env", "profiles/a/.env", "auth.json", "x.db", "x.db-wal", "pairing/t.json", "config.yaml"]
        {
            assert!(is_private(Path::new(path)), "{path}");
        }
        assert!(!is_private(Path::new("skills/x/SKILL.md")));
    }

    #[test]
    fn markers_count_only_where_a_home_has_them() {
        assert!(is_marker(Path::new("config.yaml")) && is_marker(Path::new("profiles/a/.env")));
        assert!(!is_marker(Path::new("docs/config.yaml")));
    }
}
