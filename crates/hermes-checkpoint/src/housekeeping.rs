//! What the store takes, and keeping that in bounds: directories that are gone or forgotten, snapshots over the limit,
//! and what git keeps of them. Never inside a call of the agent.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Serialize;

use crate::checkpoints::{Checkpoints, Place};
use crate::error::CheckpointError;
use crate::key::Key;
use crate::store::{Hold, Meta, now_seconds, write_quick};

/// Objects younger than this are never removed: somebody may be about to use them.
const GRACE: &str = "--prune=10.minutes.ago";
/// How long a clean-up that somebody waits for may take.
const LONGEST: Duration = Duration::from_mins(10);
/// A clean-up in the background at most so often.
const GC_EVERY: Duration = Duration::from_hours(1);
/// So many packs are worth putting together.
const MANY_PACKS: usize = 30;
const DAY: f64 = 86_400.0;

/// What is thrown away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Directories nobody worked in for so many days; 0 keeps them.
    pub days: u32,
    /// Directories that are gone.
    pub orphans: Orphans,
    /// Bytes the store may take; none without a bound.
    pub store_bytes: Option<u64>,
}

/// What happens to snapshots of directories that are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orphans {
    /// They go.
    Delete,
    /// They stay.
    Keep,
}

impl From<bool> for Orphans {
    fn from(delete: bool) -> Self {
        if delete { Self::Delete } else { Self::Keep }
    }
}

/// What a clean-up did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Pruned {
    /// Directories looked at.
    pub scanned: usize,
    /// Directories that were gone.
    pub deleted_orphan: usize,
    /// Directories nobody worked in.
    pub deleted_stale: usize,
    /// Snapshots that were dropped to stay within the size.
    pub dropped: usize,
    /// Bytes that are free again.
    pub bytes_freed: u64,
}

/// What the store holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// Where it is.
    pub base: PathBuf,
    /// Bytes of the store.
    pub store_size_bytes: u64,
    /// Bytes of what older versions left.
    pub legacy_size_bytes: u64,
    /// What older versions left.
    pub legacy_archives: Vec<String>,
    /// Its directories, last used first.
    pub projects: Vec<StatusOf>,
}

/// What the store holds of one directory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatusOf {
    /// Its name in the store.
    pub hash: String,
    /// The directory.
    pub workdir: String,
    /// The box it is in, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Whether it is there; nobody asks a box.
    pub exists: bool,
    /// Since when, in seconds since 1970.
    pub created_at: f64,
    /// Last used, in seconds since 1970.
    pub last_touch: f64,
    /// Snapshots.
    pub commits: usize,
}

impl StatusOf {
    /// Which directory it is.
    pub fn key(&self) -> Key {
        let dir = PathBuf::from(&self.workdir);
        match &self.place {
            None => Key::Host(dir),
            Some(place) => Key::Box { place: place.clone(), dir },
        }
    }
}

impl Checkpoints {
    /// What the store holds.
    pub fn status(&self) -> Result<Status, CheckpointError> {
        let mut projects = Vec::new();
        for (hash, meta) in self.store.projects() {
            let commits = self.count(&hash, &meta)?;
            projects.push(StatusOf {
                hash,
                exists: exists(&meta),
                workdir: meta.workdir,
                place: meta.place,
                created_at: meta.created_at,
                last_touch: meta.last_touch,
                commits,
            });
        }
        let legacy = self.legacy();
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Status {
            base: self.store.base.clone(),
            store_size_bytes: size(&self.store.dir),
            legacy_size_bytes: legacy.iter().map(|dir| size(dir)).sum(),
            legacy_archives: legacy.iter().map(name).collect(),
            projects,
        })
    }

    fn count(&self, hash: &str, meta: &Meta) -> Result<usize, CheckpointError> {
        let Some(tip) = self.tip_of(&meta.key())? else { return Ok(0) };
        match self.store.read_notes(hash)? {
            Some(notes) if notes.tip == Some(tip) => Ok(notes.chain.len()),
            _ => Ok(self.chain(tip)?.len()),
        }
    }

    fn legacy(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.store.base).into_iter().flatten().filter_map(Result::ok);
        let is_legacy = |path: &PathBuf| {
            path.is_dir()
                && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("legacy-"))
        };
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_legacy).collect();
        found.sort();
        found
    }

    /// Throws away what is not to be kept, and waits for git to give the space back.
    pub fn prune(&self, retention: &Retention) -> Result<Pruned, CheckpointError> {
        let before = size(&self.store.base);
        let mut pruned = self.forget(retention)?;
        if self.store.exists() {
            self.collect()?;
            for _ in 0..6 {
                let dropped = self.drop_over_size(retention)?;
                if dropped == 0 {
                    break;
                }
                pruned.dropped += dropped;
                self.collect()?;
            }
        }
        self.mark_pruned()?;
        pruned.bytes_freed = before.saturating_sub(size(&self.store.base));
        Ok(pruned)
    }

    /// The same without waiting: directories are looked through at most every `interval`, and git works on after us.
    pub fn tidy(&self, retention: &Retention, interval: Duration) -> Result<(), CheckpointError> {
        if !self.store.exists() {
            return Ok(());
        }
        let marker = self.store.base.join(".last_prune");
        let last = fs::read_to_string(marker).ok().and_then(|text| text.trim().parse::<f64>().ok());
        if last.is_none_or(|last| now_seconds() - last >= interval.as_secs_f64()) {
            self.forget(retention)?;
            self.drop_over_size(retention)?;
            self.mark_pruned()?;
        }
        if self.is_worth_collecting() { self.collect_in_background() } else { Ok(()) }
    }

    /// Throws everything away; the bytes that are free again.
    pub fn clear(&self) -> Result<u64, CheckpointError> {
        let freed = size(&self.store.base);
        let lock = || self.store.lock("gc", Hold::Alone, self.limits.patience);
        let _alone = self.store.exists().then(lock).transpose()?;
        remove_dir(&self.store.base)?;
        Ok(freed)
    }

    /// Throws away what older versions left; how many, and the bytes that are free again.
    pub fn clear_legacy(&self) -> Result<(usize, u64), CheckpointError> {
        let legacy = self.legacy();
        let freed = legacy.iter().map(|dir| size(dir)).sum();
        legacy.iter().try_for_each(|dir| remove_dir(dir))?;
        Ok((legacy.len(), freed))
    }

    fn mark_pruned(&self) -> Result<(), CheckpointError> {
        if self.store.base.is_dir() {
            write_quick(&self.store.base.join(".last_prune"), now_seconds().to_string().as_bytes())?;
        }
        Ok(())
    }

    /// Forgets directories.
    fn forget(&self, retention: &Retention) -> Result<Pruned, CheckpointError> {
        let mut pruned = Pruned::default();
        let cutoff = (retention.days > 0).then(|| now_seconds() - f64::from(retention.days) * DAY);
        for dir in self.legacy() {
            let age =
                fs::metadata(&dir).and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
            if retention.days > 0
                && age.is_some_and(|age| age.as_secs_f64() > f64::from(retention.days) * DAY)
            {
                remove_dir(&dir)?;
                pruned.deleted_stale += 1;
            }
        }
        for (hash, meta) in self.store.projects() {
            pruned.scanned += 1;
            let count = if retention.orphans == Orphans::Delete && !exists(&meta) {
                &mut pruned.deleted_orphan
            } else if cutoff.is_some_and(|cutoff| meta.last_touch > 0.0 && meta.last_touch < cutoff) {
                &mut pruned.deleted_stale
            } else {
                continue;
            };
            self.forget_one(&hash, &meta.key())?;
            *count += 1;
        }
        Ok(pruned)
    }

    fn forget_one(&self, hash: &str, key: &Key) -> Result<(), CheckpointError> {
        let _lock = self.store.lock(hash, Hold::Alone, self.limits.patience)?;
        let kept = self.store.read_notes(hash)?.unwrap_or_default();
        self.run(["update-ref", "-d", &key.ref_name()], "forget a directory")?;
        let ids: Vec<_> = kept.chain.iter().map(|record| record.id).collect();
        self.store.cut_before(&ids, None)?;
        let index = self.store.dir.join("indexes").join(hash);
        for file in [self.store.notes_file(hash), self.store.meta_file(key), index] {
            // It may never have been there.
            let _ = fs::remove_file(file);
        }
        Ok(())
    }

    /// Drops the older half of every chain when the store is too large; how many snapshots.
    fn drop_over_size(&self, retention: &Retention) -> Result<usize, CheckpointError> {
        if retention.store_bytes.is_none_or(|most| size(&self.store.dir) <= most) {
            return Ok(0);
        }
        let mut dropped = 0;
        for (_, meta) in self.store.projects() {
            let place = Place::unseen(meta.key());
            let mut desk = self.desk(&place)?;
            let count = desk.notes.chain.len();
            desk.keep_newest(count.div_ceil(2))?;
            dropped += count - desk.notes.chain.len();
            desk.save()?;
        }
        Ok(dropped)
    }

    fn gc_args() -> [&'static str; 5] {
        // Refs stay files: reading one is cheaper than starting git.
        ["-c", "gc.packRefs=false", "gc", "--quiet", GRACE]
    }

    /// Gives back the space of what was dropped, and waits for it.
    fn collect(&self) -> Result<(), CheckpointError> {
        let _alone = self.store.lock("gc", Hold::Alone, self.limits.patience)?;
        self.git.output(&self.store.dir, Self::gc_args(), "clean the store up", LONGEST)?;
        self.mark_collected()
    }

    fn mark_collected(&self) -> Result<(), CheckpointError> {
        Ok(write_quick(&self.store.notes_file("collected"), b"")?)
    }

    /// Whether there is something to give back, and it was not tried just now.
    fn is_worth_collecting(&self) -> bool {
        let changed = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok();
        let last = changed(&self.store.notes_file("collected"));
        if last.and_then(|last| last.elapsed().ok()).is_some_and(|age| age < GC_EVERY) {
            return false;
        }
        let packs = fs::read_dir(self.store.dir.join("objects/pack")).into_iter().flatten().count() / 3;
        packs > MANY_PACKS || changed(&self.store.dir.join("shallow")) > last
    }

    /// The same without waiting. Git inherits the lock as its input, so the lock lives as long as git does, whatever
    /// becomes of us.
    fn collect_in_background(&self) -> Result<(), CheckpointError> {
        use std::os::unix::process::CommandExt;
        let Some(lock) = self.store.try_lock("gc", Hold::Alone)? else { return Ok(()) };
        self.mark_collected()?;
        let mut command = self.git.command(&self.store.dir);
        command
            .args(Self::gc_args())
            .stdin(lock)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let doing = "clean the store up";
        let failed = |error: std::io::Error| CheckpointError::Git { doing, message: error.to_string() };
        let mut child = command.spawn().map_err(failed)?;
        // Somebody has to hear of its end while we live.
        std::thread::spawn(move || child.wait());
        Ok(())
    }
}

/// Nobody asks a box whether a directory is there.
fn exists(meta: &Meta) -> bool {
    meta.place.is_some() || Path::new(&meta.workdir).exists()
}

fn remove_dir(dir: &Path) -> Result<(), CheckpointError> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(hermes_home::files::failed("remove", dir)(error).into())
        }
        _ => Ok(()),
    }
}

/// Bytes of everything below.
fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}
