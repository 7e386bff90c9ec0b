//! What is to be changed, and what it comes to once the files are known. Pure.

use std::collections::HashMap;
use std::sync::Arc;

use hermes_edit::{Change, Occurrences, PatchError, ReplaceError, Strategy};
use hermes_guard::sentinels;

use crate::file::arguments;
use crate::file::write::MASKED;
use crate::tool::Arguments;

/// An edit, checked as far as it can be without its files.
#[derive(Clone)]
pub(super) enum Edit {
    /// One text for another, in one file.
    Replace(Arc<Replacement>),
    /// A patch of several files.
    Several(Arc<hermes_edit::Patch>),
}

/// One text for another.
pub(super) struct Replacement {
    path: String,
    old: String,
    new: String,
    occurrences: Occurrences,
}

/// What an edit comes to.
pub(super) struct Applied {
    pub(super) changes: Vec<Change>,
    /// How the text was found, where one was looked for.
    pub(super) found: Option<(Strategy, usize)>,
}

/// Why an edit cannot be done.
pub(super) struct Trouble {
    pub(super) message: String,
    /// The file whose text was not as expected, if that is why.
    pub(super) mismatch: Option<String>,
}

impl Edit {
    pub(super) fn one(arguments: &Arguments) -> Result<Self, String> {
        let path = arguments::path(arguments, "path")?.to_owned();
        let old = arguments::text(arguments, "old_string")?.to_owned();
        let new = arguments::text(arguments, "new_string")?.to_owned();
        let all = arguments::flag(arguments, "replace_all")?;
        let occurrences = if all { Occurrences::All } else { Occurrences::Only };
        Ok(Self::Replace(Arc::new(Replacement { path, old, new, occurrences })))
    }

    pub(super) fn several(patch: &str) -> Result<Self, String> {
        let parsed = hermes_edit::Patch::parse(patch).map_err(|error| error.to_string())?;
        Ok(Self::Several(Arc::new(parsed)))
    }

    /// Every path it reads, writes or removes.
    pub(super) fn paths(&self) -> Vec<&str> {
        match self {
            Self::Replace(replacement) => vec![&replacement.path],
            Self::Several(patch) => patch.paths(),
        }
    }

    /// What it comes to with files of these texts (`None`: there is no such file).
    pub(super) fn apply(&self, mut texts: HashMap<String, Option<String>>) -> Result<Applied, Trouble> {
        let result = match self {
            Self::Replace(replacement) => replacement.apply(texts.remove(&replacement.path).flatten())?,
            Self::Several(patch) => {
                let lookup = |path: &str| texts.remove(path).ok_or("it was not read");
                let changes = patch.plan(lookup).map_err(|error| Trouble::of_patch(&error))?;
                Applied { changes, found: None }
            }
        };
        result.changes.iter().try_for_each(refuse_masks)?;
        Ok(result)
    }
}

impl Replacement {
    fn apply(&self, text: Option<String>) -> Result<Applied, Trouble> {
        let Some(old) = text else {
            return Err(Trouble::other(format!("there is no file \"{}\"", self.path)));
        };
        let replaced = hermes_edit::replace(&old, &self.old, &self.new, self.occurrences);
        let replaced = replaced.map_err(|error| self.trouble(&error))?;
        let change = Change::Update { path: self.path.clone(), old, new: replaced.text };
        Ok(Applied { changes: vec![change], found: Some((replaced.strategy, replaced.count)) })
    }

    fn trouble(&self, error: &ReplaceError) -> Trouble {
        let mut message = error.to_string();
        if sentinels(&self.old) > 0 {
            message.push_str(
                "\nold_string holds «redacted:…», which stands for a secret and is not in the file: use lines without it",
            );
        }
        let mismatch = match error {
            ReplaceError::EmptyOld | ReplaceError::Same => None,
            _ => Some(self.path.clone()),
        };
        Trouble { message, mismatch }
    }
}

impl Trouble {
    fn other(message: String) -> Self {
        Self { message, mismatch: None }
    }

    fn of_patch(error: &PatchError) -> Self {
        let mismatch = match error {
            PatchError::Hunk { path, .. } => Some(path.clone()),
            _ => None,
        };
        Self { message: error.to_string(), mismatch }
    }
}

/// A mask that was not there before can only have come from a read.
fn refuse_masks(change: &Change) -> Result<(), Trouble> {
    let (old, new) = match change {
        Change::Update { old, new, .. } | Change::Move { old, new, .. } => (old.as_str(), new),
        Change::Add { new, .. } => ("", new),
        Change::Delete { .. } => return Ok(()),
    };
    let masks = sentinels(new);
    if masks > 0 && masks > sentinels(old) { Err(Trouble::other(MASKED.to_owned())) } else { Ok(()) }
}
