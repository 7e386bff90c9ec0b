//! The guard of one attempt: it begins it, watches the worker, ends everything the worker started, and says how it ended.
//!
//! It is a process of its own, so that neither the dispatcher nor the worker can take the attempt's ending with them.

mod check;
mod command;
mod insist;
mod judge;
mod settings;
mod standing;
mod tree;
mod watch;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use command::{Access, Environment, Mount, Terminal};

use self::command::Job;
use self::insist::Insisting;
use self::watch::{Goodbye, Watch};
use crate::card::{Card, CardId, RunId, Seconds};
use crate::dispatch::Rules;
use crate::ending::{Ending, Then};
use crate::error::BoardError;
use crate::extras::Extras;
use crate::place::Root;
use crate::slug::Slug;
use crate::worker::log::{self, Bounds};
use crate::worker::now;
use crate::worker::signals::Signals;
use crate::worker::workspace::{self, Workspace};
use crate::workers::Process;

/// Which attempt a guard looks after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The board.
    pub board: Slug,
    /// The card.
    pub card: CardId,
    /// The attempt.
    pub run: RunId,
    /// What is written on the card.
    pub lock: String,
}

/// What a guard works with.
#[derive(Debug, Clone)]
pub struct Around {
    /// Where boards are kept.
    pub root: Root,
    /// Where homes of profiles are.
    pub homes: PathBuf,
    /// The environment.
    pub env: Environment,
    /// This program.
    pub own: PathBuf,
    /// The directory the dispatcher was started in.
    pub cwd: PathBuf,
    /// The dispatcher's settings.
    pub rules: Rules,
}

/// Why a guard could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum AttendError {
    /// The board.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The system.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl AttendError {
    fn system<E: Into<std::io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { doing, source: source.into() }
    }
}

/// What a guard did.
#[derive(Debug, Clone, PartialEq)]
pub enum Attended {
    /// The attempt was not the card's own any more: nothing was done.
    Superseded,
    /// It ended so.
    Ended(Ending),
}

/// Looks after one attempt from its beginning to its end.
pub fn attend(around: &Around, charge: &Charge) -> Result<Attended, AttendError> {
    detach()?;
    let mut signals = Signals::listen().map_err(AttendError::system("listen to signals"))?;
    let own = Process::current().map_err(AttendError::system("look at this process"))?;
    let mut board = Insisting::new(&around.root, &charge.board);
    let begun = board.insist(complain, |board| board.begin(&charge.card, charge.run, &own, now()))?;
    if !begun {
        // Somebody else may have left it for us to put away.
        clean_up(&mut board, charge)?;
        return Ok(Attended::Superseded);
    }
    let guard = Guard {
        around,
        charge,
        own,
        database: around.root.database(&charge.board),
        workspaces: around.root.workspaces(&charge.board),
    };
    let ending = match guard.prepare(&mut board)? {
        Ok(prepared) => {
            let ending = guard.work(&mut board, &mut signals, &prepared);
            guard.check(&mut board, &mut signals, &prepared, ending)?
        }
        Err(ending) => ending,
    };
    guard.report(&mut board, &ending)?;
    Ok(Attended::Ended(ending))
}

/// Puts away what is not needed any more. That the worker ended is written last: until then somebody does this again.
fn clean_up(board: &mut Insisting, charge: &Charge) -> Result<(), AttendError> {
    board.insist(complain, |board| board.put_away(&charge.card))?;
    board.insist(complain, |board| board.worker_ended(charge.run, now()))?;
    Ok(())
}

/// A session of its own, so that closing a terminal does not end it; and everything below stays below, whatever it does.
fn detach() -> Result<(), AttendError> {
    // It fails only for the first of a group, which is on its own already.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(AttendError::system("look after processes"))
}

/// Says what is in the way. The guard's own words go to the end of the worker's log.
#[allow(clippy::print_stderr, reason = "the guard has no other place to speak")]
fn complain(text: &str) {
    eprintln!("hermes: {text}; trying again");
}

/// One who looks after an attempt.
struct Guard<'a> {
    around: &'a Around,
    charge: &'a Charge,
    own: Process,
    database: PathBuf,
    workspaces: PathBuf,
}

/// All that a worker needs.
struct Prepared {
    card: Card,
    extras: Extras,
    started_at: Seconds,
    profile: String,
    workspace: Workspace,
    terminal: settings::Told,
    /// The card that is split, if that is all the work.
    splits: Option<CardId>,
}

impl Prepared {
    /// How long the attempt may take.
    fn limit(&self) -> Option<Seconds> {
        self.card.max_runtime_seconds.filter(|limit| *limit > 0)
    }
}

/// A program to be run and watched.
struct Order<'a> {
    program: &'a Path,
    arguments: &'a [OsString],
    env: &'a Environment,
    /// How long the attempt may take in all.
    limit: Option<Seconds>,
    /// How long nothing may come of it.
    stale: Option<Seconds>,
    goodbye: Goodbye,
}

impl Guard<'_> {
    /// Makes the place to work in and finds out how the profile works.
    fn prepare(&self, board: &mut Insisting) -> Result<Result<Prepared, Ending>, AttendError> {
        let Charge { card: id, run, .. } = self.charge;
        let details = board.insist(complain, |board| board.details(id))?;
        let (card, extras) = (details.card, details.extras);
        let (started_at, profile) =
            board.insist(complain, |board| board.attempt(*run))?.unwrap_or_else(|| (now(), None));
        let fail = |step: &'static str, error: String| Ok(Err(Ending::NotStarted { step, error }));
        let Some(profile) = profile.or_else(|| card.assignee.clone()) else {
            return fail(
                "spawn",
                "the card is nobody's: give it to a profile with `hermes kanban assign`".into(),
            );
        };
        let workspace = match workspace::prepare(&self.around.root, &self.charge.board, &card) {
            Ok(workspace) => workspace,
            Err(error) => return fail("workspace", error.to_string()),
        };
        board.insist(complain, |board| board.set_workspace(id, *run, &workspace))?;
        let terminal = match settings::read(&self.around.homes, &profile, &self.around.env) {
            Ok(terminal) => terminal,
            Err(error) => return fail("spawn", error),
        };
        let splits = board.insist(complain, |board| board.splits(id))?;
        Ok(Ok(Prepared { card, extras, started_at, profile, workspace, terminal, splits }))
    }

    /// Starts the worker and stays until nothing of it is left.
    fn work(&self, board: &mut Insisting, signals: &mut Signals, prepared: &Prepared) -> Ending {
        let job = self.job(prepared);
        let (program, arguments) = match &prepared.splits {
            Some(other) => (self.around.own.clone(), job.splitting(other)),
            None => match command::program(&self.around.env, &self.around.own, &self.around.cwd) {
                Ok(program) => (program, job.arguments()),
                Err(error) => return Ending::NotStarted { step: "spawn", error },
            },
        };
        if let Err(error) = log::rotate_if_long(&self.log(), self.bounds()) {
            complain(&format!("the log cannot be rotated: {error}"));
        }
        let order = Order {
            program: &program,
            arguments: &arguments,
            env: &job.environment(&self.around.env),
            limit: prepared.limit(),
            stale: self.around.rules.stale_seconds,
            goodbye: Goodbye::WhenClosed,
        };
        self.run(board, signals, prepared, &order).0
    }

    /// Runs the commands that must succeed before the card is done, if its worker asked for that. Gives how the attempt
    /// ended then.
    fn check(
        &self,
        board: &mut Insisting,
        signals: &mut Signals,
        prepared: &Prepared,
        ending: Ending,
    ) -> Result<Ending, AttendError> {
        let over = match &ending {
            Ending::Exited { .. } | Ending::Signaled { .. } => true,
            Ending::Stopped(stop) => stop.then == Then::Nothing,
            _ => false,
        };
        let run = self.charge.run;
        while over && let Some(check) = board.insist(complain, |board| board.pending_check(run))? {
            let mut random = [0; 8];
            rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
                .map_err(AttendError::system("get random numbers"))?;
            let mark = format!("{:016x}", u64::from_be_bytes(random));
            let command = check::Run::new(&prepared.profile, &check.command, &mark);
            let env = check::environment(&self.job(prepared).environment(&self.around.env));
            let order = Order {
                program: &self.around.own,
                arguments: &command.arguments,
                env: &env,
                limit: prepared.limit().or(Some(now() - prepared.started_at + check::LIMIT)),
                stale: None,
                goodbye: Goodbye::Never,
            };
            let (ended, said) = self.run(board, signals, prepared, &order);
            if let Ending::Stopped(_) = ended {
                return Ok(ended);
            }
            let came = command.came(&ended, &said);
            let rules = &self.around.rules;
            board.insist(complain, |board| board.check_ended(run, check.kind, &came, rules, now()))?;
        }
        Ok(ending)
    }

    /// Runs a program in the workspace and stays until nothing of it is left. Gives how it ended and its last words.
    fn run(
        &self,
        board: &mut Insisting,
        signals: &mut Signals,
        prepared: &Prepared,
        order: &Order<'_>,
    ) -> (Ending, String) {
        let started = watch::start(order.program, order.arguments, order.env, &prepared.workspace.path);
        let (pid, output) = match started {
            Ok(started) => started,
            Err(error) => {
                let error = format!("\"{}\" cannot be started: {error}", order.program.display());
                return (Ending::NotStarted { step: "spawn", error }, String::new());
            }
        };
        let watch = Watch {
            charge: self.charge,
            rules: &self.around.rules,
            pid,
            started_at: prepared.started_at,
            limit: order.limit,
            stale: order.stale,
            goodbye: order.goodbye,
            log: log::Copier::start(output, self.log(), self.bounds()),
        };
        (watch.until_the_end(board, signals), watch.log.end())
    }

    fn bounds(&self) -> Bounds {
        Bounds { bytes: self.around.rules.log_rotate_bytes, backups: self.around.rules.log_backups }
    }

    fn job<'a>(&'a self, prepared: &'a Prepared) -> Job<'a> {
        Job {
            card: &prepared.card,
            extras: &prepared.extras,
            run: self.charge.run,
            lock: &self.charge.lock,
            profile: &prepared.profile,
            home: &prepared.terminal.home,
            board: &self.charge.board,
            database: &self.database,
            workspaces: &self.workspaces,
            workspace: &prepared.workspace.path,
            branch: prepared.workspace.branch.as_deref(),
            terminal: prepared.terminal.terminal,
            volumes: &prepared.terminal.volumes,
            box_env: &prepared.terminal.box_env,
            mounts: &prepared.workspace.mounts,
            guard: self.own.pid,
        }
    }

    fn log(&self) -> PathBuf {
        let name = format!("{}.log", self.charge.card);
        self.around.root.logs(&self.charge.board).join(name)
    }

    /// Says on the board how it ended; that is tried for as long as it takes.
    fn report(&self, board: &mut Insisting, ending: &Ending) -> Result<(), AttendError> {
        let Charge { card, run, .. } = self.charge;
        let say = |text: &str| {
            complain(&format!("the attempt ended ({ending:?}), and that could not be written: {text}"));
        };
        let rules = &self.around.rules;
        match board.insist(say, |board| board.ended(card, *run, ending, rules, now())) {
            Ok(_) | Err(BoardError::NoCard(_) | BoardError::Superseded(_)) => {}
            Err(error) => return Err(error.into()),
        }
        clean_up(&mut *board, self.charge)
    }
}
