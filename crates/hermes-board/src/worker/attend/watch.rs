//! A worker at work: started, watched, and ended with everything it started.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::insist::Insisting;
use super::judge::{Seen, Signalled, Why, judge};
use super::standing::{Place, Standing};
use super::tree::{self, Ended, How};
use super::{Charge, Environment, complain};
use crate::card::Seconds;
use crate::dispatch::Rules;
use crate::ending::{Ending, Killed};
use crate::worker::log::Copier;
use crate::worker::now;
use crate::worker::signals::Signals;
use crate::workers::Progress;

/// How long a worker that must end has between being asked to and being killed.
const GRACE: Duration = Duration::from_secs(5);
/// How often the board is asked whether it changed. Whoever wants something at once sends a signal too.
const LOOK: Duration = Duration::from_secs(1);
/// How often it is written down that something came of a worker.
const PROGRESS: Duration = Duration::from_secs(15);
/// How long the last words of a worker are waited for when something of it cannot be killed.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Starts a worker's program in its place. All it says can be read from what is given back.
pub(super) fn start(
    program: &Path,
    arguments: &[OsString],
    env: &Environment,
    cwd: &Path,
) -> io::Result<(i32, io::PipeReader)> {
    use std::os::unix::process::CommandExt;
    let (output, input) = io::pipe()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(env)
        .current_dir(cwd)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(OwnedFd::from(input.try_clone()?))
        .stderr(OwnedFd::from(input));
    // Nobody waits for it by this handle: it is reaped with everything else below.
    let child = command.spawn()?;
    Ok((child.id() as i32, output))
}

/// A worker that is watched.
pub(super) struct Watch<'a> {
    pub charge: &'a Charge,
    pub rules: &'a Rules,
    pub pid: i32,
    /// When the attempt began.
    pub started_at: Seconds,
    /// How long it may take.
    pub limit: Option<Seconds>,
    /// How long nothing may come of it.
    pub stale: Option<Seconds>,
    /// Whether a card that is closed leaves it only the time to say goodbye.
    pub goodbye: Goodbye,
    pub log: Copier,
}

/// Whether a card that is closed leaves only the time to say goodbye.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goodbye {
    /// It does: there is nothing left to do.
    WhenClosed,
    /// What runs decides whether it stays closed.
    Never,
}

/// What is remembered between two looks.
struct Memory {
    /// When the watch began, and how long the attempt had taken then: a clock that is set must not end a worker.
    began: Instant,
    before: Seconds,
    standing: Standing,
    version: Option<i64>,
    closed_at: Option<Seconds>,
    progress_at: Seconds,
    said: u64,
    said_at: Instant,
    renewed: Instant,
}

impl Watch<'_> {
    /// Stays until the worker and everything it started are gone.
    pub fn until_the_end(&self, board: &mut Insisting, signals: &mut Signals) -> Ending {
        let mut memory = Memory {
            began: Instant::now(),
            before: (now() - self.started_at).max(0),
            standing: Standing { card: Place::Ours, progress_at: None, stop: None },
            version: None,
            closed_at: None,
            progress_at: now(),
            said: 0,
            said_at: Instant::now(),
            renewed: Instant::now(),
        };
        loop {
            if let Some(how) = self.exit_among(&tree::reap()) {
                // What it left running goes with it.
                let _ = tree::end_all(GRACE);
                self.hear_out();
                return exited(how);
            }
            self.look(board, signals, &mut memory);
            if let Some(why) = judge(&self.seen(&memory, signals)) {
                let (_, killed) = tree::end_all(GRACE);
                self.hear_out();
                return ended(why, killed);
            }
            signals.wait(&[], self.patience(&memory));
        }
    }

    /// Until when there is nothing to do unless something happens.
    fn patience(&self, memory: &Memory) -> Duration {
        let elapsed = memory.before + memory.began.elapsed().as_secs() as i64;
        let left = self.limit.map(|limit| Duration::from_secs((limit - elapsed).max(0) as u64));
        left.unwrap_or(LOOK).clamp(Duration::from_millis(20), LOOK)
    }

    fn exit_among(&self, ended: &[Ended]) -> Option<How> {
        ended.iter().find(|ended| ended.pid == self.pid).map(|ended| ended.how)
    }

    /// Looks at the board, holds the claim, and says that something came of the worker. A board that cannot be used just
    /// now changes nothing about the worker.
    fn look(&self, board: &mut Insisting, signals: &Signals, memory: &mut Memory) {
        let (card, run) = (&self.charge.card, self.charge.run);
        let called = signals.take_look();
        let version = board.once(crate::Board::version).ok();
        if called || version.is_none() || version != memory.version {
            match board.once(|board| board.standing(card, run)) {
                Ok(standing) => {
                    memory.version = version;
                    memory.progress_at = memory.progress_at.max(standing.progress_at.unwrap_or(0));
                    if standing.card == Place::Closed && memory.closed_at.is_none() {
                        memory.closed_at = Some(now());
                    }
                    memory.standing = standing;
                }
                Err(error) => tracing::warn!(%error, "the board cannot be read"),
            }
        }
        let said = self.log.said();
        if said != memory.said && memory.said_at.elapsed() >= PROGRESS {
            (memory.said, memory.said_at, memory.progress_at) = (said, Instant::now(), now());
            let noted = board.once(|board| board.progress(run, &Progress::default(), now()));
            if let Err(error) = noted {
                tracing::warn!(%error, "that something came of the worker could not be written");
            }
        }
        let third = Duration::from_secs((self.rules.claim_seconds / 3).max(1) as u64);
        if memory.standing.card == Place::Ours && memory.renewed.elapsed() >= third {
            memory.renewed = Instant::now();
            let renewed =
                board.once(|board| board.renew(card, &self.charge.lock, self.rules.claim_seconds, now()));
            if let Err(error) = renewed {
                tracing::warn!(%error, "the claim could not be renewed");
            }
        }
    }

    fn seen(&self, memory: &Memory, signals: &Signals) -> Seen {
        Seen {
            now: now(),
            elapsed: memory.before + memory.began.elapsed().as_secs() as i64,
            limit: self.limit,
            progress_at: if self.log.said() == memory.said { memory.progress_at } else { now() },
            stale: self.stale,
            place: match (memory.standing.card, self.goodbye) {
                (Place::Closed, Goodbye::Never) => Place::Ours,
                (place, _) => place,
            },
            closed_at: memory.closed_at,
            stop: memory.standing.stop.clone(),
            signalled: if signals.wants_end() { Signalled::Yes } else { Signalled::No },
        }
    }

    /// Waits until the log holds the worker's last words.
    fn hear_out(&self) {
        let deadline = Instant::now() + LAST_WORDS;
        while !self.log.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        if !self.log.is_finished() {
            complain("something of the worker cannot be killed and still holds its log");
        }
    }
}

fn exited(how: How) -> Ending {
    match how {
        How::Code(code) => Ending::Exited { code },
        How::Signal(signal) => Ending::Signaled { signal },
    }
}

fn ended(why: Why, killed: Killed) -> Ending {
    match why {
        Why::Stopped(stop) => Ending::Stopped(stop),
        Why::TimeIsUp { elapsed, limit } => Ending::TimedOut { elapsed, limit, killed },
        Why::Silent { silent, limit } => Ending::Stale { silent, limit },
    }
}
