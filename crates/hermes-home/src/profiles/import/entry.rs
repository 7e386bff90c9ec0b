//! Where an entry of an archive may go: below one top directory, and nowhere else.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::limits::LimitError;

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// The path is absolute.
    #[error("its path is absolute")]
    Absolute,
    /// The path leads upwards.
    #[error("its path leads out of the profile with \"..\"")]
    Upwards,
    /// The path is no path.
    #[error("its path is empty, too long, too deep or holds control characters")]
    BadPath,
    /// It is a link.
    #[error("links are not allowed in a profile archive")]
    Link,
    /// It is a device, pipe or something unknown.
    #[error("only files and directories are allowed in a profile archive")]
    Special,
    /// It has another top directory than the rest.
    #[error("a profile archive has one top directory, and this one already has {0:?}")]
    SecondTop(String),
    /// It lies beside the top directory.
    #[error("a profile archive has one top directory with everything in it")]
    NoTop,
    /// Two entries want the same place.
    #[error("it is in the archive twice, or differs from {0:?} only in upper and lower case")]
    Collision(String),
    /// Its header says something else than its data.
    #[error("its header is damaged or contradicts itself")]
    Header,
    /// It breaks a bound.
    #[error("{0}")]
    Limit(#[from] LimitError),
}

/// What an entry makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Makes {
    /// A directory.
    Dir,
    /// A file.
    File,
}

const MAX_PATH: usize = 2048;
const MAX_DEPTH: usize = 64;

/// Remembers the entries so far, and says where the next one goes.
#[derive(Debug, Default)]
pub struct Paths {
    top: Option<String>,
    seen: HashMap<Vec<u8>, Seen>,
}

#[derive(Debug)]
struct Seen {
    path: Vec<u8>,
    makes: Makes,
}

impl Paths {
    /// The top directory, once there is one.
    pub fn top(&self) -> Option<&str> {
        self.top.as_deref()
    }

    /// Where an entry goes, relative to the profile; empty for the top directory itself.
    pub fn place(&mut self, raw: &[u8], makes: Makes) -> Result<PathBuf, EntryError> {
        let parts = parts(raw)?;
        let (top, rest) = parts.split_first().ok_or(EntryError::BadPath)?;
        if rest.is_empty() && makes == Makes::File {
            return Err(EntryError::NoTop);
        }
        let top = String::from_utf8_lossy(top).into_owned();
        match &self.top {
            Some(first) if *first != top => return Err(EntryError::SecondTop(first.clone())),
            Some(_) => {}
            None => self.top = Some(top),
        }
        // A file's directories need not have entries of their own.
        for end in 1..rest.len() {
            self.claim(&rest[..end], Makes::Dir)?;
        }
        if !rest.is_empty() {
            self.claim(rest, makes)?;
        }
        Ok(rest.iter().map(|part| OsString::from_vec(part.to_vec())).collect())
    }

    fn claim(&mut self, parts: &[&[u8]], makes: Makes) -> Result<(), EntryError> {
        let path = parts.join(&b'/');
        // What the user keeps in there may differ in case only; what hermes reads may not.
        let free = matches!(parts[0], b"workspace" | b"home") && parts.len() > 1;
        let key = if free { path.clone() } else { fold(&path) };
        match self.seen.get(&key) {
            Some(seen) if seen.path == path && seen.makes == Makes::Dir && makes == Makes::Dir => Ok(()),
            Some(seen) => Err(EntryError::Collision(String::from_utf8_lossy(&seen.path).into_owned())),
            None => {
                self.seen.insert(key, Seen { path, makes });
                Ok(())
            }
        }
    }
}

fn fold(path: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(path).to_lowercase().into_bytes()
}

fn parts(raw: &[u8]) -> Result<Vec<&[u8]>, EntryError> {
    if raw.starts_with(b"/") || raw.starts_with(b"\\") || has_drive(raw) {
        return Err(EntryError::Absolute);
    }
    // The reference reads a backslash as a slash, so an upward path written with them must not pass.
    if raw.split(|b| matches!(b, b'/' | b'\\')).any(|part| part == b"..") {
        return Err(EntryError::Upwards);
    }
    let parts: Vec<&[u8]> =
        raw.split(|b| *b == b'/').filter(|part| !part.is_empty() && *part != b".").collect();
    let control = raw.iter().any(u8::is_ascii_control);
    if parts.is_empty() || control || raw.len() > MAX_PATH || parts.len() > MAX_DEPTH {
        return Err(EntryError::BadPath);
    }
    if parts.iter().any(|part| std::ffi::OsStr::from_bytes(part).len() > 255) {
        return Err(EntryError::BadPath);
    }
    Ok(parts)
}

fn has_drive(raw: &[u8]) -> bool {
    matches!(raw, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    fn place(entries: &[(&str, Makes)]) -> Result<Vec<PathBuf>, EntryError> {
        let mut paths = Paths::default();
        entries.iter().map(|(raw, makes)| paths.place(raw.as_bytes(), *makes)).collect()
    }

    fn one(raw: &str) -> Result<PathBuf, EntryError> {
        place(&[(raw, Makes::File)]).map(|mut placed| placed.remove(0))
    }

    #[test]
    fn entries_go_below_the_top_directory() {
        assert_eq!(one("work/a/b").unwrap(), Path::new("a/b"));
        assert_eq!(one("./work//a/./b").unwrap(), Path::new("a/b"));
        assert_eq!(place(&[("work/", Makes::Dir)]).unwrap(), [PathBuf::new()]);
    }

    #[test]
    fn tricks_are_refused() {
        assert_eq!(one("/etc/passwd"), Err(EntryError::Absolute));
        assert_eq!(one("C:\\x"), Err(EntryError::Absolute));
        assert_eq!(one("work/../../x"), Err(EntryError::Upwards));
        assert_eq!(one("work\\..\\..\\x"), Err(EntryError::Upwards));
        assert_eq!(one("work/a\nb"), Err(EntryError::BadPath));
        assert_eq!(one(""), Err(EntryError::BadPath));
        assert_eq!(one("lonely"), Err(EntryError::NoTop));
        assert_eq!(one(&format!("work/{}", "x/".repeat(70))), Err(EntryError::BadPath));
    }

    #[test]
    fn one_top_directory_and_no_two_entries_in_one_place() {
        use Makes::{Dir, File};
        assert_eq!(place(&[("a/x", File), ("b/x", File)]), Err(EntryError::SecondTop("a".into())));
        for clash in [
            [("a/x", File), ("a/x", File)],
            [("a/SOUL.md", File), ("a/soul.md", File)],
            [("a/x", File), ("a/x/y", File)],
            [("a/Skills/y", File), ("a/skills/z", File)],
            [("a/x", File), ("a/x", Dir)],
        ] {
            assert!(matches!(place(&clash), Err(EntryError::Collision(_))), "{clash:?}");
        }
        assert!(place(&[("a/x", Dir), ("a/x", Dir), ("a/x/y", File)]).is_ok());
        assert!(place(&[("a/workspace/X.h", File), ("a/workspace/x.h", File)]).is_ok());
    }

    proptest! {
        #[test]
        fn whatever_passes_stays_inside(raw in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(path) = Paths::default().place(&raw, Makes::File) {
                prop_assert!(path.components().all(|c| matches!(c, Component::Normal(_))));
            }
        }
    }
}
