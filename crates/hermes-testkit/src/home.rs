//! Throw-away homes: a temporary directory that looks like a user's, removed with all its processes at the end.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::ModelServer;
use crate::processes::{self, Process};

/// The model that [`TestHome::config_for`] names.
pub const MODEL: &str = "test-model";
/// The key that [`TestHome::config_for`] sets, to be looked for in requests and in what must not show it.
pub const API_KEY: &str = "sk-test-0123456789abcdef0123456789abcdef";
/// The context length that [`TestHome::config_for`] sets.
pub const CONTEXT_LENGTH: u32 = 200_000;

/// A temporary user: a home directory, the hermes home inside it, a work directory and a temp directory.
///
/// Dropping it ends every process that still carries its path in the environment and removes the files.
#[derive(Debug)]
pub struct TestHome {
    root: TempDir,
    hermes_home: PathBuf,
}

impl TestHome {
    /// Makes an empty home. Every directory is 0700.
    pub fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("hermes-test-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir()
            .expect("a temporary directory for a test home");
        let hermes_home = root.path().join("home/.hermes");
        let home = Self { root, hermes_home };
        for dir in [home.path().to_path_buf(), home.work_dir(), home.temp_dir()] {
            make_dir(&dir);
        }
        home
    }

    /// The hermes home (`HERMES_HOME`).
    pub fn path(&self) -> &Path {
        &self.hermes_home
    }

    /// The temporary directory that holds everything of this home.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The user's home directory (`HOME`); the hermes home is `.hermes` in it.
    pub fn user_home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// An empty directory to run commands in.
    pub fn work_dir(&self) -> PathBuf {
        self.root().join("work")
    }

    /// The directory for temporary files (`TMPDIR`).
    pub fn temp_dir(&self) -> PathBuf {
        self.root().join("tmp")
    }

    /// Writes `config.yaml`.
    pub fn config(&self, yaml: impl AsRef<[u8]>) -> &Self {
        self.write("config.yaml", yaml);
        self
    }

    /// Writes `.env`, readable by the owner only.
    pub fn env_file(&self, lines: impl AsRef<[u8]>) -> &Self {
        self.write(".env", lines);
        self
    }

    /// Writes a `config.yaml` that uses the scripted model server.
    pub fn config_for(&self, server: &ModelServer) -> &Self {
        self.config(format!(
            "model:\n  default: {MODEL}\n  provider: custom\n  base_url: {}\n  api_key: {API_KEY}\n  \
             context_length: {CONTEXT_LENGTH}\n",
            server.openai_url()
        ))
    }

    /// Writes a file of the hermes home (0600, missing directories 0700) and gives its path.
    pub fn write(&self, relative: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(relative);
        if let Some(parent) = path.parent() {
            make_dir(parent);
        }
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(contents.as_ref()))
            .unwrap_or_else(|error| panic!("cannot write '{}': {error}", path.display()));
        path
    }

    /// Reads a text file of the hermes home.
    #[track_caller]
    pub fn read(&self, relative: impl AsRef<Path>) -> String {
        let path = self.path().join(relative);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read '{}': {error}", path.display()))
    }

    /// The permission bits of a file or directory of the hermes home.
    #[track_caller]
    pub fn mode(&self, relative: impl AsRef<Path>) -> u32 {
        let path = self.path().join(relative);
        match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata.permissions().mode() & 0o7777,
            Err(error) => panic!("cannot look at '{}': {error}", path.display()),
        }
    }

    /// Every entry of the hermes home with its mode and bytes: compare two to show that nothing changed.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Entry> {
        let mut entries = BTreeMap::new();
        collect(self.path(), self.path(), &mut entries);
        entries
    }

    /// Running processes that carry this home in their environment.
    pub fn processes(&self) -> Vec<Process> {
        processes::of(self.root())
    }
}

impl Default for TestHome {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for TestHome {
    fn drop(&mut self) {
        processes::kill_all_of(self.root());
    }
}

/// One entry of a [`TestHome::snapshot`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Permission bits.
    pub mode: u32,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry of a snapshot is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file with these bytes.
    File(Vec<u8>),
    /// A symbolic link to this path.
    Link(PathBuf),
    /// A socket, pipe or device.
    Other,
}

fn make_dir(path: &Path) {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .unwrap_or_else(|error| panic!("cannot make directory '{}': {error}", path.display()));
}

fn collect(root: &Path, dir: &Path, entries: &mut BTreeMap<PathBuf, Entry>) {
    let listing =
        fs::read_dir(dir).unwrap_or_else(|error| panic!("cannot list '{}': {error}", dir.display()));
    for path in listing.flatten().map(|entry| entry.path()) {
        // A file may vanish between listing and reading while a program still runs.
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        let kind = if metadata.is_dir() {
            collect(root, &path, entries);
            EntryKind::Directory
        } else if metadata.is_file() {
            EntryKind::File(fs::read(&path).unwrap_or_default())
        } else if metadata.is_symlink() {
            EntryKind::Link(fs::read_link(&path).unwrap_or_default())
        } else {
            EntryKind::Other
        };
        let relative = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
        entries.insert(relative, Entry { mode: metadata.permissions().mode() & 0o7777, kind });
    }
}
