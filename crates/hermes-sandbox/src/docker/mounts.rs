//! Directories and files of the host in the container: the user's, the workspace, and our own.

use std::path::{Component, Path, PathBuf};

use crate::config::{ManagedMount, MountKind, WhenAbsent};
use crate::notice::Notice;

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it comes from.
    pub source: Source,
    /// Where it appears.
    pub target: String,
    /// The engine's options, such as `ro`.
    pub options: Option<String>,
}

/// Where a mount comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A path of the engine's host.
    Path(PathBuf),
    /// A volume the engine keeps.
    Volume(String),
}

impl Mount {
    /// A directory or file of the host.
    pub fn bind(source: impl Into<PathBuf>, target: impl Into<String>) -> Self {
        Self { source: Source::Path(source.into()), target: target.into(), options: None }
    }

    /// A volume of the engine.
    pub fn volume(name: impl Into<String>, target: impl Into<String>) -> Self {
        Self { source: Source::Volume(name.into()), target: target.into(), options: None }
    }

    /// The same, not writable.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { options: Some("ro".to_owned()), ..self }
    }

    /// The engine's arguments. The short form cannot carry a colon in a path, the long one can.
    pub fn args(&self) -> [String; 2] {
        let source = match &self.source {
            Source::Path(path) => path.display().to_string(),
            Source::Volume(name) => name.clone(),
        };
        if source.contains(':') || self.target.contains(':') {
            return ["--mount".to_owned(), self.long_form(&source)];
        }
        let options = self.options.as_deref().map(|o| format!(":{o}")).unwrap_or_default();
        ["-v".to_owned(), format!("{source}:{}{options}", self.target)]
    }

    fn long_form(&self, source: &str) -> String {
        let kind = if matches!(self.source, Source::Path(_)) { "bind" } else { "volume" };
        let read_only = self.options.as_deref().is_some_and(|o| o.split(',').any(|word| word == "ro"));
        let quoted = |field: String| {
            if field.contains([',', '"']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
        };
        let mut fields = vec![
            format!("type={kind}"),
            quoted(format!("source={source}")),
            quoted(format!("target={}", self.target)),
        ];
        if read_only {
            fields.push("readonly".to_owned());
        }
        fields.join(",")
    }

    /// As the user would write it.
    pub fn entry(&self) -> String {
        let source = match &self.source {
            Source::Path(path) => path.display().to_string(),
            Source::Volume(name) => name.clone(),
        };
        format!("{source}:{}", self.target)
    }

    /// As it is compared and shown: source and options, without the target.
    pub fn describe_source(&self) -> String {
        let source = match &self.source {
            Source::Path(path) => path.display().to_string(),
            Source::Volume(name) => format!("volume {name}"),
        };
        match &self.options {
            Some(options) => format!("{source} ({options})"),
            None => source,
        }
    }
}

/// Reads the user's mounts; what cannot be a mount is left out and reported.
pub fn parse_volumes(volumes: &[String], home: Option<&Path>, cwd: &Path) -> (Vec<Mount>, Vec<Notice>) {
    let mut notices = Vec::new();
    let mounts = volumes
        .iter()
        .filter_map(|text| match parse_volume(text.trim(), home, cwd) {
            Ok(mount) => Some(mount),
            Err(reason) => {
                notices.push(Notice::MountSkipped { mount: text.clone(), reason: reason.to_owned() });
                None
            }
        })
        .collect();
    (mounts, notices)
}

fn parse_volume(text: &str, home: Option<&Path>, cwd: &Path) -> Result<Mount, &'static str> {
    let mut parts = text.splitn(3, ':');
    let source = parts.next().unwrap_or_default();
    let target = parts.next().ok_or("it has no \":\" between source and target")?;
    if source.is_empty() {
        return Err("it has no source");
    }
    if !target.starts_with('/') {
        return Err("its target is not an absolute path");
    }
    let options = parts.next().filter(|options| !options.is_empty()).map(str::to_owned);
    let source = match (source.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Source::Path(home.join(rest)),
        _ if source == "~" => {
            Source::Path(home.ok_or("there is no home directory to put for \"~\"")?.to_path_buf())
        }
        _ if source.starts_with('/') => Source::Path(source.into()),
        _ if source.starts_with('.') || source.contains('/') => Source::Path(tidy(&cwd.join(source))),
        _ => Source::Volume(source.to_owned()),
    };
    Ok(Mount { source, target: tidy(Path::new(target)).display().to_string(), options })
}

/// Removes `.` and `..` by the letter, as the engine wants a plain absolute path.
pub(super) fn tidy(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut tidy, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            other => tidy.push(other),
        }
        tidy
    })
}

/// Keeps our own mounts whose source is what it should be, or will be, and whose place the user has not taken.
///
/// An engine that talks to another host's disk makes an empty directory where a file should be; mounting
/// it over a file fails the whole container.
pub fn managed(
    wanted: &[ManagedMount],
    users: &[Mount],
    kind_of: impl Fn(&Path) -> Option<MountKind>,
) -> (Vec<Mount>, Vec<Notice>) {
    let mut notices = Vec::new();
    let mounts = wanted
        .iter()
        .filter_map(|mount| {
            let keep = || Some(Mount::bind(&mount.source, &mount.target).read_only());
            let reason = match kind_of(&mount.source) {
                _ if occupies(users, &mount.target) => "an entry of docker_volumes is in its place",
                Some(kind) if kind == mount.kind => return keep(),
                None if mount.absent == WhenAbsent::Make => return keep(),
                Some(_) => "it is a directory where a file is expected, or the other way round",
                None => "it is not there",
            };
            let shown = format!("{}:{}", mount.source.display(), mount.target);
            notices.push(Notice::MountSkipped { mount: shown, reason: reason.to_owned() });
            None
        })
        .collect();
    (mounts, notices)
}

/// Mounts of the user's whose source is not there.
pub fn missing(mounts: &[Mount], kind_of: impl Fn(&Path) -> Option<MountKind>) -> Vec<(&Mount, &Path)> {
    let gone = mounts.iter().filter_map(|mount| match &mount.source {
        Source::Path(path) if kind_of(path).is_none() => Some((mount, path.as_path())),
        _ => None,
    });
    gone.collect()
}

/// What a path of this machine is, for [`managed`].
pub fn kind_on_disk(path: &Path) -> Option<MountKind> {
    let meta = std::fs::metadata(path).ok()?;
    Some(if meta.is_dir() { MountKind::Directory } else { MountKind::File })
}

/// Mounts that hand out the whole host or the user's whole home.
pub fn too_wide(mounts: &[Mount], home: Option<&Path>) -> Vec<Notice> {
    mounts
        .iter()
        .filter_map(|mount| match &mount.source {
            Source::Path(path) if path == Path::new("/") || Some(path.as_path()) == home => {
                Some(Notice::WideMount { source: path.display().to_string() })
            }
            _ => None,
        })
        .collect()
}

/// Whether one of these mounts sits at a path of the container.
pub fn occupies(mounts: &[Mount], target: &str) -> bool {
    mounts.iter().any(|mount| mount.target == target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Mount {
        let (mounts, notices) =
            parse_volumes(&[text.to_owned()], Some(Path::new("/home/u")), Path::new("/srv/project"));
        assert!(notices.is_empty(), "{notices:?}");
        mounts[0].clone()
    }

    #[test]
    fn the_users_forms() {
        assert_eq!(parsed(" /srv/a:/data "), Mount::bind("/srv/a", "/data"));
        assert_eq!(parsed("/srv/a:/data:ro"), Mount::bind("/srv/a", "/data").read_only());
        assert_eq!(parsed("cache:/var/cache"), Mount::volume("cache", "/var/cache"));
        assert_eq!(parsed("~/code:/code"), Mount::bind("/home/u/code", "/code"));
        assert_eq!(parsed("./data:/data"), Mount::bind("/srv/project/data", "/data"));
        assert_eq!(parsed("../x:/x"), Mount::bind("/srv/x", "/x"));
        assert_eq!(parsed("/a://b/./c/../d/"), Mount::bind("/a", "/b/d"));
        assert_eq!(parsed("/a:/b:ro,z").args()[1], "/a:/b:ro,z");
    }

    #[test]
    fn what_is_no_mount_is_reported_and_left_out() {
        let texts = ["nonsense", ":/x", "/a:relative"].map(str::to_owned);
        let (mounts, notices) = parse_volumes(&texts, None, Path::new("/"));
        assert!(mounts.is_empty());
        assert_eq!(notices.len(), 3);
    }

    #[test]
    fn a_colon_in_a_path_needs_the_long_form() {
        let mount = Mount::bind("/srv/a:b,c", "/data").read_only();
        assert_eq!(mount.args(), ["--mount", "type=bind,\"source=/srv/a:b,c\",target=/data,readonly"]);
    }

    #[test]
    fn our_own_mounts_must_be_of_the_right_kind() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        std::fs::write(&file, "").unwrap();
        let wish = |source: &Path, target: &str, kind, absent| ManagedMount {
            source: source.into(),
            target: target.into(),
            kind,
            absent,
        };
        let missing = dir.path().join("missing");
        let wanted = [
            wish(&file, "/t", MountKind::File, WhenAbsent::Skip),
            wish(dir.path(), "/t2", MountKind::File, WhenAbsent::Skip),
            wish(&missing, "/t3", MountKind::Directory, WhenAbsent::Skip),
            wish(&missing, "/t4", MountKind::Directory, WhenAbsent::Make),
            wish(&file, "/taken", MountKind::File, WhenAbsent::Skip),
        ];
        let (mounts, notices) = managed(&wanted, &[Mount::volume("v", "/taken")], kind_on_disk);
        assert_eq!(mounts, [Mount::bind(&file, "/t").read_only(), Mount::bind(&missing, "/t4").read_only()]);
        assert_eq!(notices.len(), 3);
    }

    #[test]
    fn a_source_that_is_not_there_is_pointed_out() {
        let mounts = [Mount::bind("/", "/a"), Mount::bind("/no/such/dir", "/b"), Mount::volume("v", "/c")];
        assert_eq!(missing(&mounts, kind_on_disk), [(&mounts[1], Path::new("/no/such/dir"))]);
    }

    #[test]
    fn the_whole_host_and_the_whole_home_are_pointed_out() {
        let mounts =
            [Mount::bind("/", "/host"), Mount::bind("/home/u", "/h"), Mount::bind("/home/u/x", "/x")];
        assert_eq!(too_wide(&mounts, Some(Path::new("/home/u"))).len(), 2);
    }
}
