//! What guards that were killed left behind. As long as anything of an attempt is alive its card is not free, and nothing
//! of it stays: processes are killed here, places to work in are put away by another guard.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::Signal;

use super::process;
use crate::board::Board;
use crate::card::{RunId, Seconds};
use crate::claim::{Claim, Lane};
use crate::dispatch::{Launcher, Liveness, World};
use crate::error::BoardError;

/// How soon it is looked again whether what was killed is gone.
const SOON: Seconds = 1;
/// How long another guard is given to put things away.
const CLEANING: Seconds = 10;
/// How often what is there is looked for and killed in one go: a process may start another meanwhile.
const LOOKS: usize = 3;

/// Which guards are putting things away, and since when.
#[derive(Debug, Default)]
pub struct Cleaning(BTreeMap<RunId, Seconds>);

impl Board {
    /// Ends what dead guards left behind. Attempts of which something may be alive still count as alive. Gives when it is
    /// worth looking again.
    pub fn end_orphans(
        &mut self,
        world: &mut World,
        launcher: &mut dyn Launcher,
        cleaning: &mut Cleaning,
        now: Seconds,
    ) -> Result<Option<Seconds>, BoardError> {
        let workers = self.workers()?;
        let dead: BTreeSet<RunId> = workers
            .iter()
            .filter(|worker| worker.process.is_of_this_start() && worker.process.liveness() == Liveness::Dead)
            .map(|worker| worker.run)
            .collect();
        cleaning.0.retain(|run, _| dead.contains(run));
        if dead.is_empty() {
            return Ok(None);
        }
        let left = end(self.db.path(), &dead);
        let mut wake_at = None;
        for worker in workers.iter().filter(|worker| dead.contains(&worker.run)) {
            let run = worker.run;
            if left.contains(&run) {
                world.alive.insert(run, Liveness::Alive);
                wake_at = Some(now + SOON);
                continue;
            }
            let card = match self.card(&worker.card) {
                Ok(card) => card,
                Err(BoardError::NoCard(_)) => {
                    self.worker_ended(run, now)?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            // How the attempt ended is decided like that of any other; nobody puts away what a closed card left.
            let cleaned = cleaning.0.get(&run).is_some_and(|since| now - since < CLEANING);
            if card.current_run == Some(run) || cleaned {
                continue;
            }
            cleaning.0.insert(run, now);
            let profile = card.assignee.clone();
            let claim = Claim { card, run, lock: String::new(), expires: now, profile, lane: Lane::Work };
            if let Err(error) = launcher.launch(self, &claim) {
                tracing::warn!(%error, "nobody puts away what a worker left");
            }
            wake_at = wake_at.or(Some(now + CLEANING));
        }
        Ok(wake_at)
    }
}

/// Kills whatever belongs to these attempts, by the environment it was started with. Gives the attempts of which something
/// was there to the last.
fn end(database: &Path, dead: &BTreeSet<RunId>) -> BTreeSet<RunId> {
    let mut left = BTreeSet::new();
    for _ in 0..LOOKS {
        let found = belonging(database, dead);
        left = found.iter().map(|(run, _)| *run).collect();
        if left.is_empty() {
            break;
        }
        for (_, seen) in found {
            // It may have ended meanwhile.
            let _ = seen.signal(Signal::KILL);
        }
    }
    left
}

/// Living processes that were started for one of these attempts.
fn belonging(database: &Path, dead: &BTreeSet<RunId>) -> Vec<(RunId, process::Seen)> {
    let own = std::process::id().cast_signed();
    let listing = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = listing.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter(|pid| *pid != own)
        .filter_map(|pid| {
            let seen = process::look(pid).filter(|seen| !seen.is_dead())?;
            let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
            let run = attempt_of(&environment, database)?;
            dead.contains(&run).then_some((run, seen))
        })
        .collect()
}

/// The attempt an environment belongs to, if it is one of this board.
fn attempt_of(environment: &[u8], database: &Path) -> Option<RunId> {
    let value = |name: &[u8]| {
        environment
            .split(|byte| *byte == 0)
            .find_map(|variable| variable.strip_prefix(name)?.strip_prefix(b"="))
    };
    if value(b"HERMES_KANBAN_DB")? != database.as_os_str().as_bytes() {
        return None;
    }
    std::str::from_utf8(value(b"HERMES_KANBAN_RUN_ID")?).ok()?.parse().ok().map(RunId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_names_its_attempt() {
        let database = Path::new("/h/kanban.db");
        let of = |text: &str| attempt_of(text.replace(' ', "\0").as_bytes(), database);
        assert_eq!(of("A=1 HERMES_KANBAN_DB=/h/kanban.db HERMES_KANBAN_RUN_ID=7"), Some(RunId(7)));
        assert_eq!(of("HERMES_KANBAN_RUN_ID=7 HERMES_KANBAN_DB=/other.db"), None, "another board's");
        assert_eq!(of("HERMES_KANBAN_RUN_ID=7"), None);
        assert_eq!(of("HERMES_KANBAN_RUN_ID=x HERMES_KANBAN_DB=/h/kanban.db"), None);
        assert_eq!(of("X_HERMES_KANBAN_RUN_ID=7 HERMES_KANBAN_DB=/h/kanban.db"), None);
    }

    #[test]
    fn what_a_dead_guard_left_is_killed_and_nothing_else() {
        let database = std::env::temp_dir().join(format!("orphans-{}.db", std::process::id()));
        let start = |run: &str| {
            std::process::Command::new("sleep")
                .arg("600")
                .env("HERMES_KANBAN_DB", &database)
                .env("HERMES_KANBAN_RUN_ID", run)
                .spawn()
                .unwrap()
        };
        let (mut ours, mut other) = (start("41"), start("42"));
        let dead = BTreeSet::from([RunId(41)]);
        hermes_testkit::wait_until(
            std::time::Duration::from_secs(20),
            "the orphan to be found and gone",
            || end(&database, &dead).is_empty() && ours.try_wait().unwrap().is_some(),
        );
        assert_eq!(other.try_wait().unwrap(), None, "another attempt goes on");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
