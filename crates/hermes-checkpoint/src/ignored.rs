//! What snapshots leave out: what is built or fetched, secrets, and what the project's own ignore files name.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Left out everywhere unless a project's own ignore file says otherwise. The store's `info/exclude` starts as this.
pub(crate) const EXCLUDES: &[&str] = &[
    "node_modules/",
    "dist/",
    "build/",
    "target/",
    "out/",
    ".next/",
    ".nuxt/",
    "__pycache__/",
    "*.pyc",
    "*.pyo",
    ".cache/",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    "coverage/",
    ".coverage",
    ".venv/",
    "venv/",
    "env/",
    ".git/",
    ".hg/",
    ".svn/",
    ".worktrees/",
    "*.so",
    "*.dylib",
    "*.dll",
    "*.o",
    "*.a",
    "*.jar",
    "*.class",
    "*.exe",
    "*.obj",
    "*.mp4",
    "*.mov",
    "*.mkv",
    "*.webm",
    "*.zip",
    "*.tar",
    "*.tar.gz",
    "*.tgz",
    "*.7z",
    "*.rar",
    "*.iso",
    ".env",
    ".env.*",
    ".env.local",
    ".env.*.local",
    ".DS_Store",
    "Thumbs.db",
    "*.log",
];

/// Ignore files larger than this are not read.
pub(crate) const LONGEST: u64 = 1024 * 1024;
/// The name of ignore files.
pub(crate) const FILE: &str = ".gitignore";

/// The rules in force at one place of a walk: the innermost ignore file that has something to say decides.
pub(crate) struct Rules {
    everywhere: Gitignore,
    nested: Vec<(PathBuf, Gitignore)>,
}

impl Rules {
    /// Rules with these lines everywhere.
    pub(crate) fn new<'a>(everywhere: impl IntoIterator<Item = &'a str>) -> Self {
        Self { everywhere: matcher(Path::new(""), everywhere), nested: Vec::new() }
    }

    /// Adds the ignore file of a directory; directories above it have been added before.
    pub(crate) fn enter(&mut self, dir: &Path, content: &[u8]) {
        let text = String::from_utf8_lossy(content);
        self.nested.push((dir.to_path_buf(), matcher(dir, text.lines())));
    }

    /// Forgets the ignore file of a directory, if it had one.
    pub(crate) fn leave(&mut self, dir: &Path) {
        self.nested.pop_if(|(top, _)| top == dir);
    }

    /// Whether one entry is left out, its directory being in.
    pub(crate) fn leave_out(&self, path: &Path, is_dir: bool) -> bool {
        if path.file_name().is_some_and(is_never_kept) {
            return true;
        }
        let absolute = Path::new("/").join(path);
        let inner = self.nested.iter().rev().filter(|(dir, _)| path.starts_with(dir));
        for (_, rules) in inner {
            let said = rules.matched(&absolute, is_dir);
            if !said.is_none() {
                return said.is_ignore();
            }
        }
        self.everywhere.matched(&absolute, is_dir).is_ignore()
    }

    /// Whether a file is left out, by itself or with a directory above it.
    pub(crate) fn leave_out_file(&self, path: &Path) -> bool {
        let mut above: Vec<&Path> =
            path.ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty()).collect();
        above.reverse();
        above.into_iter().any(|dir| self.leave_out(dir, true)) || self.leave_out(path, false)
    }
}

/// Secrets, the insides of repositories and drafts of ours, whatever an ignore file says.
fn is_never_kept(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let draft = crate::tree::DRAFT.as_bytes();
    name == b".git" || name == b".env" || name.starts_with(b".env.") || name.starts_with(draft)
}

fn matcher<'a>(dir: &Path, lines: impl IntoIterator<Item = &'a str>) -> Gitignore {
    let mut builder = GitignoreBuilder::new(Path::new("/").join(dir));
    for line in lines {
        // A line that is no pattern matches nothing, as in git.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_files_win_and_secrets_never_come_back() {
        let mut rules = Rules::new(EXCLUDES.iter().copied());
        assert!(rules.leave_out(Path::new("target"), true));
        assert!(!rules.leave_out(Path::new("target"), false));
        assert!(rules.leave_out(Path::new("a/b.log"), false));
        rules.enter(Path::new(""), b"*.txt\n!*.log\n!.env\n");
        rules.enter(Path::new("a"), b"!keep.txt\n/top\n");
        assert!(rules.leave_out(Path::new("x.txt"), false));
        assert!(!rules.leave_out(Path::new("a/keep.txt"), false));
        assert!(!rules.leave_out(Path::new("a/b.log"), false));
        assert!(rules.leave_out(Path::new("a/top"), false));
        assert!(!rules.leave_out(Path::new("a/b/top"), false));
        assert!(rules.leave_out(Path::new("a/.env.local"), false));
        rules.leave(Path::new("a"));
        assert!(rules.leave_out(Path::new("a/keep.txt"), false));
    }

    #[test]
    fn a_file_goes_with_its_directory() {
        let rules = Rules::new(EXCLUDES.iter().copied());
        assert!(rules.leave_out_file(Path::new("web/node_modules/x/index.js")));
        assert!(!rules.leave_out_file(Path::new("web/src/index.js")));
    }
}
