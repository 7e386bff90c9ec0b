//! Saying what an import does, and asking before it replaces something.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use super::plan::{Plan, Replaces};
use super::source::Source;
use crate::ui;

/// Whether anything is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    DryRun,
    Real,
}

/// What an import does.
#[derive(Debug, Serialize)]
pub struct Summary {
    archive: PathBuf,
    target: PathBuf,
    dry_run: bool,
    restored: usize,
    bytes: u64,
    replaced: Vec<String>,
    unchanged: usize,
    /// In the archive, but left as this machine has it.
    kept: Vec<String>,
    /// Where the replaced files are.
    pub kept_in: Option<PathBuf>,
    /// Commands for restored profiles that were made.
    pub aliases: Vec<String>,
}

/// More names than this are not shown before a question.
const SHOWN: usize = 20;

impl Summary {
    pub fn new(archive: &Path, target: &Path, source: &Source, plan: &Plan, mode: Mode) -> Self {
        let entry = |index: usize| &source.entries[index];
        let name = |path: &Path| path.display().to_string();
        let replaced = plan.place.iter().filter(|p| p.replaces == Replaces::Existing);
        Self {
            archive: archive.to_path_buf(),
            target: target.to_path_buf(),
            dry_run: mode == Mode::DryRun,
            restored: plan.place.len(),
            bytes: plan.place.iter().map(|p| entry(p.entry).size).sum(),
            replaced: replaced.map(|p| name(&entry(p.entry).path)).collect(),
            unchanged: plan.unchanged,
            kept: plan.kept.iter().map(|path| name(path)).collect(),
            kept_in: None,
            aliases: Vec::new(),
        }
    }

    /// Asks on a terminal; elsewhere says what would be replaced and how to have it replaced.
    pub fn may_replace(&self) -> anyhow::Result<bool> {
        if self.replaced.is_empty() {
            return Ok(true);
        }
        ui::note(&format!("these files of {} would be replaced:", self.target.display()));
        for path in self.replaced.iter().take(SHOWN) {
            ui::note(&format!("  {path}"));
        }
        if self.replaced.len() > SHOWN {
            ui::note(&format!("  and {} more", self.replaced.len() - SHOWN));
        }
        if ui::confirm("replace them? What is replaced is kept.")? {
            return Ok(true);
        }
        ui::note("hermes: nothing was restored: use --force to replace files, --dry-run to see everything");
        Ok(false)
    }

    /// Prints it.
    pub fn report(&self, json: bool) -> anyhow::Result<ExitCode> {
        if json {
            ui::print_json(self)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut lines = vec![format!(
            "{} {} ({}) to {}: {} new, {} replaced, {} already the same",
            if self.dry_run { "would restore" } else { "restored" },
            ui::count(self.restored as u64, "file"),
            ui::size(self.bytes),
            self.target.display(),
            self.restored - self.replaced.len(),
            self.replaced.len(),
            self.unchanged
        )];
        if self.dry_run {
            lines.extend(self.replaced.iter().map(|path| format!("  replaces {path}")));
        }
        if !self.kept.is_empty() {
            lines.push(format!("left as this machine has it: {}", self.kept.join(", ")));
        }
        if !self.aliases.is_empty() {
            lines.push(format!("made the aliases {}", self.aliases.join(", ")));
        }
        if let Some(dir) = &self.kept_in {
            let dir = dir.display();
            lines.push(format!("what was replaced is in {dir}: remove it when you no longer need it"));
        }
        ui::print(&lines.join("\n"))?;
        Ok(ExitCode::SUCCESS)
    }
}
