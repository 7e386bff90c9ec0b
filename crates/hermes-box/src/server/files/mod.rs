//! Operations on files.

mod change;
mod draft;
mod errors;
mod list;
mod manage;
mod read;
mod resolve;
mod stat;
mod write;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::Agent;
use super::shell::state::resolve as expand;
use crate::proto::fault::Fault;
use crate::proto::file::{Follow, Place, Resolved};

pub(crate) use change::change;
pub(crate) use errors::file_error;
pub(crate) use list::list;
pub(crate) use manage::{copy, mkdir, move_file, remove};
pub(crate) use read::{hash, read_bytes, read_lines};
pub(crate) use stat::{nanoseconds, stat};
pub(crate) use write::write;

impl Agent {
    /// The absolute path a client means.
    pub(crate) fn locate(&self, place: &Place) -> Result<PathBuf, Fault> {
        Ok(self.locate_from_home(place)?.0)
    }

    /// Where a path leads, link by link.
    pub(crate) fn resolve(&self, place: &Place) -> Result<Resolved, Fault> {
        let (path, home) = self.locate_from_home(place)?;
        let (real, links) = resolve::follow(&path).map_err(|error| file_error("follow", &path, &error))?;
        let stat = stat(&real, Follow::Yes).ok();
        Ok(Resolved { path, links, real, home, stat })
    }

    /// The absolute path a client means, and the home directory `~` stands for.
    fn locate_from_home(&self, place: &Place) -> Result<(PathBuf, Option<PathBuf>), Fault> {
        if place.path.as_os_str().is_empty() || place.path.as_os_str().as_bytes().contains(&0) {
            return Err(Fault::Invalid("a path cannot be empty or contain a zero byte".into()));
        }
        let state = match &place.session {
            Some(name) => self.sessions.get(name)?.state(),
            None => None,
        };
        let name = OsStr::new("HOME");
        let home = match &state {
            Some(state) if state.removed.contains(name) => None,
            Some(state) => state.set.get(name).or_else(|| self.options.env.get(name)),
            None => self.options.env.get(name),
        };
        let cwd = state.as_ref().map_or(&self.options.cwd, |state| &state.cwd);
        let path = expand(&place.path, cwd, home.map(OsString::as_os_str));
        Ok((path, home.map(PathBuf::from)))
    }
}
