//! What the model gets of an edit.

use std::collections::BTreeMap;

use hermes_edit::{Change, Strategy};
use serde::Serialize;
use serde_json::json;

use super::edit::Applied;
use crate::file::desk::give;
use crate::file::state::Stale;
use crate::file::syntax::Lint;
use crate::tool::ToolOutput;

/// From how many failures in a row on it is time for another way.
const ENOUGH: u32 = 3;

/// An edit that was done.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    success: bool,
    diff: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files_modified: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files_created: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files_deleted: Vec<String>,
    /// How the text was found, when it was not there letter by letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replacements: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lint: Option<Lints>,
    #[serde(rename = "_warning", skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Of one file as it is, of several by their names.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Lints {
    One(Lint),
    Several(BTreeMap<String, Lint>),
}

impl Outcome {
    pub(super) fn new(
        diff: String,
        applied: &Applied,
        lints: Vec<(String, Lint)>,
        stale: Option<Stale>,
        notes: Vec<String>,
    ) -> Self {
        let mut outcome = Self {
            success: true,
            diff,
            files_modified: Vec::new(),
            files_created: Vec::new(),
            files_deleted: Vec::new(),
            strategy: applied
                .found
                .map(|(strategy, _)| strategy)
                .filter(|s| *s != Strategy::Exact)
                .map(Strategy::name),
            replacements: applied.found.map(|(_, count)| count).filter(|count| *count > 1),
            lint: shown(lints, applied.changes.len()),
            warning: stale.map(warning),
            notes,
        };
        for change in &applied.changes {
            let (list, name) = match change {
                Change::Update { path, .. } => (&mut outcome.files_modified, path.clone()),
                Change::Add { path, .. } => (&mut outcome.files_created, path.clone()),
                Change::Delete { path, .. } => (&mut outcome.files_deleted, path.clone()),
                Change::Move { from, to, .. } => (&mut outcome.files_modified, format!("{from} -> {to}")),
            };
            if !list.contains(&name) {
                list.push(name);
            }
        }
        outcome
    }
}

fn shown(lints: Vec<(String, Lint)>, changes: usize) -> Option<Lints> {
    if changes == 1 {
        return lints.into_iter().next().map(|(_, lint)| Lints::One(lint));
    }
    let bad: BTreeMap<String, Lint> = lints.into_iter().filter(|(_, lint)| lint.is_error()).collect();
    (!bad.is_empty()).then_some(Lints::Several(bad))
}

fn warning(stale: Stale) -> &'static str {
    match stale {
        Stale::WrittenByOther => "another agent had written it since you read it: look at the whole again",
        Stale::Changed | Stale::NeverRead | Stale::PartlyRead => {
            "it had changed since you read it: look at the whole again"
        }
    }
}

/// The difference an edit makes.
pub(super) fn diff<'c>(changes: impl IntoIterator<Item = &'c Change>) -> String {
    const NOTHING: &str = "/dev/null";
    let (a, b) = (
        |path: &str| format!("a/{}", path.trim_start_matches('/')),
        |path: &str| format!("b/{}", path.trim_start_matches('/')),
    );
    let one = |change: &Change| match change {
        Change::Update { path, old, new } => hermes_edit::unified(&a(path), &b(path), old, new),
        Change::Add { path, new } => hermes_edit::unified(NOTHING, &b(path), "", new),
        Change::Delete { path, old } => hermes_edit::unified(&a(path), NOTHING, old, ""),
        Change::Move { from, to, old, new } => hermes_edit::unified(&a(from), &b(to), old, new),
    };
    changes.into_iter().map(one).collect()
}

/// A change in a few words.
pub(super) fn in_words(change: &Change) -> String {
    match change {
        Change::Update { path, .. } => format!("\"{path}\" updated"),
        Change::Add { path, .. } => format!("\"{path}\" added"),
        Change::Delete { path, .. } => format!("\"{path}\" deleted"),
        Change::Move { from, to, .. } => format!("\"{from}\" moved to \"{to}\""),
    }
}

/// An edit that was not done; `failures` in a row on this file.
pub(super) fn not_applied(message: &str, failures: u32) -> ToolOutput {
    let mut answer = json!({ "success": false, "error": message });
    if failures >= ENOUGH {
        answer["_hint"] = format!(
            "{failures} edits of this file failed in a row: read the part again with read_file and copy old_string from \
             it, with fewer lines; or write the whole file with write_file"
        )
        .into();
    }
    give(&answer).failed()
}
