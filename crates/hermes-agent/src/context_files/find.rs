//! Which files of a directory speak to agents.

use std::path::{Path, PathBuf};

/// Directories looked at on the way up: a deeper tree is a loop of mounts.
pub(super) const MOST_DIRS: usize = 32;
/// Rule files of Cursor that are taken from a directory.
const MOST_RULES: usize = 50;

/// A kind of file that speaks to agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `.hermes.md` or `HERMES.md`: for this program.
    Hermes,
    /// `AGENTS.md`: for every agent.
    Agents,
    /// `CLAUDE.md`: for one agent, useful to all.
    Claude,
    /// `.cursorrules` and `.cursor/rules/*.mdc`: for an editor, useful to all.
    Cursor,
}

impl Kind {
    /// All kinds, the one that counts first.
    pub const ALL: [Self; 4] = [Self::Hermes, Self::Agents, Self::Claude, Self::Cursor];

    /// The names such a file has, the one that counts first.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Hermes => &[".hermes.md", "HERMES.md"],
            Self::Agents => &["AGENTS.md", "agents.md"],
            Self::Claude => &["CLAUDE.md", "claude.md"],
            Self::Cursor => &[".cursorrules"],
        }
    }
}

/// The top of the git repository a directory lies in. A worktree has a file `.git` where others have a directory.
pub fn repository(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_path_buf)
}

/// The files of a directory that speak to agents, in the order in which they are read.
pub(super) fn in_dir(dir: &Path) -> Vec<PathBuf> {
    Kind::ALL.into_iter().map(|kind| of_kind(dir, kind)).find(|found| !found.is_empty()).unwrap_or_default()
}

fn of_kind(dir: &Path, kind: Kind) -> Vec<PathBuf> {
    let named = kind.names().iter().map(|name| dir.join(name)).find(|path| path.is_file());
    let mut found: Vec<PathBuf> = named.into_iter().collect();
    if kind == Kind::Cursor {
        found.extend(cursor_rules(&dir.join(".cursor/rules")));
    }
    found
}

fn cursor_rules(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let is_rule = |path: &PathBuf| path.extension().is_some_and(|end| end == "mdc") && path.is_file();
    let mut rules: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(is_rule).collect();
    rules.sort();
    rules.truncate(MOST_RULES);
    rules
}
