//! Changing several files as one.
//!
//! Everything that can go wrong is done before anything changes: the new contents lie beside their places, the directories are
//! there, every file is as it was seen. Then the steps are done one right after the other, and what was done is taken back
//! should one fail all the same.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::draft::{Draft, Turn, sibling};
use super::errors::{file_error, refused};
use super::manage::{make_directories, move_file};
use super::read::open;
use super::stat::version;
use super::write::{check, follow_links, look};
use crate::proto::change::{ChangeRequest, FileStep, Piece};
use crate::proto::fault::{Fault, FileErrorKind};
use crate::proto::file::{Existing, Expect, FileVersion};
use crate::server::Agent;
use crate::server::call::CallContext;

/// Files that are changed at once.
const MOST_STEPS: usize = 4096;

/// Changes all files of a request, or none.
pub(crate) fn change(
    agent: &Agent,
    context: &CallContext,
    request: &ChangeRequest,
) -> Result<Vec<Option<FileVersion>>, Fault> {
    if request.steps.len() > MOST_STEPS {
        return Err(Fault::Invalid(format!("more than {MOST_STEPS} files are not changed at once")));
    }
    let mut made = Made::default();
    let mut input = Input { context, piece: Vec::new(), taken: 0 };
    let mut steps = Vec::with_capacity(request.steps.len());
    for step in &request.steps {
        steps.push(prepare(agent, step, &mut input, &mut made)?);
    }
    // Between looking and replacing nobody else of our kind may do the same.
    let _turns = turns(&steps);
    for step in &steps {
        step.check()?;
    }
    let undo = if steps.len() > 1 { Undo::Kept(Vec::new()) } else { Undo::NotNeeded };
    let versions = perform(steps, undo)?;
    made.stays();
    Ok(versions)
}

/// A step that only has to be done.
enum Step {
    Write { target: PathBuf, expect: Expect, draft: Draft },
    Remove { path: PathBuf, expect: Expect },
    Move { from: PathBuf, to: PathBuf, expect: Expect, draft: Option<Draft> },
}

impl Step {
    /// The paths whose directories change.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let (first, second) = match self {
            Self::Write { target: path, .. } | Self::Remove { path, .. } => (path, None),
            Self::Move { from, to, .. } => (from, Some(to)),
        };
        std::iter::once(first).chain(second).map(PathBuf::as_path)
    }

    fn check(&self) -> Result<(), Fault> {
        match self {
            Self::Write { target, expect, .. } => check(expect, target, look(target)?.as_ref()),
            Self::Remove { path, expect } => check(expect, path, seen("remove", path)?.as_ref()),
            Self::Move { from, expect, .. } => check(expect, from, seen("move", from)?.as_ref()),
        }
    }
}

fn prepare(agent: &Agent, step: &FileStep, input: &mut Input<'_>, made: &mut Made) -> Result<Step, Fault> {
    match step {
        FileStep::Write { place, expect, pieces } => {
            let path = agent.locate(place)?;
            let target = follow_links(&path).map_err(|error| file_error("write", &path, &error))?;
            let existing = look(&target)?;
            check(expect, &target, existing.as_ref())?;
            made.parents_of(&target)?;
            let mut draft = Draft::create(&target, existing.as_ref(), None)?;
            fill(&mut draft, &target, &target, expect, pieces, input)?;
            Ok(Step::Write { target, expect: expect.clone(), draft })
        }
        FileStep::Remove { place, expect } => {
            let path = agent.locate(place)?;
            check(expect, &path, seen("remove", &path)?.as_ref())?;
            Ok(Step::Remove { path, expect: expect.clone() })
        }
        FileStep::Move { from, to, expect, pieces } => {
            let (from, to) = (agent.locate(from)?, agent.locate(to)?);
            check(expect, &from, seen("move", &from)?.as_ref())?;
            if fs::symlink_metadata(&to).is_ok() {
                return Err(refused("move to", &to, FileErrorKind::Exists, "it exists already").into());
            }
            made.parents_of(&to)?;
            let draft = match pieces {
                Some(pieces) => {
                    // Closed until it has the rights of the file it replaces.
                    let mut draft = Draft::create(&to, None, Some(0o600))?;
                    fill(&mut draft, &to, &from, expect, pieces, input)?;
                    Some(draft)
                }
                None => None,
            };
            Ok(Step::Move { from, to, expect: expect.clone(), draft })
        }
    }
}

/// What a path leads to, if to anything.
fn seen(action: &str, path: &Path) -> Result<Option<Metadata>, Fault> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            Err(refused(action, path, FileErrorKind::IsDirectory, "it is a directory").into())
        }
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(file_error(action, path, &error).into()),
    }
}

/// Puts a content together out of what is there and what comes.
fn fill(
    draft: &mut Draft,
    target: &Path,
    source: &Path,
    expect: &Expect,
    pieces: &[Piece],
    input: &mut Input<'_>,
) -> Result<(), Fault> {
    let failed = |error: io::Error| Fault::from(file_error("write", target, &error));
    let changed =
        || refused("write", source, FileErrorKind::Changed, "it has changed since it was read").into();
    let mut old = None;
    for piece in pieces {
        match *piece {
            Piece::New(length) => input.give(length, |bytes| draft.file.write_all(bytes).map_err(failed))?,
            Piece::Old { from, length } => {
                let file = match &mut old {
                    Some(file) => file,
                    empty => {
                        let (file, metadata) = open("read", source)?;
                        if matches!(expect, Expect::Version(seen) if version(&metadata) != *seen) {
                            return Err(changed());
                        }
                        empty.insert(file)
                    }
                };
                file.seek(SeekFrom::Start(from)).map_err(failed)?;
                // The system copies from file to file by itself, where it can.
                if io::copy(&mut file.take(length), &mut draft.file).map_err(failed)? != length {
                    return Err(changed());
                }
            }
        }
    }
    draft.file.sync_data().map_err(failed)
}

/// What the client sends, in the lengths that are needed.
struct Input<'a> {
    context: &'a CallContext,
    piece: Vec<u8>,
    taken: usize,
}

impl Input<'_> {
    fn give(&mut self, mut length: u64, mut to: impl FnMut(&[u8]) -> Result<(), Fault>) -> Result<(), Fault> {
        while length > 0 {
            if self.taken == self.piece.len() {
                let next = self.context.wait_input()?;
                let short = || Fault::Invalid("less content came than was announced".into());
                self.piece = next.ok_or_else(short)?;
                self.taken = 0;
                self.context.consumed(self.piece.len());
            }
            let rest = &self.piece[self.taken..];
            let part = &rest[..rest.len().min(usize::try_from(length).unwrap_or(usize::MAX))];
            to(part)?;
            self.taken += part.len();
            length -= part.len() as u64;
        }
        Ok(())
    }
}

/// Directories that were made on the way. Without the files they were made for they go again.
#[derive(Default)]
struct Made(Vec<PathBuf>);

impl Made {
    fn parents_of(&mut self, path: &Path) -> Result<(), Fault> {
        if let Some(parent) = path.parent() {
            self.0.extend(make_directories(parent)?);
        }
        Ok(())
    }

    fn stays(mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for directory in self.0.iter().rev() {
            // Somebody may have put something there, which is theirs.
            let _ = fs::remove_dir(directory);
        }
    }
}

/// A turn at every directory, always in the same order and each only once.
fn turns(steps: &[Step]) -> Vec<Turn> {
    let directory = |path: &Path| {
        let parent = path.parent()?;
        let metadata = fs::metadata(parent).ok()?;
        Some(((metadata.dev(), metadata.ino()), parent.to_path_buf()))
    };
    let mut known = BTreeSet::new();
    let mut directories: Vec<_> = steps.iter().flat_map(Step::paths).filter_map(directory).collect();
    directories.sort();
    directories.retain(|(identity, _)| known.insert(*identity));
    directories.iter().map(|(_, directory)| Turn::in_directory(directory)).collect()
}

/// How to take back what was done.
enum Undo {
    /// One step alone is done or not.
    NotNeeded,
    Kept(Vec<Back>),
}

/// How to take one step back.
enum Back {
    /// The content it had, with its rights.
    Restore { target: PathBuf, content: File, metadata: Metadata },
    /// It was not there.
    Unlink(PathBuf),
    /// It is only set aside, or has another name.
    Rename { from: PathBuf, to: PathBuf },
}

fn perform(steps: Vec<Step>, mut undo: Undo) -> Result<Vec<Option<FileVersion>>, Fault> {
    let mut versions = Vec::with_capacity(steps.len());
    let mut aside = Vec::new();
    for step in steps {
        match step.perform(&mut undo, &mut aside) {
            Ok(version) => versions.push(version),
            Err(fault) => return Err(undo.take_back(fault)),
        }
    }
    for path in aside {
        // Nothing leads there any more; at the worst it is clutter.
        let _ = fs::remove_file(path);
    }
    Ok(versions)
}

impl Step {
    /// Does it. What it only sets aside is removed when all is done.
    fn perform(self, undo: &mut Undo, aside: &mut Vec<PathBuf>) -> Result<Option<FileVersion>, Fault> {
        match self {
            Self::Write { target, draft, .. } => put(draft, &target, undo).map(Some),
            Self::Remove { path, .. } => {
                match undo {
                    Undo::NotNeeded => {
                        fs::remove_file(&path).map_err(|error| file_error("remove", &path, &error))?;
                    }
                    Undo::Kept(backs) => {
                        let kept = sibling(&path);
                        fs::rename(&path, &kept).map_err(|error| file_error("remove", &path, &error))?;
                        aside.push(kept.clone());
                        backs.push(Back::Rename { from: kept, to: path });
                    }
                }
                Ok(None)
            }
            Self::Move { from, to, draft, .. } => {
                move_file(&from, &to, Existing::Refuse)?;
                undo.keep(|| Ok(Back::Rename { from: to.clone(), to: from.clone() }))?;
                if let Some(draft) = draft {
                    // Without the new content the new name is not wanted either.
                    let alone = matches!(undo, Undo::NotNeeded);
                    return put(draft, &to, undo).map(Some).map_err(|fault| match alone {
                        true => {
                            Undo::Kept(vec![Back::Rename { from: to.clone(), to: from }]).take_back(fault)
                        }
                        false => fault,
                    });
                }
                let moved = fs::metadata(&to).map_err(|error| file_error("move to", &to, &error))?;
                Ok(Some(version(&moved)))
            }
        }
    }
}

fn put(draft: Draft, target: &Path, undo: &mut Undo) -> Result<FileVersion, Fault> {
    let existing = look(target)?;
    undo.keep(|| match existing.clone() {
        None => Ok(Back::Unlink(target.to_path_buf())),
        Some(metadata) => {
            let (mut old, _) = open("read", target)?;
            let failed = |error: io::Error| file_error("read", target, &error);
            let mut content: File = crate::sys::fds::memory_with("hermes-old", b"").map_err(failed)?.into();
            io::copy(&mut old, &mut content).map_err(failed)?;
            Ok(Back::Restore { target: target.to_path_buf(), content, metadata })
        }
    })?;
    draft.put_in_place(target, existing.as_ref(), None)?;
    let metadata = fs::metadata(target).map_err(|error| file_error("write", target, &error))?;
    Ok(version(&metadata))
}

impl Undo {
    fn keep(&mut self, back: impl FnOnce() -> Result<Back, Fault>) -> Result<(), Fault> {
        if let Self::Kept(backs) = self {
            backs.push(back()?);
        }
        Ok(())
    }

    /// Takes everything back; the error, and what could not be taken back.
    fn take_back(self, fault: Fault) -> Fault {
        let Self::Kept(backs) = self else { return fault };
        let failed: Vec<String> = backs
            .into_iter()
            .rev()
            .filter_map(|back| back.go().err())
            .map(|fault| fault.to_string())
            .collect();
        if failed.is_empty() {
            return fault;
        }
        Fault::Internal(format!("{fault}; not everything could be taken back: {}", failed.join("; ")))
    }
}

impl Back {
    fn go(self) -> Result<(), Fault> {
        match self {
            Self::Restore { target, mut content, metadata } => {
                let failed = |error: io::Error| file_error("restore", &target, &error);
                let mut draft = Draft::create(&target, Some(&metadata), None)?;
                content.rewind().map_err(failed)?;
                io::copy(&mut content, &mut draft.file).map_err(failed)?;
                draft.put_in_place(&target, Some(&metadata), None)?;
                Ok(())
            }
            Self::Unlink(path) => match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(file_error("remove", &path, &error).into())
                }
                _ => Ok(()),
            },
            Self::Rename { from, to } => move_file(&from, &to, Existing::Refuse),
        }
    }
}
