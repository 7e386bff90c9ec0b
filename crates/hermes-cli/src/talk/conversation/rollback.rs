//! `/rollback`: snapshots of the files, and going back to one.

use std::fmt::Write as _;
use std::path::Path;

use hermes_agent::checkpoints::Keeper;
use hermes_agent::{RowId, Step};
use hermes_checkpoint::{Change, Mine, ObjectId, Restored, Snapshot};
use hermes_cli::chat::{CommandOutcome, Rollback};
use hermes_store::sessions::SessionId;

use super::AgentConversation;
use crate::ui;

/// Lines of a difference that are shown.
const LONGEST_DIFF: usize = 80;
/// Files that are named one by one.
const MOST_NAMES: usize = 10;

const OFF: &str = "Checkpoints are off. `hermes --checkpoints` switches them on for one conversation, \
`hermes config set checkpoints.enabled true` for all.";

impl AgentConversation {
    pub(super) fn rollback(&mut self, what: &Rollback) -> CommandOutcome {
        let Some(keeper) = self.checkpoints.clone() else {
            return CommandOutcome::Failed(OFF.to_owned());
        };
        match what {
            Rollback::List => list(&keeper),
            Rollback::Diff { which } => diff(&keeper, which),
            Rollback::Restore { which, file, mine } => self.go_back(&keeper, which, file.as_deref(), *mine),
        }
    }

    fn go_back(&mut self, keeper: &Keeper, which: &str, file: Option<&str>, mine: Mine) -> CommandOutcome {
        let restored = match keeper.restore(which, file.map(Path::new), mine) {
            Ok(restored) => restored,
            Err(error) => return CommandOutcome::Failed(error.to_string()),
        };
        let mut said = told(&restored, file);
        let whole = file.is_none() && !restored.done.is_empty();
        if whole && let Some(remark) = remark(self.follow(&restored)) {
            said.push_str("\n\n");
            said.push_str(remark);
        }
        CommandOutcome::Said(said)
    }

    /// What the model thinks it did is undone, so it should not think it did it; and what is there again it should know of.
    fn follow(&mut self, restored: &Restored) -> Step {
        let session = self.id();
        let known = self.seen.iter().find(|seen| seen.snapshot == restored.id && seen.session == session);
        let target = match known {
            Some(seen) => Target::Question(seen.ended_with),
            // Made before files were put back in another run of the program, or by hand: no exchange belongs to it.
            None if restored.is_before_rollback() => Target::AsItIs,
            None => Target::WithoutTheLast,
        };
        let done = self.worker.with(move |agent| {
            let ended_with = agent.last_question();
            let step = match target {
                Target::Question(question) => agent.end_with(question),
                Target::AsItIs => Ok(Step::None),
                Target::WithoutTheLast => {
                    agent.undo(1).map(|taken| if taken.is_some() { Step::TookBack } else { Step::None })
                }
            };
            (ended_with, step)
        });
        let Some((ended_with, step)) = done else { return Step::None };
        if let Some(snapshot) = restored.before {
            self.seen.push(Seen { session, snapshot, ended_with });
        }
        step.unwrap_or_else(|error| {
            tracing::warn!(%error, "the conversation does not follow the files");
            Step::None
        })
    }
}

/// How the conversation stood when a snapshot was made before files were put back.
#[derive(Debug)]
pub(super) struct Seen {
    session: SessionId,
    snapshot: ObjectId,
    /// The question it ended with.
    ended_with: Option<RowId>,
}

/// What becomes of the conversation when files are put back.
#[derive(Debug, Clone, Copy)]
enum Target {
    /// It ends with this question, as it did when the files looked like this.
    Question(Option<RowId>),
    /// It stays.
    AsItIs,
    /// The last exchange goes.
    WithoutTheLast,
}

fn remark(step: Step) -> Option<&'static str> {
    match step {
        Step::None => None,
        Step::TookBack => Some("The last exchange was taken back too, so that the model knows."),
        Step::BroughtBack => Some("The exchange that was taken back is part of the conversation again."),
    }
}

fn list(keeper: &Keeper) -> CommandOutcome {
    match keeper.list() {
        Ok((dir, snapshots)) if snapshots.is_empty() => {
            CommandOutcome::Said(format!("There are no checkpoints of {dir} yet."))
        }
        Ok((dir, snapshots)) => {
            let mut said = format!("Checkpoints of {dir}:\n\n");
            for (place, snapshot) in snapshots.iter().enumerate() {
                let _ = writeln!(said, "{}. {}", place + 1, line(snapshot));
            }
            said.push_str("\n`/rollback N` goes back, `/rollback diff N` shows what is different, `/rollback N FILE` puts one file back.");
            CommandOutcome::Said(said)
        }
        Err(error) => CommandOutcome::Failed(error.to_string()),
    }
}

fn line(snapshot: &Snapshot) -> String {
    let at = snapshot.timestamp.get(..16).unwrap_or(&snapshot.timestamp).replace('T', " ");
    let change = match snapshot.files_changed {
        0 => String::new(),
        files => {
            format!(" ({}, +{}/-{})", ui::count(files, "file"), snapshot.insertions, snapshot.deletions)
        }
    };
    format!("`{}` {at} {}{change}", snapshot.short_hash, snapshot.reason)
}

fn diff(keeper: &Keeper, which: &str) -> CommandOutcome {
    match keeper.diff(which) {
        Ok(difference) if difference.stat.is_empty() => {
            CommandOutcome::Said("Nothing is different since this checkpoint.".to_owned())
        }
        Ok(difference) => {
            let lines: Vec<&str> = difference.patch.lines().collect();
            let mut said = format!("```\n{}\n```\n```diff\n", difference.stat);
            said.push_str(&lines[..lines.len().min(LONGEST_DIFF)].join("\n"));
            said.push_str("\n```");
            if let Some(more @ 1..) = lines.len().checked_sub(LONGEST_DIFF) {
                let _ = write!(said, "\n{} more.", ui::count(more as u64, "line"));
            }
            CommandOutcome::Said(said)
        }
        Err(error) => CommandOutcome::Failed(error.to_string()),
    }
}

/// What going back did, in words.
fn told(restored: &Restored, file: Option<&str>) -> String {
    let (id, reason) = (restored.id.short(), &restored.reason);
    let mut said = match restored.done.len() {
        0 => format!("Nothing was put back to checkpoint `{id}` ({reason})."),
        count => format!("{} put back to checkpoint `{id}` ({reason}).", ui::count(count as u64, "file")),
    };
    if let Some(before) = restored.before {
        let _ = write!(said, " How it was before is checkpoint `{}`.", before.short());
    }
    if !restored.left.is_empty() {
        // By its name: going back made a checkpoint, so the numbers have moved.
        let only = file.map(|file| format!(" {file}")).unwrap_or_default();
        let _ = write!(
            said,
            "\n\nLeft alone, as the agent did not make these changes (`/rollback {id}{only} --force` undoes them too):\n{}",
            names(&restored.left)
        );
    }
    for error in &restored.failed {
        let _ = write!(said, "\n\nNot put back: {error}.");
    }
    said
}

fn names(changes: &[Change]) -> String {
    let shown = changes.iter().take(MOST_NAMES).map(|change| format!("- {}", change.path.display()));
    let more = changes.len().saturating_sub(MOST_NAMES);
    let more = (more > 0).then(|| format!("- and {more} more"));
    shown.chain(more).collect::<Vec<_>>().join("\n")
}
