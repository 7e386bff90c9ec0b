//! Directories, removing, moving and copying.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::RenameFlags;

use super::errors::{file_error, refused};
use super::read::open;
use crate::proto::fault::{Fault, FileError, FileErrorKind};
use crate::proto::file::{Depth, Existing, Parents};
use crate::server::random_number;

/// Makes a directory; how many were made.
pub(crate) fn mkdir(path: &Path, parents: Parents) -> Result<u32, Fault> {
    match parents {
        Parents::Create => Ok(make_directories(path)?.len() as u32),
        Parents::MustExist => {
            fs::create_dir(path).map_err(|error| file_error("make directory", path, &error))?;
            Ok(1)
        }
    }
}

/// Makes a directory and those above it that are missing; those that were, from top to bottom.
pub(super) fn make_directories(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    let failed = |error: &io::Error| file_error("make directory", path, error);
    let missing: Vec<&Path> =
        path.ancestors().take_while(|ancestor| fs::metadata(ancestor).is_err()).collect();
    let mut made = Vec::new();
    for directory in missing.into_iter().rev().filter(|path| !path.as_os_str().is_empty()) {
        match fs::create_dir(directory) {
            Ok(()) => made.push(directory.to_path_buf()),
            // Somebody else was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
            Err(error) => return Err(failed(&error)),
        }
    }
    if path.is_dir() { Ok(made) } else { Err(failed(&io::Error::from_raw_os_error(libc::ENOTDIR))) }
}

/// Removes a file, a link, or a directory. Links are never followed.
pub(crate) fn remove(path: &Path, depth: Depth) -> Result<(), Fault> {
    let failed = |error: io::Error| file_error("remove", path, &error);
    if path.file_name().is_none() {
        return Err(refused("remove", path, FileErrorKind::BadName, "it ends in '..' or is the root").into());
    }
    let is_directory = fs::symlink_metadata(path).map_err(failed)?.is_dir();
    let removed = match (is_directory, depth) {
        (false, _) => fs::remove_file(path),
        (true, Depth::Single) => fs::remove_dir(path),
        (true, Depth::Recursive) => fs::remove_dir_all(path),
    };
    Ok(removed.map_err(failed)?)
}

/// Moves a file or a directory; a file also to another device.
pub(crate) fn move_file(from: &Path, to: &Path, existing: Existing) -> Result<(), Fault> {
    let flags = match existing {
        Existing::Refuse => RenameFlags::NOREPLACE,
        Existing::Replace => RenameFlags::empty(),
    };
    let moved = match rustix::fs::renameat_with(rustix::fs::CWD, from, rustix::fs::CWD, to, flags) {
        // Some file systems cannot refuse by themselves.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if existing == Existing::Refuse => {
            refuse_existing("move to", to, existing)?;
            fs::rename(from, to)
        }
        Err(rustix::io::Errno::XDEV) => {
            copy(from, to, existing)?;
            fs::remove_file(from)
        }
        other => other.map_err(Into::into),
    };
    Ok(moved.map_err(|error| blame(from, to, &error))?)
}

/// The source is to blame when it is missing, the destination otherwise.
fn blame(from: &Path, to: &Path, error: &io::Error) -> FileError {
    match fs::symlink_metadata(from) {
        Err(missing) => file_error("move", from, &missing),
        Ok(_) => file_error("move to", to, error),
    }
}

/// Copies a file with its mode; the copy appears complete or not at all.
pub(crate) fn copy(from: &Path, to: &Path, existing: Existing) -> Result<(), Fault> {
    refuse_existing("copy to", to, existing)?;
    let (mut source, metadata) = open("copy", from)?;
    let draft = draft_name(to);
    let copied =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).and_then(|mut file| {
            io::copy(&mut source, &mut file)?;
            file.set_permissions(fs::Permissions::from_mode(metadata.permissions().mode() & 0o7777))?;
            file.sync_data()?;
            fs::rename(&draft, to)
        });
    if let Err(error) = copied {
        let _ = fs::remove_file(&draft);
        return Err(file_error("copy to", to, &error).into());
    }
    Ok(())
}

fn refuse_existing(action: &str, path: &Path, existing: Existing) -> Result<(), FileError> {
    if existing == Existing::Refuse && fs::symlink_metadata(path).is_ok() {
        return Err(refused(action, path, FileErrorKind::Exists, "it exists already"));
    }
    Ok(())
}

fn draft_name(to: &Path) -> PathBuf {
    to.with_file_name(format!(".{:012x}.hermes", random_number() & 0xffff_ffff_ffff))
}
