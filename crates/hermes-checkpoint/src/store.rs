//! The store on disk: where things are, made as the reference makes it, and read without starting git where possible.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hermes_home::files::{self, FileError};
use serde::{Deserialize, Serialize};

use crate::error::CheckpointError;
use crate::git::Git;
use crate::ignored::EXCLUDES;
use crate::key::Key;
use crate::notes::Notes;
use crate::object::{self, ObjectId};

/// How often a lock that is held is tried again.
const PAUSE: Duration = Duration::from_millis(10);

/// Where the store is.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    /// `checkpoints`.
    pub(crate) base: PathBuf,
    /// `checkpoints/store`, a bare repository.
    pub(crate) dir: PathBuf,
}

/// What is written about a directory for people and for clean-ups; the same as the reference writes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub(crate) workdir: String,
    #[serde(default)]
    pub(crate) created_at: f64,
    #[serde(default)]
    pub(crate) last_touch: f64,
    /// Which box it is in; never in a file the reference reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
}

impl Meta {
    pub(crate) fn key(&self) -> Key {
        let dir = PathBuf::from(&self.workdir);
        match &self.place {
            None => Key::Host(dir),
            Some(place) => Key::Box { place: place.clone(), dir },
        }
    }
}

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Alone,
    Together,
}

impl Store {
    pub(crate) fn new(base: PathBuf) -> Self {
        let dir = base.join("store");
        Self { base, dir }
    }

    pub(crate) fn exists(&self) -> bool {
        self.dir.join("HEAD").is_file()
    }

    /// What only we write.
    fn notes_dir(&self) -> PathBuf {
        self.dir.join("notes")
    }

    pub(crate) fn notes_file(&self, hash: &str) -> PathBuf {
        self.notes_dir().join(hash)
    }

    pub(crate) fn meta_file(&self, key: &Key) -> PathBuf {
        match key {
            Key::Host(_) => self.dir.join("projects").join(format!("{}.json", key.hash())),
            Key::Box { .. } => self.notes_dir().join(format!("{}.json", key.hash())),
        }
    }

    /// Makes the store if there is none.
    pub(crate) fn ensure(&self, git: &Git, patience: Duration) -> Result<(), CheckpointError> {
        if self.exists() {
            return Ok(());
        }
        if !self.dir.exists() {
            files::create_private_dir(&self.base)?;
            self.set_old_layout_aside()?;
        }
        let _lock = self.lock("making", Hold::Alone, patience)?;
        if self.exists() {
            return Ok(());
        }
        for dir in ["indexes", "projects", "info"] {
            files::create_private_dir(&self.dir.join(dir))?;
        }
        write_quick(&self.dir.join("info/exclude"), (EXCLUDES.join("\n") + "\n").as_bytes())?;
        let args = ["init", "--quiet", "--bare", "--template=", "--object-format=sha1"];
        git.output(&self.dir, args, "make the store", patience)?;
        let config = self.dir.join("config");
        let mut text = fs::read(&config).map_err(files::failed("read", &config))?;
        text.extend_from_slice(CONFIG.as_bytes());
        Ok(write_quick(&config, &text)?)
    }

    /// Before there was one store, every directory had a repository of its own here.
    fn set_old_layout_aside(&self) -> Result<(), FileError> {
        let reserved = |name: &str| name == "store" || name.starts_with('.') || name.starts_with("legacy-");
        let entries = fs::read_dir(&self.base).map_err(files::failed("list", &self.base))?;
        let old: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .filter(|entry| !entry.file_name().to_str().is_some_and(reserved))
            .map(|entry| entry.path())
            .collect();
        if old.is_empty() {
            return Ok(());
        }
        let stamp = now_seconds() as u64;
        let aside = self.base.join(format!("legacy-{stamp}"));
        files::create_private_dir(&aside)?;
        for path in old {
            let to = aside.join(path.file_name().unwrap_or_default());
            fs::rename(&path, to).map_err(files::failed("move aside", &path))?;
        }
        Ok(())
    }

    /// Waits for a lock of this name, up to `patience`.
    pub(crate) fn lock(&self, name: &str, hold: Hold, patience: Duration) -> Result<File, CheckpointError> {
        let until = Instant::now() + patience;
        loop {
            match self.try_lock(name, hold)? {
                Some(lock) => return Ok(lock),
                None if Instant::now() >= until => return Err(CheckpointError::Busy),
                None => std::thread::sleep(PAUSE),
            }
        }
    }

    /// The lock, unless somebody holds it.
    pub(crate) fn try_lock(&self, name: &str, hold: Hold) -> Result<Option<File>, FileError> {
        // A store that another program made has no directory of ours yet.
        files::create_private_dir(&self.notes_dir())?;
        let path = self.notes_dir().join(format!("{name}.lock"));
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true).mode(0o600);
        let file = options.open(&path).map_err(files::failed("open", &path))?;
        let locked = match hold {
            Hold::Alone => file.try_lock(),
            Hold::Together => file.try_lock_shared(),
        };
        match locked {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(files::failed("lock", &path)(error)),
        }
    }

    /// What a ref points at, read from its file: starting git would take longer than a whole look.
    pub(crate) fn tip(&self, ref_name: &str) -> Result<Option<ObjectId>, FileError> {
        if let Some(bytes) = files::read_if_exists(&self.dir.join(ref_name))?
            && let Some(id) = ObjectId::parse(String::from_utf8_lossy(&bytes).trim())
        {
            return Ok(Some(id));
        }
        let packed = files::read_if_exists(&self.dir.join("packed-refs"))?.unwrap_or_default();
        let packed = String::from_utf8_lossy(&packed);
        let named = packed.lines().filter_map(|line| line.split_once(' '));
        Ok(named.filter(|(_, name)| *name == ref_name).find_map(|(id, _)| ObjectId::parse(id)))
    }

    pub(crate) fn read_notes(&self, hash: &str) -> Result<Option<Notes>, FileError> {
        let bytes = files::read_if_exists(&self.notes_file(hash))?;
        Ok(bytes.and_then(|bytes| Notes::read(&bytes)))
    }

    pub(crate) fn write_notes(&self, hash: &str, notes: &Notes) -> Result<(), FileError> {
        write_quick(&self.notes_file(hash), &notes.write())
    }

    /// Says that the directory is in use.
    pub(crate) fn touch(&self, key: &Key) -> Result<(), FileError> {
        let (file, now) = (self.meta_file(key), now_seconds());
        let known =
            files::read_if_exists(&file)?.and_then(|bytes| serde_json::from_slice::<Meta>(&bytes).ok());
        let meta = Meta {
            workdir: key.dir().to_string_lossy().into_owned(),
            created_at: known.map_or(now, |meta| meta.created_at),
            last_touch: now,
            place: match key {
                Key::Host(_) => None,
                Key::Box { place, .. } => Some(place.clone()),
            },
        };
        write_quick(&file, &serde_json::to_vec(&meta).unwrap_or_default())
    }

    /// Every directory that has snapshots, with its name in the store.
    pub(crate) fn projects(&self) -> Vec<(String, Meta)> {
        let mut found = Vec::new();
        for dir in [self.dir.join("projects"), self.notes_dir()] {
            for entry in fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok) {
                let path = entry.path();
                let (Some(hash), Some("json")) = (
                    path.file_stem().and_then(|name| name.to_str()),
                    path.extension().and_then(|name| name.to_str()),
                ) else {
                    continue;
                };
                // A file that makes no sense belongs to no directory.
                if let Some(meta) = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())
                {
                    found.push((hash.to_owned(), meta));
                }
            }
        }
        found.sort_by(|a: &(String, Meta), b| b.1.last_touch.total_cmp(&a.1.last_touch));
        found
    }

    /// Makes `boundary` the oldest snapshot of its chain: git takes the ones before it for absent, and a clean-up
    /// removes them. The names of the snapshots that stay do not change.
    pub(crate) fn cut_before(
        &self,
        dropped: &[ObjectId],
        boundary: Option<ObjectId>,
    ) -> Result<(), FileError> {
        let (file, lock) = (self.dir.join("shallow"), self.dir.join("shallow.lock"));
        // Git's own lock: its clean-up writes this file too. Held only for moments; what was not cut now is cut the
        // next time.
        let mut options = OpenOptions::new();
        let mut draft = match options.write(true).create_new(true).mode(0o600).open(&lock) {
            Ok(draft) => draft,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !is_old(&lock) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&lock).map_err(files::failed("remove", &lock))?;
                return Ok(());
            }
            Err(error) => return Err(files::failed("write", &lock)(error)),
        };
        let known = files::read_if_exists(&file)?.unwrap_or_default();
        let known = String::from_utf8_lossy(&known);
        let stays = |id: &ObjectId| !dropped.contains(id) && Some(*id) != boundary;
        let ids = known.lines().filter_map(ObjectId::parse).filter(stays).chain(boundary);
        let text = object::lines(ids);
        let done = draft
            .write_all(text.as_bytes())
            .and_then(|()| if text.is_empty() { fs::remove_file(&lock) } else { fs::rename(&lock, &file) });
        if text.is_empty() {
            let _ = fs::remove_file(&file);
        }
        done.map_err(|error| {
            let _ = fs::remove_file(&lock);
            files::failed("write", &file)(error)
        })
    }
}

/// A lock file nobody has finished in a minute was left by a process that was killed.
fn is_old(path: &Path) -> bool {
    let age = fs::metadata(path).and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
    age.is_some_and(|age| age > Duration::from_mins(1))
}

const CONFIG: &str = "[user]\n\temail = hermes@local\n\tname = Hermes Checkpoint\n[commit]\n\tgpgsign = false\n\
[tag]\n\tgpgSign = false\n[gc]\n\tauto = 0\n";

/// Replaces a file at once, without waiting for the disk: what is written this way can be made anew.
pub(crate) fn write_quick(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let failed = |error| files::failed("write", path)(error);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    let mut file =
        options.write(true).create(true).truncate(true).mode(0o600).open(&draft).map_err(failed)?;
    file.write_all(bytes).and_then(|()| fs::rename(&draft, path)).map_err(|error| {
        let _ = fs::remove_file(&draft);
        failed(error)
    })
}

/// Now, as the reference writes it.
pub(crate) fn now_seconds() -> f64 {
    std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs_f64()
}
