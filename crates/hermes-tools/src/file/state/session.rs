//! What one conversation knows of files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hermes_box::proto::file::FileVersion;

use super::{Part, Window};

/// Files, and parts of files, that are remembered.
const MOST: usize = 1000;
/// Files whose failed edits are counted.
const MOST_FAILURES: usize = 64;

/// What one conversation knows.
#[derive(Debug, Default)]
pub(super) struct Session {
    seen: HashMap<PathBuf, Seen>,
    shown: HashMap<Window, Shown>,
    streak: Option<(Repeated, u32)>,
    failures: HashMap<PathBuf, u32>,
}

/// A part of a file that was shown.
#[derive(Debug)]
struct Shown {
    version: FileVersion,
    /// How often it was asked for again in this turn.
    again: u32,
}

/// When a file was last seen, and in which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) version: FileVersion,
    pub(super) part: Part,
    pub(super) at: u64,
}

/// Something that makes no sense to do over and over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Repeated {
    Search(String, u64),
}

impl Session {
    /// How often this was done in a row, with this time.
    pub(super) fn repeat(&mut self, what: Repeated) -> u32 {
        match &mut self.streak {
            Some((last, times)) if *last == what => {
                *times = times.saturating_add(1);
                *times
            }
            streak => {
                *streak = Some((what, 1));
                1
            }
        }
    }

    pub(super) fn interrupt(&mut self) {
        self.streak = None;
    }

    /// Whoever asks again in a new turn has a reason.
    pub(super) fn begin_turn(&mut self) {
        self.streak = None;
        self.shown.values_mut().for_each(|shown| shown.again = 0);
    }

    /// How often a part that was shown in this state was asked for again, before this time; nothing if it was not shown.
    pub(super) fn shown_before(&mut self, window: &Window, version: FileVersion) -> Option<u32> {
        let shown = self.shown.get_mut(window).filter(|shown| shown.version == version)?;
        shown.again += 1;
        Some(shown.again - 1)
    }

    pub(super) fn show(&mut self, window: Window, version: FileVersion) {
        bound(&mut self.shown, MOST);
        self.shown.insert(window, Shown { version, again: 0 });
    }

    pub(super) fn forget_shown(&mut self) {
        self.shown.clear();
        self.streak = None;
    }

    pub(super) fn seen(&self, path: &Path) -> Option<Seen> {
        self.seen.get(path).copied()
    }

    /// A part on top of the whole, in the same state, is still the whole.
    pub(super) fn saw(&mut self, path: &Path, version: FileVersion, part: Part, at: u64) {
        let known = self.seen.get(path).filter(|seen| seen.version == version).map(|seen| seen.part);
        let part = if known == Some(Part::Whole) { Part::Whole } else { part };
        bound(&mut self.seen, MOST);
        self.seen.insert(path.to_owned(), Seen { version, part, at });
    }

    pub(super) fn forget(&mut self, path: &Path) {
        self.shown.retain(|window, _| window.path != path);
        self.seen.remove(path);
        self.failures.remove(path);
        self.streak = None;
    }

    pub(super) fn edit_failed(&mut self, path: &Path) -> u32 {
        self.streak = None;
        bound(&mut self.failures, MOST_FAILURES);
        let count = self.failures.entry(path.to_owned()).or_default();
        *count = count.saturating_add(1);
        *count
    }
}

/// Starts over when it is full: forgetting costs a read that would not have been necessary, nothing else.
fn bound<K, V>(map: &mut HashMap<K, V>, most: usize) {
    if map.len() >= most {
        map.clear();
    }
}
