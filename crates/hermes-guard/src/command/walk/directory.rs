//! The directory a shell is in, and those it may be in as well: a `cd` may fail, or not run.

use super::Walk;
use crate::command::call::Call;
use crate::command::path::Route;
use crate::command::word::Word;
use crate::shell::ast::Link;
use crate::shell::{Field, Piece};

/// How many other directories are kept.
const MOST_WAYS: usize = 4;

/// Our own files that in a directory nobody knows are asked about.
const OWN_FILES: &[&str] = &["config.yaml", "auth.json", "approvals.json", "state.db", "SOUL.md"];

/// Whether a command ends the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    Yes,
    No,
}

/// Where a shell may be besides the directory it should be in.
#[derive(Debug, Clone, Default)]
pub(super) struct Ways {
    /// Directories it may be in.
    others: Vec<String>,
    /// Those it is in if the last `cd` failed.
    failed: Vec<String>,
    /// Those of `pushd`.
    stack: Vec<Option<String>>,
    /// Whether it was sent somewhere nobody knows.
    lost: bool,
    /// Whether it ends where something fails.
    pub(super) strict: bool,
}

impl Ways {
    /// Before a pipeline that is joined to the one before; `left` holds where the shell is if an earlier `cd` failed and
    /// the chain was left.
    pub(super) fn joined(&mut self, link: Link, ends: Ends, left: &mut Vec<String>) {
        let failed = std::mem::take(&mut self.failed);
        match (link, ends) {
            (Link::And, _) => left.extend(failed),
            (Link::Or, Ends::Yes) => left.clear(),
            (Link::Or, Ends::No) => failed.into_iter().for_each(|dir| self.add(dir)),
        }
    }

    /// After a whole chain.
    pub(super) fn chain_ended(&mut self, left: Vec<String>) {
        let failed = std::mem::take(&mut self.failed);
        let failed = if self.strict { Vec::new() } else { failed };
        left.into_iter().chain(failed).for_each(|dir| self.add(dir));
    }

    fn add(&mut self, dir: String) {
        if self.others.len() < MOST_WAYS && !self.others.contains(&dir) {
            self.others.push(dir);
        }
    }
}

impl Walk<'_> {
    /// `cd`, `pushd`
    pub(super) fn change_directory(&mut self, call: &Call) {
        let operands = call.operands();
        let home = || (!self.sight.home.is_empty()).then(|| self.sight.home.to_owned());
        let pushes = call.is(&["pushd"]);
        let to = match operands.first() {
            None if pushes => self.state.ways.stack.pop().flatten(),
            None => home(),
            Some(word) if word.text().as_deref() == Some("-") => {
                self.state.variables.get("OLDPWD").and_then(Field::text)
            }
            // Names may be looked up elsewhere.
            Some(word)
                if self.state.variables.is_touched("CDPATH") && !word.beginning().starts_with(['/', '.']) =>
            {
                None
            }
            Some(word) => Route::of(word, self.state.cwd.as_deref()).and_then(|route| route.text()),
        };
        if pushes {
            self.state.ways.stack.push(self.state.cwd.clone());
        }
        self.moved_to(to);
    }

    /// `popd`
    pub(super) fn back_from(&mut self) {
        let to = self.state.ways.stack.pop().flatten();
        self.moved_to(to);
    }

    fn moved_to(&mut self, directory: Option<String>) {
        let before = self.state.cwd.take();
        let mut failed = std::mem::take(&mut self.state.ways.others);
        failed.extend(before.clone());
        self.state.ways.failed = failed;
        self.state.ways.lost = directory.is_none();
        for (name, path) in [("PWD", &directory), ("OLDPWD", &before)] {
            match path {
                Some(path) => {
                    let value = Field { pieces: vec![Piece::Text(path.clone())] };
                    self.state.variables.set(name, value);
                }
                None => self.state.variables.forget(name),
            }
        }
        self.state.cwd = directory;
    }

    /// Writes a program down once more for each other directory it may run in.
    pub(super) fn elsewhere(&mut self, call: &Call) {
        // Where nothing is named from there, it does not matter.
        let relative = |word: &Word| !word.beginning().starts_with(['/', '-']);
        let matters = call.args().iter().chain(&call.writes).any(relative) || call.is(&["find", "git"]);
        let speaks =
            call.writes.is_empty() && call.is(&["echo", "printf", "test", "[", "export", "cd", "set"]);
        if call.cwd != self.state.cwd || !matters || speaks {
            return;
        }
        let ways = &self.state.ways;
        let mut dirs = ways.others.clone();
        let named =
            |word: &Word| word.text().is_some_and(|text| OWN_FILES.contains(&text.trim_start_matches("./")));
        if ways.lost
            && !self.sight.hermes_home.is_empty()
            && call.args().iter().chain(&call.writes).any(named)
        {
            dirs.push(self.sight.hermes_home.to_owned());
        }
        for cwd in dirs {
            self.look.calls.push(Call { cwd: Some(cwd), ..call.clone() });
        }
    }
}
