//! The snapshots of a home, and the desk at which one directory's are worked on.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::CheckpointError;
use crate::git::Git;
use crate::ignored::{EXCLUDES, Rules};
use crate::key::Key;
use crate::limits::Limits;
use crate::notes::{Entry, Notes, Record};
use crate::object::{Blob, Mode, ObjectId};
use crate::store::{Hold, Store};
use crate::tree::{HostTree, Stat, Tree};

/// A directory with files that can be snapshotted.
#[derive(Clone)]
pub struct Place {
    /// Which one.
    pub key: Key,
    /// Its files.
    pub tree: Arc<dyn Tree>,
}

impl Place {
    /// A directory of this machine.
    pub fn host(dir: &Path) -> Self {
        let key = Key::host(dir);
        let tree = Arc::new(HostTree::new(key.dir()));
        Self { key, tree }
    }

    /// A directory whose files are not looked at.
    pub(crate) fn unseen(key: Key) -> Self {
        let tree = Arc::new(HostTree::new("/nonexistent"));
        Self { key, tree }
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Place({})", self.key.shown())
    }
}

/// The snapshots of a home.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    pub(crate) store: Store,
    pub(crate) git: Git,
    pub(crate) limits: Limits,
    pub(crate) user_home: Option<PathBuf>,
}

impl Checkpoints {
    /// Those under `base` (`checkpoints` in the home). `user_home` is never snapshotted as a whole.
    pub fn new(base: PathBuf, git: Git, limits: Limits, user_home: Option<PathBuf>) -> Self {
        let user_home = user_home.map(|home| std::fs::canonicalize(&home).unwrap_or(home));
        Self { store: Store::new(base), git, limits, user_home }
    }

    /// The top of the project a directory of this machine is in.
    pub fn project(&self, dir: &Path) -> PathBuf {
        let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf());
        crate::key::project_root(&dir, self.user_home.as_deref(), Path::exists)
    }

    /// Runs git on the store; what it printed.
    pub(crate) fn run<A: AsRef<std::ffi::OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
        doing: &'static str,
    ) -> Result<Vec<u8>, CheckpointError> {
        self.git.output(&self.store.dir, args, doing, self.limits.patience)
    }

    /// What is left out everywhere: what the store says, as the user may have changed it.
    pub(crate) fn rules(&self) -> Rules {
        match std::fs::read_to_string(self.store.dir.join("info/exclude")) {
            Ok(text) => Rules::new(text.lines()),
            Err(_) => Rules::new(EXCLUDES.iter().copied()),
        }
    }

    /// The files of a snapshot.
    pub(crate) fn files_of(&self, id: ObjectId) -> Result<BTreeMap<OsString, Blob>, CheckpointError> {
        let id = id.to_string();
        let args = ["ls-tree", "-r", "-z", "--full-tree", &id];
        let listing = self.run(args, "read a snapshot")?;
        let line = |line: &[u8]| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
            let (mode, _, id) = (words.next()?, words.next()?, words.next()?);
            let path = std::ffi::OsStr::from_bytes(&line[tab + 1..]).to_owned();
            // A repository inside a repository is no file of ours.
            Some((path, Blob { mode: Mode::parse(mode)?, id: ObjectId::parse(id)? }))
        };
        Ok(listing.split(|byte| *byte == 0).filter_map(line).collect())
    }

    /// The names of a chain's snapshots, newest first.
    pub(crate) fn chain(&self, tip: ObjectId) -> Result<Vec<ObjectId>, CheckpointError> {
        let tip = tip.to_string();
        let ids = self.run(["rev-list", "--first-parent", "-n", "1000", &tip], "list snapshots")?;
        Ok(String::from_utf8_lossy(&ids).lines().filter_map(ObjectId::parse).collect())
    }

    /// Takes a directory's snapshots in hand; nobody else changes them meanwhile, and nothing is cleaned up.
    pub(crate) fn desk<'a>(&'a self, place: &'a Place) -> Result<Desk<'a>, CheckpointError> {
        self.store.ensure(&self.git, self.limits.patience)?;
        let hash = place.key.hash();
        let patience = self.limits.patience;
        let locks = [
            self.store.lock("gc", Hold::Together, patience)?,
            self.store.lock(&hash, Hold::Alone, patience)?,
        ];
        let ref_name = place.key.ref_name();
        let tip = self.store.tip(&ref_name)?;
        let known = self.store.read_notes(&hash)?;
        let notes = match known {
            Some(notes) if notes.tip == tip => notes,
            known => self.catch_up(known.unwrap_or_default(), tip)?,
        };
        Ok(Desk { checkpoints: self, place, hash, ref_name, notes, _locks: locks })
    }

    /// Somebody else moved the chain on, or threw it away: the notes are brought up to what git says.
    fn catch_up(&self, old: Notes, tip: Option<ObjectId>) -> Result<Notes, CheckpointError> {
        let mut notes = Notes { tip, looked_ns: old.looked_ns, ..Notes::default() };
        let Some(tip) = tip else { return Ok(notes) };
        let mut known: BTreeMap<ObjectId, Record> =
            old.chain.into_iter().map(|record| (record.id, record)).collect();
        let ids = self.chain(tip)?;
        notes.chain = ids
            .into_iter()
            .rev()
            .map(|id| known.remove(&id).unwrap_or_else(|| Record::foreign(id)))
            .collect();
        notes.pending = old.pending;
        notes.entries = old.entries;
        let files = self.files_of(tip)?;
        for entry in notes.entries.values_mut() {
            entry.tip = None;
        }
        for (path, blob) in files {
            let new = Entry { stat: Stat::default(), now: None, tip: None };
            notes.entries.entry(path).or_insert(new).tip = Some(blob);
        }
        notes.entries.retain(|_, entry| entry.now.is_some() || entry.tip.is_some());
        Ok(notes)
    }
}

/// One directory's snapshots in hand.
pub(crate) struct Desk<'a> {
    pub(crate) checkpoints: &'a Checkpoints,
    pub(crate) place: &'a Place,
    pub(crate) hash: String,
    pub(crate) ref_name: String,
    pub(crate) notes: Notes,
    /// Held as long as the desk is.
    _locks: [File; 2],
}

impl Desk<'_> {
    pub(crate) fn save(&self) -> Result<(), CheckpointError> {
        Ok(self.checkpoints.store.write_notes(&self.hash, &self.notes)?)
    }

    /// Files that others changed in a snapshot after `target`; none when it is not known for one of them.
    pub(crate) fn yours_since(&self, target: ObjectId) -> Option<BTreeSet<OsString>> {
        let mut yours = self.notes.pending.clone();
        let place = self.notes.chain.iter().position(|record| record.id == target)?;
        for record in &self.notes.chain[place + 1..] {
            yours.extend(record.yours.as_ref()?.iter().cloned());
        }
        Some(yours)
    }
}
