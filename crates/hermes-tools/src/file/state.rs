//! What conversations know of files: what was shown to them and in which state, who wrote last, and what they repeat.

mod session;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use hermes_box::proto::file::FileVersion;

use crate::tool::Moment;
use crate::workplace::lock;
use session::{Repeated, Session};

/// Conversations that are remembered at once.
const MOST_SESSIONS: usize = 200;
/// Files whose last writer is remembered.
const MOST_WRITERS: usize = 1000;

/// See the module. Clones share one memory; conversations that work side by side should share one.
#[derive(Debug, Clone, Default)]
pub struct FileState(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    sessions: HashMap<String, Session>,
    writers: HashMap<Spot, Writer>,
    locks: HashMap<Spot, Weak<Mutex<()>>>,
    /// Counts writes, so that before and after can be told.
    clock: u64,
}

/// A file of a place: the place's name, empty where conversations share one, and the real path.
pub(super) type Spot = (String, PathBuf);

#[derive(Debug)]
struct Writer {
    session: String,
    at: u64,
}

/// How much of a file a conversation has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    Some,
}

/// A part of a file that is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Window {
    pub(super) path: PathBuf,
    pub(super) offset: u64,
    pub(super) limit: u64,
}

/// What to do about a read or search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Give it.
    Fresh,
    /// It was given before and is the same.
    Unchanged,
    /// The same search, for the third time in a row.
    UnchangedAgain,
    /// The same, once too often.
    Blocked,
}

/// Why a write may not do what its author thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stale {
    /// The conversation never saw the file.
    NeverRead,
    /// It saw a part of it.
    PartlyRead,
    /// The file has changed since.
    Changed,
    /// Another conversation wrote it since.
    WrittenByOther,
}

impl FileState {
    /// A part of a file in this state is about to be shown.
    pub(super) fn reading(&self, session: &str, window: Window, version: FileVersion) -> Answer {
        self.session(session, |own| {
            own.interrupt();
            match own.shown_before(&window, version) {
                None => {
                    own.show(window, version);
                    Answer::Fresh
                }
                Some(0) => Answer::Unchanged,
                Some(_) => Answer::Blocked,
            }
        })
    }

    /// This search gave this result.
    pub(super) fn searching(&self, session: &str, search: String, result: u64) -> Answer {
        let times = self.session(session, |own| own.repeat(Repeated::Search(search, result)));
        match times {
            0..=2 => Answer::Fresh,
            3 => Answer::UnchangedAgain,
            _ => Answer::Blocked,
        }
    }

    /// This much of a file has been shown.
    pub(super) fn has_read(&self, session: &str, path: &Path, version: FileVersion, part: Part) {
        let mut inner = lock(&self.0);
        let now = inner.clock;
        own(&mut inner, session).saw(path, version, part, now);
    }

    /// What the author of a write should know; `version` is what is there now.
    pub(super) fn staleness(&self, session: &str, spot: &Spot, version: FileVersion) -> Option<Stale> {
        let mut inner = lock(&self.0);
        let seen = own(&mut inner, session).seen(&spot.1);
        let other = inner.writers.get(spot).filter(|writer| writer.session != session);
        match (seen, other) {
            (None, _) => Some(Stale::NeverRead),
            (Some(seen), Some(other)) if other.at > seen.at => Some(Stale::WrittenByOther),
            (Some(seen), _) if seen.version != version => Some(Stale::Changed),
            (Some(seen), _) if seen.part == Part::Some => Some(Stale::PartlyRead),
            (Some(_), _) => None,
        }
    }

    /// A file was written; who wrote it knows all of it.
    pub(super) fn wrote(&self, session: &str, spot: &Spot, version: FileVersion, part: Part) {
        let mut inner = lock(&self.0);
        inner.clock += 1;
        let at = inner.clock;
        if inner.writers.len() >= MOST_WRITERS {
            inner.writers.clear();
        }
        inner.writers.insert(spot.clone(), Writer { session: session.to_owned(), at });
        let own = own(&mut inner, session);
        own.forget(&spot.1);
        own.saw(&spot.1, version, part, at);
    }

    /// A file was removed or moved away.
    pub(super) fn removed(&self, session: &str, spot: &Spot) {
        self.session(session, |own| own.forget(&spot.1));
        lock(&self.0).writers.remove(spot);
    }

    /// An edit of this file failed; how often in a row.
    pub(super) fn edit_failed(&self, session: &str, path: &Path) -> u32 {
        self.session(session, |own| own.edit_failed(path))
    }

    /// Hears how a conversation goes.
    pub(super) fn hear(&self, session: &str, moment: Moment<'_>) {
        match moment {
            // Whoever asks again now has a reason.
            Moment::TurnBegins => self.session(session, Session::begin_turn),
            // What was shown is no longer before the model: it may be shown again.
            Moment::HistoryShortened | Moment::Resumed(_) => self.session(session, Session::forget_shown),
            Moment::TurnEnds => {}
        }
    }

    /// Turns of writers at one file, in this process.
    pub(super) fn turn(&self, spot: &Spot) -> Arc<Mutex<()>> {
        let mut inner = lock(&self.0);
        if let Some(known) = inner.locks.get(spot).and_then(Weak::upgrade) {
            return known;
        }
        inner.locks.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        inner.locks.insert(spot.clone(), Arc::downgrade(&turn));
        turn
    }

    fn session<T>(&self, session: &str, act: impl FnOnce(&mut Session) -> T) -> T {
        act(own(&mut lock(&self.0), session))
    }
}

fn own<'a>(inner: &'a mut MutexGuard<'_, Inner>, session: &str) -> &'a mut Session {
    if inner.sessions.len() >= MOST_SESSIONS && !inner.sessions.contains_key(session) {
        inner.sessions.clear();
    }
    inner.sessions.entry(session.to_owned()).or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(n: u64) -> FileVersion {
        FileVersion { dev: 1, ino: 1, size: n, mtime_ns: 0, ctime_ns: 0 }
    }

    fn window(path: &str) -> Window {
        Window { path: path.into(), offset: 1, limit: 500 }
    }

    fn spot(path: &str) -> Spot {
        (String::new(), path.into())
    }

    #[test]
    fn a_part_is_shown_once_and_asking_on_is_stopped() {
        let state = FileState::default();
        let read = |path: &str, n| state.reading("s", window(path), version(n));
        assert_eq!(read("/a", 1), Answer::Fresh);
        assert_eq!(read("/a", 1), Answer::Unchanged);
        assert_eq!(read("/b", 1), Answer::Fresh);
        assert_eq!([read("/a", 1), read("/a", 1)], [Answer::Blocked; 2], "it was told once");
        assert_eq!(read("/a", 2), Answer::Fresh, "it changed");
        assert_eq!(read("/a", 2), Answer::Unchanged);
        state.hear("s", Moment::TurnBegins);
        assert_eq!(read("/a", 2), Answer::Unchanged, "whoever asks again now has a reason");
        assert_eq!(state.reading("other", window("/a"), version(2)), Answer::Fresh);
        state.hear("s", Moment::HistoryShortened);
        assert_eq!(read("/a", 2), Answer::Fresh);
    }

    #[test]
    fn searches_are_stopped_only_if_they_find_the_same() {
        let state = FileState::default();
        let search = |result| state.searching("s", "x".to_owned(), result);
        assert_eq!([search(1), search(1), search(2), search(1)], [Answer::Fresh; 4]);
        assert_eq!(
            [search(1), search(1), search(1)],
            [Answer::Fresh, Answer::UnchangedAgain, Answer::Blocked]
        );
        state.hear("s", Moment::TurnBegins);
        assert_eq!(search(1), Answer::Fresh);
    }

    #[test]
    fn writers_are_told_what_they_did_not_see() {
        let state = FileState::default();
        let ask = |session: &str, n| state.staleness(session, &spot("/a"), version(n));
        assert_eq!(ask("s", 1), Some(Stale::NeverRead));
        state.has_read("s", Path::new("/a"), version(1), Part::Some);
        assert_eq!(ask("s", 1), Some(Stale::PartlyRead));
        state.has_read("s", Path::new("/a"), version(1), Part::Whole);
        assert_eq!(ask("s", 1), None);
        assert_eq!(ask("s", 2), Some(Stale::Changed));
        state.wrote("other", &spot("/a"), version(2), Part::Whole);
        assert_eq!(ask("s", 2), Some(Stale::WrittenByOther));
        assert_eq!(ask("other", 2), None);
        state.has_read("s", Path::new("/a"), version(2), Part::Whole);
        assert_eq!(ask("s", 2), None, "it was read after that");
    }

    #[test]
    fn failures_are_counted_until_one_works() {
        let state = FileState::default();
        let fail = || state.edit_failed("s", Path::new("/a"));
        assert_eq!([fail(), fail(), fail()], [1, 2, 3]);
        state.wrote("s", &spot("/a"), version(1), Part::Some);
        assert_eq!(fail(), 1);
    }
}
