//! Reading one file for the prompt: bounded, without waiting, without leaving the project for anything but a document.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hermes_guard::injection::{self, Disarmed, Finding};
use hermes_guard::{Policy, Redactor, is_secret_path};

use super::{cut, front_matter};

/// Most bytes looked at. Four bytes a character of the cap, many times over.
const MOST_BYTES: u64 = 1 << 20;
/// Suspicious lines that are named one by one.
const MOST_NAMED: usize = 3;

/// A file that was read.
pub(super) struct Read {
    /// What goes into the prompt.
    pub text: String,
    /// Where links lead.
    pub target: PathBuf,
    /// What the user should know.
    pub notices: Vec<String>,
}

/// Why a file is not in the prompt.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error("cannot read '{}', so it is not in the prompt: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("'{}' is not in the prompt: it is a link to '{}' outside the project", .path.display(), .target.display())]
    Outside { path: PathBuf, target: PathBuf },
}

pub(super) fn read(
    path: &Path,
    boundary: &Path,
    limit: usize,
    redactor: &Redactor,
) -> Result<Read, ReadError> {
    let failed = |source| ReadError::Io { path: path.to_path_buf(), source };
    let target = path.canonicalize().map_err(failed)?;
    if leads_out(&target, boundary) {
        return Err(ReadError::Outside { path: path.to_path_buf(), target });
    }
    let bytes = bytes_of(&target).map_err(failed)?;
    let text = String::from_utf8_lossy(&bytes);
    // Before it is cut, and so that the model cannot write a mask back as if it were the key.
    let masked = redactor.redact(&text, Policy::File);
    let Disarmed { text: shown, findings, invisible } = injection::disarm(&masked);
    let how = format!("read '{}' for the rest", path.display());
    let shown = cut(front_matter::strip(&shown).trim(), limit, &how).text;
    let mut notices = notices(path, &findings, invisible);
    if masked != text {
        notices.push(format!("'{}' holds keys or passwords: they are masked in the prompt", path.display()));
    }
    Ok(Read { text: shown, target, notices })
}

/// A repository that comes with a link to a key must not get it into the prompt; people who keep their documents
/// elsewhere and link to them must.
fn leads_out(target: &Path, boundary: &Path) -> bool {
    let inside = boundary.canonicalize().is_ok_and(|boundary| target.starts_with(boundary));
    let document = target.extension().is_some_and(|end| end == "md" || end == "mdc")
        || target.file_name().is_some_and(|name| name == ".cursorrules");
    is_secret_path(target) || (!inside && !document)
}

fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    // Without waiting: the file may have become a pipe since it was looked at.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file: File = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What the user should know about a file, one sentence each.
pub(super) fn notices(path: &Path, findings: &[Finding], invisible: usize) -> Vec<String> {
    let path = path.display();
    let mut notices: Vec<String> = findings
        .iter()
        .take(MOST_NAMED)
        .map(|Finding { line, family }| {
            format!("'{path}' line {line} {}: it is marked as data in the prompt", family.describe())
        })
        .collect();
    if let Some(more) = findings.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        notices.push(format!("'{path}' has {more} more such lines, marked as data too"));
    }
    if invisible > 0 {
        notices.push(format!("'{path}' held {invisible} invisible characters: shown or taken out"));
    }
    notices
}
