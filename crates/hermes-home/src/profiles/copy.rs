//! Copying a profile's files: private directories, secrets 0600, databases through `SQLite`, links kept as links.

use std::error::Error;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::walk::{Item, Kind, open, walk};
use super::{ProfileError, layout};
use crate::files::failed;

/// Copies a database that others may be writing to. The storage layer implements it.
pub trait CopyDatabase {
    /// Makes a consistent copy of `from` at `to`, which does not exist yet.
    fn copy(&self, from: &Path, to: &Path) -> Result<DatabaseCopy, Box<dyn Error + Send + Sync>>;
}

/// What came of copying a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseCopy {
    /// The copy is there.
    Made,
    /// The file is something else under a database's name; nothing was written.
    NotADatabase,
}

/// Copies everything below `from` into the existing directory `to`, except what `skip` leaves out.
/// Answers with what could not be copied: sockets, pipes and devices.
pub fn tree(
    from: &Path,
    to: &Path,
    databases: &dyn CopyDatabase,
    skip: &dyn Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, ProfileError> {
    let mut left_out = Vec::new();
    walk(from, skip, &mut |item| {
        if item.kind == Kind::Special {
            left_out.push(item.relative.clone());
            return Ok(());
        }
        entry(item, &to.join(&item.relative), databases)
    })?;
    Ok(left_out)
}

fn entry(item: &Item, target: &Path, databases: &dyn CopyDatabase) -> Result<(), ProfileError> {
    match item.kind {
        Kind::Dir => Ok(DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(target)
            .map_err(failed("create directory", target))?),
        // A linked secret would be one file shared by two profiles.
        Kind::Link if !layout::is_secret(&item.relative) => link(&item.path, target),
        Kind::Link => file(&fs::canonicalize(&item.path).unwrap_or_else(|_| item.path.clone()), target),
        Kind::Database => database(&item.path, target, databases),
        Kind::File => file(&item.path, target),
        Kind::Special => Ok(()),
    }
}

fn link(path: &Path, target: &Path) -> Result<(), ProfileError> {
    let destination = fs::read_link(path).map_err(failed("read the link", path))?;
    Ok(std::os::unix::fs::symlink(destination, target).map_err(failed("create link", target))?)
}

/// Copies a database, or the plain file that only looks like one.
pub fn database(path: &Path, target: &Path, databases: &dyn CopyDatabase) -> Result<(), ProfileError> {
    let made = databases
        .copy(path, target)
        .map_err(|source| ProfileError::Database { path: path.to_path_buf(), source })?;
    match made {
        DatabaseCopy::NotADatabase => file(path, target),
        DatabaseCopy::Made => Ok(fs::set_permissions(target, fs::Permissions::from_mode(0o600))
            .map_err(failed("set the mode of", target))?),
    }
}

/// Copies one file with its time and mode; secrets become 0600. A file that vanished is passed over.
pub fn file(path: &Path, target: &Path) -> Result<(), ProfileError> {
    let mut from = match open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        result => result.map_err(failed("read", path))?,
    };
    let meta = from.metadata().map_err(failed("look at", path))?;
    let mode = if layout::is_secret(target) { 0o600 } else { meta.mode() & 0o777 | 0o600 };
    let mut to = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(target)
        .map_err(failed("create", target))?;
    io::copy(&mut from, &mut to).map_err(failed("copy to", target))?;
    to.set_permissions(fs::Permissions::from_mode(mode)).map_err(failed("set the mode of", target))?;
    if let Ok(modified) = meta.modified() {
        to.set_modified(modified).map_err(failed("set the time of", target))?;
    }
    Ok(())
}

#[cfg(test)]
pub mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    /// Stands in for `SQLite`: writes what shows that it was asked.
    #[derive(Debug)]
    pub struct Marked;

    impl CopyDatabase for Marked {
        fn copy(&self, from: &Path, to: &Path) -> Result<DatabaseCopy, Box<dyn Error + Send + Sync>> {
            if fs::metadata(from)?.len() == 0 {
                return Ok(DatabaseCopy::NotADatabase);
            }
            fs::write(to, "copied by the database layer")?;
            Ok(DatabaseCopy::Made)
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn modes_links_and_databases_are_copied_as_they_should_be() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (from, to) = (from.path(), to.path());
        for (name, text, bits) in
            [("run.sh", "x", 0o755), (".env", "K=v", 0o644), ("s.db", "x", 0o644), ("e.db", "", 0o644)]
        {
            fs::write(from.join(name), text).unwrap();
            fs::set_permissions(from.join(name), fs::Permissions::from_mode(bits)).unwrap();
        }
        fs::create_dir(from.join("sub")).unwrap();
        fs::set_permissions(from.join("sub"), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("run.sh", from.join("link")).unwrap();
        fs::write(from.join("elsewhere"), "{}").unwrap();
        std::os::unix::fs::symlink("elsewhere", from.join("auth.json")).unwrap();
        assert!(tree(from, to, &Marked, &|_| false).unwrap().is_empty());
        assert_eq!((mode(&to.join("run.sh")), mode(&to.join(".env"))), (0o755, 0o600));
        assert_eq!((mode(&to.join("sub")), mode(&to.join("auth.json"))), (0o700, 0o600));
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("run.sh"));
        assert!(!fs::symlink_metadata(to.join("auth.json")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(to.join("s.db")).unwrap(), "copied by the database layer");
        assert_eq!(fs::read_to_string(to.join("e.db")).unwrap(), "");
    }

    #[test]
    fn sockets_and_pipes_are_named_not_copied() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let _listener = std::os::unix::net::UnixListener::bind(from.path().join("s")).unwrap();
        let left_out = tree(from.path(), to.path(), &Marked, &|_| false).unwrap();
        assert_eq!(left_out, [PathBuf::from("s")]);
        assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0);
    }
}
