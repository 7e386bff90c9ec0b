//! What of a home appears in its containers, read-only, below `/root/.hermes`: the credential files the user named, skills,
//! and files that were cached for the agent. Nothing else does, and never the stores that hold all credentials at once.

use std::path::{Component, Path, PathBuf};

use crate::config::{LeftOut, ManagedMount, MountKind, WhenAbsent};

/// Where the home's things appear.
const BASE: &str = "/root/.hermes";

/// Directories of cached files: where they are today, and the name older homes have for it.
const CACHES: [(&str, &str); 7] = [
    ("cache/documents", "document_cache"),
    ("cache/images", "image_cache"),
    ("cache/audio", "audio_cache"),
    ("cache/videos", "video_cache"),
    ("cache/screenshots", "browser_screenshots"),
    ("cache/web", "web_cache"),
    ("cache/delegation", "delegation_cache"),
];

/// Files that hold every credential at once; a command needs its own, never these.
const STORES: [&str; 2] = [".env", "auth.json"];

/// What the mounts are decided from.
#[derive(Debug, Clone, Copy)]
pub struct Wishes<'a> {
    /// The home of the profile.
    pub home: &'a Path,
    /// What `~` means.
    pub user_home: Option<&'a Path>,
    /// `terminal.credential_files`.
    pub credential_files: &'a [String],
    /// `skills.external_dirs`.
    pub external_skills: &'a [String],
}

/// The mounts, and what the settings name but must not be mounted.
pub fn mounts(wishes: &Wishes<'_>) -> (Vec<ManagedMount>, Vec<LeftOut>) {
    let mut left_out = Vec::new();
    let mut mounts = Vec::new();
    for entry in wishes.credential_files.iter().map(|entry| entry.trim()).filter(|entry| !entry.is_empty()) {
        match credential(wishes.home, entry) {
            Ok(mount) => mounts.push(mount),
            Err(reason) => left_out
                .push(LeftOut { mount: format!("credential_files: {entry}"), reason: reason.to_owned() }),
        }
    }
    mounts.push(directory(wishes.home.join("skills"), "skills", WhenAbsent::Make));
    mounts.extend(external(wishes));
    for (path, old) in CACHES {
        let old = wishes.home.join(old);
        let source = if old.is_dir() { old } else { wishes.home.join(path) };
        mounts.push(directory(source, path, WhenAbsent::Make));
    }
    (mounts, left_out)
}

fn directory(source: PathBuf, inside: &str, absent: WhenAbsent) -> ManagedMount {
    ManagedMount { source, target: format!("{BASE}/{inside}"), kind: MountKind::Directory, absent }
}

/// A file of the home, by a path that stays in it.
fn credential(home: &Path, entry: &str) -> Result<ManagedMount, &'static str> {
    let path = Path::new(entry);
    if !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err("it must be a path inside of the hermes home, without \"..\"");
    }
    let inside: PathBuf = path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let named = home.join(&inside);
    // A link could lead out of the home; what is not there yet leads nowhere.
    let source = named.canonicalize().unwrap_or_else(|_| named.clone());
    let real_home = home.canonicalize().unwrap_or_else(|_| home.to_path_buf());
    if source != named && !source.starts_with(&real_home) {
        return Err("it is a link that leads out of the hermes home");
    }
    let is_store =
        |path: &Path| path.file_name().is_some_and(|name| STORES.iter().any(|store| name == *store));
    if is_store(&inside) || is_store(&source) {
        return Err("it holds all credentials at once: put the one that is needed into a file of its own");
    }
    let target = format!("{BASE}/{}", inside.display());
    Ok(ManagedMount { source, target, kind: MountKind::File, absent: WhenAbsent::Skip })
}

/// Skills outside of the home, by number. Those that are there are numbered, as the Python program does.
fn external(wishes: &Wishes<'_>) -> Vec<ManagedMount> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut absent = Vec::new();
    for entry in wishes.external_skills.iter().map(|entry| entry.trim()).filter(|entry| !entry.is_empty()) {
        let path = match (entry.strip_prefix("~/"), wishes.user_home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => wishes.home.join(entry),
        };
        match path.canonicalize() {
            Ok(real) if found.contains(&real) || is_same(&real, &wishes.home.join("skills")) => {}
            Ok(real) => found.push(real),
            Err(_) => absent.push(path),
        }
    }
    // Those that are not there come last: they are left out and named, and take no number from another.
    let all = found.into_iter().chain(absent).enumerate();
    all.map(|(index, path)| directory(path, &format!("external_skills/{index}"), WhenAbsent::Skip)).collect()
}

fn is_same(real: &Path, other: &Path) -> bool {
    other.canonicalize().is_ok_and(|other| other == real)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes<'a>(home: &'a Path, files: &'a [String], skills: &'a [String]) -> Wishes<'a> {
        Wishes { home, user_home: Some(home), credential_files: files, external_skills: skills }
    }

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn nothing_secret_is_mounted_unasked() {
        let dir = tempfile::tempdir().unwrap();
        let (mounts, left_out) = mounts(&wishes(dir.path(), &[], &[]));
        assert!(left_out.is_empty());
        let targets: Vec<&str> = mounts.iter().map(|mount| mount.target.as_str()).collect();
        assert!(
            targets.iter().all(|t| *t == "/root/.hermes/skills" || t.starts_with("/root/.hermes/cache/")),
            "{targets:?}"
        );
        assert!(mounts.iter().all(|mount| mount.kind == MountKind::Directory));
    }

    #[test]
    fn credential_files_stay_in_the_home_and_are_no_stores() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir(&home).unwrap();
        std::fs::write(dir.path().join("outside"), "").unwrap();
        std::fs::write(home.join(".env"), "").unwrap();
        std::os::unix::fs::symlink(dir.path().join("outside"), home.join("out")).unwrap();
        std::os::unix::fs::symlink(home.join(".env"), home.join("disguised")).unwrap();
        let bad = texts(&["/etc/passwd", "../outside", "a/../../x", "out", ".env", "auth.json", "disguised"]);
        let (mounts, left_out) = mounts(&wishes(&home, &bad, &[]));
        assert_eq!(left_out.len(), bad.len(), "{left_out:?}");
        assert!(mounts.iter().all(|mount| mount.kind == MountKind::Directory));
        let good = texts(&["token.json", " ./deep/key ", ""]);
        let (mounts, left_out) = super::mounts(&wishes(&home, &good, &[]));
        assert!(left_out.is_empty(), "{left_out:?}");
        let files: Vec<_> = mounts.iter().filter(|mount| mount.kind == MountKind::File).collect();
        let shown: Vec<_> = files.iter().map(|mount| (mount.source.clone(), mount.target.as_str())).collect();
        assert_eq!(
            shown,
            [
                (home.join("token.json"), "/root/.hermes/token.json"),
                (home.join("deep/key"), "/root/.hermes/deep/key")
            ]
        );
    }

    #[test]
    fn old_names_of_caches_and_skills_elsewhere_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        for name in ["image_cache", "one", "two", "skills"] {
            std::fs::create_dir(home.join(name)).unwrap();
        }
        let skills = texts(&["missing", "~/one", "two", "one", "skills"]);
        let (mounts, _) = mounts(&wishes(&home, &[], &skills));
        let source = |target: &str| {
            let target = format!("/root/.hermes/{target}");
            mounts.iter().find(|mount| mount.target == target).map(|mount| mount.source.clone())
        };
        assert_eq!(source("cache/images"), Some(home.join("image_cache")));
        assert_eq!(source("cache/audio"), Some(home.join("cache/audio")));
        assert_eq!(source("external_skills/0"), Some(home.join("one")));
        assert_eq!(source("external_skills/1"), Some(home.join("two")));
        assert_eq!(source("external_skills/2"), Some(home.join("missing")));
        assert_eq!(source("external_skills/3"), None);
    }
}
