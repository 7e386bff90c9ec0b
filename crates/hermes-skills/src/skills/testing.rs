//! A directory with skills.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Library;

pub struct Shelf(tempfile::TempDir);

impl Shelf {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file.
    pub fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes a skill with a header.
    pub fn skill(&self, dir: &str, header: &str) -> PathBuf {
        self.put(&format!("{dir}/SKILL.md"), &format!("---\n{header}\n---\nDo it.\n"))
    }

    /// The skills below `skills`.
    pub fn library(&self) -> Library {
        self.library_of(&["skills"])
    }

    pub fn library_of(&self, roots: &[&str]) -> Library {
        let roots = roots.iter().map(|root| self.path().join(root)).collect();
        Library::at(roots, BTreeSet::from(["unwanted".to_owned()]), "linux")
    }
}
