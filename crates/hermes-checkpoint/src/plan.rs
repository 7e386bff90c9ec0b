//! What going back to a snapshot means for every file, and whose change it would undo. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::notes::Entries;
use crate::object::Blob;

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which, from the directory's top.
    pub path: PathBuf,
    /// What happens to it.
    pub does: Does,
    /// Whose change it undoes.
    pub whose: Whose,
    pub(crate) blob: Option<Blob>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// It comes back.
    Create,
    /// It becomes what it was.
    Overwrite,
    /// It was not there and goes.
    Remove,
}

/// Whose change is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The agent's.
    Agent,
    /// Somebody else's, or nobody knows.
    Yours,
    /// A file no snapshot has ever seen.
    Unseen,
}

/// What is known besides the two states.
pub(crate) struct Known<'a> {
    /// How it looked when the agent was last done.
    pub(crate) looked: &'a Entries,
    /// Files that others changed since the snapshot; none when that is not known.
    pub(crate) yours: Option<&'a BTreeSet<OsString>>,
    /// Files that were there and are not in the snapshot, by path.
    pub(crate) was_left_out: &'a dyn Fn(&OsStr) -> bool,
}

/// Every file that is not as the snapshot has it.
pub(crate) fn plan(
    target: &BTreeMap<OsString, Blob>,
    now: &BTreeMap<OsString, Blob>,
    known: &Known<'_>,
) -> Vec<Change> {
    let paths: BTreeSet<&OsString> = target.keys().chain(now.keys()).collect();
    let mut changes = Vec::new();
    for path in paths {
        let (then, is) = (target.get(path).copied(), now.get(path).copied());
        let does = match (then, is) {
            (then, is) if then == is => continue,
            (Some(_), None) => Does::Create,
            (Some(_), Some(_)) => Does::Overwrite,
            // It was there all along: going back does not mean that it goes.
            (None, _) if (known.was_left_out)(path) => continue,
            (None, _) => Does::Remove,
        };
        let whose = whose(path, is, known);
        changes.push(Change { path: PathBuf::from(path), does, whose, blob: then });
    }
    changes
}

fn whose(path: &OsStr, is: Option<Blob>, known: &Known<'_>) -> Whose {
    let looked = known.looked.get(path);
    if looked.is_none() && is.is_some() {
        return Whose::Unseen;
    }
    let touched = known.yours.is_none_or(|yours| yours.contains(path));
    if touched || looked.and_then(|entry| entry.now) != is { Whose::Yours } else { Whose::Agent }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notes::Entry;
    use crate::object::{Mode, ObjectId};
    use crate::tree::Stat;

    fn blob(content: &str) -> Blob {
        Blob { mode: Mode::Plain, id: ObjectId::of_blob(content.as_bytes()) }
    }

    fn files(files: &[(&str, &str)]) -> BTreeMap<OsString, Blob> {
        files.iter().map(|(path, content)| (OsString::from(path), blob(content))).collect()
    }

    fn looked(files: &[(&str, &str)]) -> Entries {
        let entry = |content| Entry { stat: Stat::default(), now: Some(blob(content)), tip: None };
        files.iter().map(|(path, content)| (OsString::from(path), entry(content))).collect()
    }

    fn told(
        target: &[(&str, &str)],
        agent: &[(&str, &str)],
        now: &[(&str, &str)],
        yours: Option<&[&str]>,
    ) -> Vec<(String, Does, Whose)> {
        let yours: Option<BTreeSet<OsString>> = yours.map(|paths| paths.iter().map(OsString::from).collect());
        let looked = looked(agent);
        let known = Known { looked: &looked, yours: yours.as_ref(), was_left_out: &|path| path == "big" };
        let changes = plan(&files(target), &files(now), &known);
        changes.into_iter().map(|c| (c.path.display().to_string(), c.does, c.whose)).collect()
    }

    #[test]
    fn what_the_agent_did_is_undone() {
        let target = [("changed", "1"), ("gone", "1"), ("same", "1")];
        let after = [("changed", "2"), ("new", "2"), ("same", "1")];
        let expected = [
            ("changed".to_owned(), Does::Overwrite, Whose::Agent),
            ("gone".to_owned(), Does::Create, Whose::Agent),
            ("new".to_owned(), Does::Remove, Whose::Agent),
        ];
        assert_eq!(told(&target, &after, &after, Some(&[])), expected);
    }

    #[test]
    fn what_the_user_did_since_is_theirs() {
        let agent = [("a", "2"), ("b", "2"), ("c", "2")];
        let now = [("a", "3"), ("c", "2"), ("mine", "3"), ("big", "x")];
        let target = [("a", "1"), ("b", "1"), ("c", "1")];
        let expected = [
            ("a".to_owned(), Does::Overwrite, Whose::Yours),
            ("b".to_owned(), Does::Create, Whose::Yours),
            ("c".to_owned(), Does::Overwrite, Whose::Yours),
            ("mine".to_owned(), Does::Remove, Whose::Unseen),
        ];
        assert_eq!(told(&target, &agent, &now, Some(&["c"])), expected);
    }

    #[test]
    fn what_nobody_knows_is_not_the_agents() {
        let changes = told(&[("a", "1")], &[("a", "2")], &[("a", "2")], None);
        assert_eq!(changes, [("a".to_owned(), Does::Overwrite, Whose::Yours)]);
    }
}
