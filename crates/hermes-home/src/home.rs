//! Finding the home directory and the active profile, the same way for every entry point.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::profile::{NameError, Profile};

/// What decides the home: taken from the process once, passed in by tests.
#[derive(Debug, Clone, Default)]
pub struct Locator {
    /// The value of `HERMES_HOME`, if set.
    pub hermes_home: Option<OsString>,
    /// The user's own home directory (`HOME`).
    pub user_home: PathBuf,
    /// The profile named with `-p` / `--profile`, if any.
    pub profile_flag: Option<String>,
}

/// Who decided which profile is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenBy {
    /// `-p` / `--profile`.
    Flag,
    /// `HERMES_HOME` points into a `profiles` directory.
    HermesHome,
    /// The sticky `active_profile` file.
    ActiveProfile,
    /// Nothing: the default profile.
    Nothing,
}

/// Why no home could be settled on.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// Neither `HERMES_HOME` nor `HOME` is set.
    #[error("cannot tell where the home directory is: set HERMES_HOME (or HOME)")]
    NoUserHome,
    /// A relative path would mean another home in every directory.
    #[error("{variable} is \"{value}\", a relative path: set it to an absolute one")]
    Relative {
        /// The variable.
        variable: &'static str,
        /// What it holds.
        value: String,
    },
    /// The profile name is malformed.
    #[error("{0}")]
    Name(#[from] NameError),
    /// The profile does not exist.
    #[error("there is no profile \"{name}\"{}: `hermes profile list` shows the profiles, `hermes profile create {name}` makes it", .by.hint())]
    NoSuchProfile {
        /// The name that was asked for.
        name: String,
        /// Who asked for it.
        by: ChosenBy,
    },
    /// The sticky file holds something that is not a profile name.
    #[error("{} holds {found:?}, which is not a profile name: run `hermes -p default profile use default`", .path.display())]
    BadActiveProfile {
        /// The sticky file.
        path: PathBuf,
        /// What it holds.
        found: String,
    },
    /// A file could not be read.
    #[error("cannot read {}: {source}{}", .path.display(), owner_hint(.path, .source))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl ChosenBy {
    fn hint(self) -> &'static str {
        match self {
            Self::ActiveProfile => {
                " (it is the active profile; `hermes -p default profile use default` resets that)"
            }
            _ => "",
        }
    }
}

/// The home in use: its directory, the root it belongs to, and the profile it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    dir: PathBuf,
    root: PathBuf,
    profile: Profile,
    chosen_by: ChosenBy,
}

impl Home {
    /// Settles on a home: the flag, then `HERMES_HOME` inside `profiles/`, then the sticky profile, then the root.
    pub fn locate(locator: &Locator) -> Result<Self, HomeError> {
        let base = base_dir(locator)?;
        let root = root_of(&base, &locator.user_home.join(".hermes"));
        let (profile, chosen_by) = choose(&base, &root, locator.profile_flag.as_deref())?;
        let dir = profile.dir(&root);
        if profile != Profile::Default && !dir.is_dir() {
            return Err(HomeError::NoSuchProfile { name: profile.as_str().to_owned(), by: chosen_by });
        }
        Ok(Self { dir, root, profile, chosen_by })
    }

    /// The default profile's home, whatever else is wrong: for looking at a home that [`Home::locate`] refuses.
    pub fn root_only(locator: &Locator) -> Result<Self, HomeError> {
        let base = base_dir(locator)?;
        let root = root_of(&base, &locator.user_home.join(".hermes"));
        Ok(Self { dir: root.clone(), root, profile: Profile::Default, chosen_by: ChosenBy::Nothing })
    }

    /// A home at a known place, for tests and for work on another profile.
    pub fn at(root: &Path, profile: Profile) -> Self {
        Self { dir: profile.dir(root), root: root.to_path_buf(), profile, chosen_by: ChosenBy::Flag }
    }

    /// The directory of the active profile: where config.yaml lies.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The directory that holds `profiles/`: the default profile's home.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The active profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Who decided on the active profile.
    pub fn chosen_by(&self) -> ChosenBy {
        self.chosen_by
    }

    /// A path below the home.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.dir.join(relative)
    }

    /// `config.yaml`.
    pub fn config_file(&self) -> PathBuf {
        self.path("config.yaml")
    }

    /// `.env`.
    pub fn env_file(&self) -> PathBuf {
        self.path(".env")
    }

    /// `logs/`.
    pub fn logs_dir(&self) -> PathBuf {
        self.path("logs")
    }

    /// The sticky file that `hermes profile use` writes.
    pub fn active_profile_file(&self) -> PathBuf {
        self.root.join("active_profile")
    }
}

/// A home that belongs to another user is the usual reason, in containers above all.
fn owner_hint(path: &Path, source: &std::io::Error) -> String {
    use std::os::unix::fs::MetadataExt;
    let owner = path.parent().and_then(|dir| std::fs::metadata(dir).ok()).map(|meta| meta.uid());
    match owner {
        Some(uid) if source.kind() == std::io::ErrorKind::PermissionDenied => {
            let me = rustix::process::geteuid().as_raw();
            format!(
                " (the home belongs to user {uid}, you are user {me}: run as its owner, or set HERMES_HOME to a home of your own)"
            )
        }
        _ => String::new(),
    }
}

fn base_dir(locator: &Locator) -> Result<PathBuf, HomeError> {
    // Bytes, not text: a directory need not have a name in UTF-8.
    let trimmed = |v: &OsString| PathBuf::from(OsStr::from_bytes(v.as_bytes().trim_ascii()));
    match locator.hermes_home.as_ref().map(trimmed).filter(|p| !p.as_os_str().is_empty()) {
        Some(path) => absolute(&path, &locator.user_home),
        None if locator.user_home.as_os_str().is_empty() => Err(HomeError::NoUserHome),
        None if locator.user_home.is_relative() => {
            Err(HomeError::Relative { variable: "HOME", value: locator.user_home.display().to_string() })
        }
        None => Ok(locator.user_home.join(".hermes")),
    }
}

/// A leading `~` survives in unit files and container environments where no shell expands it.
fn absolute(path: &Path, user_home: &Path) -> Result<PathBuf, HomeError> {
    let expanded = path.strip_prefix("~").map_or_else(|_| path.to_path_buf(), |rest| user_home.join(rest));
    if expanded.is_absolute() {
        Ok(expanded)
    } else {
        Err(HomeError::Relative { variable: "HERMES_HOME", value: path.display().to_string() })
    }
}

fn root_of(base: &Path, standard: &Path) -> PathBuf {
    if base.starts_with(standard) {
        return standard.to_path_buf();
    }
    profile_parent(base).map_or_else(|| base.to_path_buf(), Path::to_path_buf)
}

/// `<root>` when `base` is `<root>/profiles/<name>`.
fn profile_parent(base: &Path) -> Option<&Path> {
    base.parent().filter(|p| p.file_name().is_some_and(|n| n == "profiles")).and_then(Path::parent)
}

fn choose(base: &Path, root: &Path, flag: Option<&str>) -> Result<(Profile, ChosenBy), HomeError> {
    if let Some(name) = flag {
        return Ok((Profile::parse(name)?, ChosenBy::Flag));
    }
    if profile_parent(base).is_some() {
        let name = base.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        return Ok((Profile::parse(&name)?, ChosenBy::HermesHome));
    }
    sticky(root)
}

fn sticky(root: &Path) -> Result<(Profile, ChosenBy), HomeError> {
    let path = root.join("active_profile");
    let text = match std::fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).trim().to_owned(),
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok((Profile::Default, ChosenBy::Nothing));
        }
        Err(source) => return Err(HomeError::Read { path, source }),
    };
    match Profile::parse(&text) {
        _ if text.is_empty() => Ok((Profile::Default, ChosenBy::Nothing)),
        Ok(profile) => Ok((profile, ChosenBy::ActiveProfile)),
        Err(_) => Err(HomeError::BadActiveProfile { path, found: text }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn locator(home: &Path, hermes_home: Option<&Path>, flag: Option<&str>) -> Locator {
        Locator {
            hermes_home: hermes_home.map(|p| p.as_os_str().to_owned()),
            user_home: home.to_path_buf(),
            profile_flag: flag.map(str::to_owned),
        }
    }

    fn with_profiles(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::create_dir_all(dir.path().join(".hermes/profiles").join(name)).unwrap();
        }
        dir
    }

    #[test]
    fn without_anything_the_home_is_dot_hermes() {
        let user = with_profiles(&[]);
        let home = Home::locate(&locator(user.path(), None, None)).unwrap();
        assert_eq!(home.dir(), user.path().join(".hermes"));
        assert_eq!(home.profile(), &Profile::Default);
    }

    #[test]
    fn the_flag_beats_the_variable_and_the_sticky_file() {
        let user = with_profiles(&["a", "b", "c"]);
        let root = user.path().join(".hermes");
        std::fs::write(root.join("active_profile"), "c\n").unwrap();
        let inside = root.join("profiles/b");
        let by = |hh: Option<&Path>, flag| Home::locate(&locator(user.path(), hh, flag)).unwrap();
        assert_eq!(by(Some(&inside), Some("a")).profile().as_str(), "a");
        assert_eq!(by(Some(&inside), None).profile().as_str(), "b");
        assert_eq!(by(None, None).profile().as_str(), "c");
        assert_eq!(by(None, Some("default")).dir(), root);
        assert_eq!(by(Some(&inside), None).root(), root);
    }

    #[test]
    fn a_home_elsewhere_is_a_root_of_its_own() {
        let user = with_profiles(&[]);
        let other = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(other.path().join("profiles/x")).unwrap();
        let home = Home::locate(&locator(user.path(), Some(other.path()), None)).unwrap();
        assert_eq!((home.root(), home.dir()), (other.path(), other.path()));
        let inside = other.path().join("profiles/x");
        let home = Home::locate(&locator(user.path(), Some(&inside), None)).unwrap();
        assert_eq!((home.root(), home.dir()), (other.path(), inside.as_path()));
    }

    #[test]
    fn bad_choices_are_refused() {
        let user = with_profiles(&[]);
        let fails = |hh: Option<&str>, flag| {
            Home::locate(&locator(user.path(), hh.map(Path::new), flag)).unwrap_err()
        };
        assert!(matches!(fails(None, Some("../x")), HomeError::Name(_)));
        assert!(matches!(fails(None, Some("gone")), HomeError::NoSuchProfile { .. }));
        assert!(matches!(fails(Some("rel/dir"), None), HomeError::Relative { variable: "HERMES_HOME", .. }));
        let relative = Home::locate(&locator(Path::new("rel"), None, None)).unwrap_err();
        assert!(matches!(relative, HomeError::Relative { variable: "HOME", .. }));
        std::fs::create_dir_all(user.path().join(".hermes")).unwrap();
        std::fs::write(user.path().join(".hermes/active_profile"), "../../etc").unwrap();
        assert!(matches!(fails(None, None), HomeError::BadActiveProfile { .. }));
    }
}
