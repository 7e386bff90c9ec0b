//! Going through a profile's files in a fixed order, telling databases from plain files.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::ProfileError;
use crate::files::failed;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A directory; its entries follow.
    Dir,
    /// A plain file.
    File,
    /// A file that `SQLite` must copy.
    Database,
    /// A symbolic link; what it points to is not visited.
    Link,
    /// A socket, pipe or device.
    Special,
}

/// One entry below the top.
#[derive(Debug)]
pub struct Item {
    /// Where it is.
    pub path: PathBuf,
    /// The same, relative to the top.
    pub relative: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// Its size, mode and times.
    pub meta: Metadata,
}

/// Visits everything below `top` except what `skip` (given the relative path) leaves out; parents come first.
///
/// Files that vanish meanwhile are passed over: a profile in use loses temporary files all the time.
pub fn walk(
    top: &Path,
    skip: &dyn Fn(&Path) -> bool,
    visit: &mut dyn FnMut(&Item) -> Result<(), ProfileError>,
) -> Result<(), ProfileError> {
    level(top, Path::new(""), skip, visit)
}

fn level(
    dir: &Path,
    relative: &Path,
    skip: &dyn Fn(&Path) -> bool,
    visit: &mut dyn FnMut(&Item) -> Result<(), ProfileError>,
) -> Result<(), ProfileError> {
    let Some(names) = sorted_names(dir)? else { return Ok(()) };
    for name in &names {
        let (path, relative) = (dir.join(name), relative.join(name));
        if skip(&relative) || is_database_helper(dir, name, &names) {
            continue;
        }
        let Some(meta) = unless_gone(fs::symlink_metadata(&path)).map_err(failed("look at", &path))? else {
            continue;
        };
        let Some(kind) = unless_gone(kind_of(&path, &meta)).map_err(failed("read", &path))? else { continue };
        let item = Item { path, relative, kind, meta };
        visit(&item)?;
        if kind == Kind::Dir {
            level(&item.path, &item.relative, skip, visit)?;
        }
    }
    Ok(())
}

fn sorted_names(dir: &Path) -> Result<Option<Vec<OsString>>, ProfileError> {
    let listing = || -> io::Result<Vec<OsString>> {
        let mut names =
            fs::read_dir(dir)?.map(|e| e.map(|e| e.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    };
    Ok(unless_gone(listing()).map_err(failed("list", dir))?)
}

fn kind_of(path: &Path, meta: &Metadata) -> io::Result<Kind> {
    let kind = meta.file_type();
    Ok(match () {
        () if kind.is_dir() => Kind::Dir,
        () if kind.is_symlink() => Kind::Link,
        () if kind.is_file() && is_database(path)? => Kind::Database,
        () if kind.is_file() => Kind::File,
        () => Kind::Special,
    })
}

/// A name that says database is enough: such a file is never opened by us. Others are told by their first bytes.
fn is_database(path: &Path) -> io::Result<bool> {
    if path.file_name().is_some_and(named_like_database) {
        return Ok(true);
    }
    let mut start = Vec::with_capacity(SQLITE_MAGIC.len());
    open(path)?.take(SQLITE_MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == SQLITE_MAGIC)
}

const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

fn named_like_database(name: &OsStr) -> bool {
    let extension = Path::new(name).extension().and_then(OsStr::to_str).unwrap_or_default();
    matches!(extension, "db" | "sqlite" | "sqlite3")
}

/// Whether a file is the log or journal of a database beside it; a copy made by `SQLite` already holds what is in it.
fn is_database_helper(dir: &Path, name: &OsStr, siblings: &[OsString]) -> bool {
    let base =
        ["-wal", "-shm", "-journal"].iter().find_map(|end| name.as_bytes().strip_suffix(end.as_bytes()));
    let Some(base) = base.map(OsStr::from_bytes) else { return false };
    named_like_database(base)
        || (siblings.iter().any(|s| s == base) && is_database(&dir.join(base)).unwrap_or(false))
}

/// Opens a file for reading, never through a link put in its place.
pub fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)
}

/// Opens a plain file for reading, also through a link, and never waits for the other end of a pipe.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Reads a plain file.
pub fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_plain(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Which directory a path leads to, however it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity(u64, u64);

/// The directory `path` leads to now; `None` when there is none.
pub fn identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().filter(Metadata::is_dir).map(|m| Identity(m.dev(), m.ino()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn seen(top: &Path) -> Vec<(String, Kind)> {
        let mut all = Vec::new();
        walk(top, &|p| p == Path::new("skipped"), &mut |item| {
            all.push((item.relative.to_str().unwrap().to_owned(), item.kind));
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn databases_are_told_by_name_or_content_and_their_helpers_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in [
            ("state.db", &b"anything"[..]),
            ("state.db-wal", b"x"),
            ("state.db-shm", b"x"),
            ("Cookies", b"SQLite format 3\0rest"),
            ("Cookies-journal", b"x"),
            ("daily-journal", b"dear diary"),
            ("daily", b"text"),
            ("skipped", b"x"),
        ] {
            fs::write(dir.path().join(name), bytes).unwrap();
        }
        std::os::unix::fs::symlink("/etc", dir.path().join("link")).unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("sub/file"), "").unwrap();
        let expected = [
            ("Cookies", Kind::Database),
            ("daily", Kind::File),
            ("daily-journal", Kind::File),
            ("link", Kind::Link),
            ("state.db", Kind::Database),
            ("sub", Kind::Dir),
            ("sub/file", Kind::File),
        ];
        assert_eq!(seen(dir.path()), expected.map(|(n, k)| (n.to_owned(), k)));
    }
}
