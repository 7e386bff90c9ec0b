//! From a patch and the present texts to the list of steps, all of them or none.

use std::collections::HashMap;
use std::fmt::Display;

use super::{Change, FilePatch, Hunk, Patch, PatchError, apply};

pub(super) fn plan<E: Display>(
    patch: &Patch,
    lookup: impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<Vec<Change>, PatchError> {
    let mut files = Files { lookup, seen: HashMap::new() };
    let mut changes = Vec::new();
    for file in &patch.files {
        changes.extend(step(file, &mut files)?);
    }
    if changes.is_empty() { Err(PatchError::NoChange) } else { Ok(changes) }
}

/// One file's step; None if it leaves the file as it is.
fn step<E: Display, L: FnMut(&str) -> Result<Option<String>, E>>(
    file: &FilePatch,
    files: &mut Files<L>,
) -> Result<Option<Change>, PatchError> {
    match file {
        FilePatch::Update { path, hunks } => {
            let missing = || PatchError::Missing { path: path.clone() };
            let old = files.text(path)?.ok_or_else(missing)?;
            let new = changed(path, &old, hunks)?;
            files.put(path, Some(new.clone()));
            Ok((old != new).then(|| Change::Update { path: path.clone(), old, new }))
        }
        FilePatch::Add { path, text } => {
            files.absent(path)?;
            files.put(path, Some(text.clone()));
            Ok(Some(Change::Add { path: path.clone(), new: text.clone() }))
        }
        FilePatch::Delete { path } => {
            let old = files.present(path)?;
            files.put(path, None);
            Ok(Some(Change::Delete { path: path.clone(), old }))
        }
        FilePatch::Move { from, to, hunks } => {
            let old = files.present(from)?;
            files.absent(to)?;
            let new = changed(from, &old, hunks)?;
            files.put(from, None);
            files.put(to, Some(new.clone()));
            Ok(Some(Change::Move { from: from.clone(), to: to.clone(), old, new }))
        }
    }
}

fn changed(path: &str, old: &str, hunks: &[Hunk]) -> Result<String, PatchError> {
    apply::apply(old, hunks).map_err(|(hunk, reason)| PatchError::Hunk {
        path: path.to_owned(),
        hunk,
        reason,
    })
}

/// The files as they are after the steps so far.
struct Files<L> {
    lookup: L,
    seen: HashMap<String, Option<String>>,
}

impl<E: Display, L: FnMut(&str) -> Result<Option<String>, E>> Files<L> {
    fn text(&mut self, path: &str) -> Result<Option<String>, PatchError> {
        if let Some(text) = self.seen.get(&plain(path)) {
            return Ok(text.clone());
        }
        let text = (self.lookup)(path)
            .map_err(|error| PatchError::Unreadable { path: path.to_owned(), reason: error.to_string() })?;
        self.seen.insert(plain(path), text.clone());
        Ok(text)
    }

    fn present(&mut self, path: &str) -> Result<String, PatchError> {
        self.text(path)?.ok_or_else(|| PatchError::Gone { path: path.to_owned() })
    }

    fn absent(&mut self, path: &str) -> Result<(), PatchError> {
        match self.text(path)? {
            Some(_) => Err(PatchError::Exists { path: path.to_owned() }),
            None => Ok(()),
        }
    }

    fn put(&mut self, path: &str, text: Option<String>) {
        self.seen.insert(plain(path), text);
    }
}

/// One spelling for `a/b`, `./a/b` and `a//b`.
fn plain(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    format!("{root}{}", parts.join("/"))
}
