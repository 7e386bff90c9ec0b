//! Changing several files as one.
//!
//! Everything that takes time or can go wrong is done before anything changes: the new contents lie beside their places, the
//! directories are there, the old contents are remembered, every file is as it was seen. What is left is a name for a name, one
//! right after the other, and should one of them fail all the same, those before it are taken back.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::draft::{Draft, Turn, sibling, sync_directory};
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
    let directories = directories(&steps);
    let _turns: Vec<Turn> = directories.iter().map(|directory| Turn::in_directory(directory)).collect();
    let several = steps.len() > 1;
    for step in &mut steps {
        step.check()?;
        if several {
            step.remember()?;
        }
    }
    let versions = perform(steps)?;
    made.stays();
    for directory in &directories {
        sync_directory(directory);
    }
    Ok(versions)
}

/// A step that only has to be done.
enum Step {
    Write { target: PathBuf, expect: Expect, draft: Draft, old: Option<Old> },
    Remove { path: PathBuf, expect: Expect },
    Move { from: PathBuf, to: PathBuf, expect: Expect, draft: Option<Draft> },
}

/// What a file held.
struct Old {
    content: File,
    metadata: Metadata,
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

    /// Keeps what will be overwritten, so that it can be brought back.
    fn remember(&mut self) -> Result<(), Fault> {
        if let Self::Write { target, old, .. } = self
            && look(target)?.is_some()
        {
            let (mut file, metadata) = open("read", target)?;
            let failed = |error: io::Error| file_error("read", target, &error);
            let mut content: File = crate::sys::fds::memory_with("hermes-old", b"").map_err(failed)?.into();
            io::copy(&mut file, &mut content).map_err(failed)?;
            *old = Some(Old { content, metadata });
        }
        Ok(())
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
            Ok(Step::Write { target, expect: expect.clone(), draft, old: None })
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

/// Every directory whose names change, each once, always in the same order.
fn directories(steps: &[Step]) -> Vec<PathBuf> {
    let directory = |path: &Path| {
        let parent = path.parent()?;
        let metadata = fs::metadata(parent).ok()?;
        Some(((metadata.dev(), metadata.ino()), parent.to_path_buf()))
    };
    let mut known = BTreeSet::new();
    let mut found: Vec<_> = steps.iter().flat_map(Step::paths).filter_map(directory).collect();
    found.sort();
    found.retain(|(identity, _)| known.insert(*identity));
    found.into_iter().map(|(_, directory)| directory).collect()
}

fn perform(steps: Vec<Step>) -> Result<Vec<Option<FileVersion>>, Fault> {
    let mut done = Done::default();
    let mut versions = Vec::with_capacity(steps.len());
    for step in steps {
        match step.perform(&mut done) {
            Ok(version) => versions.push(version),
            Err(fault) => return Err(done.take_back(fault)),
        }
    }
    done.stays();
    Ok(versions)
}

impl Step {
    fn perform(self, done: &mut Done) -> Result<Option<FileVersion>, Fault> {
        match self {
            Self::Write { target, draft, old, .. } => {
                let existing = look(&target)?;
                draft.put_in_place(&target, existing.as_ref(), None)?;
                done.0.push(match (existing, old) {
                    (None, _) => Back::Unlink(target.clone()),
                    (Some(_), Some(old)) => Back::Restore { target: target.clone(), old },
                    // Alone there is nothing after it that could fail.
                    (Some(_), None) => Back::Nothing,
                });
                state(&target)
            }
            Self::Remove { path, .. } => {
                set_aside(&path, done)?;
                Ok(None)
            }
            Self::Move { from, to, draft: None, .. } => {
                move_file(&from, &to, Existing::Refuse)?;
                done.0.push(Back::Rename { from: to.clone(), to: from });
                state(&to)
            }
            Self::Move { from, to, draft: Some(draft), .. } => {
                let rights = fs::metadata(&from).map_err(|error| file_error("move", &from, &error))?;
                draft.put_in_place(&to, Some(&rights), None)?;
                done.0.push(Back::Unlink(to.clone()));
                set_aside(&from, done)?;
                state(&to)
            }
        }
    }
}

fn state(path: &Path) -> Result<Option<FileVersion>, Fault> {
    let metadata = fs::metadata(path).map_err(|error| file_error("look at", path, &error))?;
    Ok(Some(version(&metadata)))
}

/// Gives a file a name nobody looks for; it goes when everything is done.
fn set_aside(path: &Path, done: &mut Done) -> Result<(), Fault> {
    let aside = sibling(path);
    fs::rename(path, &aside).map_err(|error| file_error("remove", path, &error))?;
    done.0.push(Back::Aside { aside, path: path.to_path_buf() });
    Ok(())
}

/// What was done, and how to take it back.
#[derive(Default)]
struct Done(Vec<Back>);

/// How to take one step back.
enum Back {
    /// It cannot be, and need not.
    Nothing,
    /// The content it had, with its rights.
    Restore { target: PathBuf, old: Old },
    /// It was not there.
    Unlink(PathBuf),
    /// It has another name.
    Rename { from: PathBuf, to: PathBuf },
    /// It is only set aside.
    Aside { aside: PathBuf, path: PathBuf },
}

impl Done {
    /// All of it: what was set aside goes.
    fn stays(self) {
        for back in self.0 {
            if let Back::Aside { aside, .. } = back {
                // Nothing leads there any more; at the worst it is clutter.
                let _ = fs::remove_file(aside);
            }
        }
    }

    /// None of it; the error, with what could not be taken back.
    fn take_back(self, fault: Fault) -> Fault {
        let failed = self.0.into_iter().rev().filter_map(|back| back.go().err());
        let failed: Vec<String> = failed.map(|fault| fault.to_string()).collect();
        if failed.is_empty() {
            return fault;
        }
        Fault::Internal(format!("{fault}; not everything could be taken back: {}", failed.join("; ")))
    }
}

impl Back {
    fn go(self) -> Result<(), Fault> {
        match self {
            Self::Nothing => Ok(()),
            Self::Restore { target, old: Old { mut content, metadata } } => {
                let failed = |error: io::Error| file_error("restore", &target, &error);
                let mut draft = Draft::create(&target, Some(&metadata), None)?;
                content.rewind().map_err(failed)?;
                io::copy(&mut content, &mut draft.file).map_err(failed)?;
                draft.put_in_place(&target, Some(&metadata), None)?;
                Ok(())
            }
            Self::Unlink(path) => {
                Ok(fs::remove_file(&path).map_err(|error| file_error("remove", &path, &error))?)
            }
            Self::Rename { from, to } | Self::Aside { aside: from, path: to } => {
                move_file(&from, &to, Existing::Refuse)
            }
        }
    }
}
