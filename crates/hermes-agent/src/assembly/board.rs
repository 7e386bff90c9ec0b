//! Who an agent is to the board: a worker on its card, or somebody who looks after it.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use hermes_guard::Redactor;
use hermes_tools::kanban::{Desk, TASK};

use super::Opening;

/// Whether it works on a card.
pub(super) fn is_worker(opening: &Opening) -> bool {
    opening.env.get(OsStr::new(TASK)).is_some_and(|card| !card.is_empty())
}

/// The board as its tools use it.
pub(super) fn desk(opening: &Opening, redactor: Arc<Redactor>) -> Desk {
    let var =
        |name: &str| opening.env.get(OsStr::new(name)).and_then(|value| value.to_str()).map(str::to_owned);
    let user_home = var("HOME").map(PathBuf::from).unwrap_or_default();
    Desk::new(&opening.home, var, &user_home, redactor)
}
