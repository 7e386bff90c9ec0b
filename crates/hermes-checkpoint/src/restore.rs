//! Going back to a snapshot.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use crate::checkpoints::{Checkpoints, Desk, Place};
use crate::error::CheckpointError;
use crate::git::Git;
use crate::ignored::{self, Rules};
use crate::object::{self, Blob, Mode, ObjectId};
use crate::plan::{self, Change, Does, Known, Whose};
use crate::take::{Seen, Taken};
use crate::tree::{Contents, TreeError};

/// Files read from the store at once.
const BATCH: usize = 1000;

/// What to go back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// The snapshot.
    pub id: ObjectId,
    /// One file or directory, from the directory's top; everything without.
    pub only: Option<PathBuf>,
    /// What happens to what the user changed.
    pub mine: Mine,
}

/// What happens to files somebody else than the agent changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mine {
    /// They stay as they are.
    Keep,
    /// They go back too.
    Overwrite,
}

/// What going back would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The snapshot.
    pub id: ObjectId,
    /// What it was made before.
    pub reason: String,
    /// Every file that is different.
    pub changes: Vec<Change>,
}

/// What going back did.
#[derive(Debug)]
pub struct Restored {
    /// The snapshot.
    pub id: ObjectId,
    /// What it was made before.
    pub reason: String,
    /// What was done.
    pub done: Vec<Change>,
    /// What was left, being somebody else's.
    pub left: Vec<Change>,
    /// What could not be done.
    pub failed: Vec<TreeError>,
    /// The snapshot of how it was before, when that was anything new.
    pub before: Option<ObjectId>,
}

/// How the reasons of snapshots begin that are made before going back.
const BEFORE_ROLLBACK: &str = "pre-rollback snapshot";

impl Restored {
    /// Whether the snapshot was made before going back to another one.
    pub fn is_before_rollback(&self) -> bool {
        self.reason.starts_with(BEFORE_ROLLBACK)
    }
}

impl Checkpoints {
    /// What going back would do. Changes nothing.
    pub fn plan(&self, place: &Place, id: ObjectId, only: Option<&Path>) -> Result<Plan, CheckpointError> {
        let desk = self.desk(place)?;
        let seen = desk.observe()?;
        let changes = desk.plan(&seen, id, only)?;
        Ok(Plan { id, reason: self.reason_of(id)?, changes })
    }

    /// Goes back. How it was before is kept as a snapshot first.
    pub fn restore(&self, place: &Place, wish: &Wish) -> Result<Restored, CheckpointError> {
        let mut desk = self.desk(place)?;
        let seen = desk.observe()?;
        let changes = desk.plan(&seen, wish.id, wish.only.as_deref())?;
        let reason = self.reason_of(wish.id)?;
        let goes = |change: &Change| wish.mine == Mine::Overwrite || change.whose == Whose::Agent;
        let (todo, left): (Vec<Change>, Vec<Change>) = changes.into_iter().partition(goes);
        let mut restored =
            Restored { id: wish.id, reason, done: Vec::new(), left, failed: Vec::new(), before: None };
        if todo.is_empty() {
            return Ok(restored);
        }
        // Dropping the oldest snapshot must not take the one away that is being restored.
        let modes = desk.modes_of(wish.id);
        let contents = self.contents(todo.iter().filter_map(|change| change.blob).map(|blob| blob.id))?;
        let why = format!("{BEFORE_ROLLBACK} (restoring to {})", wish.id.short());
        if let Taken::Made(id) = desk.keep(seen, &why)? {
            restored.before = Some(id);
        }
        desk.apply(todo, &contents, &modes, &mut restored);
        let seen = desk.observe()?;
        desk.settle(seen);
        desk.save()?;
        Ok(restored)
    }

    /// The contents of objects.
    fn contents(
        &self,
        ids: impl Iterator<Item = ObjectId>,
    ) -> Result<HashMap<ObjectId, Vec<u8>>, CheckpointError> {
        let ids: Vec<ObjectId> = ids.collect::<BTreeSet<_>>().into_iter().collect();
        let mut contents = HashMap::with_capacity(ids.len());
        for some in ids.chunks(BATCH) {
            let mut command = self.git.command(&self.store.dir);
            command.args(["cat-file", "--batch"]);
            let doing = "read the snapshot's files";
            let printed = Git::feed(command, doing, self.limits.patience, |input| {
                let lines = object::lines(some.iter().copied());
                let failed =
                    |error: std::io::Error| CheckpointError::Git { doing, message: error.to_string() };
                input.write_all(lines.as_bytes()).map_err(failed)
            })?;
            let missing = || CheckpointError::Git { doing, message: "some of them are missing".to_owned() };
            let mut rest = printed.as_slice();
            for id in some {
                let (bytes, after) = answer(rest).ok_or_else(missing)?;
                contents.insert(*id, bytes.to_vec());
                rest = after;
            }
        }
        Ok(contents)
    }
}

/// One answer of `cat-file --batch`: a line with the length, the bytes, a newline.
fn answer(answers: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = answers.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&answers[..end]).ok()?;
    let length: usize = line.rsplit_once(' ')?.1.parse().ok()?;
    let bytes = answers.get(end + 1..end + 1 + length)?;
    Some((bytes, answers.get(end + 2 + length..)?))
}

impl Desk<'_> {
    /// Every file that is different from a snapshot.
    fn plan(&self, seen: &Seen, id: ObjectId, only: Option<&Path>) -> Result<Vec<Change>, CheckpointError> {
        let only = only.map(inside).transpose()?;
        let checkpoints = self.checkpoints;
        let target = checkpoints.files_of(id)?;
        let now = seen.now();
        let rules = self.rules_then(&target, &now)?;
        let record = self.notes.chain.iter().find(|record| record.id == id);
        let was_left_out = |path: &OsStr| {
            record.is_some_and(|record| record.left_out.contains(path))
                || rules.as_ref().is_some_and(|rules| rules.leave_out_file(Path::new(path)))
        };
        let yours = self.yours_since(id);
        let known = Known { looked: &self.notes.entries, yours: yours.as_ref(), was_left_out: &was_left_out };
        let mut changes = plan::plan(&target, &now, &known);
        if let Some(only) = only {
            let named = |path: &Path| path.starts_with(&only);
            changes.retain(|change| named(&change.path));
            if changes.is_empty() && !target.keys().chain(now.keys()).any(|path| named(Path::new(path))) {
                return Err(CheckpointError::NoSuchPath { path: only });
            }
        }
        for change in changes.iter_mut().filter(|change| change.does == Does::Create) {
            self.beware_of_unsaved(change)?;
        }
        Ok(changes)
    }

    /// A file that is there but in no snapshot (it grew too large, or is ignored by now) would be lost for good.
    fn beware_of_unsaved(&self, change: &mut Change) -> Result<(), CheckpointError> {
        let there = self.place.tree.stat(&change.path)?;
        if there.is_some_and(|item| item.kind != crate::tree::ItemKind::Directory) {
            (change.does, change.whose) = (Does::Overwrite, Whose::Yours);
        }
        Ok(())
    }

    /// The ignore files as the snapshot has them, where they are different now: what they left out then was there too.
    fn rules_then(
        &self,
        target: &BTreeMap<OsString, Blob>,
        now: &BTreeMap<OsString, Blob>,
    ) -> Result<Option<Rules>, CheckpointError> {
        let is_rules = |path: &OsStr| Path::new(path).file_name() == Some(OsStr::new(ignored::FILE));
        let mut then: Vec<(&OsString, &Blob)> = target.iter().filter(|(path, _)| is_rules(path)).collect();
        if then.iter().all(|(path, blob)| now.get(*path) == Some(*blob)) {
            return Ok(None);
        }
        // Outer directories before inner ones.
        then.sort_by_key(|(path, _)| Path::new(path).components().count());
        let contents = self.checkpoints.contents(then.iter().map(|(_, blob)| blob.id))?;
        let mut rules = self.checkpoints.rules();
        for (path, blob) in then {
            let dir = Path::new(path).parent().unwrap_or(Path::new(""));
            rules.enter(dir, contents.get(&blob.id).map(Vec::as_slice).unwrap_or_default());
        }
        Ok(Some(rules))
    }

    fn modes_of(&self, id: ObjectId) -> BTreeMap<OsString, u32> {
        let record = self.notes.chain.iter().find(|record| record.id == id);
        record.map(|record| record.modes.clone()).unwrap_or_default()
    }

    /// Does it, file by file: first what goes, so that nothing stands in the way of what comes back.
    fn apply(
        &self,
        todo: Vec<Change>,
        contents: &HashMap<ObjectId, Vec<u8>>,
        modes: &BTreeMap<OsString, u32>,
        restored: &mut Restored,
    ) {
        let (gone, back): (Vec<Change>, Vec<Change>) =
            todo.into_iter().partition(|change| change.does == Does::Remove);
        let mut emptied: BTreeSet<PathBuf> = BTreeSet::new();
        for change in gone {
            match self.place.tree.remove(&change.path) {
                Ok(()) => {
                    emptied.extend(change.path.ancestors().skip(1).map(Path::to_path_buf));
                    restored.done.push(change);
                }
                Err(error) => restored.failed.push(error),
            }
        }
        // Innermost first; one that still holds something stays.
        for dir in emptied.into_iter().rev().filter(|dir| !dir.as_os_str().is_empty()) {
            let _ = self.place.tree.remove(&dir);
        }
        for change in back {
            match self.put(&change, contents, modes) {
                Ok(()) => restored.done.push(change),
                Err(error) => restored.failed.push(error),
            }
        }
    }

    fn put(
        &self,
        change: &Change,
        contents: &HashMap<ObjectId, Vec<u8>>,
        modes: &BTreeMap<OsString, u32>,
    ) -> Result<(), TreeError> {
        let tree = self.place.tree.as_ref();
        let Some((blob, bytes)) = change.blob.and_then(|blob| Some((blob, contents.get(&blob.id)?))) else {
            return Ok(());
        };
        if blob.mode == Mode::Link {
            return tree.put(&change.path, &Contents::Link { target: bytes });
        }
        let there = tree.stat(&change.path)?.filter(|item| item.kind == crate::tree::ItemKind::File);
        let mode = match (modes.get(change.path.as_os_str()), there) {
            (Some(mode), _) => *mode,
            (None, Some(item)) => with_execution(item.stat.mode, blob.mode),
            (None, None) => with_execution(0o644, blob.mode),
        };
        tree.put(&change.path, &Contents::File { bytes, mode })
    }
}

/// Permission bits with execution for those who may read, or for nobody.
fn with_execution(mode: u32, wanted: Mode) -> u32 {
    match wanted {
        Mode::Executable => mode | ((mode & 0o444) >> 2),
        Mode::Plain | Mode::Link => mode & !0o111,
    }
}

/// A path that stays inside, without `.` in it.
fn inside(path: &Path) -> Result<PathBuf, CheckpointError> {
    let outside = || CheckpointError::Outside { path: path.to_path_buf() };
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            _ => return Err(outside()),
        }
    }
    if clean.as_os_str().is_empty() { Err(outside()) } else { Ok(clean) }
}
