//! Listing directories.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::errors::file_error;
use super::stat::{kind, nanoseconds};
use crate::proto::fault::Fault;
use crate::proto::file::{Entry, FileKind, Listing};
use crate::server::call::CallContext;

/// Entries in one answer.
const MAX_ENTRIES: usize = 20_000;

/// Lists a part of a directory, by name. Only the entries of that part are looked at.
pub(crate) fn list(context: &CallContext, path: &Path, offset: u32, limit: u32) -> Result<Listing, Fault> {
    let failed = |error| file_error("list", path, &error);
    let mut names: Vec<OsString> = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        if names.len().is_multiple_of(4096) && context.is_abandoned() {
            return Err(Fault::Cancelled);
        }
        names.push(entry.map_err(failed)?.file_name());
    }
    names.sort_unstable();
    let total = names.len() as u64;
    let limit = (limit as usize).min(MAX_ENTRIES);
    let entries = names.into_iter().skip(offset as usize).take(limit).map(|name| entry(path, name)).collect();
    Ok(Listing { path: path.into(), entries, total })
}

/// An entry that vanished or may not be looked at is listed all the same: its name was there.
fn entry(directory: &Path, name: OsString) -> Entry {
    match fs::symlink_metadata(directory.join(&name)) {
        Ok(metadata) => Entry {
            kind: kind(metadata.file_type()),
            size: metadata.size(),
            mode: metadata.mode() & 0o7777,
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            name: name.into(),
        },
        Err(_) => Entry { kind: FileKind::Other, size: 0, mode: 0, mtime_ns: 0, name: name.into() },
    }
}
