//! The dispatcher that stays: it looks at all boards, again whenever something happened, and at least once in a while.
//!
//! [`lock`] sees to it that there is one, [`wake`] notices what happens, [`tick`] is one look at one board, [`status`] is
//! what others can read of it.

pub mod lock;
pub mod status;
pub mod tick;
pub mod wake;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hermes_home::files::FileError;

use self::lock::Turn;
use self::status::Status;
use self::tick::{Known, Reason};
use self::wake::{News, Wake};
use crate::boards;
use crate::claim::Claimer;
use crate::dispatch::{Elsewhere, Report, Rules};
use crate::place::Root;
use crate::query::Archived;
use crate::slug::Slug;
use crate::worker::launch::Processes;
use crate::worker::now;
use crate::worker::signals::Signals;

/// The soonest a second look follows the first: writing comes in bursts.
const BREATH: Duration = Duration::from_millis(15);

/// What a dispatcher works with.
#[derive(Debug)]
pub struct Dispatcher {
    /// Where boards are kept.
    pub root: Root,
    /// Where homes of profiles are.
    pub homes: PathBuf,
    /// Who takes cards.
    pub claimer: Claimer,
    /// Who starts workers.
    pub processes: Processes,
}

/// What a dispatcher tells whoever started it.
#[derive(Debug)]
pub enum Told<'a> {
    /// Another one is there; this one waits for its turn.
    Waits,
    /// It is this one's turn.
    Begins,
    /// Something is wrong; it is told once.
    Warning(String),
    /// A board was looked at.
    Looked(&'a Slug, &'a Report),
}

impl Dispatcher {
    /// Works until somebody wants an end. Workers go on after that. `rules` is asked before every round; `tell` hears what
    /// happens.
    pub fn run(
        mut self,
        signals: &mut Signals,
        rules: &mut dyn FnMut() -> Result<(Rules, Vec<String>), String>,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<(), FileError> {
        let _lock = match lock::wait(&self.root, signals, || tell(Told::Waits))? {
            Turn::Ours(lock) => lock,
            Turn::Ended => return Ok(()),
        };
        tell(Told::Begins);
        let mut round = Round::new(now());
        while !signals.wants_end() {
            let began = Instant::now();
            round.read_rules(rules, tell);
            let reason = match (round.polls_now(), self.processes.reap()) {
                (true, _) => Reason::Clock,
                (false, 0) => Reason::News,
                (false, _) => Reason::Guard,
            };
            self.look_at_all(&mut round, reason, tell);
            round.status.write(&self.root, now(), &round.boards);
            round.rest(signals, began);
        }
        status::remove(&self.root);
        Ok(())
    }

    /// Looks at every board there is a reason to look at, each time beginning with another one.
    fn look_at_all(&mut self, round: &mut Round, reason: Reason, tell: &mut dyn FnMut(Told<'_>)) {
        let slugs: Vec<Slug> =
            boards::list(&self.root, Archived::Hidden).into_iter().map(|board| board.slug).collect();
        round.boards.retain(|slug, _| slugs.contains(slug));
        round.wake.watch(&self.dirs(&slugs));
        let first = round.turn % slugs.len().max(1);
        round.turn = round.turn.wrapping_add(1);
        for slug in slugs[first..].iter().chain(&slugs[..first]) {
            let elsewhere = round.elsewhere(slug);
            let known = round.boards.entry(slug.clone()).or_default();
            let looked = tick::tick(
                &mut tick::Desk {
                    root: &self.root,
                    slug,
                    homes: &self.homes,
                    claimer: &self.claimer,
                    rules: &round.rules,
                    launcher: &mut self.processes,
                },
                known,
                elsewhere,
                reason,
                now(),
            );
            match looked {
                Ok(Some(report)) => tell(Told::Looked(slug, &report)),
                Ok(None) => {}
                Err(trouble) => tell(Told::Warning(trouble)),
            }
            // With one file for all names there is one board.
            if self.root.overrides().database.is_some() {
                break;
            }
        }
    }

    /// Where something about a board can happen.
    fn dirs(&self, slugs: &[Slug]) -> BTreeSet<PathBuf> {
        let databases = slugs.iter().filter_map(|slug| self.root.database(slug).parent().map(PathBuf::from));
        databases.chain([self.root.boards_dir(), self.root.dir().to_owned()]).collect()
    }
}

/// What is remembered from round to round.
struct Round {
    rules: Rules,
    /// What was said about the settings already.
    said: Vec<String>,
    boards: BTreeMap<Slug, Known>,
    wake: Wake,
    status: Status,
    /// Somebody wrote; what he wrote may not be there yet.
    echo: Option<Echo>,
    turn: usize,
    next_poll: Instant,
}

/// Writing is noticed before what was written can be read: the last step of it is no change of a file. So a look that finds
/// nothing is followed by others, later and later.
struct Echo {
    heard: Instant,
    number: usize,
}

impl Echo {
    /// Milliseconds after the writing was noticed.
    const AFTER: [u64; 8] = [3, 10, 30, 100, 300, 1_000, 4_000, 15_000];

    /// How long until the next one.
    fn left(&self) -> Duration {
        let after =
            Self::AFTER.get(self.number).map_or(Duration::ZERO, |after| Duration::from_millis(*after));
        (self.heard + after).saturating_duration_since(Instant::now())
    }

    fn next(self) -> Option<Self> {
        let number = self.number + 1;
        (number < Self::AFTER.len()).then_some(Self { number, ..self })
    }
}

impl Default for Echo {
    fn default() -> Self {
        Self { heard: Instant::now(), number: 0 }
    }
}

impl Round {
    fn new(started_at: i64) -> Self {
        Self {
            rules: Rules::default(),
            said: Vec::new(),
            boards: BTreeMap::new(),
            wake: Wake::default(),
            status: Status::new(started_at),
            echo: None,
            turn: 0,
            next_poll: Instant::now(),
        }
    }

    /// Reads the settings anew. Broken ones change nothing.
    fn read_rules(
        &mut self,
        read: &mut dyn FnMut() -> Result<(Rules, Vec<String>), String>,
        tell: &mut dyn FnMut(Told<'_>),
    ) {
        let warnings = match read() {
            Ok((rules, warnings)) => {
                self.rules = rules;
                warnings
            }
            Err(error) => vec![format!("{error}; the settings of before are used")],
        };
        for warning in warnings.iter().filter(|warning| !self.said.contains(warning)) {
            tell(Told::Warning(warning.clone()));
        }
        self.said = warnings;
    }

    /// Whether it is time to look at everything.
    fn polls_now(&mut self) -> bool {
        let due = Instant::now() >= self.next_poll;
        if due {
            self.next_poll = Instant::now() + Duration::from_secs(self.rules.interval_seconds.max(1));
        }
        due
    }

    /// What runs on other boards.
    fn elsewhere(&self, slug: &Slug) -> Elsewhere {
        let mut sum = Elsewhere::default();
        for (_, known) in self.boards.iter().filter(|(other, _)| *other != slug) {
            sum.total += known.running.total;
            for (profile, count) in &known.running.by_profile {
                *sum.by_profile.entry(profile.clone()).or_default() += count;
            }
        }
        sum
    }

    /// How long nothing has to be done.
    fn until_next(&self, now: i64) -> Duration {
        let poll = self.next_poll.saturating_duration_since(Instant::now());
        let timers = self.boards.values().filter_map(|known| known.wake_at);
        let soonest = timers.map(|at| Duration::from_secs(u64::try_from(at - now).unwrap_or(0))).min();
        soonest.map_or(poll, |timer| timer.min(poll))
    }

    /// Waits until something happens or the time has come to look anyway.
    fn rest(&mut self, signals: &mut Signals, began: Instant) {
        if let Some(left) = BREATH.checked_sub(began.elapsed()) {
            signals.wait(&[], left);
        }
        loop {
            if self.wake.take() == News::Some {
                self.echo = Some(Echo::default());
                return;
            }
            // A signal is a guard that ended, or a wish; both are worth a look. It may have come while nobody waited for it.
            let called = signals.take_child() | signals.take_look();
            let echo = self.echo.as_ref().map(Echo::left);
            if echo.is_some_and(|left| left.is_zero()) {
                self.echo = self.echo.take().and_then(Echo::next);
                return;
            }
            let left = self.until_next(now());
            if called || left.is_zero() || signals.wants_end() {
                return;
            }
            signals.wait(self.wake.handle().as_slice(), echo.map_or(left, |echo| echo.min(left)));
        }
    }
}
