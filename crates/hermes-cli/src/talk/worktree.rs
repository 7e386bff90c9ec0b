//! `--worktree`: a git worktree of its own for a conversation, so that it cannot disturb what the user is doing.

use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

/// A worktree that was made for a conversation.
#[derive(Debug)]
pub struct Worktree {
    repository: PathBuf,
    /// Where it is.
    pub path: PathBuf,
    branch: String,
    base: String,
    /// Whether `.gitignore` was changed for it.
    pub ignored: Ignored,
}

/// What became of a worktree.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing was changed in it: it is gone.
    Removed,
    /// It holds work: it stays.
    Kept {
        /// Where.
        path: PathBuf,
        /// Its branch.
        branch: String,
    },
}

/// Whether worktrees were kept out of commits already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// They were.
    Before,
    /// The entry in `.gitignore` is new.
    Now,
}

impl Worktree {
    /// Makes a worktree of the repository around a directory. `name` is eight hexadecimal digits.
    pub fn make(cwd: &Path, name: &str) -> anyhow::Result<Self> {
        let top = git(cwd, &["rev-parse", "--show-toplevel"])
            .context("--worktree needs a git repository: run it inside one, or without --worktree")?;
        let repository = PathBuf::from(top);
        let base = git(&repository, &["rev-parse", "HEAD"]).context(
            "--worktree needs a first commit to start from: commit something, or run without --worktree",
        )?;
        let path = repository.join(".worktrees").join(format!("hermes-{name}"));
        let branch = format!("hermes/hermes-{name}");
        let ignored = ignore_worktrees(&repository)?;
        let place = path.to_str().context("the repository's path is no text")?;
        git(&repository, &["worktree", "add", "-q", "-b", &branch, place, "HEAD"])
            .context("the worktree cannot be made")?;
        let worktree = Self { repository, path, branch, base, ignored };
        if let Err(error) = worktree.bring_along() {
            let _ = worktree.remove();
            return Err(error);
        }
        Ok(worktree)
    }

    /// Removes it if nothing was done in it, else keeps it.
    pub fn end(self) -> anyhow::Result<End> {
        let changed = !git(&self.path, &["status", "--porcelain"])?.is_empty();
        let committed = git(&self.path, &["rev-parse", "HEAD"])? != self.base;
        if changed || committed {
            return Ok(End::Kept { path: self.path, branch: self.branch });
        }
        self.remove()?;
        Ok(End::Removed)
    }

    fn remove(&self) -> anyhow::Result<()> {
        let place = self.path.to_string_lossy();
        git(&self.repository, &["worktree", "remove", "--force", &place])?;
        git(&self.repository, &["branch", "-q", "-D", &self.branch])?;
        Ok(())
    }

    /// Brings along what `.worktreeinclude` lists: files are copied, directories linked.
    fn bring_along(&self) -> anyhow::Result<()> {
        let Ok(list) = std::fs::read_to_string(self.repository.join(".worktreeinclude")) else {
            return Ok(());
        };
        for line in list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let relative = Path::new(line.trim_end_matches('/'));
            if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
                bail!(
                    ".worktreeinclude: '{line}' leads out of the repository; only paths inside it are allowed"
                );
            }
            let (from, to) = (self.repository.join(relative), self.path.join(relative));
            if !from.exists() || to.exists() {
                continue;
            }
            if !from.canonicalize()?.starts_with(self.repository.canonicalize()?) {
                bail!(".worktreeinclude: '{line}' is a link that leads out of the repository");
            }
            if let Some(parent) = to.parent() {
                std::fs::create_dir_all(parent)?;
            }
            if from.is_dir() {
                std::os::unix::fs::symlink(&from, &to)?;
            } else {
                std::fs::copy(&from, &to)?;
            }
        }
        Ok(())
    }
}

/// Keeps `.worktrees/` out of commits.
fn ignore_worktrees(repository: &Path) -> anyhow::Result<Ignored> {
    let file = repository.join(".gitignore");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    if text
        .lines()
        .any(|line| matches!(line.trim(), ".worktrees" | ".worktrees/" | "/.worktrees/" | "/.worktrees"))
    {
        return Ok(Ignored::Before);
    }
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    std::fs::write(&file, format!("{text}{gap}.worktrees/\n"))
        .with_context(|| format!("'{}' cannot be written", file.display()))?;
    Ok(Ignored::Now)
}

/// Runs git and gives what it printed.
fn git(cwd: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(cwd)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .context("git cannot be started: is it installed?")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q", "-b", "main"]).unwrap();
        git(dir.path(), &["config", "user.email", "a@b.test"]).unwrap();
        git(dir.path(), &["config", "user.name", "a"]).unwrap();
        std::fs::write(dir.path().join("file"), "1").unwrap();
        git(dir.path(), &["add", "-A"]).unwrap();
        git(dir.path(), &["commit", "-qm", "first"]).unwrap();
        dir
    }

    #[test]
    fn a_worktree_nobody_changed_goes_and_leaves_nothing() {
        let dir = repository();
        let worktree = Worktree::make(dir.path(), "0a1b2c3d").unwrap();
        assert!(worktree.path.join("file").exists());
        assert_eq!(git(&worktree.path, &["branch", "--show-current"]).unwrap(), "hermes/hermes-0a1b2c3d");
        let path = worktree.path.clone();
        assert_eq!(worktree.end().unwrap(), End::Removed);
        assert!(!path.exists());
        assert_eq!(git(dir.path(), &["branch", "--list", "hermes/*"]).unwrap(), "");
        assert!(std::fs::read_to_string(dir.path().join(".gitignore")).unwrap().contains(".worktrees/"));
    }

    #[test]
    fn work_is_kept() {
        let dir = repository();
        let worktree = Worktree::make(dir.path(), "00000001").unwrap();
        std::fs::write(worktree.path.join("new"), "x").unwrap();
        assert!(matches!(worktree.end().unwrap(), End::Kept { .. }));
        let worktree = Worktree::make(dir.path(), "00000002").unwrap();
        std::fs::write(worktree.path.join("file"), "2").unwrap();
        git(&worktree.path, &["commit", "-qam", "second"]).unwrap();
        assert!(matches!(worktree.end().unwrap(), End::Kept { .. }));
    }

    #[test]
    fn what_is_listed_comes_along_and_nothing_from_outside() {
        let dir = repository();
        std::fs::write(dir.path().join(".env.local"), "A=1").unwrap();
        std::fs::create_dir(dir.path().join("node_modules")).unwrap();
        std::fs::write(dir.path().join(".worktreeinclude"), "# local\n.env.local\nnode_modules/\nmissing\n")
            .unwrap();
        let worktree = Worktree::make(dir.path(), "00000003").unwrap();
        assert_eq!(std::fs::read_to_string(worktree.path.join(".env.local")).unwrap(), "A=1");
        assert!(worktree.path.join("node_modules").is_symlink());
        std::fs::write(dir.path().join(".worktreeinclude"), "../secret\n").unwrap();
        let error = Worktree::make(dir.path(), "00000004").unwrap_err().to_string();
        assert!(error.contains("leads out"), "{error}");
        assert!(!dir.path().join(".worktrees/hermes-00000004").exists(), "a failed start leaves nothing");
    }

    #[test]
    fn without_a_repository_it_says_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let error = format!("{:#}", Worktree::make(dir.path(), "00000005").unwrap_err());
        assert!(error.contains("git repository"), "{error}");
    }
}
