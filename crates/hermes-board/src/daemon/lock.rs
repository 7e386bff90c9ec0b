//! One dispatcher for all boards of this machine; one look at a board at a time, whoever looks.

use std::path::PathBuf;
use std::time::Duration;

use hermes_home::files::{FileError, Lock};

use crate::place::Root;
use crate::slug::Slug;
use crate::worker::signals::Signals;

/// How often somebody who waits looks whether it is his turn.
const AGAIN: Duration = Duration::from_millis(250);

/// What came of waiting.
#[derive(Debug)]
pub enum Turn {
    /// It is ours, for as long as this is kept.
    Ours(Lock),
    /// Somebody wants an end.
    Ended,
}

/// Waits until no other dispatcher is there. `waiting` is called once if there is one.
pub fn wait(root: &Root, signals: &mut Signals, waiting: impl FnOnce()) -> Result<Turn, FileError> {
    let mut waiting = Some(waiting);
    loop {
        if let Some(lock) = Lock::try_acquire(&root.dispatcher_lock())? {
            return Ok(Turn::Ours(lock));
        }
        if let Some(waiting) = waiting.take() {
            waiting();
        }
        signals.wait(&[], AGAIN);
        if signals.wants_end() {
            return Ok(Turn::Ended);
        }
    }
}

/// Takes a board for one look at it, if nobody else looks.
pub fn look(root: &Root, board: &Slug) -> Result<Option<Lock>, FileError> {
    Lock::try_acquire(&look_file(root, board))
}

fn look_file(root: &Root, board: &Slug) -> PathBuf {
    let mut path = root.database(board).into_os_string();
    path.push(".dispatch.lock");
    path.into()
}
