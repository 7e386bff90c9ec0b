//! Where a backup goes, and the hidden directory beside it where it is made.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use jiff::Zoned;
use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use super::rules::BACKUP_PREFIX;
use crate::ui::WrongUsage;

/// Settles the path of the archive: what the user asked for, or a dated name in the user's home directory.
pub fn resolve(
    asked: Option<&Path>,
    user_home: &Path,
    work_dir: &Path,
    now: &Zoned,
) -> anyhow::Result<PathBuf> {
    let path = match asked {
        None if user_home.as_os_str().is_empty() => {
            bail!(WrongUsage("HOME is not set: say where to write the backup with -o".to_owned()))
        }
        None => free_name(user_home, now),
        Some(path) => {
            let as_directory = path.as_os_str().to_string_lossy().ends_with('/');
            let path = work_dir.join(path);
            match () {
                () if path.is_dir() => free_name(&path, now),
                () if as_directory => bail!("there is no directory {}: make it first", path.display()),
                () if path.extension().is_none() => path.with_extension("zip"),
                () => path,
            }
        }
    };
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        bail!("{} is not a file name", path.display());
    };
    let dir = fs::canonicalize(dir).with_context(|| format!("cannot write to {}", dir.display()))?;
    let path = dir.join(name);
    refuse_to_destroy(&path)?;
    Ok(path)
}

fn free_name(dir: &Path, now: &Zoned) -> PathBuf {
    let stamp = now.strftime("%Y-%m-%d-%H%M%S").to_string();
    let name = |n: u32| if n < 2 { format!("{stamp}.zip") } else { format!("{stamp}-{n}.zip") };
    let mut paths = (1..).map(|n| dir.join(format!("{BACKUP_PREFIX}{}", name(n))));
    paths.find(|path| !path.exists()).unwrap_or_else(|| dir.join(BACKUP_PREFIX))
}

/// An older backup may be replaced; anything else is a slip of the hand.
fn refuse_to_destroy(path: &Path) -> anyhow::Result<()> {
    let Ok(meta) = fs::symlink_metadata(path) else { return Ok(()) };
    let mut start = Vec::new();
    if meta.is_file() {
        File::open(path)
            .and_then(|f| f.take(2).read_to_end(&mut start))
            .context("cannot read the old file")?;
    }
    if start != b"PK" && meta.len() > 0 {
        bail!("{} exists and is not a backup: choose another name", path.display());
    }
    Ok(())
}

/// A hidden directory that is removed again. The kernel lock on it shows that its owner lives; what a killed process
/// left behind is removed by the next.
#[derive(Debug)]
pub struct Workspace {
    dir: TempDir,
    _claim: File,
}

const PREFIX: &str = ".hermes-backup-";

impl Workspace {
    /// Makes one in `parent`.
    pub fn begin(parent: &Path) -> anyhow::Result<Self> {
        sweep(parent);
        for _ in 0..100 {
            let dir = tempfile::Builder::new()
                .prefix(PREFIX)
                .permissions(fs::Permissions::from_mode(0o700))
                .tempdir_in(parent)
                // The library names the directory it tried to make, which means nothing to anybody.
                .map_err(|e| io::Error::from(e.kind()))
                .with_context(|| format!("cannot write to {}", parent.display()))?;
            // Someone who sweeps may have taken it for a leftover in this very moment.
            if let Some(claim) = claim(dir.path())?
                && dir.path().exists()
            {
                return Ok(Self { dir, _claim: claim });
            }
        }
        bail!("cannot make a directory in {}: something keeps removing it", parent.display());
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

fn claim(dir: &Path) -> io::Result<Option<File>> {
    let handle = match File::open(dir) {
        Ok(handle) => handle,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    Ok(flock(&handle, FlockOperation::NonBlockingLockExclusive).is_ok().then_some(handle))
}

fn sweep(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if ours
            && entry.file_type().is_ok_and(|t| t.is_dir())
            && let Ok(Some(_claim)) = claim(&entry.path())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn now() -> Zoned {
        "2026-11-15T20:57:22+00:00[UTC]".parse().unwrap()
    }

    #[test]
    fn names_are_what_was_asked_for_or_dated() {
        let home = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(home.path()).unwrap();
        let resolve = |asked: Option<&str>| resolve(asked.map(Path::new), &dir, &dir, &now());
        let dated = dir.join("hermes-backup-2026-11-15-205722.zip");
        assert_eq!(resolve(None).unwrap(), dated);
        assert_eq!(resolve(Some(".")).unwrap(), dated);
        assert_eq!(resolve(Some("mine")).unwrap(), dir.join("mine.zip"));
        assert_eq!(resolve(Some("mine.bak")).unwrap(), dir.join("mine.bak"));
        assert!(resolve(Some("nowhere/")).is_err() && resolve(Some("nowhere/x.zip")).is_err());
        fs::write(&dated, "PK").unwrap();
        assert_eq!(resolve(None).unwrap(), dir.join("hermes-backup-2026-11-15-205722-2.zip"));
    }

    #[test]
    fn without_a_home_directory_a_place_must_be_given() {
        let dir = tempfile::tempdir().unwrap();
        let nowhere = resolve(None, Path::new(""), dir.path(), &now()).unwrap_err();
        assert!(nowhere.to_string().contains("HOME is not set"));
        assert!(resolve(Some(Path::new("x.zip")), Path::new(""), dir.path(), &now()).is_ok());
    }

    #[test]
    fn only_an_older_backup_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("x.zip");
        let resolve = || resolve(Some(&path), home.path(), home.path(), &now());
        fs::write(&path, "PK\x03\x04").unwrap();
        assert!(resolve().is_ok());
        fs::write(&path, "my notes").unwrap();
        assert!(resolve().unwrap_err().to_string().contains("is not a backup"));
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        assert!(resolve().is_err());
    }

    #[test]
    fn leftovers_go_and_what_is_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        fs::create_dir_all(parent.path().join(".hermes-backup-dead/x")).unwrap();
        let first = Workspace::begin(parent.path()).unwrap();
        assert!(!parent.path().join(".hermes-backup-dead").exists());
        let second = Workspace::begin(parent.path()).unwrap();
        assert!(first.path("").exists());
        drop((first, second));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
