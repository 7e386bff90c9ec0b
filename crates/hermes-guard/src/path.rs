//! Which files may be read and written, by where they are. Pure: whoever asks has followed the links.
//!
//! Three kinds of places matter: what belongs to the system or the user's login wherever we work, what belongs to this
//! program (its settings, logins and the homes of other profiles), and what was set apart by the user. A container sees files of
//! the host under other names; the rules about this program's own files follow them there.

mod hermes;
mod login;
mod system;

use std::path::{Path, PathBuf};

pub use hermes::HermesHome;

/// What is to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Its content is shown.
    Read,
    /// It is written, moved or removed.
    Write,
}

/// Whether files of other profiles may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherProfiles {
    /// They are not touched.
    Refused,
    /// The caller means it.
    Allowed,
}

/// A path that was followed to its end.
#[derive(Debug, Clone, Copy)]
pub struct Trail<'a> {
    /// The absolute path as it was named.
    pub path: &'a Path,
    /// Every symbolic link on the way.
    pub links: &'a [PathBuf],
    /// The path without links.
    pub real: &'a Path,
    /// The home directory there, if it is known.
    pub home: Option<&'a Path>,
}

/// A part of the host that is seen somewhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it is on the host.
    pub host: PathBuf,
    /// Where it is seen.
    pub inside: PathBuf,
}

/// How paths of a place relate to those of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum View {
    /// They are the host's.
    Host,
    /// They are not, except below these mounts.
    Elsewhere(Vec<Mount>),
}

impl View {
    /// The path on the host, if it is there.
    fn on_host(&self, path: &Path) -> Option<PathBuf> {
        let mounts = match self {
            Self::Host => return Some(path.to_path_buf()),
            Self::Elsewhere(mounts) => mounts,
        };
        let nearest = mounts
            .iter()
            .filter(|mount| path.starts_with(&mount.inside))
            .max_by_key(|mount| mount.inside.components().count())?;
        path.strip_prefix(&nearest.inside).ok().map(|rest| nearest.host.join(rest))
    }
}

/// Decides about paths.
#[derive(Debug, Clone)]
pub struct PathPolicy {
    /// This program's home.
    pub hermes: HermesHome,
    /// How paths relate to the host's.
    pub view: View,
    /// Directories outside of which nothing is written; none sets no bounds.
    pub safe_roots: Vec<PathBuf>,
}

/// Why a file may not be touched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// A device, or memory of a process.
    #[error("\"{0}\" is a device or the memory of a process, not a file to read")]
    Device(PathBuf),
    /// Logins or keys.
    #[error(
        "\"{0}\" holds logins or keys: it is not shown. Work without its content, or ask the user for what you need"
    )]
    Secret(PathBuf),
    /// Belongs to the system.
    #[error(
        "\"{0}\" belongs to the system: it is not written. If the user asked for it, use a command they can agree to"
    )]
    System(PathBuf),
    /// Decides who may log in, or what runs at login.
    #[error(
        "\"{0}\" belongs to the user's login (keys, logins or what a shell runs at its start): it is not written. If the user asked for it, use a command they can agree to"
    )]
    Login(PathBuf),
    /// This program's settings, logins or records.
    #[error(
        "\"{0}\" is a file of Hermes itself: it is not written. Settings are changed with `hermes config set`"
    )]
    Own(PathBuf),
    /// Belongs to another profile.
    #[error(
        "\"{path}\" belongs to the profile \"{profile}\": with cross_profile=true it is written all the same, if the user asked for it"
    )]
    OtherProfile {
        /// Which file.
        path: PathBuf,
        /// Whose it is.
        profile: String,
    },
    /// Belongs to another profile, and is not shown.
    #[error(
        "\"{path}\" belongs to the profile \"{profile}\": it is not shown here. The user can look there with `hermes -p {profile}`"
    )]
    OthersPrivate {
        /// Which file.
        path: PathBuf,
        /// Whose it is.
        profile: String,
    },
    /// Outside of what the user set apart.
    #[error("\"{path}\" is outside of HERMES_WRITE_SAFE_ROOT ({roots}): nothing is written there")]
    Outside {
        /// Which file.
        path: PathBuf,
        /// The directories that are allowed.
        roots: String,
    },
}

impl PathPolicy {
    /// Whether this may be done to the file at the end of this trail. Every link on the way counts as well: naming a file in a
    /// forbidden place is as good as being there.
    pub fn check(&self, trail: &Trail<'_>, access: Access, others: OtherProfiles) -> Result<(), Denied> {
        let named = plain(trail.path);
        let stations =
            [named.as_path()].into_iter().chain(trail.links.iter().map(PathBuf::as_path)).chain([trail.real]);
        for path in stations {
            match access {
                Access::Read => self.readable(path, trail.home)?,
                Access::Write => self.writable(path, trail.home, others)?,
            }
        }
        // A link inside of the bounds may lead out of them; one outside may lead in.
        if access == Access::Write { self.within_bounds(trail.real) } else { Ok(()) }
    }

    /// Whether what a file holds may be shown, by its place alone.
    pub fn readable(&self, path: &Path, home: Option<&Path>) -> Result<(), Denied> {
        if system::is_device(path) {
            return Err(Denied::Device(path.into()));
        }
        let own = |path: &Path| self.hermes.is_secret(path);
        if system::is_secret(path) || login::is_secret(path, home) || self.own_files(path, home, own) {
            return Err(Denied::Secret(path.into()));
        }
        // Read from the host's own names alone: a path like it on another machine belongs to nobody we know.
        match self.view.on_host(path).and_then(|path| self.hermes.private_to(&path)) {
            Some(profile) => Err(Denied::OthersPrivate { path: path.into(), profile }),
            None => Ok(()),
        }
    }

    fn writable(&self, path: &Path, home: Option<&Path>, others: OtherProfiles) -> Result<(), Denied> {
        if system::is_device(path) {
            return Err(Denied::Device(path.into()));
        }
        if system::is_protected(path) {
            return Err(Denied::System(path.into()));
        }
        if login::is_protected(path, home) {
            return Err(Denied::Login(path.into()));
        }
        let own = |path: &Path| self.hermes.is_secret(path) || self.hermes.is_protected(path);
        if self.own_files(path, home, own) {
            return Err(Denied::Own(path.into()));
        }
        match self.view.on_host(path).and_then(|path| self.hermes.other_owner(&path)) {
            Some(profile) if others == OtherProfiles::Refused => {
                Err(Denied::OtherProfile { path: path.into(), profile })
            }
            _ => Ok(()),
        }
    }

    /// Asks about a path as one of the host, and as one below the usual place of this program's home.
    fn own_files(&self, path: &Path, home: Option<&Path>, test: impl Fn(&Path) -> bool) -> bool {
        let usual = home
            .and_then(|home| path.strip_prefix(home.join(".hermes")).ok())
            .or_else(|| login::below_home(path, None)?.strip_prefix(".hermes").ok());
        self.view.on_host(path).is_some_and(|path| test(&path))
            || usual.is_some_and(|rest| test(&self.hermes.root.join(rest)))
    }

    fn within_bounds(&self, real: &Path) -> Result<(), Denied> {
        if self.safe_roots.is_empty() || self.safe_roots.iter().any(|root| real.starts_with(root)) {
            return Ok(());
        }
        let roots: Vec<String> = self.safe_roots.iter().map(|root| root.display().to_string()).collect();
        Err(Denied::Outside { path: real.into(), roots: roots.join(", ") })
    }
}

/// A path without `.` and `..`, as far as it can be said without looking.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                plain.pop();
            }
            std::path::Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests;
