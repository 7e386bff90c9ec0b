//! Which directory commands start in, and which directory of the host becomes `/workspace`.

use std::path::{Path, PathBuf};

use crate::config::Switch;

/// Where commands start when nothing else is said.
pub const DEFAULT: &str = "/root";
/// Where work of the host appears.
pub const WORKSPACE: &str = "/workspace";

/// The two directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workdir {
    /// In the container.
    pub inside: String,
    /// On the host, mounted at `/workspace`.
    pub mounted: Option<PathBuf>,
}

/// What the decision needs.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The setting, or the task's own wish.
    pub cwd: Option<&'a str>,
    /// Whether the host's directory is to be mounted.
    pub mount: Switch,
    /// The directory we were started in.
    pub host_cwd: &'a Path,
    /// Whether something of the user's already sits at `/workspace`.
    pub workspace_taken: bool,
}

/// Decides both. A path that can only be one of the host's never becomes a path in the container.
pub fn decide(asked: Asked<'_>, is_dir: impl Fn(&Path) -> bool) -> Workdir {
    let named = asked.cwd.map(str::trim).filter(|cwd| !matches!(*cwd, "" | "." | "auto" | "cwd"));
    if asked.mount == Switch::On {
        let source = match named {
            Some(cwd) if may_be_host(cwd) => PathBuf::from(cwd),
            _ => asked.host_cwd.to_path_buf(),
        };
        if source.is_absolute() && is_dir(&source) && !asked.workspace_taken {
            return Workdir { inside: WORKSPACE.to_owned(), mounted: Some(source) };
        }
        if asked.workspace_taken {
            return Workdir { inside: WORKSPACE.to_owned(), mounted: None };
        }
    }
    let inside = match named {
        None | Some("~") => DEFAULT.to_owned(),
        Some(cwd) => match cwd.strip_prefix("~/") {
            Some(rest) => format!("{DEFAULT}/{rest}"),
            None if !cwd.starts_with('/') || is_surely_host(cwd) => DEFAULT.to_owned(),
            None => cwd.to_owned(),
        },
    };
    Workdir { inside, mounted: None }
}

/// Home directories of people are never paths of a container.
fn is_surely_host(cwd: &str) -> bool {
    ["/Users/", "/home/", "C:\\", "C:/"].iter().any(|prefix| cwd.starts_with(prefix))
}

/// `/root` and `/workspace` mean the container's; every other absolute path may be the host's.
fn may_be_host(cwd: &str) -> bool {
    let path = Path::new(cwd);
    is_surely_host(cwd) || (path.is_absolute() && !path.starts_with(WORKSPACE) && !path.starts_with(DEFAULT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(cwd: Option<&str>, mount: Switch, taken: bool) -> Workdir {
        let asked = Asked { cwd, mount, host_cwd: Path::new("/home/u/project"), workspace_taken: taken };
        decide(asked, |path| path.starts_with("/home/u") || path.starts_with("/srv"))
    }

    fn inside(path: &str) -> Workdir {
        Workdir { inside: path.into(), mounted: None }
    }

    fn mounted(path: &str) -> Workdir {
        Workdir { inside: WORKSPACE.into(), mounted: Some(path.into()) }
    }

    #[test]
    fn without_the_mount_only_container_paths_count() {
        for placeholder in [None, Some("."), Some("auto"), Some("cwd"), Some(""), Some("~")] {
            assert_eq!(decided(placeholder, Switch::Off, false), inside("/root"), "{placeholder:?}");
        }
        assert_eq!(decided(Some("/opt/app"), Switch::Off, false), inside("/opt/app"));
        assert_eq!(decided(Some("~/app"), Switch::Off, false), inside("/root/app"));
        for host in ["/home/u/x", "/Users/u/x", "C:\\x", "relative/x"] {
            assert_eq!(decided(Some(host), Switch::Off, false), inside("/root"), "{host}");
        }
    }

    #[test]
    fn with_the_mount_the_hosts_directory_becomes_the_workspace() {
        assert_eq!(decided(None, Switch::On, false), mounted("/home/u/project"));
        assert_eq!(decided(Some("/srv/data"), Switch::On, false), mounted("/srv/data"));
        assert_eq!(decided(Some("/workspace/sub"), Switch::On, false), mounted("/home/u/project"));
    }

    #[test]
    fn a_users_own_workspace_is_not_covered() {
        assert_eq!(decided(None, Switch::On, true), inside("/workspace"));
    }

    #[test]
    fn a_directory_that_is_not_there_is_not_mounted() {
        assert_eq!(decided(Some("/opt/missing"), Switch::On, false), inside("/opt/missing"));
    }
}
