//! Doing an edit: everything is checked before anything is written, and what changed meanwhile is looked at again.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hermes_box::client::CallError;
use hermes_box::proto::file::FileVersion;
use hermes_edit::Change;
use hermes_guard::path::OtherProfiles;

use super::edit::{Applied, Edit, Trouble};
use super::load::{self, Files, Loaded};
use super::outcome::{self, Outcome};
use super::steps::{self, Step};
use crate::file::desk::{Desk, Room, give};
use crate::file::state::{Part, Spot, Stale};
use crate::file::syntax::{self, Lint};
use crate::file::write::commit;
use crate::tool::ToolOutput;
use crate::workplace::lock;

/// An edit that only has to be agreed to.
pub(super) struct Plan {
    files: Files,
    applied: Applied,
    lints: Vec<(String, Lint)>,
    notes: Vec<String>,
}

impl Plan {
    /// Every file that is written, moved or removed.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> =
            self.files.known.values().map(|file| file.target.real.clone()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    fn file(&self, name: &str) -> Option<&Loaded> {
        self.files.known.get(name)
    }
}

/// Reads the files and works out what they become.
pub(super) fn plan(desk: &Desk, room: &Room, edit: &Edit, others: OtherProfiles) -> Result<Plan, ToolOutput> {
    let (files, texts) = load::load(desk, room, &edit.paths(), others)?;
    let applied = edit.apply(texts).map_err(|trouble| refused(desk, room, &files, &trouble))?;
    let mut lints = Vec::new();
    for change in &applied.changes {
        let (path, old, new) = match change {
            Change::Update { path, old, new } => (path, Some(old), new),
            Change::Add { path, new } => (path, None, new),
            Change::Move { from, to, old, new } => {
                refuse_uncovering(desk, &files, from, to)?;
                (to, Some(old), new)
            }
            Change::Delete { .. } => continue,
        };
        let lint = syntax::gate(path, new, || old.cloned()).map_err(ToolOutput::error)?;
        lints.extend(lint.map(|lint| (path.clone(), lint)));
    }
    Ok(Plan { files, applied, lints, notes: room.notes.clone() })
}

/// A file whose content is not shown stays one: under another name anybody could read it.
fn refuse_uncovering(desk: &Desk, files: &Files, from: &str, to: &str) -> Result<(), ToolOutput> {
    let shown = |name: &str| files.known.get(name).is_none_or(|file| desk.may_show(&file.target.real));
    if shown(from) || !shown(to) {
        return Ok(());
    }
    Err(ToolOutput::error(format!(
        "\"{from}\" holds logins or keys: it is not moved to \"{to}\", where it would be shown; nothing was written"
    )))
}

/// The files of an edit whose content is not shown.
fn hidden<'f>(desk: &Desk, files: &'f Files) -> Vec<&'f str> {
    let hidden = files.known.iter().filter(|(_, file)| !desk.may_show(&file.target.real));
    hidden.map(|(name, _)| name.as_str()).collect()
}

/// What the model gets when the text was not as it thought.
fn refused(desk: &Desk, room: &Room, files: &Files, trouble: &Trouble) -> ToolOutput {
    if let (Some(path), false) = (&trouble.mismatch, hidden(desk, files).is_empty()) {
        return outcome::not_applied(
            &format!(
                "the text was not found in \"{path}\", whose content is not shown as it holds logins or keys"
            ),
            0,
        );
    }
    let message = desk.masked(&trouble.message, files.known.keys().map(String::as_str));
    let failures = trouble
        .mismatch
        .as_ref()
        .and_then(|path| files.known.get(path))
        .map_or(0, |file| desk.state().edit_failed(&room.session, &file.target.real));
    outcome::not_applied(&message, failures)
}

/// Writes what was planned.
pub(super) fn perform(
    desk: &Desk,
    room: &Room,
    edit: &Edit,
    others: OtherProfiles,
    mut plan: Plan,
) -> Result<ToolOutput, ToolOutput> {
    let agreed = plan.paths();
    let turns = turns(desk, &plan);
    let _turns: Vec<_> = turns.iter().map(|turn| lock(turn)).collect();
    for _ in 0..commit::TRIES {
        match write_all(desk, room, &plan) {
            Ok(outcome) => return Ok(give(&outcome)),
            Err(Stopped::Collision) => {}
            Err(Stopped::Failed(output)) => return Err(output),
        }
        // Somebody else was faster: the edit is made on what is there now, if it still fits.
        plan = self::plan(desk, room, edit, others)?;
        if plan.paths() != agreed {
            return Err(ToolOutput::error("the files were moved meanwhile; nothing was written: try again"));
        }
    }
    Err(ToolOutput::error("the files keep changing; nothing was written: try again"))
}

/// Turns at every file of the plan, always in the same order.
fn turns(desk: &Desk, plan: &Plan) -> Vec<Arc<Mutex<()>>> {
    let mut spots: Vec<&Spot> = plan.files.known.values().map(|file| &file.target.spot).collect();
    spots.sort_unstable();
    spots.dedup();
    spots.into_iter().map(|spot| desk.state().turn(spot)).collect()
}

/// Why writing stopped.
enum Stopped {
    /// Nothing was written, as a file changed at the last moment.
    Collision,
    Failed(ToolOutput),
}

struct Writing<'a> {
    desk: &'a Desk,
    room: &'a Room,
    plan: &'a Plan,
    /// What was written already, and its state.
    versions: HashMap<PathBuf, Option<FileVersion>>,
    done: Vec<String>,
}

fn write_all(desk: &Desk, room: &Room, plan: &Plan) -> Result<Outcome, Stopped> {
    let stale = staleness(desk, room, plan);
    let mut writing = Writing { desk, room, plan, versions: HashMap::new(), done: Vec::new() };
    for changes in steps::together(&plan.files, &plan.applied.changes) {
        writing.change(changes).map_err(|error| writing.stopped(&error))?;
    }
    let mut lints = plan.lints.clone();
    for change in &plan.applied.changes {
        let (path, old, new) = match change {
            Change::Update { path, old, new } => (path, Some(old.as_bytes()), new),
            Change::Add { path, new } => (path, None, new),
            Change::Move { to, old, new, .. } if old != new => (to, Some(old.as_bytes()), new),
            Change::Move { .. } | Change::Delete { .. } => continue,
        };
        let Some(file) = plan.file(path) else { continue };
        let lint = syntax::after(desk, room, &file.target.real, old, new);
        lints.extend(lint.map(|lint| (path.clone(), lint)));
    }
    let hidden = hidden(desk, &plan.files);
    let shown =
        plan.applied.changes.iter().filter(|change| !steps::names(change).any(|name| hidden.contains(&name)));
    let mut diff = desk.masked(&outcome::diff(shown), plan.files.known.keys().map(String::as_str));
    for name in &hidden {
        // Writing to a text cannot fail.
        let _ = writeln!(diff, "(\"{name}\" was changed; it holds logins or keys and is not shown)");
    }
    Ok(Outcome::new(diff, &plan.applied, lints, stale, plan.notes.clone()))
}

/// What the author did not know about the files. One whose text was found need not have been read.
fn staleness(desk: &Desk, room: &Room, plan: &Plan) -> Option<Stale> {
    plan.files.known.values().find_map(|file| {
        let version = file.target.version?;
        let stale = desk.state().staleness(&room.session, &file.target.spot, version)?;
        matches!(stale, Stale::Changed | Stale::WrittenByOther).then_some(stale)
    })
}

impl Writing<'_> {
    /// Does changes as one.
    fn change(&mut self, changes: &[Change]) -> Result<(), CallError> {
        let steps: Vec<Step<'_>> = changes
            .iter()
            .filter_map(|change| steps::step(&self.plan.files, &self.versions, change))
            .collect();
        let new: Vec<&str> = steps.iter().map(|step| step.new).collect();
        let steps = steps.iter().map(|step| step.step.clone()).collect();
        let versions = self.room.files.change(steps, &mut new.concat().as_bytes())?;
        for (change, version) in changes.iter().zip(versions) {
            self.note(change, version);
            self.done.push(outcome::in_words(change));
        }
        Ok(())
    }

    /// Keeps in mind what became of a change's files.
    fn note(&mut self, change: &Change, version: Option<FileVersion>) {
        let (state, session) = (self.desk.state(), &self.room.session);
        for name in steps::names(change) {
            let Some(file) = self.plan.file(name) else { continue };
            let stays = match change {
                Change::Move { to, .. } => to == name,
                Change::Update { .. } | Change::Add { .. } | Change::Delete { .. } => true,
            };
            let now = version.filter(|_| stays);
            self.versions.insert(file.target.real.clone(), now);
            let Some(version) = now else {
                state.removed(session, &file.target.spot);
                continue;
            };
            // Whoever changes a part has not necessarily seen the rest.
            let part = if matches!(change, Change::Add { .. }) { Part::Whole } else { Part::Some };
            state.wrote(session, &file.target.spot, version, part);
        }
    }

    fn stopped(&self, error: &CallError) -> Stopped {
        if self.done.is_empty() && commit::is_collision(error) {
            return Stopped::Collision;
        }
        let message = if self.done.is_empty() {
            format!("nothing was written: {error}")
        } else {
            format!("{error}. Done before that: {}; the rest was not done", self.done.join(", "))
        };
        Stopped::Failed(outcome::not_applied(&message, 0))
    }
}
