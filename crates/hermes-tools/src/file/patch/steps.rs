//! What a change of a file comes to for the box: which bytes stay, which are new. Pure.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hermes_box::proto::change::{FileStep, Piece};
use hermes_box::proto::file::{Expect, FileVersion, Place};
use hermes_edit::Change;

use super::load::{Files, Loaded};
use crate::file::endings::BOM;

/// A change as the box does it, with the bytes that travel.
pub(super) struct Step<'a> {
    pub(super) step: FileStep,
    pub(super) new: &'a str,
}

/// The changes in parts that can each be done as one: all together, unless one builds on what another leaves behind.
pub(super) fn together<'a>(files: &Files, changes: &'a [Change]) -> Vec<&'a [Change]> {
    let mut paths: Vec<&Path> = changes
        .iter()
        .flat_map(names)
        .filter_map(|name| files.known.get(name))
        .map(|file| file.target.real.as_path())
        .collect();
    paths.sort_unstable();
    let once = paths.windows(2).all(|pair| pair[0] != pair[1]);
    if once { vec![changes] } else { changes.chunks(1).collect() }
}

/// The names a change is about.
pub(super) fn names(change: &Change) -> impl Iterator<Item = &str> {
    let (first, second) = match change {
        Change::Update { path, .. } | Change::Add { path, .. } | Change::Delete { path, .. } => (path, None),
        Change::Move { from, to, .. } => (from, Some(to)),
    };
    std::iter::once(first).chain(second).map(String::as_str)
}

/// A change as a step. `versions` are those of files that were changed since they were read.
pub(super) fn step<'a>(
    files: &Files,
    versions: &HashMap<PathBuf, Option<FileVersion>>,
    change: &'a Change,
) -> Option<Step<'a>> {
    let known = |name: &str| files.known.get(name);
    let expect = |file: &Loaded| {
        let version = versions.get(&file.target.real).copied().unwrap_or(file.target.version);
        version.map_or(Expect::Absent, Expect::Version)
    };
    Some(match change {
        Change::Update { path, old, new } => {
            let file = known(path)?;
            let (pieces, new) = pieces(file, old, new);
            Step { step: FileStep::Write { place: real(file), expect: expect(file), pieces }, new }
        }
        Change::Add { path, new } => {
            let file = known(path)?;
            let pieces = vec![Piece::New(new.len() as u64)];
            Step { step: FileStep::Write { place: real(file), expect: expect(file), pieces }, new }
        }
        Change::Delete { path, .. } => {
            let file = known(path)?;
            Step { step: FileStep::Remove { place: named(file), expect: expect(file) }, new: "" }
        }
        Change::Move { from, to, old, new } => {
            let (file, target) = (known(from)?, known(to)?);
            let changed = (old != new).then(|| pieces(file, old, new));
            let (pieces, new) = changed.map_or((None, ""), |(pieces, new)| (Some(pieces), new));
            let step = FileStep::Move { from: named(file), to: real(target), expect: expect(file), pieces };
            Step { step, new }
        }
    })
}

fn real(file: &Loaded) -> Place {
    Place::from(file.target.real.as_path())
}

fn named(file: &Loaded) -> Place {
    Place::from(file.named.as_path())
}

/// The new content out of the old one, and the part of it that is new.
fn pieces<'a>(file: &Loaded, old: &str, new: &'a str) -> (Vec<Piece>, &'a str) {
    let (head, tail) = hermes_edit::common_ends(old, new);
    // A mark in front of the text is not part of it and stays.
    let mark = if file.bom { BOM.len() } else { 0 };
    let middle = &new[head..new.len() - tail];
    let pieces = [
        Piece::Old { from: 0, length: (mark + head) as u64 },
        Piece::New(middle.len() as u64),
        Piece::Old { from: (mark + old.len() - tail) as u64, length: tail as u64 },
    ];
    let holds = |piece: &Piece| !matches!(piece, Piece::Old { length: 0, .. } | Piece::New(0));
    (pieces.into_iter().filter(holds).collect(), middle)
}
