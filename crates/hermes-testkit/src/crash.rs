//! kill -9 at bad moments: run a command again and again, kill it, and check what it left behind.

use std::ops::Range;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::command::{End, Hermes, Running};

/// The longest time to wait for the moment to kill.
const MOMENT_LIMIT: Duration = Duration::from_mins(1);
/// Short, so that the kill comes right after the moment.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// When to kill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KillPoint {
    /// After a random time. To hit a command anywhere, take `0..finished.elapsed` of a run without a kill.
    After(Range<Duration>),
    /// When standard output or standard error holds this text.
    Output(String),
    /// When this path is there.
    Path(PathBuf),
}

/// What a kill has hit.
#[derive(Debug, Clone)]
pub struct Killed {
    /// The round, from 0.
    pub round: usize,
    /// How it ended: by the signal, or by itself when the kill came too late.
    pub end: End,
    /// How long it ran.
    pub ran: Duration,
    /// All it wrote to standard output.
    pub stdout: String,
    /// All it wrote to standard error.
    pub stderr: String,
}

impl Killed {
    /// True when the kill hit it; false when it had ended by itself before.
    pub fn was_hit(&self) -> bool {
        self.end == End::Signal(rustix::process::Signal::KILL.as_raw())
    }
}

/// How many rounds the kill has hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Rounds in which the command was killed.
    pub hit: usize,
    /// Rounds in which it had ended before.
    pub missed: usize,
}

/// Starts a command and kills it, alone, at the point.
pub fn kill_at(command: &Hermes, point: &KillPoint, rng: &mut Rng) -> Killed {
    let began = Instant::now();
    let mut running = command.spawn();
    match point {
        KillPoint::After(range) => thread::sleep(rng.duration(range)),
        KillPoint::Output(text) => {
            wait_for(&mut running, |running| {
                running.stdout_so_far().contains(text) || running.stderr_so_far().contains(text)
            });
        }
        KillPoint::Path(path) => wait_for(&mut running, |_| path.exists()),
    }
    let end = running.kill9();
    let ran = began.elapsed();
    running.settle();
    Killed { round: 0, end, ran, stdout: running.stdout_so_far(), stderr: running.stderr_so_far() }
}

/// Kills a command round after round and calls `check` after each kill. Which rounds were hit is told, so that a
/// test can show that its kills came in time.
///
/// A failing check is reported with the round and the seed that repeats it.
pub fn kill_repeatedly(
    rounds: usize,
    rng: &mut Rng,
    point: &KillPoint,
    mut command: impl FnMut(usize) -> Hermes,
    mut check: impl FnMut(&Killed),
) -> Tally {
    let mut tally = Tally { hit: 0, missed: 0 };
    for round in 0..rounds {
        let seed = rng.seed;
        let killed = Killed { round, ..kill_at(&command(round), point, rng) };
        if killed.was_hit() {
            tally.hit += 1;
        } else {
            tally.missed += 1;
        }
        let report = Report { round, seed, ran: killed.ran };
        check(&killed);
        drop(report);
    }
    tally
}

/// Says which round failed when a check panics.
struct Report {
    round: usize,
    seed: u64,
    ran: Duration,
}

impl Drop for Report {
    #[allow(clippy::print_stderr, reason = "part of the report of a failing test")]
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!(
                "the check failed in round {} (seed {}), killed after {:?}",
                self.round, self.seed, self.ran
            );
        }
    }
}

/// Waits for a moment of a running command; a command that ends before is no longer waited for.
fn wait_for(running: &mut Running, mut moment: impl FnMut(&Running) -> bool) {
    let deadline = Instant::now() + MOMENT_LIMIT;
    while !moment(running) && running.is_running() && Instant::now() < deadline {
        thread::sleep(LOOK_AGAIN);
    }
}

/// Random numbers from a seed, the same on every machine.
#[derive(Debug, Clone)]
pub struct Rng {
    seed: u64,
    state: u64,
}

impl Rng {
    /// A sequence that a test can repeat.
    pub fn seeded(seed: u64) -> Self {
        Self { seed, state: seed }
    }

    /// The next number (splitmix64).
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A time in the range; its start when the range is empty.
    pub fn duration(&mut self, range: &Range<Duration>) -> Duration {
        let width = range.end.saturating_sub(range.start).as_nanos() as u64;
        let offset = self.next_u64().checked_rem(width).unwrap_or(0);
        range.start + Duration::from_nanos(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_times_stay_in_their_range_and_repeat() {
        let range = Duration::from_millis(5)..Duration::from_millis(9);
        let times = |seed| -> Vec<Duration> {
            let mut rng = Rng::seeded(seed);
            (0..100).map(|_| rng.duration(&range)).collect()
        };
        assert!(times(1).iter().all(|time| range.contains(time)));
        assert_eq!(times(1), times(1));
        assert_ne!(times(1), times(2));
        assert_eq!(Rng::seeded(3).duration(&(range.end..range.end)), range.end);
    }
}
