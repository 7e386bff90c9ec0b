//! Putting content in its place: on conditions, and never half of it.

use std::path::PathBuf;

use hermes_box::client::CallError;
use hermes_box::proto::fault::FileErrorKind;
use hermes_box::proto::file::{Expect, FileVersion, Parents, Place, Resolved, WriteRequest, Written};

use crate::file::desk::Room;
use crate::file::state::Spot;

/// How often a write is tried again when somebody else was faster.
pub(in crate::file) const TRIES: usize = 40;

/// What is said when somebody else wrote at the same moment.
pub(super) const COLLIDED: &str =
    "somebody else wrote it at the same moment: your content is in place, theirs is not";

/// A file to be written, and what was there when it was looked at.
#[derive(Debug, Clone)]
pub(in crate::file) struct Target {
    pub(in crate::file) real: PathBuf,
    pub(in crate::file) spot: Spot,
    pub(in crate::file) version: Option<FileVersion>,
}

impl Target {
    pub(in crate::file) fn new(room: &Room, found: &Resolved) -> Self {
        Self {
            real: found.real.clone(),
            spot: (room.place_key.clone(), found.real.clone()),
            version: found.stat.as_ref().map(|stat| stat.version),
        }
    }
}

/// Writes if the file is still in the state that was seen.
pub(in crate::file) fn as_seen(room: &Room, target: &Target, content: &[u8]) -> Result<Written, CallError> {
    let expect = target.version.map_or(Expect::Absent, Expect::Version);
    let place = Place::from(target.real.as_path());
    room.files.write_with(WriteRequest { place, expect, parents: Parents::Create, mode: None }, content)
}

/// Whether a write failed because somebody else was faster.
pub(in crate::file) fn is_collision(error: &CallError) -> bool {
    matches!(error.file_kind(), Some(FileErrorKind::Changed | FileErrorKind::Exists))
}

/// Writes over whatever is there; whether that was something else than what was seen.
pub(super) fn whatever_is_there(
    room: &Room,
    target: &Target,
    content: &[u8],
) -> Result<(Written, bool), CallError> {
    let mut target = target.clone();
    let mut tries = 0;
    loop {
        match as_seen(room, &target, content) {
            Err(error) if is_collision(&error) && tries < TRIES => {
                tries += 1;
                target.version = room.files.resolve(&target.real)?.stat.map(|stat| stat.version);
            }
            other => return other.map(|written| (written, tries > 0)),
        }
    }
}
