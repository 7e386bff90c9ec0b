//! Attaching a file: inside the working directory, no secrets, text only.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hermes_guard::is_secret_path;

use super::{Attached, Lines, ReferenceError};

/// Most bytes of a file. More does not fit into any window.
const LIMIT: u64 = 4 << 20;

pub(super) fn attach(cwd: &Path, path: &str, lines: Option<Lines>) -> Result<Attached, ReferenceError> {
    let target = inside(cwd, path)?.ok_or_else(|| ReferenceError::NoFile(path.to_owned()))?;
    if !target.is_file() {
        return Err(ReferenceError::NoFile(path.to_owned()));
    }
    let text = read(&target, path)?;
    let language = target.extension().map(|end| end.to_string_lossy().into_owned()).unwrap_or_default();
    let is_word = language.chars().all(|c| c.is_ascii_alphanumeric());
    let language = if is_word { language } else { String::new() };
    let Some(lines) = lines else {
        return Ok(Attached { title: format!("File {path}"), text, language });
    };
    let text = range(&text, lines, path)?;
    Ok(Attached { title: format!("File {path}, lines {} to {}", lines.first, lines.last), text, language })
}

/// The real place of a path, if there is something, and if it may be attached.
pub(super) fn inside(cwd: &Path, path: &str) -> Result<Option<PathBuf>, ReferenceError> {
    let (Ok(root), Ok(target)) = (cwd.canonicalize(), cwd.join(path).canonicalize()) else { return Ok(None) };
    // Both spellings: a link with an innocent name, and a secret name that leads somewhere else.
    if is_secret_path(&target) || is_secret_path(Path::new(path)) {
        return Err(ReferenceError::Secret(path.to_owned()));
    }
    if !target.starts_with(root) {
        return Err(ReferenceError::Outside(path.to_owned()));
    }
    Ok(Some(target))
}

fn read(target: &Path, path: &str) -> Result<String, ReferenceError> {
    let failed = |source| ReferenceError::Io { path: path.to_owned(), source };
    // Without waiting: it may have become a pipe since it was looked at.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file: File = OpenOptions::new().read(true).custom_flags(nonblocking).open(target).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LIMIT {
        return Err(ReferenceError::TooLarge { path: path.to_owned(), limit: LIMIT });
    }
    if bytes.contains(&0) {
        return Err(ReferenceError::Binary(path.to_owned()));
    }
    String::from_utf8(bytes).map_err(|_| ReferenceError::Binary(path.to_owned()))
}

fn range(text: &str, lines: Lines, path: &str) -> Result<String, ReferenceError> {
    let has = text.lines().count();
    let (first, last) = (lines.first.get(), lines.last.get());
    if first > has || last < first {
        return Err(ReferenceError::NoSuchLines { path: path.to_owned(), has });
    }
    Ok(text.lines().skip(first - 1).take(last - first + 1).collect::<Vec<_>>().join("\n"))
}
