//! What belongs to this program: settings, logins, records, and the homes of its profiles.

use std::path::{Component, Path, PathBuf};

use crate::protected::{self, LOGIN_FILES, Own, SETTINGS};

/// Where this program keeps its own files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HermesHome {
    /// The directory that holds every profile.
    pub root: PathBuf,
    /// The active profile's name.
    pub profile: String,
}

/// The profile that lives in the root itself.
const DEFAULT: &str = "default";
/// What was said and noted in a profile.
const PRIVATE_DIRS: &[&str] = &["memories", "sessions", "checkpoints"];
/// The record of its conversations, with the files the database keeps beside it.
const CONVERSATIONS: &str = "state.db";
/// What makes a profile what it is.
const CHARACTER: &[&str] = &["skills", "plugins", "cron", "memories"];

impl HermesHome {
    /// Logins and keys of any profile.
    pub(super) fn is_secret(&self, path: &Path) -> bool {
        self.own(path) == Some(Own::Login)
    }

    /// Settings, records and code of any profile.
    pub(super) fn is_protected(&self, path: &Path) -> bool {
        self.own(path).is_some()
    }

    fn own(&self, path: &Path) -> Option<Own> {
        let (_, rest) = self.split(path)?;
        protected::own(&rest.iter().collect::<Vec<_>>())
    }

    /// Settings and logins of the active profile and of the root, by their usual names: what another name may lead to.
    pub fn guarded(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let profile = self.root.join("profiles").join(&self.profile);
        let homes = [Some(self.root.clone()), (self.profile != DEFAULT).then_some(profile)];
        let files = || LOGIN_FILES.iter().chain(SETTINGS).filter(|file| !file.contains('/'));
        homes.into_iter().flatten().flat_map(move |home| files().map(move |file| home.join(file)))
    }

    /// The profile a path belongs to, when it is not the active one.
    pub(super) fn other_owner(&self, path: &Path) -> Option<String> {
        let (owner, rest) = self.split(path)?;
        // The root is also the common ground of all profiles; only what makes its own profile is that profile's.
        let theirs = owner != DEFAULT || CHARACTER.iter().any(|directory| rest.starts_with(directory));
        (theirs && owner != self.profile).then_some(owner)
    }

    /// The profile whose private files a path belongs to, when it is not the active one: all of its home, and in the root,
    /// which is common ground, what was said and noted there.
    pub(super) fn private_to(&self, path: &Path) -> Option<String> {
        let (owner, rest) = self.split(path)?;
        let name = rest.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let theirs = owner != DEFAULT
            || PRIVATE_DIRS.iter().any(|directory| rest.starts_with(directory))
            || (rest.components().count() == 1 && name.starts_with(CONVERSATIONS));
        (theirs && owner != self.profile).then_some(owner)
    }

    /// Whose home a path lies in, and the path from there.
    fn split<'p>(&self, path: &'p Path) -> Option<(String, &'p Path)> {
        let rest = path.strip_prefix(&self.root).ok()?;
        let mut parts = rest.components();
        if let (Some(Component::Normal(first)), Some(Component::Normal(name))) = (parts.next(), parts.next())
            && first == "profiles"
        {
            return Some((name.to_string_lossy().into_owned(), parts.as_path()));
        }
        Some((DEFAULT.to_owned(), rest))
    }
}
