//! Commands that only look.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use hermes_checkpoint::StatusOf;
use serde_json::json;

use super::Desk;
use crate::ui;

/// How it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Page,
    Json,
}

impl From<bool> for Form {
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Page }
    }
}

/// How much of a difference is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Much {
    Lines,
    Names,
}

impl From<bool> for Much {
    fn from(names: bool) -> Self {
        if names { Self::Names } else { Self::Lines }
    }
}

impl Desk<'_> {
    pub(super) fn status(&self, limit: usize, form: Form) -> anyhow::Result<ExitCode> {
        let status = self.checkpoints.status()?;
        if form == Form::Json {
            ui::print_json(&status)?;
            return Ok(ExitCode::SUCCESS);
        }
        let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs_f64();
        let mut page = format!(
            "{}\nsize         {}\ndirectories  {}\n",
            status.base.display(),
            ui::size(status.store_size_bytes),
            status.projects.len()
        );
        if !status.legacy_archives.is_empty() {
            let size = ui::size(status.legacy_size_bytes);
            let _ = writeln!(page, "old layout   {size} (`hermes checkpoints clear-legacy` removes it)");
        }
        let row = |project: &StatusOf| {
            let dir = project.key().shown();
            let state = if project.exists { "there" } else { "gone" };
            vec![dir, project.commits.to_string(), age(now - project.last_touch), state.to_owned()]
        };
        let rows: Vec<Vec<String>> = status.projects.iter().take(limit).map(row).collect();
        if !rows.is_empty() {
            let _ = write!(page, "\n{}", ui::table(&["DIRECTORY", "SNAPSHOTS", "LAST USED", "STATE"], &rows));
        }
        ui::print(&page)?;
        Ok(ExitCode::SUCCESS)
    }

    pub(super) fn list(&self, dir: Option<&Path>, limit: usize, form: Form) -> anyhow::Result<ExitCode> {
        let key = self.key(dir)?;
        let mut snapshots = self.checkpoints.list(&key)?;
        snapshots.truncate(limit);
        if form == Form::Json {
            ui::print_json(&json!({"directory": key.shown(), "checkpoints": snapshots}))?;
            return Ok(ExitCode::SUCCESS);
        }
        if snapshots.is_empty() {
            ui::print(&format!("There are no checkpoints of {}.", key.shown()))?;
            return Ok(ExitCode::SUCCESS);
        }
        let rows: Vec<Vec<String>> = snapshots
            .iter()
            .enumerate()
            .map(|(place, snapshot)| {
                let at = snapshot.timestamp.get(..16).unwrap_or_default().replace('T', " ");
                let change = match snapshot.files_changed {
                    0 => String::new(),
                    files => {
                        let lines = format!("+{}/-{}", snapshot.insertions, snapshot.deletions);
                        format!("{}, {lines}", ui::count(files, "file"))
                    }
                };
                let name = snapshot.short_hash.clone();
                vec![(place + 1).to_string(), name, at, snapshot.reason.clone(), change]
            })
            .collect();
        let table = ui::table(&["N", "NAME", "MADE (UTC)", "REASON", "CHANGED"], &rows);
        ui::print(&format!("Checkpoints of {}\n\n{table}", key.shown()))?;
        Ok(ExitCode::SUCCESS)
    }

    pub(super) fn diff(&self, id: &str, dir: Option<&Path>, much: Much) -> anyhow::Result<ExitCode> {
        let (key, id) = self.find(id, dir)?;
        let difference = self.checkpoints.diff(&self.place(key)?, id)?;
        let text = match much {
            Much::Names => difference.stat,
            Much::Lines => difference.patch,
        };
        if text.is_empty() {
            ui::note("Nothing is different since this checkpoint.");
        }
        ui::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn age(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} ago", ui::count(seconds / 86_400, "day")),
    }
}
