//! What is known of the world outside a board: which profiles there are, and which processes go on.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use crate::card::{CardId, RunId};
use crate::claim::Claimer;
use crate::dispatch::snapshot::Running;
use crate::dispatch::{Elsewhere, Liveness, Snapshot, World};
use crate::worker::process;

/// Looks at the world as far as a board needs it.
pub fn see(snapshot: &Snapshot, claimer: &Claimer, homes: &Path, elsewhere: Elsewhere) -> World {
    World {
        host: claimer.host.clone(),
        profiles: profiles(homes),
        alive: alive(&snapshot.running, claimer),
        leaving: leaving(snapshot),
        elsewhere,
    }
}

/// The profiles there are.
pub fn profiles(homes: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(homes.join("profiles")).into_iter().flatten().flatten();
    let named = entries
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok());
    named.chain(["default".to_owned()]).collect()
}

/// What is known of the process behind each attempt: the worker's, or if none began, that of whoever took the card.
fn alive(running: &[Running], claimer: &Claimer) -> HashMap<RunId, Liveness> {
    running.iter().filter_map(|running| Some((running.run?, liveness(running, claimer)))).collect()
}

fn liveness(running: &Running, claimer: &Claimer) -> Liveness {
    let Some(lock) = running.lock.as_deref().filter(|lock| claimer.is_local(lock)) else {
        return Liveness::Unknown;
    };
    let taker = || lock.rsplit_once(':').and_then(|(_, pid)| pid.parse().ok());
    match (&running.worker, running.pid) {
        (Some(worker), _) => worker.process.liveness(),
        (None, Some(pid)) => process::liveness_of_number(pid),
        (None, None) => taker().map_or(Liveness::Unknown, process::liveness_of_number),
    }
}

/// Cards whose last worker is still there.
fn leaving(snapshot: &Snapshot) -> BTreeSet<CardId> {
    let there = snapshot.leaving.iter().filter(|worker| worker.process.liveness() == Liveness::Alive);
    there.map(|worker| worker.card.clone()).collect()
}
