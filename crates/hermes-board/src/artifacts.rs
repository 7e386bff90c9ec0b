//! The files finished work leaves: found, and copied when they would go with their workspace.

use std::path::{Path, PathBuf};

use hermes_store::rusqlite::Transaction;

use crate::attachments::{Collision, LARGEST, NewFile, insert, keep, media_type, remove, safe_name};
use crate::board::{Board, Trouble};
use crate::card::{Card, Seconds, WorkspaceKind};
use crate::error::BoardError;

/// What containers call the directory they work in.
const INSIDE: &str = "/workspace";

/// What is kept of finished work.
#[derive(Debug, Default)]
pub(crate) struct Artifacts {
    /// Copies that were made of what would go with the workspace.
    copies: Vec<(PathBuf, String, u64)>,
    /// Where everything is.
    pub listed: Vec<String>,
}

impl Artifacts {
    /// Looks for what finished work left, and copies what would be removed with its workspace. One that was named and is
    /// not there is an error; what a text merely speaks of need not be.
    pub(crate) fn keep(
        board: &Board,
        card: &Card,
        named: &[String],
        texts: &[&str],
    ) -> Result<Self, BoardError> {
        let workspace = card.workspace_path.as_deref().map(Path::new);
        let managed = workspace.filter(|dir| {
            card.workspace_kind == WorkspaceKind::Scratch
                && dir.starts_with(board.root.workspaces(&board.slug))
        });
        let dir = board.root.attachments(&board.slug).join(card.id.as_str());
        let mut kept = Self::default();
        let mut seen: Vec<PathBuf> = Vec::new();
        let mut take = |kept: &mut Self, path: PathBuf| -> Result<(), BoardError> {
            if seen.contains(&path) {
                return Ok(());
            }
            seen.push(path.clone());
            let real = path.canonicalize().map_err(BoardError::file("read", &path))?;
            let inside =
                managed.and_then(|dir| dir.canonicalize().ok()).filter(|dir| path_in(&path, dir, managed));
            let Some(inside) = inside else {
                kept.listed.push(path.to_string_lossy().into_owned());
                return Ok(());
            };
            if !real.starts_with(&inside) {
                return Err(BoardError::Artifact { path, why: "it leads out of the workspace".to_owned() });
            }
            let content = std::fs::read(&real).map_err(BoardError::file("read", &path))?;
            let name = safe_name(&path.file_name().unwrap_or_default().to_string_lossy());
            let (stored, name) = keep(&dir, &name, &content, Collision::Numbered)?;
            kept.listed.push(stored.to_string_lossy().into_owned());
            kept.copies.push((stored, name, content.len() as u64));
            Ok(())
        };
        let all = named.iter().map(|text| find(text, workspace)).collect::<Result<Vec<_>, _>>();
        let spoken = texts.iter().flat_map(|text| spoken_of(text, workspace));
        let taken =
            all.and_then(|named| named.into_iter().chain(spoken).try_for_each(|path| take(&mut kept, path)));
        match taken {
            Ok(()) => Ok(kept),
            Err(error) => {
                kept.forget();
                Err(error)
            }
        }
    }

    /// Writes the copies down.
    pub(crate) fn record(&self, tx: &Transaction<'_>, card: &Card, now: Seconds) -> Result<(), Trouble> {
        for (stored, name, size) in &self.copies {
            let by = card.assignee.as_deref().unwrap_or("worker");
            let file = NewFile { name, content: &[], content_type: media_type(name), uploaded_by: by };
            insert(tx, &card.id, &file, stored, *size, now)?;
        }
        Ok(())
    }

    /// Takes the copies back.
    pub(crate) fn forget(&self) {
        for (stored, ..) in &self.copies {
            remove(stored);
        }
    }
}

/// Whether a path is in the workspace, by its name or by where it leads.
fn path_in(path: &Path, real: &Path, named: Option<&Path>) -> bool {
    path.starts_with(real) || named.is_some_and(|dir| path.starts_with(dir))
}

/// A file that was named: as it stands, in the workspace, or as a container calls it.
fn find(text: &str, workspace: Option<&Path>) -> Result<PathBuf, BoardError> {
    let path = Path::new(text.trim());
    let within = |relative: &Path| workspace.map(|dir| dir.join(relative));
    let mut candidates: Vec<PathBuf> = Vec::new();
    if path.is_absolute() {
        candidates.push(path.to_owned());
        candidates.extend(path.strip_prefix(INSIDE).ok().and_then(within));
    } else {
        candidates.extend(within(path));
    }
    let refuse = |why: String| BoardError::Artifact { path: path.to_owned(), why };
    for candidate in candidates {
        let Ok(facts) = std::fs::metadata(&candidate) else { continue };
        if !facts.is_file() {
            return Err(refuse("it is not a file".to_owned()));
        }
        if facts.len() > LARGEST {
            return Err(refuse(format!("it has {} bytes, at most {LARGEST} are kept", facts.len())));
        }
        return Ok(candidate);
    }
    Err(refuse("there is no such file".to_owned()))
}

/// Files of the workspace that a text names by their whole path.
fn spoken_of(text: &str, workspace: Option<&Path>) -> Vec<PathBuf> {
    let Some(dir) = workspace.and_then(Path::to_str).filter(|dir| dir.len() > 1) else { return Vec::new() };
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | ']' | '>' | ',' | ';');
    let words = text.match_indices(dir).map(|(at, _)| text[at..].split(ends).next().unwrap_or_default());
    let path = |word: &str| find(word.trim_end_matches(['.', ':', '!', '?']), workspace).ok();
    words.filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_prose() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("out.txt");
        std::fs::write(&file, "x").unwrap();
        let text = format!("Wrote `{}` and {}/missing.txt.", file.display(), dir.path().display());
        assert_eq!(spoken_of(&text, Some(dir.path())), [file.as_path()]);
        assert_eq!(spoken_of(&format!("See {}.", file.display()), Some(dir.path())), [file]);
        assert_eq!(spoken_of("nothing", None), Vec::<PathBuf>::new());
    }
}
