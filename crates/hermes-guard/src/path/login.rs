//! What belongs to a user's login: keys, logins, and what a shell runs at its start.

use std::path::{Path, PathBuf};

use crate::secret_path::is_secret_file_name;

/// Directories of a home that hold logins.
const DIRECTORIES: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config/gh",
    ".config/gcloud",
    ".password-store",
];
/// Directories of a home whose files are run by themselves, or say what other programs run.
const AUTOSTART: &[&str] = &[".config/systemd", ".config/autostart", ".config/fish", ".config/git"];
/// Files of a home that are run at login or hold logins.
const FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".gitconfig",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
];

/// Whether its content is not for showing.
pub(super) fn is_secret(path: &Path, home: Option<&Path>) -> bool {
    let named = path.file_name().is_some_and(|name| is_secret_file_name(&name.to_string_lossy()));
    let public = path.extension().is_some_and(|ending| ending == "pub");
    named || (in_login_directory(path, home) && !public)
}

/// Whether writing it could let somebody in, or run something at the next login.
pub(super) fn is_protected(path: &Path, home: Option<&Path>) -> bool {
    let a_file = |rest: PathBuf| FILES.iter().any(|file| rest == Path::new(file));
    let autostart = |rest: PathBuf| AUTOSTART.iter().any(|directory| rest.starts_with(directory));
    in_login_directory(path, home)
        || homes(path, home).any(a_file)
        || homes(path, home).any(autostart)
        || in_repository_records(path)
}

/// What git runs and obeys lies in its own directory; `git` itself changes it.
fn in_repository_records(path: &Path) -> bool {
    let names: Vec<_> = path.components().map(std::path::Component::as_os_str).collect();
    names.windows(2).any(|pair| pair[0] == ".git" && (pair[1] == "hooks" || pair[1] == "config"))
}

fn in_login_directory(path: &Path, home: Option<&Path>) -> bool {
    homes(path, home).any(|rest| DIRECTORIES.iter().any(|directory| rest.starts_with(directory)))
}

/// The path below each home it could lie in.
fn homes(path: &Path, home: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    [home, None].into_iter().filter_map(|home| below_home(path, home).map(Path::to_path_buf))
}

/// The path below this home; without one, below where homes usually are: a variable that was changed hides nothing.
pub(super) fn below_home<'p>(path: &'p Path, home: Option<&Path>) -> Option<&'p Path> {
    if let Some(home) = home {
        return path.strip_prefix(home).ok();
    }
    if let Ok(rest) = path.strip_prefix("/root") {
        return Some(rest);
    }
    let below = path.strip_prefix("/home").or_else(|_| path.strip_prefix("/Users")).ok()?;
    let user = below.components().next()?;
    below.strip_prefix(user.as_os_str()).ok()
}
