//! What we remember about boxes between processes: one small file each, never trusted without asking.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::docker::drift::Fields;
use crate::files;

/// Records of all boxes of a home, in a directory of their own.
#[derive(Debug, Clone)]
pub struct Registry {
    root: PathBuf,
}

/// What is remembered about one box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The container's id when it was last seen.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The identity's key.
    pub key: String,
    /// The fields it was made from, to notice changed settings without asking the engine.
    pub fields: Option<Fields>,
    /// Where the agent's program is in it.
    pub program: String,
    /// Why that program cannot run in it, if it cannot.
    #[serde(default)]
    pub plain: Option<String>,
    /// Whether the agent's socket appears on this machine.
    pub reach: Reach,
    /// When the engine was last asked about it.
    pub verified: Timestamp,
}

/// How a box is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// Through the directory shared with it.
    Socket,
    /// Through the engine's `exec`.
    Exec,
}

impl Registry {
    /// The records below a sandbox directory.
    pub fn new(sandbox_dir: &Path) -> Self {
        Self { root: sandbox_dir.join(".boxes") }
    }

    /// The directory that is shared with a box, on this machine.
    pub fn run_dir(&self, name: &str) -> PathBuf {
        self.root.join(name).join("run")
    }

    /// Makes the directories of a box.
    pub fn prepare(&self, name: &str) -> io::Result<PathBuf> {
        let run = self.run_dir(name);
        files::private_dir(&self.root.join(name))?;
        files::shared_dir(&run)?;
        Ok(run)
    }

    /// What is remembered; a record that cannot be read is as good as none.
    pub fn read(&self, name: &str) -> Option<Record> {
        serde_json::from_slice(&fs::read(self.record_path(name)).ok()?).ok()
    }

    /// Remembers. A record that cannot be written only costs the next process time.
    pub fn write(&self, name: &str, record: &Record) -> io::Result<()> {
        files::write_private(&self.record_path(name), &serde_json::to_vec_pretty(record)?)
    }

    /// Forgets what is written down, but keeps the directory: a container may still have it mounted.
    pub fn forget(&self, name: &str) {
        let _ = fs::remove_file(self.record_path(name));
        let _ = fs::remove_file(self.root.join(name).join("seen.json"));
    }

    /// Takes everything of a box away, once its container is gone.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.root.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Names of all boxes there are directories for.
    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.root) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    fn record_path(&self, name: &str) -> PathBuf {
        self.root.join(name).join("record.json")
    }
}

/// The random id of this installation, made at the first need.
pub fn install_id(root: &Path) -> io::Result<String> {
    let path = root.join("sandboxes").join(".install-id");
    if let Some(id) = read_id(&path) {
        return Ok(id);
    }
    let mut bytes = [0u8; 16];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    let fresh = crate::digest::hex(&bytes);
    let dir = path.parent().unwrap_or(root);
    files::private_dir(dir)?;
    // Of two that start at once, the first link wins and both read the same id.
    let file = tempfile::Builder::new().prefix(".new-").tempfile_in(dir)?;
    fs::write(file.path(), &fresh)?;
    match fs::hard_link(file.path(), &path) {
        Ok(()) => Ok(fresh),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read_id(&path).ok_or_else(|| io::Error::other("the installation id is empty"))
        }
        // Some filesystems have no links.
        Err(_) => files::write_private(&path, fresh.as_bytes()).map(|()| fresh),
    }
}

fn read_id(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            id: "abc".into(),
            name: "hermes-x".into(),
            key: "k".into(),
            fields: None,
            program: "/p".into(),
            plain: None,
            reach: Reach::Socket,
            verified: "2026-01-01T00:00:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn what_was_written_is_read_and_nonsense_is_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let registry = Registry::new(dir.path());
        assert_eq!(registry.read("x"), None);
        registry.write("x", &record()).unwrap();
        assert_eq!(registry.read("x"), Some(record()));
        fs::write(registry.record_path("x"), "{").unwrap();
        assert_eq!(registry.read("x"), None);
        registry.prepare("y").unwrap();
        assert_eq!(registry.names(), ["x", "y"]);
        registry.remove("x").unwrap();
        registry.remove("x").unwrap();
        assert_eq!(registry.names(), ["y"]);
    }

    #[test]
    fn everyone_of_an_installation_reads_the_same_id() {
        let dir = tempfile::tempdir().unwrap();
        let ids: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| install_id(dir.path()).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0] && id.len() == 32), "{ids:?}");
        let other = tempfile::tempdir().unwrap();
        assert_ne!(install_id(other.path()).unwrap(), ids[0]);
    }
}
