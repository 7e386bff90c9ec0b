//! Where and for whom we run: the facts about this process that decisions need, passed in.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::scope::Caller;
use hermes_guard::Secret;

/// The facts a sandbox is opened with.
#[derive(Debug, Clone)]
pub struct Context {
    /// The root of the home that holds every profile.
    pub root: PathBuf,
    /// The home of the active profile (the root itself for the default profile).
    pub home: PathBuf,
    /// The active profile's name.
    pub profile: String,
    /// Who asks.
    pub caller: Caller,
    /// Where persistent container directories and our records live.
    pub sandbox_dir: PathBuf,
    /// Where the box program is written out; the same for every home of a user.
    pub cache_dir: PathBuf,
    /// What tells this machine from others that may use the same engine.
    pub machine: String,
    /// User and group who run us.
    pub user: HostUser,
    /// The directory we were started in.
    pub host_cwd: PathBuf,
    /// The environment we were started with.
    pub env: Environment,
    /// Values of the profile's `.env`, for variables to forward.
    pub dotenv: BTreeMap<String, Secret>,
    /// Variables that hold our own credentials, beyond the built-in list.
    pub private_env: Vec<String>,
}

/// A numeric user and group of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostUser {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

impl HostUser {
    /// The user this process runs as.
    pub fn current() -> Self {
        Self { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() }
    }
}

/// A process environment as a value.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The environment of this process.
    pub fn current() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// The value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// The value of a variable if it is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str)
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.0.insert(name.into(), value.into());
    }

    /// Removes a variable.
    pub fn remove(&mut self, name: impl AsRef<OsStr>) {
        self.0.remove(name.as_ref());
    }

    /// All variables in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

/// Values may be credentials: only the names are shown.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Reads what tells this machine from others: its machine id, else its host name.
pub fn machine_id() -> String {
    let from_file = ["/etc/machine-id", "/var/lib/dbus/machine-id"]
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .map(|text| text.trim().to_owned())
        .find(|text| !text.is_empty());
    from_file.unwrap_or_else(|| rustix::system::uname().nodename().to_string_lossy().into_owned())
}

/// Where the box program is written out: the user's cache directory, whatever home is active.
pub fn default_cache_dir(env: &Environment, user: HostUser) -> PathBuf {
    let absolute = |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(cache) = absolute("XDG_CACHE_HOME") {
        return cache.join("hermes");
    }
    match absolute("HOME") {
        Some(home) => home.join(".cache").join("hermes"),
        None => Path::new("/var/tmp").join(format!("hermes-{}", user.uid)),
    }
}

/// A context for tests that need one and do not care.
#[cfg(test)]
pub(crate) fn sample() -> Context {
    Context {
        root: "/home/u/.hermes".into(),
        home: "/home/u/.hermes".into(),
        profile: "default".into(),
        caller: Caller::default(),
        sandbox_dir: "/home/u/.hermes/sandboxes".into(),
        cache_dir: "/home/u/.cache/hermes".into(),
        machine: "machine".into(),
        user: HostUser { uid: 1000, gid: 1000 },
        host_cwd: "/nowhere/project".into(),
        env: [("HOME", "/home/u")].into_iter().collect(),
        dotenv: BTreeMap::new(),
        private_env: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_of_an_environment_shows_names_only() {
        let env: Environment = [("API_KEY", "hunter2")].into_iter().collect();
        let shown = format!("{env:?}");
        assert!(shown.contains("API_KEY") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn the_cache_follows_the_user_not_the_home() {
        let user = HostUser { uid: 1000, gid: 1000 };
        let xdg: Environment = [("XDG_CACHE_HOME", "/c"), ("HOME", "/h")].into_iter().collect();
        let home: Environment = [("XDG_CACHE_HOME", "relative"), ("HOME", "/h")].into_iter().collect();
        assert_eq!(default_cache_dir(&xdg, user), Path::new("/c/hermes"));
        assert_eq!(default_cache_dir(&home, user), Path::new("/h/.cache/hermes"));
        assert_eq!(default_cache_dir(&Environment::default(), user), Path::new("/var/tmp/hermes-1000"));
    }
}
