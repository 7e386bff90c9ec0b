//! The files of a workspace, wherever they are: the few things snapshots need from them.

mod boxed;
mod host;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use boxed::BoxTree;
pub use host::HostTree;

/// How the names of files begin that are being put back.
pub(crate) const DRAFT: &str = ".hermes-restore-";

/// The files below one directory. Paths are relative to it; links are never followed.
pub trait Tree: Send + Sync {
    /// What is in a directory.
    fn list(&self, dir: &Path) -> Result<Vec<Item>, TreeError>;

    /// What a path is; none when nothing is there.
    fn stat(&self, path: &Path) -> Result<Option<Item>, TreeError>;

    /// The content of a file up to `most` bytes, or where a link leads.
    fn read(&self, path: &Path, kind: ItemKind, most: u64) -> Result<Vec<u8>, TreeError>;

    /// Puts a file or link there, making directories. Whatever file or link was there is replaced.
    fn put(&self, path: &Path, contents: &Contents<'_>) -> Result<(), TreeError>;

    /// Removes a file, a link or an empty directory.
    fn remove(&self, path: &Path) -> Result<(), TreeError>;
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: ItemKind,
    /// What tells its states apart.
    pub stat: Stat,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, socket or device.
    Other,
}

/// What tells the states of a file apart without reading it. Zero for what a place does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// Last change of content, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Last change of anything, in nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Inode.
    pub ino: u64,
    /// Permission bits.
    pub mode: u32,
}

/// What is put somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents<'a> {
    /// A file.
    File {
        /// Its content.
        bytes: &'a [u8],
        /// Its permission bits.
        mode: u32,
    },
    /// A link.
    Link {
        /// Where it leads.
        target: &'a [u8],
    },
}

/// A file of the workspace that could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} '{}': {why}", .path.display())]
pub struct TreeError {
    /// What was being done, as a verb.
    pub doing: &'static str,
    /// To what.
    pub path: PathBuf,
    /// Why it failed.
    pub why: String,
}

impl TreeError {
    fn new(doing: &'static str, path: &Path, why: impl std::fmt::Display) -> Self {
        Self { doing, path: path.to_path_buf(), why: why.to_string() }
    }
}
