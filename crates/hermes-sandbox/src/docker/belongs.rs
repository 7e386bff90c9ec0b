//! Which containers are this profile's to take away.

use std::path::Path;

use super::identity::Identity;
use super::inspect::Observed;
use super::labels;

/// Why a container is not ours to remove; `Ok` when it is.
///
/// The contract says profile. Ours says more where it can be known: a label or a mount that names another
/// home or another machine spares it.
pub fn to_this_profile(identity: &Identity, seen: &Observed) -> Result<(), &'static str> {
    if seen.label(labels::AGENT) != Some("1") {
        return Err("it does not carry our label");
    }
    if seen.label(labels::PROFILE) != Some(labels::sanitise(&identity.profile).as_str()) {
        return Err("it belongs to another profile");
    }
    if seen.label(labels::MACHINE).is_some_and(|machine| machine != identity.machine_hash()) {
        return Err("it belongs to another machine or installation");
    }
    match seen.label(labels::HOME) {
        Some(home) if Path::new(home) == identity.home => Ok(()),
        Some(_) => Err("it belongs to another home"),
        None if mounts_from_elsewhere(&identity.home, seen) => Err("its mounts come from another home"),
        None => Ok(()),
    }
}

/// What is mounted at the home of commands comes from the home of the profile, so a source elsewhere
/// means another owner.
fn mounts_from_elsewhere(home: &Path, seen: &Observed) -> bool {
    let profiles = home.join("profiles");
    seen.mounts
        .iter()
        .filter(|mount| mount.kind == "bind")
        .filter(|mount| mount.target == "/root" || mount.target.starts_with("/root/.hermes"))
        .any(|mount| !mount.source.starts_with(home) || mount.source.starts_with(&profiles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docker::inspect::State;
    use crate::docker::sample::{identity, ours, reference};

    #[test]
    fn ours_and_the_references_for_this_home_belong_to_us() {
        assert_eq!(to_this_profile(&identity(), &ours("a", State::Exited)), Ok(()));
        assert_eq!(to_this_profile(&identity(), &reference("a", State::Exited)), Ok(()));
    }

    #[test]
    fn labels_alone_are_the_contract_where_nothing_speaks_against_it() {
        let bare = Observed { mounts: Vec::new(), ..reference("a", State::Exited) };
        assert_eq!(to_this_profile(&identity(), &bare), Ok(()));
    }

    #[test]
    fn another_profile_home_or_machine_is_not_ours() {
        let work = Identity { profile: "work".into(), ..identity() };
        let home = Identity { home: "/srv/other".into(), ..identity() };
        let machine = Identity { machine: "far".into(), ..identity() };
        let install = Identity { install: "second".into(), ..identity() };
        for other in [work, home, machine, install] {
            assert!(to_this_profile(&other, &ours("a", State::Exited)).is_err(), "{other:?}");
        }
    }

    #[test]
    fn the_references_container_of_another_home_is_not_ours() {
        let other = Identity { home: "/srv/other".into(), ..identity() };
        assert!(to_this_profile(&other, &reference("a", State::Exited)).is_err());
        let mut of_profile = reference("a", State::Exited);
        of_profile.mounts[0].source = "/home/u/.hermes/profiles/work/sandboxes/docker/default/home".into();
        assert!(to_this_profile(&identity(), &of_profile).is_err());
    }
}
