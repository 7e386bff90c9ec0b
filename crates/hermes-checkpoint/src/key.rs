//! Which directory a chain of snapshots belongs to.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// A directory, wherever it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// A directory of this machine, links resolved.
    Host(PathBuf),
    /// A directory in a box.
    Box {
        /// Which box: a container's name, a host.
        place: String,
        /// The directory there.
        dir: PathBuf,
    },
}

impl Key {
    /// A directory of this machine; links are resolved where it exists.
    pub fn host(dir: &Path) -> Self {
        Self::Host(std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf()))
    }

    /// The directory's name in the store.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        match self {
            Self::Host(dir) => hasher.update(dir.as_os_str().as_bytes()),
            // Not absolute, so never the path of a host's directory.
            Self::Box { place, dir } => {
                hasher.update(format!("box\0{place}\0"));
                hasher.update(dir.as_os_str().as_bytes());
            }
        }
        let digest = hasher.finalize();
        digest.iter().take(8).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    }

    /// The ref its snapshots hang on. Boxes have a space of their own: the reference would take a directory that is not
    /// on this machine for one that was deleted, and throw its snapshots away.
    pub(crate) fn ref_name(&self) -> String {
        match self {
            Self::Host(_) => format!("refs/hermes/{}", self.hash()),
            Self::Box { .. } => format!("refs/hermes-box/{}", self.hash()),
        }
    }

    /// The directory, as it is called where it is.
    pub fn dir(&self) -> &Path {
        match self {
            Self::Host(dir) | Self::Box { dir, .. } => dir,
        }
    }

    /// The directory for people.
    pub fn shown(&self) -> String {
        match self {
            Self::Host(dir) => dir.display().to_string(),
            Self::Box { place, dir } => format!("{place}:{}", dir.display()),
        }
    }
}

/// What a project's top directory has.
const MARKERS: [&str; 9] = [
    ".git",
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "Makefile",
    "pom.xml",
    ".hg",
    "Gemfile",
];

/// The top of the project `dir` is in, or `dir` itself when it is in none. `has` says whether a path exists; the user's
/// home and `/` are never taken for a project.
pub fn project_root(dir: &Path, home: Option<&Path>, has: impl Fn(&Path) -> bool) -> PathBuf {
    let broad = |dir: &Path| dir.parent().is_none() || Some(dir) == home;
    dir.ancestors()
        .take_while(|dir| !broad(dir))
        .find(|dir| MARKERS.iter().any(|marker| has(&dir.join(marker))))
        .unwrap_or(dir)
        .to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_directory_has_the_name_the_reference_gives_it() {
        // The first digits of the SHA-256 of the path.
        assert_eq!(Key::Host("/srv/app".into()).hash(), hex("/srv/app"));
        let boxed = Key::Box { place: "c".into(), dir: "/srv/app".into() };
        assert_ne!(boxed.hash(), Key::Host("/srv/app".into()).hash());
        assert_ne!(boxed.hash(), Key::Box { place: "d".into(), dir: "/srv/app".into() }.hash());
    }

    fn hex(text: &str) -> String {
        let digest = Sha256::digest(text);
        format!("{:016x}", u64::from_be_bytes(digest[..8].try_into().unwrap()))
    }

    #[test]
    fn the_nearest_marker_makes_the_project_and_the_home_never_is_one() {
        let has =
            |path: &Path| path == Path::new("/home/u/p/Cargo.toml") || path == Path::new("/home/u/.git");
        let home = Some(Path::new("/home/u"));
        assert_eq!(project_root(Path::new("/home/u/p/src/a"), home, has), Path::new("/home/u/p"));
        assert_eq!(project_root(Path::new("/home/u/notes"), home, has), Path::new("/home/u/notes"));
        assert_eq!(project_root(Path::new("/home/u"), home, has), Path::new("/home/u"));
        assert_eq!(project_root(Path::new("/"), home, |_| true), Path::new("/"));
    }
}
