//! Files in a box, through its agent.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_box::client::{CallError, Client};
use hermes_box::proto::exec::ExecRequest;
use hermes_box::proto::fault::{Fault, FileErrorKind};
use hermes_box::proto::file::{
    Depth, Expect, FileKind, ListRequest, Parents, Place as FilePlace, WriteRequest,
};

use super::{Contents, Item, ItemKind, Stat, Tree, TreeError};

/// Entries asked for at once.
const PAGE: u32 = 5_000;
/// How long making a link may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The files below a directory in a box.
#[derive(Debug, Clone)]
pub struct BoxTree {
    client: Client,
    root: PathBuf,
}

impl BoxTree {
    /// The files below `root`, an absolute path there.
    pub fn new(client: Client, root: impl Into<PathBuf>) -> Self {
        Self { client, root: root.into() }
    }

    /// A link among the directories above `path` would lead out of the tree.
    fn check_parents(&self, path: &Path) -> Result<(), TreeError> {
        let mut dir = PathBuf::new();
        for part in path.parent().into_iter().flat_map(Path::components) {
            dir.push(part);
            match self.stat(&dir)? {
                Some(item) if item.kind == ItemKind::Directory => {}
                Some(_) => {
                    return Err(TreeError::new("write below", &self.root.join(dir), "it is not a directory"));
                }
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn link(&self, path: &Path, target: &[u8]) -> Result<(), TreeError> {
        let failed = |why: &dyn std::fmt::Display| TreeError::new("write", path, why);
        if let Some(parent) = path.parent() {
            self.client.files().mkdir(parent, Parents::Create).map_err(|error| failed(&error))?;
        }
        let argv = [
            OsStr::new("ln"),
            OsStr::new("-s"),
            OsStr::new("--"),
            OsStr::from_bytes(target),
            path.as_os_str(),
        ];
        let exit =
            self.client.run(ExecRequest::argv(argv).timeout(PATIENCE)).map_err(|error| failed(&error))?;
        match exit.code() {
            0 => Ok(()),
            code => Err(failed(&format!("ln ended with {code}"))),
        }
    }
}

impl Tree for BoxTree {
    fn list(&self, dir: &Path) -> Result<Vec<Item>, TreeError> {
        let path = self.root.join(dir);
        let files = self.client.files();
        let mut items = Vec::new();
        loop {
            let offset = u32::try_from(items.len()).unwrap_or(u32::MAX);
            let request = ListRequest { place: FilePlace::from(path.as_path()), offset, limit: PAGE };
            let listing = files.list_with(request).map_err(|error| TreeError::new("list", &path, error))?;
            let last = listing.entries.is_empty();
            items.extend(listing.entries.into_iter().map(|entry| Item {
                name: entry.name.into_os_string(),
                kind: kind(entry.kind),
                stat: Stat {
                    size: entry.size,
                    mtime_ns: entry.mtime_ns,
                    mode: entry.mode & 0o7777,
                    ..Stat::default()
                },
            }));
            if last || items.len() as u64 >= listing.total {
                return Ok(items);
            }
        }
    }

    fn stat(&self, path: &Path) -> Result<Option<Item>, TreeError> {
        let whole = self.root.join(path);
        match self.client.files().stat_link(&whole) {
            Ok(found) => Ok(Some(Item {
                name: path.file_name().unwrap_or_default().to_owned(),
                kind: kind(found.kind),
                stat: Stat {
                    size: found.version.size,
                    mtime_ns: found.version.mtime_ns,
                    mode: found.mode & 0o7777,
                    ..Stat::default()
                },
            })),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(TreeError::new("look at", &whole, error)),
        }
    }

    fn read(&self, path: &Path, kind: ItemKind, most: u64) -> Result<Vec<u8>, TreeError> {
        let whole = self.root.join(path);
        let failed = |error: CallError| TreeError::new("read", &whole, error);
        let files = self.client.files();
        if kind == ItemKind::Link {
            let target = files.stat_link(&whole).map_err(failed)?.target;
            let target = target.ok_or_else(|| TreeError::new("read", &whole, "it is no link any more"))?;
            return Ok(target.into_os_string().into_vec());
        }
        Ok(files.read(&whole, most).map_err(failed)?.0)
    }

    fn put(&self, path: &Path, contents: &Contents<'_>) -> Result<(), TreeError> {
        self.check_parents(path)?;
        let whole = self.root.join(path);
        // A write would go through a link, and over nothing else than a file.
        if self
            .stat(path)?
            .is_some_and(|item| item.kind != ItemKind::File || matches!(contents, Contents::Link { .. }))
        {
            self.remove(path)?;
        }
        match contents {
            Contents::Link { target } => self.link(&whole, target),
            Contents::File { bytes, mode } => {
                let request = WriteRequest {
                    place: FilePlace::from(whole.as_path()),
                    expect: Expect::Any,
                    parents: Parents::Create,
                    mode: Some(*mode),
                };
                let written = self.client.files().write_with(request, bytes);
                written.map(drop).map_err(|error| TreeError::new("write", &whole, error))
            }
        }
    }

    fn remove(&self, path: &Path) -> Result<(), TreeError> {
        let whole = self.root.join(path);
        match self.client.files().remove(&whole, Depth::Single) {
            Err(error) if !is_absent(&error) => Err(TreeError::new("remove", &whole, error)),
            _ => Ok(()),
        }
    }
}

fn kind(kind: FileKind) -> ItemKind {
    match kind {
        FileKind::File => ItemKind::File,
        FileKind::Directory => ItemKind::Directory,
        FileKind::Symlink => ItemKind::Link,
        FileKind::Other => ItemKind::Other,
    }
}

fn is_absent(error: &CallError) -> bool {
    let absent = |kind| matches!(kind, FileErrorKind::NotFound | FileErrorKind::NotDirectory);
    matches!(error, CallError::Fault(Fault::File(error)) if absent(error.kind))
}
