//! A throw-away store and directory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_checkpoint::{Checkpoints, Git, Limits, Mine, ObjectId, Place, Restored, Taken, Wish};

pub struct Bench {
    _dir: tempfile::TempDir,
    pub base: PathBuf,
    pub work: PathBuf,
    pub checkpoints: Checkpoints,
    pub place: Place,
}

impl Bench {
    pub fn new() -> Self {
        Self::with(Limits::default())
    }

    pub fn with(limits: Limits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let (base, work) = (root.join("home/checkpoints"), root.join("work"));
        fs::create_dir_all(&work).unwrap();
        fs::create_dir_all(base.parent().unwrap()).unwrap();
        let checkpoints = checkpoints(&base, limits);
        let place = Place::host(&work);
        Self { _dir: dir, base, work, checkpoints, place }
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.work.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.work.join(path)).unwrap();
    }

    pub fn link(&self, path: &str, target: &str) {
        symlink(target, self.work.join(path)).unwrap();
    }

    pub fn chmod(&self, path: &str, mode: u32) {
        fs::set_permissions(self.work.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.work.join(path)).ok()
    }

    /// A snapshot before the agent changes something.
    pub fn take(&self) -> Taken {
        self.checkpoints.take(&self.place, "before a test").unwrap()
    }

    pub fn made(&self) -> ObjectId {
        match self.take() {
            Taken::Made(id) => id,
            other => panic!("no snapshot: {other:?}"),
        }
    }

    /// The agent is done.
    pub fn look(&self) {
        self.checkpoints.look(&self.place).unwrap();
    }

    pub fn restore(&self, id: ObjectId, mine: Mine) -> Restored {
        self.checkpoints.restore(&self.place, &Wish { id, only: None, mine }).unwrap()
    }

    pub fn tree(&self) -> Files {
        files(&self.work)
    }

    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").arg("--git-dir").arg(self.base.join("store")).args(args).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

pub fn git() -> Git {
    Git::find(&path_variable()).expect("these tests need git")
}

pub fn path_variable() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

pub fn checkpoints(base: &Path, limits: Limits) -> Checkpoints {
    Checkpoints::new(base.to_path_buf(), git(), limits, Some("/home/nobody-here".into()))
}

/// Every file below, with its permission bits and content; links with where they lead.
pub type Files = BTreeMap<PathBuf, (u32, Vec<u8>)>;

pub fn files(root: &Path) -> Files {
    let mut found = Files::new();
    collect(root, root, &mut found);
    found
}

fn collect(root: &Path, dir: &Path, found: &mut Files) {
    use std::os::unix::ffi::OsStrExt;
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let (path, meta) = (entry.path(), entry.metadata().unwrap());
        let name = path.strip_prefix(root).unwrap().to_path_buf();
        if meta.is_dir() {
            collect(root, &path, found);
        } else if meta.is_symlink() {
            found.insert(name, (0, fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()));
        } else {
            found.insert(name, (meta.permissions().mode() & 0o777, fs::read(&path).unwrap()));
        }
    }
}
