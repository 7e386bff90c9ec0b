//! Everything in a tree that belongs into a snapshot, with what tells its states apart.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use crate::error::CheckpointError;
use crate::ignored::{self, Rules};
use crate::limits::{Limits, Skip};
use crate::tree::{Item, ItemKind, Stat, Tree};

/// Directories in directories, before something is wrong with the tree.
const DEEPEST: usize = 256;

/// A file or link that was found.
pub(crate) struct Found {
    pub(crate) path: OsString,
    pub(crate) kind: ItemKind,
    pub(crate) stat: Stat,
}

/// What a walk saw.
#[derive(Default)]
pub(crate) struct Walked {
    pub(crate) found: Vec<Found>,
    /// Too large to be kept.
    pub(crate) too_large: BTreeSet<OsString>,
    /// Directories that could not be looked into: what they hold is not known.
    pub(crate) closed: Vec<OsString>,
}

/// Walks a tree.
pub(crate) fn walk(
    tree: &dyn Tree,
    dir: &Path,
    rules: Rules,
    limits: &Limits,
) -> Result<Walked, CheckpointError> {
    let mut walk = Walk { tree, rules, limits, dir, seen: Walked::default() };
    let top = tree.list(Path::new(""))?;
    walk.visit(Path::new(""), top, 0)?;
    Ok(walk.seen)
}

struct Walk<'a> {
    tree: &'a dyn Tree,
    rules: Rules,
    limits: &'a Limits,
    dir: &'a Path,
    seen: Walked,
}

impl Walk<'_> {
    fn visit(&mut self, dir: &Path, items: Vec<Item>, depth: usize) -> Result<(), CheckpointError> {
        self.read_rules(dir, &items)?;
        for item in items {
            let path = dir.join(&item.name);
            let is_dir = item.kind == ItemKind::Directory;
            if item.kind == ItemKind::Other || self.rules.leave_out(&path, is_dir) {
                continue;
            }
            if is_dir {
                match self.tree.list(&path) {
                    Ok(items) if depth < DEEPEST => self.visit(&path, items, depth + 1)?,
                    _ => self.seen.closed.push(path.into_os_string()),
                }
            } else if item.stat.size > self.limits.file_bytes {
                self.seen.too_large.insert(path.into_os_string());
            } else {
                self.seen.found.push(Found { path: path.into_os_string(), kind: item.kind, stat: item.stat });
                if self.seen.found.len() > self.limits.files {
                    let dir = self.dir.to_path_buf();
                    return Err(CheckpointError::Skipped(Skip::TooManyFiles {
                        dir,
                        limit: self.limits.files,
                    }));
                }
            }
        }
        self.rules.leave(dir);
        Ok(())
    }

    fn read_rules(&mut self, dir: &Path, items: &[Item]) -> Result<(), CheckpointError> {
        let has = |item: &&Item| item.name == ignored::FILE && item.kind == ItemKind::File;
        if items.iter().find(has).is_some_and(|item| item.stat.size <= ignored::LONGEST) {
            let content = self.tree.read(&dir.join(ignored::FILE), ItemKind::File, ignored::LONGEST)?;
            self.rules.enter(dir, &content);
        }
        Ok(())
    }
}
