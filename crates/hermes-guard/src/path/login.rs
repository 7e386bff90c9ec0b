//! What belongs to a user's login: keys, logins, and what a shell runs at its start.

use std::ffi::OsStr;
use std::path::Path;

use crate::protected::{self, Personal};
use crate::secret_path::is_secret_file_name;

/// Whether its content is not for showing.
pub(super) fn is_secret(path: &Path, home: Option<&Path>) -> bool {
    let named = path.file_name().is_some_and(|name| is_secret_file_name(&name.to_string_lossy()));
    let public = path.extension().is_some_and(|ending| ending == "pub");
    named || (in_login_directory(path, home) && !public)
}

/// Whether writing it could let somebody in, or run something at the next login. A program for the user to start is theirs to
/// have.
pub(super) fn is_protected(path: &Path, home: Option<&Path>) -> bool {
    let matters =
        |rest: &Vec<&OsStr>| matches!(protected::personal(rest), Some(Personal::Login | Personal::Start));
    homes(path, home).any(|rest| matters(&rest))
        || protected::is_repository_record(&path.iter().collect::<Vec<_>>())
}

fn in_login_directory(path: &Path, home: Option<&Path>) -> bool {
    homes(path, home).any(|rest| protected::is_login_dir(&rest))
}

/// The names of the path below each home it could lie in.
fn homes<'p>(path: &'p Path, home: Option<&'p Path>) -> impl Iterator<Item = Vec<&'p OsStr>> {
    [home, None].into_iter().filter_map(move |home| below_home(path, home).map(|rest| rest.iter().collect()))
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
