//! From the system's errors to ours.

use std::io;
use std::path::Path;

use crate::proto::fault::{FileError, FileErrorKind};

/// An error of the system as the error of an operation on a path.
pub(crate) fn file_error(action: &str, path: &Path, error: &io::Error) -> FileError {
    let errno = error.raw_os_error().unwrap_or(0);
    FileError { kind: kind(error), action: action.into(), path: path.into(), errno, reason: reason(error) }
}

/// A decision of our own.
pub(super) fn refused(action: &str, path: &Path, kind: FileErrorKind, reason: &str) -> FileError {
    FileError { kind, action: action.into(), path: path.into(), errno: 0, reason: reason.into() }
}

fn kind(error: &io::Error) -> FileErrorKind {
    match error.raw_os_error() {
        Some(libc::ENOENT) => FileErrorKind::NotFound,
        Some(libc::EACCES | libc::EPERM) => FileErrorKind::Permission,
        Some(libc::EISDIR) => FileErrorKind::IsDirectory,
        Some(libc::ENOTDIR) => FileErrorKind::NotDirectory,
        Some(libc::EEXIST) => FileErrorKind::Exists,
        Some(libc::ENOTEMPTY) => FileErrorKind::NotEmpty,
        Some(libc::ELOOP) => FileErrorKind::Loop,
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => FileErrorKind::NoSpace,
        Some(libc::EROFS) => FileErrorKind::ReadOnly,
        Some(libc::ENAMETOOLONG | libc::EINVAL) => FileErrorKind::BadName,
        Some(libc::EXDEV) => FileErrorKind::CannotMove,
        _ => FileErrorKind::Other,
    }
}

fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    // The number is given apart.
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
