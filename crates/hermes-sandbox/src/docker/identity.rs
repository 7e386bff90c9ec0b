//! Which container is ours: a name and a key derived from home, profile and scope.

use std::path::{Path, PathBuf};

use crate::digest;
use crate::scope::ScopeKey;

/// What makes two callers share a container, and what keeps two apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Random id of this installation, made once per home root.
    pub install: String,
    /// This machine.
    pub machine: String,
    /// The canonical home of the profile, or of the root for a shared scope.
    pub home: PathBuf,
    /// The profile's name.
    pub profile: String,
    /// The resolved scope.
    pub scope: ScopeKey,
}

impl Identity {
    /// The full key, in hexadecimal.
    ///
    /// The profile's *name* is not enough: two homes on one machine both have a `default`. So the home's
    /// canonical path is part of it; and so are machine and installation, because two machines (or two
    /// containers with the same paths) can talk to one engine.
    pub fn key(&self) -> String {
        digest::hex(&self.hash())
    }

    /// The container's name. The engine refuses a second one, which is how two processes that start at
    /// once end up with one container.
    pub fn container_name(&self) -> String {
        let short = &digest::base32(&self.hash())[..16];
        let whose = if self.is_shared() { "shared".to_owned() } else { readable(&self.profile) };
        format!("hermes-{whose}-{short}")
    }

    /// Machine and installation, without giving their ids away to whoever can list containers.
    pub fn machine_hash(&self) -> String {
        let parts = [b"machine".as_slice(), self.machine.as_bytes(), self.install.as_bytes()];
        digest::hex(&digest::of_parts(parts))[..16].to_owned()
    }

    /// The directory name for this identity's persistent files.
    ///
    /// Ordinary ids stay readable (and are where the reference program keeps them); any other id gets a
    /// hash, so that `a/b` and `a_b` do not meet and `..` cannot climb.
    pub fn directory_name(&self) -> String {
        let id = match &self.scope {
            ScopeKey::Shared(name) => format!("shared-{name}"),
            other => other.id().to_owned(),
        };
        directory_name(&id)
    }

    fn is_shared(&self) -> bool {
        matches!(self.scope, ScopeKey::Shared(_))
    }

    fn hash(&self) -> [u8; 32] {
        // A shared scope is meant to be met from several profiles, so the profile is left out there.
        let profile = if self.is_shared() { "" } else { &self.profile };
        digest::of_parts([
            b"hermes-sandbox-1".as_slice(),
            self.install.as_bytes(),
            self.machine.as_bytes(),
            self.home.as_os_str().as_encoded_bytes(),
            profile.as_bytes(),
            self.scope.kind().as_bytes(),
            self.scope.id().as_bytes(),
        ])
    }
}

/// The part of a name that is only there for people to read.
fn readable(profile: &str) -> String {
    let clean: String =
        profile.chars().filter(char::is_ascii_alphanumeric).take(20).collect::<String>().to_lowercase();
    if clean.is_empty() { "profile".to_owned() } else { clean }
}

fn directory_name(id: &str) -> String {
    let ordinary = !id.is_empty()
        && id.len() <= 63
        && !id.starts_with('.')
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b));
    if ordinary {
        return id.to_owned();
    }
    let short = &digest::hex(&digest::of_bytes(id.as_bytes()))[..12];
    let clean = super::labels::sanitise(id);
    format!("{}-{short}", clean.trim_start_matches('.').chars().take(40).collect::<String>())
}

/// The canonical form of a home, so that a symbolic link to it is the same home.
pub fn canonical_home(home: &Path) -> PathBuf {
    std::fs::canonicalize(home).unwrap_or_else(|_| home.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            install: "i".into(),
            machine: "m".into(),
            home: "/home/u/.hermes".into(),
            profile: "default".into(),
            scope: ScopeKey::Profile,
        }
    }

    #[test]
    fn the_name_is_legal_short_and_stable() {
        let name = identity().container_name();
        assert_eq!(name, identity().container_name());
        assert!(name.starts_with("hermes-default-"), "{name}");
        assert!(name.len() <= 63);
        let odd = Identity { profile: "Ünï-cødé/😀".into(), ..identity() }.container_name();
        assert!(odd.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{odd}");
    }

    #[test]
    fn every_part_tells_identities_apart() {
        let base = identity();
        let others = [
            Identity { install: "j".into(), ..base.clone() },
            Identity { machine: "n".into(), ..base.clone() },
            Identity { home: "/srv/other".into(), ..base.clone() },
            Identity { profile: "work".into(), ..base.clone() },
            Identity { scope: ScopeKey::Session("default".into()), ..base.clone() },
            Identity { scope: ScopeKey::Task("default".into()), ..base.clone() },
        ];
        for other in others {
            assert_ne!(other.key(), base.key(), "{other:?}");
            assert_ne!(other.container_name(), base.container_name(), "{other:?}");
        }
    }

    #[test]
    fn a_shared_scope_is_met_from_every_profile_of_a_home() {
        let one = Identity { scope: ScopeKey::Shared("crew".into()), ..identity() };
        let two = Identity { profile: "work".into(), ..one.clone() };
        assert_eq!(one.key(), two.key());
        assert_eq!(one.container_name(), two.container_name());
        let elsewhere = Identity { home: "/srv/other".into(), ..two };
        assert_ne!(one.key(), elsewhere.key());
    }

    #[test]
    fn directories_neither_collide_nor_climb() {
        assert_eq!(directory_name("default"), "default");
        assert_ne!(directory_name("a/b"), directory_name("a_b"));
        assert!(!directory_name("..").contains(".."));
        assert!(!directory_name("../../etc").contains('/'));
        assert!(directory_name(&"x".repeat(300)).len() < 64);
    }

    #[test]
    fn a_linked_home_is_the_same_home() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        std::fs::create_dir(&real).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(canonical_home(&link), canonical_home(&real));
    }
}
