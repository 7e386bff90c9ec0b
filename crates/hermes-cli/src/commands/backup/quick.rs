//! `hermes backup --quick`: a snapshot of what a home cannot do without, inside the home.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use hermes_home::files::{Access, FileError, create_private_dir, failed, write_atomic};
use jiff::Zoned;
use serde::{Deserialize, Serialize};

use super::database::{self, Copied};
use super::output::Workspace;
use super::rules::{self, SNAPSHOTS};
use super::scan::{Kind, Problem, scan_only};

/// The files and directories of a snapshot.
const CRITICAL: &[&str] = &[
    "state.db",
    "config.yaml",
    ".env",
    "auth.json",
    "cron/jobs.json",
    "gateway_state.json",
    "channel_directory.json",
    "processes.json",
    "kanban.db",
    "kanban/boards",
    "pairing",
    "platforms/pairing",
];
const KEEP: usize = 20;
const MANIFEST: &str = "manifest.json";
const MAX_LABEL: usize = 64;
/// The length of `20261115-205743`.
const STAMP: usize = 15;

/// What `manifest.json` says; the reference reads and writes the same.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    id: String,
    timestamp: String,
    label: Option<String>,
    file_count: usize,
    total_size: u64,
    files: BTreeMap<String, u64>,
}

impl Manifest {
    /// Describes the files that lie in `dir`, a snapshot whose id ends with its time.
    pub fn of_directory(dir: &Path, id: &str) -> Result<Self, FileError> {
        let mut files = BTreeMap::new();
        list(dir, "", &mut files)?;
        let timestamp = id.get(id.len().saturating_sub(STAMP)..).unwrap_or_default().to_owned();
        Ok(Self::new(id.to_owned(), timestamp, None, files))
    }

    fn new(id: String, timestamp: String, label: Option<String>, files: BTreeMap<String, u64>) -> Self {
        Self { file_count: files.len(), total_size: files.values().sum(), id, timestamp, label, files }
    }

    /// Writes it into the snapshot.
    pub fn write(&self, dir: &Path) -> Result<(), FileError> {
        let path = dir.join(MANIFEST);
        let text = serde_json::to_vec_pretty(self).map_err(|e| failed("write", &path)(e.into()))?;
        write_atomic(&path, &text, Access::Private)
    }
}

fn list(dir: &Path, prefix: &str, files: &mut BTreeMap<String, u64>) -> Result<(), FileError> {
    for entry in dir.read_dir().map_err(failed("list", dir))? {
        let entry = entry.map_err(failed("list", dir))?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let meta = entry.metadata().map_err(failed("look at", &entry.path()))?;
        match () {
            () if meta.is_dir() => list(&entry.path(), &format!("{name}/"), files)?,
            // A replaced link is kept, but it is nothing that could be restored.
            () if meta.is_file() && name != MANIFEST => drop(files.insert(name, meta.len())),
            () => {}
        }
    }
    Ok(())
}

/// A snapshot that was made.
#[derive(Debug, Serialize)]
pub struct Snapshot {
    pub id: String,
    pub path: PathBuf,
    pub files: usize,
    pub bytes: u64,
    pub problems: Vec<Problem>,
    /// Older snapshots that were removed to make room.
    pub removed: Vec<String>,
}

/// Makes a snapshot of `home` and removes the oldest ones beyond twenty.
pub fn snapshot(home: &Path, label: Option<&str>, now: &Zoned) -> anyhow::Result<Snapshot> {
    let home = fs::canonicalize(home).with_context(|| format!("there is no home at {}", home.display()))?;
    let snapshots = home.join(SNAPSHOTS);
    create_private_dir(&snapshots)?;
    let label = label.map(clean_label).transpose()?;
    let workspace = Workspace::begin(&snapshots)?;
    let building = workspace.path("snapshot");
    create_private_dir(&building)?;
    let (files, problems) = copy_critical(&home, &building)?;
    if files.is_empty() {
        bail!("there is nothing to snapshot in {}", home.display());
    }
    let timestamp = now.strftime("%Y%m%d-%H%M%S").to_string();
    let id = free_id(&snapshots, &timestamp, label.as_deref());
    let manifest = Manifest::new(id.clone(), timestamp, label, files);
    manifest.write(&building)?;
    let path = snapshots.join(&id);
    fs::rename(&building, &path).map_err(failed("create", &path))?;
    let removed = prune(&snapshots)?;
    let (files, bytes) = (manifest.file_count, manifest.total_size);
    Ok(Snapshot { id, path, files, bytes, problems, removed })
}

fn copy_critical(home: &Path, to: &Path) -> anyhow::Result<(BTreeMap<String, u64>, Vec<Problem>)> {
    let found = scan_only(home, CRITICAL);
    let mut problems = found.problems;
    let mut files = BTreeMap::new();
    for item in found.items.iter().filter(|item| item.kind != Kind::EmptyDir) {
        let (from, target) = (&item.path, to.join(&item.name));
        if let Some(parent) = target.parent() {
            create_private_dir(parent)?;
        }
        let copied = match item.kind {
            Kind::Database => database::copy(&item.name, from, &target),
            _ => database::copy_raw(from, &target).map(|()| Copied::Consistent),
        };
        match copied {
            Ok(Copied::Consistent) => {}
            Ok(Copied::Damaged(why)) => {
                problems.push(Problem::damaged(&item.name, &why));
            }
            Err(e) => {
                problems.push(Problem::new(&item.name, format!("not saved: {e:#}")));
                continue;
            }
        }
        note_files(to, &target, &mut files);
    }
    Ok((files, problems))
}

/// A copy of a damaged database comes with its log.
fn note_files(snapshot: &Path, file: &Path, files: &mut BTreeMap<String, u64>) {
    for path in std::iter::once(file.to_path_buf()).chain(rules::sidecars(file)) {
        if let (Ok(meta), Ok(name)) = (path.metadata(), path.strip_prefix(snapshot)) {
            files.insert(name.to_string_lossy().into_owned(), meta.len());
        }
    }
}

/// A label becomes part of a directory's name.
fn clean_label(label: &str) -> anyhow::Result<String> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let clean: String = label.trim().chars().map(plain).take(MAX_LABEL).collect();
    let clean = clean.trim_matches(['-', '.']).to_owned();
    if clean.is_empty() {
        bail!(crate::ui::WrongUsage(format!("\"{label}\" is not a label: use letters, digits, '-' or '_'")));
    }
    Ok(clean)
}

fn free_id(snapshots: &Path, timestamp: &str, label: Option<&str>) -> String {
    let base = label.map_or_else(|| timestamp.to_owned(), |label| format!("{timestamp}-{label}"));
    let mut ids = (1..).map(|n| if n < 2 { base.clone() } else { format!("{base}-{n}") });
    ids.find(|id| !snapshots.join(id).exists()).unwrap_or(base)
}

/// Removes the oldest snapshots. What imports replaced is not among them: it is the only copy.
fn prune(snapshots: &Path) -> Result<Vec<String>, FileError> {
    let entries = snapshots.read_dir().map_err(failed("list", snapshots))?.flatten();
    let mut ids: Vec<String> = entries
        .filter(|entry| entry.path().join(MANIFEST).is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|id| is_dated(id))
        .collect();
    ids.sort();
    let excess = ids.len().saturating_sub(KEEP);
    ids.truncate(excess);
    for id in &ids {
        let path = snapshots.join(id);
        fs::remove_dir_all(&path).map_err(failed("remove", &path))?;
    }
    Ok(ids)
}

/// `20261115-205743`, alone or with a label.
fn is_dated(id: &str) -> bool {
    let stamp = id.get(..STAMP).unwrap_or_default().as_bytes();
    let rest = id.get(STAMP..).unwrap_or("x");
    stamp.len() == STAMP
        && stamp.iter().enumerate().all(|(i, b)| if i == 8 { *b == b'-' } else { b.is_ascii_digit() })
        && (rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn labels_are_safe_as_names() {
        assert_eq!(clean_label("before update").unwrap(), "before-update");
        assert_eq!(clean_label("../../x").unwrap(), "x");
        assert!(clean_label("..").is_err() && clean_label("").is_err());
    }

    #[test]
    fn only_dated_snapshots_are_pruned() {
        assert!(is_dated("20261115-205743") && is_dated("20261115-205743-label"));
        assert!(
            !is_dated("pre-import-20261115-205743") && !is_dated("20261115-2057439") && !is_dated("notes")
        );
    }
}
