//! Writing to a board that may be busy, full, or damaged just now. What a worker did must not be lost for that.

use std::thread;
use std::time::{Duration, Instant};

use crate::board::Board;
use crate::error::BoardError;
use crate::place::Root;
use crate::slug::Slug;

/// How long it is tried.
const PATIENCE: Duration = Duration::from_hours(12);
/// The first wait, and the longest.
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// A board that is opened again when it has to be.
#[derive(Debug)]
pub(super) struct Insisting {
    root: Root,
    slug: Slug,
    board: Option<Board>,
}

impl Insisting {
    pub fn new(root: &Root, slug: &Slug) -> Self {
        Self { root: root.clone(), slug: slug.clone(), board: None }
    }

    /// Tries once.
    pub fn once<T>(
        &mut self,
        act: impl FnOnce(&mut Board) -> Result<T, BoardError>,
    ) -> Result<T, BoardError> {
        if self.board.is_none() {
            self.board = Some(Board::open(&self.root, &self.slug)?);
        }
        let Some(board) = &mut self.board else { return Err(BoardError::NoBoard(self.slug.clone())) };
        let done = act(board);
        if done.as_ref().is_err_and(may_pass) {
            self.board = None;
        }
        done
    }

    /// Tries until it works, or until it never will. `say` hears once what is in the way.
    pub fn insist<T>(
        &mut self,
        mut say: impl FnMut(&str),
        mut act: impl FnMut(&mut Board) -> Result<T, BoardError>,
    ) -> Result<T, BoardError> {
        let deadline = Instant::now() + PATIENCE;
        let mut pause = FIRST;
        let mut told = None;
        loop {
            let error = match self.once(&mut act) {
                Ok(done) => return Ok(done),
                Err(error) if !may_pass(&error) || Instant::now() >= deadline => return Err(error),
                Err(error) => error.to_string(),
            };
            if told.as_ref() != Some(&error) {
                say(&error);
                told = Some(error);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }
}

/// Whether trying again may help.
fn may_pass(error: &BoardError) -> bool {
    matches!(
        error,
        BoardError::Store(_) | BoardError::Damaged { .. } | BoardError::File { .. } | BoardError::Home(_)
    )
}
