//! Looking at a directory, and keeping what was seen.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::checkpoints::{Checkpoints, Desk, Place};
use crate::error::CheckpointError;
use crate::import::{self, Order};
use crate::key::Key;
use crate::limits::Skip;
use crate::notes::{Entries, Entry, Record};
use crate::object::{Blob, Mode, ObjectId};
use crate::store::now_seconds;
use crate::tree::{ItemKind, Stat};
use crate::walk::{self, Found};

/// Contents read while looking are kept up to so many bytes, so that they need not be read again.
const HELD: usize = 64 * 1024 * 1024;
/// A file changed so shortly before a look may change again without looking different: clocks tick in steps.
const TICK: i64 = 100_000_000;
/// The same for a place that does not say when a file's attributes changed, and has a clock of its own.
const REMOTE_TICK: i64 = 2_000_000_000;

/// What came of a wish for a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// There is a new one.
    Made(ObjectId),
    /// Nothing has changed since the newest.
    Unchanged,
    /// This directory gets none.
    Skipped(Skip),
}

impl Checkpoints {
    /// Snapshots a directory before something is changed in it. `why` is shown in lists.
    pub fn take(&self, place: &Place, why: &str) -> Result<Taken, CheckpointError> {
        if let Some(skip) = self.too_broad(&place.key) {
            return Ok(Taken::Skipped(skip));
        }
        let mut desk = self.desk(place)?;
        let seen = match desk.observe() {
            Ok(seen) => seen,
            Err(CheckpointError::Skipped(skip)) => return Ok(Taken::Skipped(skip)),
            Err(error) => return Err(error),
        };
        desk.keep(seen, why)
    }

    /// Remembers how a directory looks now that the agent is done with it: what is different later, others changed.
    pub fn look(&self, place: &Place) -> Result<(), CheckpointError> {
        let mut desk = self.desk(place)?;
        let seen = desk.observe()?;
        desk.settle(seen);
        desk.save()
    }

    fn too_broad(&self, key: &Key) -> Option<Skip> {
        let dir = key.dir();
        let whole_home = matches!(key, Key::Host(_)) && Some(dir) == self.user_home.as_deref();
        (dir.parent().is_none() || whole_home).then(|| Skip::TooBroad(dir.to_path_buf()))
    }
}

/// What a look saw.
pub(crate) struct Seen {
    pub(crate) entries: Entries,
    /// Files that are not what they were at the last look.
    pub(crate) moved: BTreeSet<OsString>,
    pub(crate) too_large: BTreeSet<OsString>,
    held: HashMap<OsString, Vec<u8>>,
    looked_ns: i64,
}

impl Seen {
    /// The files by what they are.
    pub(crate) fn now(&self) -> BTreeMap<OsString, Blob> {
        let file = |(path, entry): (&OsString, &Entry)| entry.now.map(|blob| (path.clone(), blob));
        self.entries.iter().filter_map(file).collect()
    }
}

impl Desk<'_> {
    /// Looks at every file; reads those that may have changed.
    pub(crate) fn observe(&self) -> Result<Seen, CheckpointError> {
        let limits = &self.checkpoints.limits;
        let looked_ns = (now_seconds() * 1e9) as i64;
        let tree = self.place.tree.as_ref();
        let walked = walk::walk(tree, self.place.key.dir(), self.checkpoints.rules(), limits)?;
        let mut seen = Seen {
            entries: Entries::new(),
            moved: BTreeSet::new(),
            too_large: walked.too_large,
            held: HashMap::new(),
            looked_ns,
        };
        let mut room = HELD;
        for found in walked.found {
            let old = self.notes.entries.get(&found.path).copied();
            let now = match old {
                Some(old) if self.is_trusted(&old, &found) => old.now,
                _ => self.read(&found, old, &mut seen.held, &mut room),
            };
            let entry = Entry { stat: found.stat, now, tip: old.and_then(|old| old.tip) };
            seen.entries.insert(found.path, entry);
        }
        self.add_absent(&mut seen, &walked.closed);
        let was = |path: &OsStr| self.notes.entries.get(path).and_then(|entry| entry.now);
        let moved = seen.entries.iter().filter(|(path, entry)| was(path) != entry.now);
        seen.moved = moved.map(|(path, _)| path.clone()).collect();
        Ok(seen)
    }

    /// Files that are gone stay in the notes as long as the newest snapshot has them. What a closed directory holds is
    /// taken to be as it was.
    fn add_absent(&self, seen: &mut Seen, closed: &[OsString]) {
        for (path, old) in &self.notes.entries {
            if seen.entries.contains_key(path) {
                continue;
            }
            let hidden = closed.iter().any(|dir| Path::new(path).starts_with(dir));
            let now = if hidden { old.now.or(old.tip) } else { None };
            seen.entries.insert(path.clone(), Entry { stat: Stat::default(), now, tip: old.tip });
        }
    }

    /// Whether a file is what it was at the last look, by its looks alone.
    fn is_trusted(&self, old: &Entry, found: &Found) -> bool {
        let tick = if found.stat.ino == 0 { REMOTE_TICK } else { TICK };
        let newest = found.stat.mtime_ns.max(found.stat.ctime_ns);
        old.now.is_some() && old.stat == found.stat && newest < self.notes.looked_ns.saturating_sub(tick)
    }

    /// What a file is, by its content. One that cannot be read is taken to be what the snapshot has.
    fn read(
        &self,
        found: &Found,
        old: Option<Entry>,
        held: &mut HashMap<OsString, Vec<u8>>,
        room: &mut usize,
    ) -> Option<Blob> {
        let most = self.checkpoints.limits.file_bytes;
        let Ok(bytes) = self.place.tree.read(Path::new(&found.path), found.kind, most) else {
            return old.and_then(|old| old.tip);
        };
        let blob = Blob { mode: mode(found), id: ObjectId::of_blob(&bytes) };
        let is_new = old.and_then(|old| old.tip) != Some(blob);
        if is_new && let Some(left) = room.checked_sub(bytes.len()) {
            *room = left;
            held.insert(found.path.clone(), bytes);
        }
        Some(blob)
    }

    /// Makes a snapshot of what was seen, if it is anything new.
    pub(crate) fn keep(&mut self, mut seen: Seen, why: &str) -> Result<Taken, CheckpointError> {
        let first = self.notes.tip.is_none();
        if !first {
            self.notes.pending.append(&mut seen.moved);
        }
        let differs = seen.entries.values().any(|entry| entry.now != entry.tip);
        if !differs && !first {
            self.settle(seen);
            self.save()?;
            self.checkpoints.store.touch(&self.place.key)?;
            return Ok(Taken::Unchanged);
        }
        let id = match self.import(&mut seen, why, &self.ref_name.clone()) {
            Err(CheckpointError::Git { .. }) if self.is_broken() => {
                // Somebody's clean-up took objects away: a new chain is better than none.
                self.notes.tip = None;
                self.notes.chain.clear();
                seen.entries.values_mut().for_each(|entry| entry.tip = None);
                self.import(&mut seen, why, &self.ref_name.clone())?
            }
            made => made?,
        };
        seen.entries.values_mut().for_each(|entry| entry.tip = entry.now);
        let record = Record {
            id,
            yours: Some(std::mem::take(&mut self.notes.pending)),
            modes: unusual_modes(&seen.entries),
            left_out: seen.too_large.clone(),
        };
        self.settle(seen);
        self.notes.tip = Some(id);
        self.notes.chain.push(record);
        self.drop_oldest()?;
        self.save()?;
        self.checkpoints.store.touch(&self.place.key)?;
        Ok(Taken::Made(id))
    }

    /// Streams what is different from the newest snapshot onto a ref.
    pub(crate) fn import(
        &self,
        seen: &mut Seen,
        why: &str,
        ref_name: &str,
    ) -> Result<ObjectId, CheckpointError> {
        let checkpoints = self.checkpoints;
        let order = Order { ref_name, parent: self.notes.tip, why, at: now_seconds() as u64 };
        let limit = checkpoints.limits.patience * 2;
        let held = std::mem::take(&mut seen.held);
        import::import(&checkpoints.git, &checkpoints.store.dir, &order, limit, |stream| {
            let gone = seen.entries.iter().filter(|(_, entry)| entry.now.is_none() && entry.tip.is_some());
            gone.map(|(path, _)| path).try_for_each(|path| stream.remove(path))?;
            for (path, entry) in seen.entries.iter_mut().filter(|(_, entry)| entry.now != entry.tip) {
                let Some(blob) = entry.now else { continue };
                let Some(bytes) = held
                    .get(path)
                    .map(|bytes| Cow::Borrowed(bytes.as_slice()))
                    .or_else(|| self.read_again(path, blob.mode).map(Cow::Owned))
                else {
                    // It went away meanwhile: what the snapshot has of it stays.
                    entry.now = entry.tip;
                    continue;
                };
                stream.put(path, blob.mode, &bytes)?;
                entry.now = Some(Blob { mode: blob.mode, id: ObjectId::of_blob(&bytes) });
            }
            Ok(())
        })
    }

    fn read_again(&self, path: &OsStr, mode: Mode) -> Option<Vec<u8>> {
        let kind = if mode == Mode::Link { ItemKind::Link } else { ItemKind::File };
        self.place.tree.read(Path::new(path), kind, self.checkpoints.limits.file_bytes).ok()
    }

    /// From now on, what was seen is how it looked last.
    pub(crate) fn settle(&mut self, seen: Seen) {
        self.notes.looked_ns = seen.looked_ns;
        self.notes.entries = seen.entries;
        self.notes.entries.retain(|_, entry| entry.now.is_some() || entry.tip.is_some());
    }

    /// Whether the newest snapshot cannot be read.
    fn is_broken(&self) -> bool {
        self.notes.tip.is_some_and(|tip| self.checkpoints.files_of(tip).is_err())
    }

    /// Keeps as many snapshots as are allowed.
    fn drop_oldest(&mut self) -> Result<(), CheckpointError> {
        let most = self.checkpoints.limits.snapshots;
        self.keep_newest(most)
    }

    /// Keeps the newest `most` snapshots.
    pub(crate) fn keep_newest(&mut self, most: usize) -> Result<(), CheckpointError> {
        let Some(excess @ 1..) = self.notes.chain.len().checked_sub(most) else { return Ok(()) };
        let dropped: Vec<ObjectId> = self.notes.chain.drain(..excess).map(|record| record.id).collect();
        let boundary = self.notes.chain.first().map(|record| record.id);
        Ok(self.checkpoints.store.cut_before(&dropped, boundary)?)
    }
}

fn mode(found: &Found) -> Mode {
    match found.kind {
        ItemKind::Link => Mode::Link,
        _ if found.stat.mode & 0o100 != 0 => Mode::Executable,
        _ => Mode::Plain,
    }
}

/// Permission bits git does not keep, where they are not what new files usually get.
fn unusual_modes(entries: &Entries) -> BTreeMap<OsString, u32> {
    let usual = |mode| matches!(mode, 0o644 | 0o755 | 0o664 | 0o775);
    let is_file = |entry: &Entry| entry.now.is_some_and(|blob| blob.mode != Mode::Link);
    let unusual =
        entries.iter().filter(|(_, e)| is_file(e) && e.stat != Stat::default() && !usual(e.stat.mode));
    unusual.map(|(path, entry)| (path.clone(), entry.stat.mode)).collect()
}
