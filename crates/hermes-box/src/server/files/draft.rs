//! The new content of a file while it is incomplete, and how it takes the old one's place.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags};

use super::errors::file_error;
use crate::proto::fault::FileError;
use crate::proto::file::Method;
use crate::server::random_number;

/// A turn at the files of a directory, among all who write through an agent, whichever it is.
pub(super) struct Turn(#[expect(dead_code, reason = "the lock goes with it")] Option<File>);

impl Turn {
    /// Waits a moment; whoever holds it longer is no agent, and is not waited for.
    pub(super) fn in_directory(directory: &Path) -> Self {
        const LOOKS: u32 = 200;
        let Ok(directory) = File::open(directory) else { return Self(None) };
        for _ in 0..LOOKS {
            match rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Self(Some(directory)),
                Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(Duration::from_millis(1)),
                // Not every file system can do this.
                Err(_) => break,
            }
        }
        Self(None)
    }
}

/// The new content while it is incomplete. What is not put in place is removed; where the file system can, it has no name
/// before it is complete, so that nothing of it stays when we are killed.
pub(super) struct Draft {
    pub(super) file: File,
    kept: Kept,
}

/// Where a draft is.
enum Kept {
    /// Beside the target, under a name.
    Named(PathBuf),
    /// In the target's file system, without one.
    Nameless,
    /// In memory, to be copied over the old content.
    Memory,
}

impl Draft {
    pub(super) fn create(
        target: &Path,
        existing: Option<&Metadata>,
        mode: Option<u32>,
    ) -> Result<Self, FileError> {
        let in_memory = || {
            let memory = crate::sys::fds::memory_with("hermes-draft", b"");
            memory.map(|fd| Self { file: fd.into(), kept: Kept::Memory })
        };
        let failed = |error: io::Error| file_error("write", target, &error);
        if existing.is_some_and(|metadata| must_stay(target, metadata)) {
            return in_memory().map_err(failed);
        }
        // A new file is made with the rights everybody's new files have here; anything else is closed until it is complete.
        let initial = if existing.is_none() && mode.is_none() { 0o666 } else { 0o600 };
        if let Some(file) = nameless(target, initial) {
            return Ok(Self { file, kept: Kept::Nameless });
        }
        let path = sibling(target);
        match OpenOptions::new().write(true).create_new(true).mode(initial).open(&path) {
            Ok(file) => Ok(Self { file, kept: Kept::Named(path) }),
            Err(error) if existing.is_some() && is_refusal(&error) => in_memory().map_err(failed),
            Err(error) => Err(failed(error)),
        }
    }

    /// Gives it the place of the target, with the rights of what is there (or of `existing`). The directory is not on the disk
    /// yet when this returns; see [`sync_directory`].
    pub(super) fn put_in_place(
        mut self,
        target: &Path,
        existing: Option<&Metadata>,
        mode: Option<u32>,
    ) -> Result<Method, FileError> {
        let failed = |error: io::Error| file_error("write", target, &error);
        if !matches!(self.kept, Kept::Memory) {
            match self.replace(target, existing, mode) {
                Ok(()) => {
                    self.kept = Kept::Memory;
                    return Ok(Method::Replaced);
                }
                Err(error) if existing.is_some() && is_refusal(&error) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        self.overwrite(target, mode).map_err(failed)?;
        Ok(Method::InPlace)
    }

    fn replace(&mut self, target: &Path, existing: Option<&Metadata>, mode: Option<u32>) -> io::Result<()> {
        if let Some(metadata) = existing {
            let own = self.file.metadata()?;
            if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
                std::os::unix::fs::fchown(&self.file, Some(metadata.uid()), Some(metadata.gid()))?;
            }
        }
        // After the owner, as changing that takes some bits away.
        if let Some(mode) = mode.or(existing.map(MetadataExt::mode)) {
            self.file.set_permissions(fs::Permissions::from_mode(mode & 0o7777))?;
        }
        let path = match &self.kept {
            Kept::Named(path) => path.clone(),
            Kept::Nameless | Kept::Memory => {
                let path = sibling(target);
                let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                rustix::fs::linkat(CWD, own, CWD, &path, AtFlags::SYMLINK_FOLLOW)?;
                self.kept = Kept::Named(path.clone());
                path
            }
        };
        fs::rename(path, target)
    }

    /// Over the old content. Only now, as a failure in the middle would destroy it.
    fn overwrite(&mut self, target: &Path, mode: Option<u32>) -> io::Result<()> {
        let mut content = match &self.kept {
            Kept::Named(path) => File::open(path)?,
            Kept::Nameless | Kept::Memory => self.file.try_clone()?,
        };
        content.rewind()?;
        let mut file =
            OpenOptions::new().write(true).truncate(true).custom_flags(libc::O_NOFOLLOW).open(target)?;
        io::copy(&mut content, &mut file)?;
        if let Some(mode) = mode {
            file.set_permissions(fs::Permissions::from_mode(mode & 0o7777))?;
        }
        file.sync_data()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Kept::Named(path) = &self.kept {
            let _ = fs::remove_file(path);
        }
    }
}

/// Brings new names to the disk. Not every file system can do this for a directory; the content itself is safe.
pub(super) fn sync_directory(directory: &Path) {
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
}

/// A file in the target's directory that has no name. None where that cannot be, or where it could get no name later.
fn nameless(target: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let parent = target.parent()?;
    Path::new("/proc/self/fd").exists().then_some(())?;
    rustix::fs::open(parent, flags, Mode::from_raw_mode(mode)).ok().map(File::from)
}

/// A name nobody else uses, in the same directory.
pub(super) fn sibling(target: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    // Names end at 255 bytes.
    if name.len() > 200 {
        name = OsString::from(".");
    }
    name.push(format!(".{:012x}.hermes", random_number() & 0xffff_ffff_ffff));
    target.with_file_name(name)
}

/// Whether replacing a file would lose something that belongs to it.
fn must_stay(target: &Path, metadata: &Metadata) -> bool {
    metadata.nlink() > 1 || has_attributes(target)
}

/// Access lists and attributes of the user's; labels of the system's are made anew for a new file.
fn has_attributes(target: &Path) -> bool {
    let mut names = [0; 4096];
    match rustix::fs::listxattr(target, &mut names[..]) {
        Ok(length) => names[..length]
            .split(|byte| *byte == 0)
            .any(|name| !name.is_empty() && !name.starts_with(b"security.")),
        Err(_) => false,
    }
}

/// Whether something is not allowed here that may be allowed another way.
fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EACCES | libc::EPERM | libc::EROFS | libc::EBUSY | libc::EXDEV | libc::ENAMETOOLONG)
    )
}
