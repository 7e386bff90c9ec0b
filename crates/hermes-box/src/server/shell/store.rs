//! The sessions: in memory, and on disk for the next agent.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use super::state::ShellState;
use crate::link::lock;
use crate::link::outbox::Wake;
use crate::proto::fault::Fault;
use crate::proto::wire::Wire;

/// The longest name of a session.
const MAX_NAME: usize = 120;
/// Sessions held in memory at once, if they can be read back.
const MAX_LOADED: usize = 256;
/// Files of sessions that have not been used for so long are removed.
const MAX_AGE: Duration = Duration::from_hours(30 * 24);

/// All sessions of an agent.
#[derive(Debug)]
pub(crate) struct Sessions {
    directory: Option<PathBuf>,
    loaded: Mutex<HashMap<String, Arc<Session>>>,
}

/// One session.
#[derive(Debug)]
pub(crate) struct Session {
    file: Option<PathBuf>,
    current: Mutex<Current>,
    preparing: Mutex<Preparing>,
}

/// Whether somebody prepares a session, and who waits for that.
#[derive(Default)]
struct Preparing {
    busy: bool,
    waiting: Vec<Arc<dyn Wake>>,
}

impl std::fmt::Debug for Preparing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preparing").field("busy", &self.busy).finish_non_exhaustive()
    }
}

/// The turn to prepare a session; others wait until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a>(&'a Session);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut preparing = lock(&self.0.preparing);
            preparing.busy = false;
            std::mem::take(&mut preparing.waiting)
        };
        for waiter in waiting {
            waiter.wake();
        }
    }
}

#[derive(Debug, Default)]
struct Current {
    state: Option<Arc<ShellState>>,
    /// The file's identity when it was read or written; another agent may have replaced it.
    stamp: Option<Stamp>,
}

type Stamp = (u64, u64, i64, i64);

impl Sessions {
    /// Sessions with files in `directory` (which exists), or in memory alone.
    pub(crate) fn new(directory: Option<PathBuf>, now: SystemTime) -> Self {
        if let Some(directory) = &directory {
            remove_old(directory, now);
        }
        Self { directory, loaded: Mutex::default() }
    }

    /// The session of this name.
    pub(crate) fn get(&self, name: &str) -> Result<Arc<Session>, Fault> {
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(Fault::Invalid(format!("a session's name has 1 to {MAX_NAME} bytes")));
        }
        let mut loaded = lock(&self.loaded);
        if let Some(session) = loaded.get(name) {
            return Ok(Arc::clone(session));
        }
        if self.directory.is_some() && loaded.len() >= MAX_LOADED {
            loaded.retain(|_, session| Arc::strong_count(session) > 1);
        }
        let session = Arc::new(Session {
            file: self.directory.as_ref().map(|directory| directory.join(file_name(name))),
            current: Mutex::default(),
            preparing: Mutex::default(),
        });
        loaded.insert(name.into(), Arc::clone(&session));
        Ok(session)
    }

    /// Drops everything a session carries.
    pub(crate) fn forget(&self, name: &str) -> Result<(), Fault> {
        let session = self.get(name)?;
        let mut current = lock(&session.current);
        *current = Current::default();
        if let Some(file) = &session.file {
            let _ = fs::remove_file(file);
        }
        Ok(())
    }
}

impl Session {
    /// The turn to prepare it, so that this happens once; `None` while somebody else has it, and then `waiter` is woken at its end.
    pub(crate) fn begin_preparing(&self, waiter: &Arc<dyn Wake>) -> Option<Turn<'_>> {
        let mut preparing = lock(&self.preparing);
        if preparing.busy {
            preparing.waiting.retain(|known| !Arc::ptr_eq(known, waiter));
            preparing.waiting.push(Arc::clone(waiter));
            return None;
        }
        preparing.busy = true;
        Some(Turn(self))
    }

    /// What it carries; `None` before its first command.
    pub(crate) fn state(&self) -> Option<Arc<ShellState>> {
        let mut current = lock(&self.current);
        let Some(file) = &self.file else { return current.state.clone() };
        match stamp(file) {
            // Another agent forgot it.
            None if current.stamp.is_some() => *current = Current::default(),
            Some(stamp) if current.stamp != Some(stamp) => {
                if let Some(state) = read(file) {
                    *current = Current { state: Some(Arc::new(state)), stamp: Some(stamp) };
                }
            }
            None | Some(_) => {}
        }
        current.state.clone()
    }

    /// Carries `state` from now on. An error means that it is only in memory.
    pub(crate) fn save(&self, state: ShellState) -> io::Result<()> {
        let mut current = lock(&self.current);
        if current.state.as_deref() == Some(&state) {
            return Ok(());
        }
        let state = Arc::new(state);
        current.state = Some(Arc::clone(&state));
        let Some(file) = &self.file else { return Ok(()) };
        write(file, &state.to_bytes())?;
        current.stamp = stamp(file);
        Ok(())
    }
}

/// Readable where possible, and never the name of another session.
fn file_name(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02x}");
        }
    }
    out.push_str(".state");
    out
}

fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.ino(), metadata.size(), metadata.mtime(), metadata.mtime_nsec()))
}

fn read(file: &Path) -> Option<ShellState> {
    ShellState::from_bytes(&fs::read(file).ok()?).ok()
}

/// Beside it, then in its place: a reader sees the old or the new state, never half of one.
fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = file.with_extension(format!("{}-{count}.new", std::process::id()));
    let result = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut new| new.write_all(bytes))
        .and_then(|()| fs::rename(&temporary, file));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn remove_old(directory: &Path, now: SystemTime) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        if modified.is_ok_and(|modified| now.duration_since(modified).is_ok_and(|age| age > MAX_AGE)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn another_agent_sees_what_was_saved() {
        let directory = tempfile::tempdir().unwrap();
        let sessions = || Sessions::new(Some(directory.path().into()), SystemTime::now());
        let (first, second) = (sessions(), sessions());
        let name = "chat/1";
        assert_eq!(first.get(name).unwrap().state(), None);
        let state = ShellState::new(Path::new("/tmp"));
        first.get(name).unwrap().save(state.clone()).unwrap();
        assert_eq!(second.get(name).unwrap().state().as_deref(), Some(&state));
        let later = ShellState::new(Path::new("/"));
        second.get(name).unwrap().save(later.clone()).unwrap();
        assert_eq!(first.get(name).unwrap().state().as_deref(), Some(&later));
        first.forget(name).unwrap();
        assert_eq!(sessions().get(name).unwrap().state(), None);
    }

    #[test]
    fn names_never_meet_and_never_leave_the_directory() {
        let names = ["a/b", "a_b", "a%2fb", "..", ".", "A b", "ä"].map(file_name);
        for (index, name) in names.iter().enumerate() {
            assert!(!name.contains('/') && !name.starts_with('.'), "{name}");
            assert!(!names[..index].contains(name), "{name}");
        }
    }

    #[test]
    fn a_spoilt_file_counts_as_nothing() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("s.state"), b"nonsense").unwrap();
        let sessions = Sessions::new(Some(directory.path().into()), SystemTime::now());
        assert_eq!(sessions.get("s").unwrap().state(), None);
    }

    #[test]
    fn old_files_go() {
        let directory = tempfile::tempdir().unwrap();
        let sessions = Sessions::new(Some(directory.path().into()), SystemTime::now());
        sessions.get("s").unwrap().save(ShellState::new(Path::new("/"))).unwrap();
        let much_later = SystemTime::now() + MAX_AGE + Duration::from_mins(1);
        Sessions::new(Some(directory.path().into()), much_later);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
