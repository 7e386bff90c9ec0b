//! Where the user's mounts may sit, and which of their sources are ours to make: decided before the engine is asked, whose
//! refusals name neither the entry nor a way out.

use std::path::{Path, PathBuf};

use super::mounts::{self, Mount, tidy};
use super::spec::SpecError;
use crate::config::{Filesystem, MountKind};
use crate::context::Context;

/// Refuses mounts at places that are taken.
pub fn check(mounts: &[Mount], filesystem: Filesystem) -> Result<(), SpecError> {
    for (index, mount) in mounts.iter().enumerate() {
        let target = &mount.target;
        if let Some((why, instead)) = reserved(target, filesystem) {
            return Err(SpecError::TargetReserved { entry: mount.entry(), why, instead });
        }
        if mounts[..index].iter().any(|earlier| earlier.target == *target) {
            return Err(SpecError::TargetTwice { entry: mount.entry(), target: target.clone() });
        }
    }
    Ok(())
}

/// Why nothing of the user's may sit there, and what to do instead.
fn reserved(target: &str, filesystem: Filesystem) -> Option<(&'static str, &'static str)> {
    if Path::new(target).starts_with("/.hermes-box") {
        return Some(("the program that runs commands is there", "choose another directory"));
    }
    match target {
        "/" => Some(("the image is there", "choose a directory below it, such as /data")),
        "/root" => Some((
            "the home of commands is there, kept as container_persistent says",
            "choose a directory below it, such as /root/data, or another one",
        )),
        "/tmp" | "/var/tmp" | "/run" => {
            Some(("temporary files are kept there, in memory", "choose a directory below it, or another one"))
        }
        "/home" if filesystem == Filesystem::Ephemeral => Some((
            "with container_persistent off it is kept in memory",
            "choose a directory below it, or another one",
        )),
        "/proc" | "/sys" | "/dev" => Some(("the system is there", "choose another directory")),
        _ => None,
    }
}

/// A source that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// Made by us, as the user. The engine would make it as root.
    Make {
        /// The directory.
        path: PathBuf,
        /// For whom.
        access: Access,
    },
    /// Not ours to make: an entry with a slip of the hand, most likely.
    Refuse(SpecError),
}

/// For whom a directory is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// As directories of users usually are.
    Usual,
    /// The owner alone, as everything in a home of ours.
    Private,
}

/// What to do about sources of the user's that are not there: those in the user's home, in the hermes home and in the
/// directory we were started in are made.
pub fn absent(
    users: &[Mount],
    context: &Context,
    kind_of: impl Fn(&Path) -> Option<MountKind>,
) -> Vec<Absent> {
    let user_home = context.env.get("HOME").map(PathBuf::from);
    let roots: Vec<&Path> =
        [user_home.as_deref(), Some(&context.root), Some(&context.home), Some(&context.host_cwd)]
            .into_iter()
            .flatten()
            .filter(|root| root.parent().is_some())
            .collect();
    let decide = |(mount, path): (&Mount, &Path)| {
        let plain = tidy(path);
        if roots.iter().any(|root| plain.starts_with(root)) {
            Absent::Make { path: plain, access: Access::Usual }
        } else {
            let path = path.display().to_string();
            Absent::Refuse(SpecError::SourceMissing { entry: mount.entry(), path })
        }
    };
    mounts::missing(users, kind_of).into_iter().map(decide).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context;

    fn refused(target: &str, filesystem: Filesystem) -> Option<String> {
        check(&[Mount::bind("/srv/x", target)], filesystem).err().map(|error| error.to_string())
    }

    #[test]
    fn places_of_ours_are_refused_by_entry_and_with_advice() {
        for target in
            ["/", "/root", "/.hermes-box", "/.hermes-box/bin", "/.hermes-box/run", "/tmp", "/var/tmp", "/run"]
        {
            let text = refused(target, Filesystem::Persistent).unwrap();
            assert!(text.contains(&format!("\"/srv/x:{target}\"")) && text.contains("choose"), "{text}");
        }
        for target in ["/root/data", "/data", "/workspace", "/.hermes-boxes", "/home", "/tmp/x", "/home/u"] {
            assert_eq!(refused(target, Filesystem::Persistent), None, "{target}");
        }
        assert!(refused("/home", Filesystem::Ephemeral).is_some());
        let twice = [Mount::bind("/a", "/data"), Mount::bind("/b", "/data")];
        assert!(check(&twice, Filesystem::Persistent).unwrap_err().to_string().contains("/b:/data"));
    }

    #[test]
    fn only_what_lies_in_places_of_the_user_is_made() {
        let context = context::sample();
        let absent = |source: &str| absent(&[Mount::bind(source, "/data")], &context, |_| None);
        for ours in ["/home/u/new", "/nowhere/project/data"] {
            assert_eq!(absent(ours), [Absent::Make { path: ours.into(), access: Access::Usual }]);
        }
        for not in ["/srv/typo", "/home/u/../v/x", "/home/user"] {
            let decided = absent(not);
            let [Absent::Refuse(error)] = decided.as_slice() else { panic!("{decided:?}") };
            assert!(error.to_string().contains(not) && error.to_string().contains("make it"), "{error}");
        }
        assert_eq!(
            super::absent(&[Mount::bind("/srv", "/data")], &context, |_| Some(MountKind::Directory)),
            []
        );
    }
}
