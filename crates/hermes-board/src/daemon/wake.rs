//! Noticing at once that somebody wrote to a board, or made one.

use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};

/// Watches the directories boards are in. Where that is not possible, there is still the clock.
#[derive(Debug)]
pub struct Wake {
    watch: Option<OwnedFd>,
    dirs: BTreeSet<PathBuf>,
}

impl Default for Wake {
    fn default() -> Self {
        Self {
            watch: inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok(),
            dirs: BTreeSet::new(),
        }
    }
}

impl Wake {
    /// Watches these directories and no others. One that is not there yet is watched when it is.
    pub fn watch(&mut self, dirs: &BTreeSet<PathBuf>) {
        let Some(watch) = &self.watch else { return };
        let flags = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
        self.dirs.retain(|dir| dirs.contains(dir) && dir.is_dir());
        for dir in dirs {
            if !self.dirs.contains(dir) && inotify::add_watch(watch, dir, flags).is_ok() {
                self.dirs.insert(dir.clone());
            }
        }
    }

    /// What can be waited for.
    pub fn handle(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(AsFd::as_fd)
    }

    /// Takes in what happened; whether any of it is about a board.
    pub fn take(&self) -> News {
        let Some(watch) = &self.watch else { return News::Nothing };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(watch, &mut buffer);
        let mut news = News::Nothing;
        // What was dropped because there was too much of it has no name: that counts too.
        while let Ok(event) = events.next() {
            let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
            if name.is_none_or(|name| concerns_a_board(&name)) {
                news = News::Some;
            }
        }
        news
    }
}

/// Whether something happened to a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It may have.
    Some,
    /// Nothing did.
    Nothing,
}

/// A database or its log, or a directory of a board. Locks and everything else of a home are not.
fn concerns_a_board(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    match extension {
        None => !name.starts_with('.'),
        Some(extension) => matches!(extension, "db" | "db-wal") || name == "board.json",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_boards_count() {
        for name in ["kanban.db", "kanban.db-wal", "web", "board.json"] {
            assert!(concerns_a_board(name), "{name}");
        }
        for name in [
            "kanban.db.dispatch.lock",
            ".dispatcher.json",
            ".dispatcher.lock",
            "kanban.db-shm",
            "config.yaml",
        ] {
            assert!(!concerns_a_board(name), "{name}");
        }
    }

    #[test]
    fn writing_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let mut wake = Wake::default();
        wake.watch(&BTreeSet::from([dir.path().to_owned()]));
        assert_eq!(wake.take(), News::Nothing);
        std::fs::write(dir.path().join("config.yaml"), "x").unwrap();
        assert_eq!(wake.take(), News::Nothing);
        std::fs::write(dir.path().join("kanban.db-wal"), "x").unwrap();
        assert_eq!(wake.take(), News::Some);
        assert_eq!(wake.take(), News::Nothing, "it is told once");
    }
}
