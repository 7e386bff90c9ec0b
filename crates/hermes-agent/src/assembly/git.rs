//! Which repository and branch a directory belongs to, read from its files: starting git would take longer than we do.

use std::path::{Path, PathBuf};

/// A repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Its top.
    pub root: PathBuf,
    /// The branch checked out; none when it is no branch.
    pub branch: Option<String>,
}

/// The repository around a directory, if any.
pub fn look(cwd: &Path) -> Option<Repository> {
    let root = crate::context_files::repository(cwd)?;
    let head = git_dir(&root).and_then(|dir| std::fs::read_to_string(dir.join("HEAD")).ok());
    let branch = head.and_then(|head| head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned));
    Some(Repository { root, branch })
}

/// `.git` is a directory, or in a worktree a file that names it.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = std::fs::read_to_string(&dot_git).ok()?;
    let named = PathBuf::from(text.trim().strip_prefix("gitdir: ")?);
    Some(if named.is_absolute() { named } else { root.join(named) })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn branch_and_top_are_found_from_inside() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("src/deep");
        std::fs::create_dir_all(&inside).unwrap();
        assert_eq!(look(&inside).map(|repository| repository.branch), None);
        std::fs::create_dir(dir.path().join(".git")).unwrap();
        std::fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/topic/a\n").unwrap();
        let found = look(&inside).unwrap();
        assert_eq!((found.root.as_path(), found.branch.as_deref()), (dir.path(), Some("topic/a")));
        std::fs::write(dir.path().join(".git/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(look(&inside).unwrap().branch, None);
    }

    #[test]
    fn a_worktree_names_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, real) = (dir.path().join("tree"), dir.path().join("repo/.git/worktrees/tree"));
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::create_dir_all(&real).unwrap();
        std::fs::write(tree.join(".git"), format!("gitdir: {}\n", real.display())).unwrap();
        std::fs::write(real.join("HEAD"), "ref: refs/heads/b\n").unwrap();
        assert_eq!(look(&tree).unwrap().branch.as_deref(), Some("b"));
    }
}
