//! Ending the worker of a card because somebody wants it, and waiting until nothing of it is left.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::board::Board;
use crate::card::{Card, CardId, RunId, Status};
use crate::claim::Claimer;
use crate::dispatch::{Liveness, Rules};
use crate::ending::{Ending, Stop};
use crate::error::BoardError;
use crate::worker::{now, process};

/// How long a worker of another program has between being asked to and being killed.
const GRACE: Duration = Duration::from_secs(5);
/// How often it is looked whether it is gone.
const MOMENT: Duration = Duration::from_millis(20);

/// What became of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Nobody worked on the card.
    Nobody,
    /// Nothing of it is left.
    Gone,
    /// It was asked and is still there.
    StillThere,
    /// It is on another machine, where only its own dispatcher can end it.
    Elsewhere,
}

/// Ends the worker of a card and waits until it is gone, but not for ever. `waiting` is called while it waits.
pub fn stop(
    board: &mut Board,
    id: &CardId,
    stop: &Stop,
    claimer: &Claimer,
    rules: &Rules,
    patience: Duration,
    waiting: &mut dyn FnMut(Duration),
) -> Result<Stopped, BoardError> {
    let card = board.card(id)?;
    let Some(run) = card.current_run.filter(|_| card.status == Status::Running) else {
        return Ok(Stopped::Nobody);
    };
    let deadline = Instant::now() + patience;
    let mut until_gone = |is_gone: &mut dyn FnMut() -> bool, deadline: Instant| {
        while !is_gone() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            waiting(left);
            thread::sleep(MOMENT.min(left));
        }
        true
    };
    let gone = match board.ask_to_stop(run, stop)? {
        Some(worker) => {
            worker.process.signal(Signal::USR1);
            until_gone(&mut || worker.process.liveness() == Liveness::Dead, deadline)
        }
        None => match foreign(&card, claimer) {
            Foreign::Nobody => true,
            Foreign::Elsewhere => return Ok(Stopped::Elsewhere),
            Foreign::Here(pid) => {
                let mut is_gone = || process::liveness_of_number(pid) == Liveness::Dead;
                process::signal_number(pid, Signal::TERM);
                until_gone(&mut is_gone, Instant::now() + GRACE.min(patience)) || {
                    process::signal_number(pid, Signal::KILL);
                    until_gone(&mut is_gone, deadline)
                }
            }
        },
    };
    if !gone {
        return Ok(Stopped::StillThere);
    }
    // Its guard has said so already; one that was killed, and a worker that never had one, could not.
    board.ended(id, run, &Ending::Stopped(stop.clone()), rules, now())?;
    board.worker_ended(run, now())?;
    Ok(Stopped::Gone)
}

/// A worker of another program.
enum Foreign {
    Nobody,
    Here(i64),
    Elsewhere,
}

fn foreign(card: &Card, claimer: &Claimer) -> Foreign {
    match (card.worker_pid, card.claim_lock.as_deref()) {
        (Some(_), Some(lock)) if !claimer.is_local(lock) => Foreign::Elsewhere,
        (Some(pid), _) => Foreign::Here(pid),
        (None, _) => Foreign::Nobody,
    }
}

/// Ends the worker of an attempt that is over on the board; whether it is gone.
pub fn dismiss(board: &mut Board, run: RunId, stop: &Stop, patience: Duration) -> Result<Gone, BoardError> {
    let Some(worker) = board.ask_to_stop(run, stop)? else { return Ok(Gone::Yes) };
    worker.process.signal(Signal::USR1);
    let deadline = Instant::now() + patience;
    while worker.process.liveness() == Liveness::Alive {
        if Instant::now() >= deadline {
            return Ok(Gone::No);
        }
        thread::sleep(MOMENT);
    }
    Ok(Gone::Yes)
}

impl Board {
    /// Forgets how often a card failed: somebody who knows of it lets it be tried again.
    pub fn forgive(&mut self, id: &CardId) -> Result<(), BoardError> {
        self.write(|tx| Ok(crate::dispatch::ended::forget_failures(tx, id)?))
    }
}

/// Whether a worker is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// It is.
    Yes,
    /// It is not.
    No,
}
