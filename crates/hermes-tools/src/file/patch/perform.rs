//! Doing an edit: everything is checked before anything is written, and what changed meanwhile is looked at again.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hermes_box::client::CallError;
use hermes_box::proto::file::{Depth, Existing, FileVersion, Parents};
use hermes_edit::Change;
use hermes_guard::path::OtherProfiles;

use super::edit::{Applied, Edit, Trouble};
use super::load::{self, Files, Loaded};
use super::outcome::{self, Outcome};
use crate::file::desk::{Desk, Room, give};
use crate::file::endings::BOM;
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
    let files = load::load(desk, room, &edit.paths(), others)?;
    let applied = edit.apply(&files.texts).map_err(|trouble| refused(desk, room, &files, &trouble))?;
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
        if is_current(room, &plan)? {
            match write_all(desk, room, &plan) {
                Ok(outcome) => return Ok(give(&outcome)),
                Err(Stopped::Collision) => {}
                Err(Stopped::Failed(output)) => return Err(output),
            }
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

/// Whether all files are as they were read. One file alone is looked at by the write itself.
fn is_current(room: &Room, plan: &Plan) -> Result<bool, ToolOutput> {
    if plan.files.known.len() == 1 {
        return Ok(true);
    }
    let failed = |error: CallError| crate::file::desk::failed(&error);
    let mut asked = Vec::new();
    for file in plan.files.known.values() {
        asked.push((file, room.files.begin_resolve(&file.target.real).map_err(failed)?));
    }
    for (file, answer) in asked {
        if answer.wait().map_err(failed)?.stat.map(|stat| stat.version) != file.target.version {
            return Ok(false);
        }
    }
    Ok(true)
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
    for change in &plan.applied.changes {
        writing.change(change).map_err(|error| writing.stopped(&error))?;
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
    let shown: Vec<Change> =
        plan.applied.changes.iter().filter(|change| !concerns(change, &hidden)).cloned().collect();
    let mut diff = desk.masked(&outcome::diff(&shown), plan.files.known.keys().map(String::as_str));
    for name in &hidden {
        // Writing to a text cannot fail.
        let _ = writeln!(diff, "(\"{name}\" was changed; it holds logins or keys and is not shown)");
    }
    Ok(Outcome::new(diff, &plan.applied, lints, stale, plan.notes.clone()))
}

/// Whether a change is one of these files.
fn concerns(change: &Change, names: &[&str]) -> bool {
    let paths: [&str; 2] = match change {
        Change::Update { path, .. } | Change::Add { path, .. } | Change::Delete { path, .. } => [path, path],
        Change::Move { from, to, .. } => [from, to],
    };
    paths.iter().any(|path| names.contains(path))
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
    fn change(&mut self, change: &Change) -> Result<(), CallError> {
        match change {
            Change::Update { path, new, .. } | Change::Add { path, new } => self.write(path, path, new)?,
            Change::Delete { path, .. } => self.remove(path)?,
            Change::Move { from, to, old, new } => {
                self.rename(from, to)?;
                if old != new {
                    self.write(to, from, new)?;
                }
            }
        }
        self.done.push(outcome::in_words(change));
        Ok(())
    }

    /// Writes a file; `like` names the one whose mark it keeps.
    fn write(&mut self, name: &str, like: &str, text: &str) -> Result<(), CallError> {
        let (Some(file), Some(like)) = (self.plan.file(name), self.plan.file(like)) else { return Ok(()) };
        let mut target = file.target.clone();
        if let Some(version) = self.versions.get(&target.real) {
            target.version = *version;
        }
        let written = if like.bom {
            commit::as_seen(self.room, &target, format!("{BOM}{text}").as_bytes())?
        } else {
            commit::as_seen(self.room, &target, text.as_bytes())?
        };
        let created = target.version.is_none();
        self.versions.insert(target.real, Some(written.version));
        // Whoever changes a part has not necessarily seen the rest.
        let part = if created { Part::Whole } else { Part::Some };
        self.desk.state().wrote(&self.room.session, &target.spot, written.version, part);
        Ok(())
    }

    fn remove(&mut self, name: &str) -> Result<(), CallError> {
        let Some(file) = self.plan.file(name) else { return Ok(()) };
        self.room.files.remove(&file.named, Depth::Single)?;
        self.gone(file);
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), CallError> {
        let (Some(old), Some(new)) = (self.plan.file(from), self.plan.file(to)) else { return Ok(()) };
        if let Some(parent) = new.target.real.parent() {
            self.room.files.mkdir(parent, Parents::Create)?;
        }
        self.room.files.rename(&old.named, &new.target.real, Existing::Refuse)?;
        let version = self.room.files.stat(&new.target.real)?.version;
        self.gone(old);
        self.versions.insert(new.target.real.clone(), Some(version));
        self.desk.state().wrote(&self.room.session, &new.target.spot, version, Part::Some);
        Ok(())
    }

    fn gone(&mut self, file: &Loaded) {
        self.versions.insert(file.target.real.clone(), None);
        self.desk.state().removed(&self.room.session, &file.target.spot);
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
