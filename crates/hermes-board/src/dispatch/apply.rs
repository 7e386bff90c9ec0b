//! Doing what was planned. Every change looks again before it is made: whoever came first is respected.

use crate::board::Board;
use crate::claim::Claim;
use crate::dispatch::plan::Signal;
use crate::workers::Worker;

/// Starts and ends processes for the dispatcher. Nothing here waits.
pub trait Launcher {
    /// Starts whoever looks after the worker of a card that was just taken.
    fn launch(&mut self, board: &Board, claim: &Claim) -> Result<(), String>;

    /// Tells whoever looks after a worker that it should end. Why is written on the worker already.
    fn stop(&mut self, worker: &Worker);

    /// Sends a signal to a worker that another program started.
    fn signal_foreign(&mut self, pid: i64, how: Signal);
}
