//! One snapshot through one git process: files, tree and commit in a single stream.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use crate::error::CheckpointError;
use crate::git::Git;
use crate::object::{Mode, ObjectId};

/// What a snapshot is to be.
pub(crate) struct Order<'a> {
    /// The ref that moves to it.
    pub(crate) ref_name: &'a str,
    /// The snapshot before.
    pub(crate) parent: Option<ObjectId>,
    /// What it is for, in a line.
    pub(crate) why: &'a str,
    /// When, in seconds since 1970.
    pub(crate) at: u64,
}

/// Writes the changes of a snapshot.
pub(crate) struct Stream<'a> {
    out: &'a mut dyn Write,
}

/// Makes a snapshot of what `changes` writes. The ref moves only from the parent: a snapshot that was made meanwhile is
/// never lost.
pub(crate) fn import(
    git: &Git,
    store: &Path,
    order: &Order<'_>,
    limit: Duration,
    changes: impl FnOnce(&mut Stream<'_>) -> Result<(), CheckpointError>,
) -> Result<ObjectId, CheckpointError> {
    let mut command = git.command(store);
    // Few objects stay a pack of their own: unpacking them would be another process.
    command.args(["-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--done"]);
    if order.parent.is_none() {
        command.arg("--force");
    }
    let doing = "make the snapshot";
    let printed = Git::feed(command, doing, limit, |out| {
        let head = head(order);
        out.write_all(head.as_bytes()).map_err(broken)?;
        changes(&mut Stream { out: &mut *out })?;
        out.write_all(b"\nget-mark :1\ndone\n").map_err(broken)
    })?;
    let printed = String::from_utf8_lossy(&printed);
    let id = printed.lines().find_map(|line| ObjectId::parse(line.trim()));
    id.ok_or_else(|| CheckpointError::Git { doing, message: "it did not say what it made".to_owned() })
}

fn head(order: &Order<'_>) -> String {
    let why: String = order.why.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let why = format!("{}\n", why.trim());
    let Order { ref_name, at, parent, .. } = order;
    let from = parent.map(|id| format!("from {id}\n")).unwrap_or_default();
    format!(
        "commit {ref_name}\nmark :1\ncommitter Hermes Checkpoint <hermes@local> {at} +0000\ndata {}\n{why}{from}",
        why.len()
    )
}

impl Stream<'_> {
    /// A file that is gone.
    pub(crate) fn remove(&mut self, path: &OsStr) -> Result<(), CheckpointError> {
        self.write(&[b"D ", &quoted(path), b"\n"])
    }

    /// A file that is new or changed.
    pub(crate) fn put(&mut self, path: &OsStr, mode: Mode, bytes: &[u8]) -> Result<(), CheckpointError> {
        let head = format!("M {} inline ", mode.octal());
        let length = format!("\ndata {}\n", bytes.len());
        self.write(&[head.as_bytes(), &quoted(path), length.as_bytes(), bytes, b"\n"])
    }

    fn write(&mut self, parts: &[&[u8]]) -> Result<(), CheckpointError> {
        parts.iter().try_for_each(|part| self.out.write_all(part)).map_err(broken)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is used as a function that takes errors")]
fn broken(error: std::io::Error) -> CheckpointError {
    CheckpointError::Git { doing: "make the snapshot", message: error.to_string() }
}

/// A path as git reads it: in quotes, whatever bytes it has.
fn quoted(path: &OsStr) -> Vec<u8> {
    let mut text = vec![b'"'];
    for byte in path.as_bytes() {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    text
}
