//! Attributes of files.

use std::fs::{self, FileType, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::errors::file_error;
use crate::proto::fault::Fault;
use crate::proto::file::{FileKind, FileStat, FileVersion, Follow};

/// Looks at a file.
pub(crate) fn stat(path: &Path, follow: Follow) -> Result<FileStat, Fault> {
    let metadata = match follow {
        Follow::Yes => fs::metadata(path),
        Follow::No => fs::symlink_metadata(path),
    };
    let metadata = metadata.map_err(|error| file_error("look at", path, &error))?;
    let target = if metadata.is_symlink() { fs::read_link(path).ok() } else { None };
    Ok(FileStat {
        path: path.into(),
        kind: kind(metadata.file_type()),
        mode: metadata.mode() & 0o7777,
        uid: metadata.uid(),
        gid: metadata.gid(),
        nlink: metadata.nlink(),
        version: version(&metadata),
        target,
    })
}

pub(super) fn kind(file_type: FileType) -> FileKind {
    if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Directory
    } else if file_type.is_symlink() {
        FileKind::Symlink
    } else {
        FileKind::Other
    }
}

pub(super) fn version(metadata: &Metadata) -> FileVersion {
    FileVersion {
        dev: metadata.dev(),
        ino: metadata.ino(),
        size: metadata.size(),
        mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
    }
}

/// Seconds and nanoseconds as one number; far-off times stop at its ends.
pub(crate) fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}
