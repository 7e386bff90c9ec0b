//! Commands that change something.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hermes_checkpoint::{Change, Does, Mine, Plan, Retention, Whose, Wish};

use super::Desk;
use super::look::Form;
use crate::ui;

/// How something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Not at all: it is only said.
    DryRun,
    /// After a question.
    Asking(Mine),
    /// At once.
    AtOnce(Mine),
}

impl How {
    pub(super) fn new(dry_run: bool, yes: bool, force: bool) -> Self {
        match (dry_run, yes, force) {
            (true, ..) => Self::DryRun,
            (_, _, true) => Self::AtOnce(Mine::Overwrite),
            (_, true, _) => Self::AtOnce(Mine::Keep),
            _ => Self::Asking(Mine::Keep),
        }
    }
}

/// Whether somebody is asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    First,
    Nobody,
}

impl From<bool> for Ask {
    fn from(force: bool) -> Self {
        if force { Self::Nobody } else { Self::First }
    }
}

impl Desk<'_> {
    pub(super) fn restore(
        &self,
        id: &str,
        only: Option<PathBuf>,
        dir: Option<&Path>,
        how: How,
    ) -> anyhow::Result<ExitCode> {
        let (key, id) = self.find(id, dir)?;
        let place = self.place(key)?;
        let mine = match how {
            How::AtOnce(mine) => mine,
            How::DryRun | How::Asking(_) => {
                let plan = self.checkpoints.plan(&place, id, only.as_deref())?;
                let said = said(&plan, &place.key.shown());
                ui::print(&said)?;
                let agents = plan.changes.iter().filter(|change| change.whose == Whose::Agent).count();
                let How::Asking(mine) = how else { return Ok(ExitCode::SUCCESS) };
                if agents == 0 {
                    return Ok(left_alone(plan.changes.is_empty()));
                }
                if !ui::confirm("Go back?")? {
                    ui::note("Nothing was changed. --yes goes back without a question.");
                    return Ok(ExitCode::from(ui::FAILED));
                }
                mine
            }
        };
        let restored = self.checkpoints.restore(&place, &Wish { id, only, mine })?;
        let mut page = format!(
            "{} put back to checkpoint {} ({}).",
            ui::count(restored.done.len() as u64, "file"),
            id.short(),
            restored.reason
        );
        if let Some(before) = restored.before {
            let _ = write!(page, "\nHow it was before is checkpoint {}.", before.short());
        }
        ui::print(&page)?;
        if !restored.left.is_empty() {
            ui::note(&format!(
                "Left alone, not being the agent's changes (`hermes checkpoints restore {} --force` undoes them too):\n{}",
                id.short(),
                paths(&restored.left)
            ));
        }
        for error in &restored.failed {
            ui::warn(&error.to_string());
        }
        let nothing = restored.done.is_empty() && !restored.left.is_empty();
        Ok(if restored.failed.is_empty() && !nothing {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(ui::FAILED)
        })
    }

    pub(super) fn prune(&self, retention: &Retention, form: Form) -> anyhow::Result<ExitCode> {
        let pruned = self.checkpoints.prune(retention)?;
        if form == Form::Json {
            ui::print_json(&pruned)?;
            return Ok(ExitCode::SUCCESS);
        }
        ui::print(&format!(
            "{} looked at: {} gone, {} not worked in lately; {} dropped for their size; {} given back.",
            ui::count(pruned.scanned as u64, "directory").replace("directorys", "directories"),
            pruned.deleted_orphan,
            pruned.deleted_stale,
            ui::count(pruned.dropped as u64, "snapshot"),
            ui::size(pruned.bytes_freed)
        ))?;
        Ok(ExitCode::SUCCESS)
    }

    pub(super) fn clear(&self, ask: Ask) -> anyhow::Result<ExitCode> {
        let status = self.checkpoints.status()?;
        if !status.base.exists() {
            ui::print("There are no checkpoints.")?;
            return Ok(ExitCode::SUCCESS);
        }
        let question = format!("Throw away all checkpoints in {}?", status.base.display());
        if ask == Ask::First && !ui::confirm(&question)? {
            ui::note("Nothing was changed. --force does it without a question.");
            return Ok(ExitCode::from(ui::FAILED));
        }
        let freed = self.checkpoints.clear()?;
        ui::print(&format!("All checkpoints are gone; {} given back.", ui::size(freed)))?;
        Ok(ExitCode::SUCCESS)
    }

    pub(super) fn clear_legacy(&self, ask: Ask) -> anyhow::Result<ExitCode> {
        let status = self.checkpoints.status()?;
        if status.legacy_archives.is_empty() {
            ui::print("Older versions left nothing.")?;
            return Ok(ExitCode::SUCCESS);
        }
        let question = format!("Throw away {}?", status.legacy_archives.join(", "));
        if ask == Ask::First && !ui::confirm(&question)? {
            ui::note("Nothing was changed. --force does it without a question.");
            return Ok(ExitCode::from(ui::FAILED));
        }
        let (count, freed) = self.checkpoints.clear_legacy()?;
        ui::print(&format!("{} gone; {} given back.", ui::count(count as u64, "archive"), ui::size(freed)))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// When there is nothing of the agent's to undo.
fn left_alone(nothing_is_different: bool) -> ExitCode {
    if nothing_is_different {
        return ExitCode::SUCCESS;
    }
    ui::note("None of this is the agent's doing, as far as is known. --force goes back all the same.");
    ExitCode::from(ui::FAILED)
}

fn said(plan: &Plan, dir: &str) -> String {
    let mut page = format!("Checkpoint {} of {dir} ({})\n", plan.id.short(), plan.reason);
    if plan.changes.is_empty() {
        return page + "Nothing is different.";
    }
    let (agents, others): (Vec<&Change>, Vec<&Change>) =
        plan.changes.iter().partition(|change| change.whose == Whose::Agent);
    if !agents.is_empty() {
        let _ = write!(page, "\nWould be put back:\n{}\n", lines(agents));
    }
    if !others.is_empty() {
        let _ = write!(page, "\nNot the agent's changes, left alone without --force:\n{}\n", lines(others));
    }
    page
}

/// What was left alone, a line each.
fn paths(changes: &[Change]) -> String {
    changes.iter().map(|change| format!("  {}", change.path.display())).collect::<Vec<_>>().join("\n")
}

fn lines<'a>(changes: impl IntoIterator<Item = &'a Change>) -> String {
    let line = |change: &Change| {
        let does = match change.does {
            Does::Create => "bring back",
            Does::Overwrite => "put back",
            Does::Remove => "remove",
        };
        let unseen = if change.whose == Whose::Unseen { " (no checkpoint has it)" } else { "" };
        format!("  {does:<10}  {}{unseen}", change.path.display())
    };
    changes.into_iter().map(line).collect::<Vec<_>>().join("\n")
}
