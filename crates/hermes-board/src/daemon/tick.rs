//! One look at one board: what is seen of it, what should be done, and doing it. What is wrong with one board is no other's
//! trouble.

use std::path::Path;

use hermes_home::files::FileError;

use super::lock;
use crate::board::Board;
use crate::card::Seconds;
use crate::claim::Claimer;
use crate::dispatch::plan::plan;
use crate::dispatch::{Elsewhere, Launcher, Liveness, Report, Rules, Scope, Snapshot};
use crate::error::BoardError;
use crate::place::Root;
use crate::slug::Slug;
use crate::state::State;
use crate::worker::orphans::Cleaning;
use crate::worker::world;

/// How soon a board that somebody else looks at, or that is in trouble, is tried again.
const BUSY: Seconds = 1;
const TROUBLED: Seconds = 30;
/// How soon a board is looked at again that is being made, or of which this look set something free.
const SOON: Seconds = 1;

/// What is known of a board from the last look.
#[derive(Debug, Default)]
pub struct Known {
    board: Option<Board>,
    /// Up to which event it was looked at.
    seen: Option<i64>,
    version: Option<i64>,
    state: Option<State>,
    cleaning: Cleaning,
    /// What runs on it.
    pub running: Elsewhere,
    /// When it is worth looking again, if nothing happens before.
    pub wake_at: Option<Seconds>,
    /// When it was looked at last.
    pub looked_at: Option<Seconds>,
    /// What is wrong with it.
    pub trouble: Option<String>,
}

/// Why a board is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It is time to.
    Clock,
    /// Something may have happened.
    News,
    /// A guard ended; whether it could say how its worker ended is not known.
    Guard,
}

/// What a look needs.
pub struct Desk<'a> {
    /// Where boards are kept.
    pub root: &'a Root,
    /// Which board.
    pub slug: &'a Slug,
    /// Where homes of profiles are.
    pub homes: &'a Path,
    /// Who takes cards.
    pub claimer: &'a Claimer,
    /// The settings.
    pub rules: &'a Rules,
    /// Who starts workers.
    pub launcher: &'a mut dyn Launcher,
}

/// Looks at a board if there is a reason to. What is wrong with it is told once.
pub fn tick(
    desk: &mut Desk<'_>,
    known: &mut Known,
    elsewhere: Elsewhere,
    reason: Reason,
    now: Seconds,
) -> Result<Option<Report>, String> {
    if known.trouble.is_some() && reason != Reason::Clock && known.wake_at.is_some_and(|at| at > now) {
        return Ok(None);
    }
    match look(desk, known, elsewhere, reason, now) {
        Ok(report) => {
            known.trouble = None;
            Ok(report)
        }
        Err(trouble) => {
            known.board = None;
            known.seen = None;
            known.wake_at = Some(now + if trouble.may_pass_soon() { BUSY } else { TROUBLED });
            let text = format!("the board \"{}\" cannot be looked at: {trouble}", desk.slug);
            let news = known.trouble.as_ref() != Some(&text);
            known.trouble = Some(text.clone());
            if news { Err(text) } else { Ok(None) }
        }
    }
}

/// Why a look failed.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Board(#[from] BoardError),
    #[error(transparent)]
    File(#[from] FileError),
}

impl Trouble {
    /// Whether it is only that somebody else is at it.
    fn may_pass_soon(&self) -> bool {
        matches!(self, Self::Board(BoardError::Store(hermes_store::Error::Busy { .. })))
    }
}

fn look(
    desk: &mut Desk<'_>,
    known: &mut Known,
    elsewhere: Elsewhere,
    reason: Reason,
    now: Seconds,
) -> Result<Option<Report>, Trouble> {
    if known.board.is_none() {
        // One that nobody ever wrote to stays as it is.
        if !desk.root.database(desk.slug).exists() {
            return Ok(None);
        }
        known.board = match Board::open_hasty(desk.root, desk.slug) {
            // Somebody is making it just now, or nobody ever wrote to it.
            Err(BoardError::Store(hermes_store::Error::Empty { .. })) => {
                known.wake_at = Some(now + SOON);
                return Ok(None);
            }
            board => Some(board?),
        };
    }
    let timer = known.wake_at.is_some_and(|at| at <= now);
    let Some(board) = &mut known.board else { return Ok(None) };
    let version = board.version()?;
    let scope = match (reason, known.seen) {
        (Reason::Guard, Some(seen)) if !timer => Scope::Since(seen),
        (Reason::News, Some(seen)) if !timer => {
            if known.version == Some(version) {
                return Ok(None);
            }
            let state = Some(board.state()?);
            if board.newest_event()? == seen && known.state == state {
                known.version = Some(version);
                return Ok(None);
            }
            Scope::Since(seen)
        }
        _ => Scope::All,
    };
    let Some(_lock) = lock::look(desk.root, desk.slug)? else {
        known.wake_at = Some(now + BUSY);
        return Ok(Some(Report { skipped_locked: true, ..Report::default() }));
    };
    let snapshot = board.snapshot(scope, desk.rules, now)?;
    let mut world = world::see(&snapshot, desk.claimer, desk.homes, elsewhere);
    for unbegun in snapshot.running.iter().filter(|running| running.worker.is_none() && running.pid.is_none())
    {
        // We took it, and whom we started for it is gone: nobody will begin.
        if let Some(run) = unbegun.run.filter(|_| unbegun.lock.as_deref() == Some(&desk.claimer.lock()))
            && !desk.launcher.may_begin(run)
        {
            world.alive.insert(run, Liveness::Dead);
        }
    }
    let orphans = board.end_orphans(&mut world, desk.launcher, &mut known.cleaning, now)?;
    let plan = plan(&snapshot, desk.rules, &world, now);
    let report = board.apply(&plan, desk.rules, desk.claimer, desk.launcher, now)?;
    known.version = Some(version);
    known.seen = Some(snapshot.newest_event);
    // What this look set free is not news to us: nobody else will say that it can be started.
    let freed = report.frees_cards().then_some(now + SOON);
    known.wake_at = [report.wake_at, orphans, freed].into_iter().flatten().min().map(|at| at.max(now + 1));
    known.looked_at = Some(now);
    known.running = running(&snapshot, &report);
    known.state = Some(snapshot.state);
    Ok(Some(report))
}

/// What runs on a board after a look.
fn running(snapshot: &Snapshot, report: &Report) -> Elsewhere {
    let before = snapshot.running.iter().filter_map(|running| running.profile.clone());
    let started = report.spawned.iter().map(|spawned| spawned.assignee.clone());
    let mut sum =
        Elsewhere { total: (snapshot.running.len() + report.spawned.len()) as u32, ..Elsewhere::default() };
    for profile in before.chain(started) {
        *sum.by_profile.entry(profile).or_default() += 1;
    }
    sum
}
