//! Private directories and whole-file writes.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// Makes a directory, and those above it that are missing, for us alone.
pub fn private_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Makes a directory, and those above it that are missing, with the rights directories usually have.
pub fn usual_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(dir)
}

/// Replaces a file as a whole: a reader sees the old content or the new, never half of it.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or_else(|| io::Error::other("a file needs a directory"))?;
    private_dir(dir)?;
    // Temporary files are made for the owner alone, and a rename keeps that.
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(dir)?;
    file.write_all(content)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Makes a directory in which anyone who can reach it may make files, but not take away those of others.
pub fn shared_dir(dir: &Path) -> io::Result<()> {
    private_dir(dir)?;
    fs::set_permissions(dir, Permissions::from_mode(0o1777))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn what_we_write_is_ours_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/record");
        write_private(&path, b"one").unwrap();
        write_private(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_shared_directory_is_sticky() {
        let dir = tempfile::tempdir().unwrap();
        shared_dir(&dir.path().join("run")).unwrap();
        assert_eq!(mode(&dir.path().join("run")), 0o1777);
    }
}
