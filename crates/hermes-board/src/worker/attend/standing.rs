//! How an attempt stands on its board.

use hermes_store::rusqlite::{OptionalExtension, params};

use crate::board::Board;
use crate::card::{CardId, Outcome, RunId, Seconds, Status};
use crate::ending::Stop;
use crate::error::BoardError;

/// What a board says of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub card: Place,
    /// When something last came of it.
    pub progress_at: Option<Seconds>,
    /// That it should end.
    pub stop: Option<Stop>,
}

/// Whose a card is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// This attempt's.
    Ours,
    /// The attempt said what came of it, or that it is done and can be looked at: the worker has no more to do than to say
    /// goodbye.
    Closed,
    /// Another attempt's, or nobody's: this one was overtaken.
    Lost,
}

impl Board {
    /// How an attempt stands.
    pub(super) fn standing(&mut self, card: &CardId, run: RunId) -> Result<Standing, BoardError> {
        self.read(|tx| {
            let card: Option<(Status, Option<RunId>)> = tx
                .prepare_cached("SELECT status, current_run_id FROM tasks WHERE id = ?1")?
                .query_row([card], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let outcome: Option<Outcome> = tx
                .prepare_cached("SELECT outcome FROM task_runs WHERE id = ?1")?
                .query_row([run], |row| row.get(0))
                .optional()?
                .flatten();
            let said = matches!(outcome, Some(Outcome::Completed | Outcome::Blocked | Outcome::Scheduled));
            let asked: bool = tx
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM hx_checks WHERE run_id = ?1)")?
                .query_row([run], |row| row.get(0))?;
            let place = match card {
                Some((Status::Running, Some(current))) if current == run && asked => Place::Closed,
                Some((Status::Running, Some(current))) if current == run => Place::Ours,
                Some((status, _)) if said && status != Status::Archived => Place::Closed,
                _ => Place::Lost,
            };
            let worker = crate::workers::find(tx, run)?;
            Ok(Standing {
                card: place,
                progress_at: worker.as_ref().and_then(|worker| worker.progress_at),
                stop: worker.and_then(|worker| worker.stop),
            })
        })
    }

    /// When an attempt began, and as whom.
    pub(super) fn attempt(&mut self, run: RunId) -> Result<Option<(Seconds, Option<String>)>, BoardError> {
        self.read(|tx| {
            tx.prepare_cached("SELECT started_at, profile FROM task_runs WHERE id = ?1")?
                .query_row(params![run], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
    }
}
