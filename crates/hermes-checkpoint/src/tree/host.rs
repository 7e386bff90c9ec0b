//! Files of this machine.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{Contents, DRAFT, Item, ItemKind, Stat, Tree, TreeError};

/// The files below a directory of this machine.
#[derive(Debug, Clone)]
pub struct HostTree {
    root: PathBuf,
}

impl HostTree {
    /// The files below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Makes the directories above `path`. A link among them would lead out of the tree, so it is refused.
    fn make_parents(&self, path: &Path) -> Result<(), TreeError> {
        let mut dir = self.root.clone();
        for part in path.parent().into_iter().flat_map(Path::components) {
            dir.push(part);
            match fs::symlink_metadata(&dir) {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => return Err(TreeError::new("write below", &dir, "it is not a directory")),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir(&dir).map_err(|error| TreeError::new("create", &dir, error))?;
                }
                Err(error) => return Err(TreeError::new("look at", &dir, error)),
            }
        }
        Ok(())
    }
}

impl Tree for HostTree {
    fn list(&self, dir: &Path) -> Result<Vec<Item>, TreeError> {
        let path = self.root.join(dir);
        let failed = |error: io::Error| TreeError::new("list", &path, error);
        let mut items = Vec::new();
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // What vanished meanwhile is not there.
            if let Ok(meta) = entry.metadata() {
                items.push(Item { name: entry.file_name(), kind: kind(&meta), stat: stat(&meta) });
            }
        }
        Ok(items)
    }

    fn stat(&self, path: &Path) -> Result<Option<Item>, TreeError> {
        let whole = self.root.join(path);
        let name = path.file_name().unwrap_or_default().to_owned();
        match fs::symlink_metadata(&whole) {
            Ok(meta) => Ok(Some(Item { name, kind: kind(&meta), stat: stat(&meta) })),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(TreeError::new("look at", &whole, error)),
        }
    }

    fn read(&self, path: &Path, kind: ItemKind, most: u64) -> Result<Vec<u8>, TreeError> {
        let whole = self.root.join(path);
        let failed = |error: io::Error| TreeError::new("read", &whole, error);
        if kind == ItemKind::Link {
            return Ok(fs::read_link(&whole).map_err(failed)?.into_os_string().into_vec());
        }
        // A pipe put in the place of a file would block for ever.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&whole).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    fn put(&self, path: &Path, contents: &Contents<'_>) -> Result<(), TreeError> {
        self.make_parents(path)?;
        let whole = self.root.join(path);
        if fs::symlink_metadata(&whole).is_ok_and(|meta| meta.is_dir()) {
            fs::remove_dir(&whole).map_err(|error| TreeError::new("replace the directory", &whole, error))?;
        }
        let draft = beside(&whole);
        let done = write(&draft, contents).and_then(|()| fs::rename(&draft, &whole));
        done.map_err(|error| {
            let _ = fs::remove_file(&draft);
            TreeError::new("write", &whole, error)
        })
    }

    fn remove(&self, path: &Path) -> Result<(), TreeError> {
        let whole = self.root.join(path);
        let gone = match fs::symlink_metadata(&whole) {
            Ok(meta) if meta.is_dir() => fs::remove_dir(&whole),
            Ok(_) => fs::remove_file(&whole),
            Err(error) => Err(error),
        };
        match gone {
            Err(error) if !is_absent(&error) => Err(TreeError::new("remove", &whole, error)),
            _ => Ok(()),
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn write(draft: &Path, contents: &Contents<'_>) -> io::Result<()> {
    match contents {
        Contents::File { bytes, mode } => {
            let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
            file.write_all(bytes)?;
            file.set_permissions(fs::Permissions::from_mode(mode & 0o7777))
        }
        Contents::Link { target } => std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), draft),
    }
}

/// A name of ours in the same directory. Restores of one directory hold a lock, so one name is enough.
fn beside(path: &Path) -> PathBuf {
    path.with_file_name(format!("{DRAFT}{}", std::process::id()))
}

fn kind(meta: &Metadata) -> ItemKind {
    let kind = meta.file_type();
    if kind.is_file() {
        ItemKind::File
    } else if kind.is_dir() {
        ItemKind::Directory
    } else if kind.is_symlink() {
        ItemKind::Link
    } else {
        ItemKind::Other
    }
}

fn stat(meta: &Metadata) -> Stat {
    let nanoseconds = |seconds: i64, part: i64| seconds.saturating_mul(1_000_000_000).saturating_add(part);
    Stat {
        size: meta.size(),
        mtime_ns: nanoseconds(meta.mtime(), meta.mtime_nsec()),
        ctime_ns: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        ino: meta.ino(),
        mode: meta.mode() & 0o7777,
    }
}
