//! The attempt a worker's program is: its card, its number, its board.

use std::ffi::OsStr;

use hermes_board::act::By;
use hermes_board::card::GoalMode;
use hermes_board::ending::Verdict;
use hermes_board::extras::Extras;
use hermes_board::workers::Usage;
use hermes_board::{Board, BoardError, Card, CardId, Overrides, Root, RunId, Seconds, Slug, Status, boards};
use hermes_tools::kanban::TASK;

use super::next::Standing;
use crate::app::App;

/// Whether this program is a worker of the board.
pub fn is_worker(app: &App) -> bool {
    app.var(TASK).is_some_and(|card| !card.trim().is_empty())
}

/// See the module.
pub struct Attempt {
    root: Root,
    slug: Slug,
    /// The card as it was when we began.
    pub card: Card,
    /// What only this program knows of it.
    pub extras: Extras,
    /// Its number, if the card was taken for it.
    pub run: Option<RunId>,
    /// What earlier attempts used up.
    pub used: Usage,
}

impl Attempt {
    /// As the environment says. One that is not the card's own any more is an error: nothing must be begun.
    pub fn find(app: &App) -> anyhow::Result<Self> {
        let env = |name: &str| app.env.get(OsStr::new(name)).cloned();
        let root = Root::new(app.home.root(), Overrides::from_env(env, &app.user_home()));
        let slug = boards::current(&root);
        let id = CardId::new(app.var(TASK).unwrap_or_default());
        let mut board = Board::open(&root, &slug)?;
        let details = board.details(&id)?;
        let told = app.var("HERMES_KANBAN_RUN_ID").and_then(|run| run.trim().parse().ok()).map(RunId);
        if told.is_some() && (details.card.current_run != told || details.card.status != Status::Running) {
            return Err(BoardError::Superseded(id).into());
        }
        let used = board.usage(&id)?;
        let run = told.or(details.card.current_run);
        Ok(Self { root, slug, run, used, card: details.card, extras: details.extras })
    }

    /// Its board, opened anew.
    pub fn board(&self) -> Result<Board, BoardError> {
        Board::open(&self.root, &self.slug)
    }

    /// Whether the card is closed by now, as far as this attempt is concerned.
    pub fn standing(&self) -> Result<Standing, BoardError> {
        let mut board = self.board()?;
        let card = board.card(&self.card.id)?;
        let open = match self.run {
            // Finished work that waits for a check is the guard's.
            Some(run) => card.current_run == Some(run) && board.pending_check(run)?.is_none(),
            None => matches!(card.status, Status::Running | Status::Ready),
        };
        Ok(if open { Standing::Open } else { Standing::Closed })
    }

    /// Says what this program thinks of the attempt.
    pub fn say(&self, verdict: &Verdict) -> Result<(), BoardError> {
        match self.run {
            Some(run) => self.board()?.say_verdict(run, verdict),
            None => Ok(()),
        }
    }

    /// Blocks the card, in the name of its worker.
    pub fn block(&self, reason: &str, now: Seconds) -> Result<(), BoardError> {
        let by = self.run.map_or(By::Anybody, By::Attempt);
        self.board()?.block(&self.card.id, Some(reason), None, by, now).map(drop)
    }

    /// Most turns for its goal, if it has one.
    pub fn goal_turns(&self, app: &App, usual: i64) -> Option<u32> {
        let wanted = app.var("HERMES_KANBAN_GOAL_MODE").is_some_and(|word| !word.is_empty() && word != "0");
        if !wanted && self.card.goal_mode == GoalMode::Off {
            return None;
        }
        let told = app.var("HERMES_KANBAN_GOAL_MAX_TURNS").and_then(|text| text.trim().parse().ok());
        let most: i64 = told.or(self.card.goal_max_turns).unwrap_or(usual);
        Some(u32::try_from(most).unwrap_or(u32::MAX).max(1))
    }
}
