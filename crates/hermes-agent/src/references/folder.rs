//! Attaching the list of what is in a folder, without what git ignores.

use std::fmt::Write as _;
use std::path::Path;

use hermes_guard::is_secret_path;
use ignore::{DirEntry, WalkBuilder};

use super::{Attached, ReferenceError, files};

/// Most entries that are listed.
const MOST: usize = 200;
/// How deep the list goes.
const DEPTH: usize = 6;

pub(super) fn attach(cwd: &Path, path: &str) -> Result<Attached, ReferenceError> {
    let target = files::inside(cwd, path)?.filter(|target| target.is_dir());
    let target = target.ok_or_else(|| ReferenceError::NoFolder(path.to_owned()))?;
    let mut entries: Vec<DirEntry> = walk(&target).take(MOST + 1).collect();
    let more = entries.len() > MOST;
    entries.truncate(MOST);
    let mut text = String::new();
    for entry in &entries {
        let _ = writeln!(text, "{}", line(entry));
    }
    if more {
        let _ = writeln!(text, "… and more: only the first {MOST} entries are listed");
    }
    if entries.is_empty() {
        text.push_str("(nothing)\n");
    }
    Ok(Attached { title: format!("Folder {path}"), text, language: String::new() })
}

fn walk(target: &Path) -> impl Iterator<Item = DirEntry> {
    WalkBuilder::new(target)
        .hidden(false)
        .max_depth(Some(DEPTH))
        .require_git(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.depth() > 0)
        .filter(|entry| !entry.path().file_name().is_some_and(|name| is_secret_path(Path::new(name))))
}

/// Indented by its depth; folders end in a slash, files have their size.
fn line(entry: &DirEntry) -> String {
    let indent = "  ".repeat(entry.depth() - 1);
    let name = entry.file_name().to_string_lossy();
    match entry.metadata() {
        Ok(meta) if meta.is_dir() => format!("{indent}{name}/"),
        Ok(meta) => format!("{indent}{name} ({} bytes)", meta.len()),
        Err(_) => format!("{indent}{name}"),
    }
}
