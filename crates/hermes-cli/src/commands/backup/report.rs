//! Saying what was saved, and what was not.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use super::quick::Snapshot;
use super::scan::{Problem, Saved, Skipped};
use crate::ui;

/// What came of a backup.
#[derive(Debug, Serialize)]
pub struct Summary {
    pub path: PathBuf,
    pub bytes: u64,
    pub files: u64,
    pub original_bytes: u64,
    /// How many of the files are databases.
    pub databases: u64,
    /// By rule.
    pub left_out: Vec<String>,
    /// By nature.
    pub skipped: Vec<Skipped>,
    /// Against our will.
    pub problems: Vec<Problem>,
}

/// Reports a backup, also to the log: whoever looks for the last good one finds it there.
pub fn backup(summary: &Summary, json: bool) -> anyhow::Result<ExitCode> {
    tracing::info!(
        files = summary.files,
        bytes = summary.bytes,
        "wrote the backup {}",
        summary.path.display()
    );
    log(&summary.problems);
    if json {
        ui::print_json(summary)?;
        return Ok(exit_code(&summary.problems));
    }
    let mut lines = vec![format!(
        "wrote {}: {}, {} among them, {} ({} before compression)",
        summary.path.display(),
        ui::count(summary.files, "file"),
        ui::count(summary.databases, "database"),
        ui::size(summary.bytes),
        ui::size(summary.original_bytes)
    )];
    if !summary.left_out.is_empty() {
        lines.push(format!("left out: {}", summary.left_out.join(", ")));
    }
    if !summary.skipped.is_empty() {
        let skipped: Vec<_> = summary.skipped.iter().map(|s| format!("{} ({})", s.path, s.reason)).collect();
        lines.push(format!("skipped: {}", skipped.join(", ")));
    }
    lines.push(format!("restore it with `hermes import {}`", summary.path.display()));
    ui::print(&lines.join("\n"))?;
    warn_about(&summary.problems, "the backup");
    Ok(exit_code(&summary.problems))
}

/// Reports a snapshot, also to the log.
pub fn snapshot(made: &Snapshot, json: bool) -> anyhow::Result<ExitCode> {
    tracing::info!(files = made.files, bytes = made.bytes, "made the snapshot {}", made.path.display());
    log(&made.problems);
    if json {
        ui::print_json(made)?;
        return Ok(exit_code(&made.problems));
    }
    let mut lines = vec![format!(
        "made snapshot {}: {}, {}",
        made.id,
        ui::count(made.files as u64, "file"),
        ui::size(made.bytes)
    )];
    if !made.removed.is_empty() {
        lines.push(format!("removed the oldest: {}", made.removed.join(", ")));
    }
    lines.push(format!("restore it with `hermes import {}`", made.path.display()));
    ui::print(&lines.join("\n"))?;
    warn_about(&made.problems, "the snapshot");
    Ok(exit_code(&made.problems))
}

fn log(problems: &[Problem]) {
    for problem in problems {
        tracing::warn!("backup of {}: {}", problem.path, problem.what);
    }
}

fn warn_about(problems: &[Problem], what: &str) {
    for problem in problems {
        ui::warn(&format!("{}: {}", problem.path, problem.what));
    }
    match problems.iter().filter(|p| p.saved == Saved::No).count() {
        0 if problems.is_empty() => {}
        0 => ui::warn(&format!("{what} is complete, but what is damaged was damaged before")),
        _ => ui::warn(&format!("{what} is incomplete")),
    }
}

/// Whoever runs this from a timer must notice.
fn exit_code(problems: &[Problem]) -> ExitCode {
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(ui::FAILED) }
}
