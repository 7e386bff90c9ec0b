//! Who an agent is to the board: a worker on its card, or somebody who looks after it.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use hermes_guard::Redactor;
use hermes_tools::kanban::{Desk, TASK};

use super::Opening;
use super::goal::Judge;

/// Whether it works on a card.
pub(super) fn is_worker(opening: &Opening) -> bool {
    opening.env.get(OsStr::new(TASK)).is_some_and(|card| !card.is_empty())
}

/// Who says whether the goal of its card is reached, if the card has one.
pub(super) fn judge(opening: &Opening, notices: &mut Vec<String>) -> Option<Arc<Judge>> {
    let wanted = opening.env.get(OsStr::new("HERMES_KANBAN_GOAL_MODE"))?;
    if !is_worker(opening) || wanted.is_empty() || wanted == "0" {
        return None;
    }
    match Judge::open(&opening.home, &opening.settings) {
        Ok(judge) => Some(Arc::new(judge)),
        Err(error) => {
            notices.push(format!("nobody judges the goal of this card: {error}"));
            None
        }
    }
}

/// The board as its tools use it.
pub(super) fn desk(opening: &Opening, redactor: Arc<Redactor>) -> Desk {
    let var =
        |name: &str| opening.env.get(OsStr::new(name)).and_then(|value| value.to_str()).map(str::to_owned);
    let user_home = var("HOME").map(PathBuf::from).unwrap_or_default();
    Desk::new(&opening.home, var, &user_home, redactor)
}
