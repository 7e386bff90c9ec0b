//! Starting guards, and telling them that their worker should end. Nothing here waits.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal as Unix;

use crate::board::Board;
use crate::card::RunId;
use crate::claim::Claim;
use crate::dispatch::{Launcher, Signal};
use crate::worker::attend::Environment;
use crate::worker::{log, process};
use crate::workers::Worker;

/// Starts guards as processes of this machine.
#[derive(Debug)]
pub struct Processes {
    own: PathBuf,
    profile: String,
    env: Environment,
    guards: Vec<(RunId, Child)>,
}

impl Processes {
    /// Starts them with this program, as this profile, with this environment.
    pub fn new(own: PathBuf, profile: &str, env: Environment) -> Self {
        Self { own, profile: profile.to_owned(), env, guards: Vec::new() }
    }

    /// Takes in the guards that have ended; how many.
    pub fn reap(&mut self) -> usize {
        let before = self.guards.len();
        self.guards.retain_mut(|(_, guard)| matches!(guard.try_wait(), Ok(None)));
        before - self.guards.len()
    }
}

impl Launcher for Processes {
    fn launch(&mut self, board: &Board, claim: &Claim) -> Result<(), String> {
        self.reap();
        let (root, slug) = (board.root(), board.slug());
        let log = root.logs(slug).join(format!("{}.log", claim.card.id));
        // Its own words belong to the card, and must not hold a terminal open.
        let words = || log::append(&log).map_or_else(|_| Stdio::null(), Stdio::from);
        let mut command = Command::new(&self.own);
        command
            .args(["-p", &self.profile, "kanban", "--board", slug.as_str(), "attend"])
            .args(["--run", &claim.run.to_string(), "--lock", &claim.lock, claim.card.id.as_str()])
            .env_clear()
            .envs(&self.env)
            .stdin(Stdio::null())
            .stdout(words())
            .stderr(words());
        match command.spawn() {
            Ok(guard) => {
                self.guards.push((claim.run, guard));
                Ok(())
            }
            Err(error) => Err(format!("\"{}\" cannot be started: {error}", self.own.display())),
        }
    }

    fn stop(&mut self, worker: &Worker) {
        worker.process.signal(Unix::USR1);
    }

    fn may_begin(&mut self, run: RunId) -> bool {
        self.reap();
        self.guards.iter().any(|(attempt, _)| *attempt == run)
    }

    fn signal_foreign(&mut self, pid: i64, how: Signal) {
        let signal = match how {
            Signal::Ask => Unix::TERM,
            Signal::Kill => Unix::KILL,
        };
        process::signal_number(pid, signal);
    }
}
