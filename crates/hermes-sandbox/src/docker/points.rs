//! The points in a kept home where mounts will sit. Made by us, or the engine makes them as root and the user can never
//! remove them.
//!
//! Commands in earlier containers could write to that home, so no link in it is ever followed.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};

/// Makes the point ready, an empty directory or an empty file. An earlier failure can have left the wrong one, for which
/// the engine would refuse the whole container; it is taken away if it is empty.
///
/// What does not succeed is left to the engine, which looks at it from inside.
pub fn prepare(home: &Path, inside: &Path, directory: bool) {
    let _ = try_prepare(home, inside, directory);
}

fn try_prepare(home: &Path, inside: &Path, directory: bool) -> Result<()> {
    let Some(name) = inside.file_name() else { return Ok(()) };
    let mut dir = rustix::fs::open(home, flags(), Mode::empty())?;
    for part in inside.parent().into_iter().flat_map(Path::components) {
        make_directory(&dir, part.as_os_str())?;
        dir = rustix::fs::openat(&dir, part.as_os_str(), flags(), Mode::empty())?;
    }
    if directory { directory_point(&dir, name) } else { file_point(&dir, name) }
}

fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn make_directory(dir: &OwnedFd, name: &OsStr) -> Result<()> {
    match rustix::fs::mkdirat(dir, name, Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH) {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}

fn directory_point(dir: &OwnedFd, name: &OsStr) -> Result<()> {
    let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
    if stat
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_size == 0)
    {
        rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
    }
    make_directory(dir, name)
}

fn file_point(dir: &OwnedFd, name: &OsStr) -> Result<()> {
    // Fails on a directory that holds anything, which is then the user's to look at.
    let _ = rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR);
    let create = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, create, Mode::RUSR | Mode::WUSR).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn points_are_made_and_the_wrong_kind_gives_way_if_empty() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        prepare(home.path(), Path::new("a/b/dir"), true);
        prepare(home.path(), Path::new("a/file"), false);
        assert!(at("a/b/dir").is_dir() && at("a/file").is_file());
        prepare(home.path(), Path::new("a/b/dir"), false);
        prepare(home.path(), Path::new("a/file"), true);
        assert!(at("a/b/dir").is_file() && at("a/file").is_dir());
        fs::write(at("a/b/dir"), "precious").unwrap();
        prepare(home.path(), Path::new("a/b/dir"), true);
        assert_eq!(fs::read(at("a/b/dir")).unwrap(), b"precious");
    }

    #[test]
    fn a_link_is_never_followed() {
        let (home, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), home.path().join(".hermes")).unwrap();
        prepare(home.path(), Path::new(".hermes/skills"), true);
        prepare(home.path(), Path::new(".hermes/token"), false);
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
