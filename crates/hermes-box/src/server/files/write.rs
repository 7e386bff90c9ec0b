//! Writing a file so that a reader sees the old content or the new, never half of it.
//!
//! The content goes into a new file beside the old one, which takes its place at the end with the old one's mode and owner.
//! Where that is not possible (no new files allowed in the directory, a mount point, somebody else's file) or would lose
//! something (other names, access lists) the old file is overwritten, once the content is complete.

use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::draft::{Draft, Turn, sync_directory};
use super::errors::{file_error, refused};
use super::manage::make_directories;
use super::read::{hash_of, open};
use super::stat::version;
use crate::proto::fault::{Fault, FileError, FileErrorKind};
use crate::proto::file::{Expect, Method, Parents, WriteRequest, Written};
use crate::server::call::CallContext;

/// How many links are followed to a file that does not exist yet.
const MAX_LINKS: usize = 40;

/// Writes a file from what the client sends.
pub(crate) fn write(context: &CallContext, path: &Path, request: &WriteRequest) -> Result<Written, Fault> {
    let target = follow_links(path).map_err(|error| file_error("write", path, &error))?;
    let existing = look(&target)?;
    check(&request.expect, &target, existing.as_ref())?;
    let parents_created = match request.parents {
        Parents::Create => {
            target.parent().map_or(Ok(0), |parent| make_directories(parent).map(|made| made.len()))?
        }
        Parents::MustExist => 0,
    };
    let mut draft = Draft::create(&target, existing.as_ref(), request.mode)?;
    let failed = |error: io::Error| file_error("write", &target, &error);
    let mut bytes = 0;
    while let Some(piece) = context.wait_input()? {
        draft.file.write_all(&piece).map_err(failed)?;
        bytes += piece.len() as u64;
        context.consumed(piece.len());
    }
    draft.file.sync_data().map_err(failed)?;
    // Somebody may have changed it while the content came. Between looking and replacing nobody else of our kind may do the same.
    let _turn = target.parent().map(Turn::in_directory);
    let existing = look(&target)?;
    check(&request.expect, &target, existing.as_ref())?;
    let method = draft.put_in_place(&target, existing.as_ref(), request.mode)?;
    if let (Method::Replaced, Some(parent)) = (method, target.parent()) {
        sync_directory(parent);
    }
    let metadata = fs::metadata(&target).map_err(failed)?;
    Ok(Written {
        path: target,
        created: existing.is_none(),
        parents_created: parents_created as u32,
        bytes,
        method,
        version: version(&metadata),
    })
}

/// The file itself behind links, which may lead to one that does not exist yet.
pub(super) fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

/// What is there now; `None` when nothing is.
pub(super) fn look(target: &Path) -> Result<Option<Metadata>, FileError> {
    match fs::symlink_metadata(target) {
        Ok(metadata) if metadata.is_dir() => {
            Err(refused("write", target, FileErrorKind::IsDirectory, "it is a directory"))
        }
        Ok(metadata) if !metadata.is_file() => {
            Err(refused("write", target, FileErrorKind::NotRegular, "it is not an ordinary file"))
        }
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(file_error("write", target, &error)),
    }
}

pub(super) fn check(expect: &Expect, target: &Path, existing: Option<&Metadata>) -> Result<(), Fault> {
    let as_expected = match (expect, existing) {
        (Expect::Any, _) | (Expect::Absent, None) => true,
        (Expect::Absent, Some(_)) => {
            return Err(refused("create", target, FileErrorKind::Exists, "it exists already").into());
        }
        (Expect::Version(expected), Some(metadata)) => version(metadata) == *expected,
        (Expect::Hash(expected), Some(_)) => {
            let (mut file, _) = open("write", target)?;
            let found = hash_of(&mut file, || false).map_err(|error| file_error("write", target, &error))?;
            found.as_ref() == Some(expected)
        }
        (Expect::Version(_) | Expect::Hash(_), None) => false,
    };
    if as_expected {
        return Ok(());
    }
    Err(refused("write", target, FileErrorKind::Changed, "it has changed since it was read").into())
}
