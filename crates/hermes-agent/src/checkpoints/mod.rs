//! Snapshots of what the agent is about to change: when they are taken, of which directory, and going back to them.

mod aim;
mod gate;
mod harmless;
mod rollback;
mod whereabouts;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hermes_checkpoint::{CheckpointError, Checkpoints, Git, Key, Limits, Place, Retention, Taken};
use hermes_guard::{Policy, Redactor};
use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::safety;
use hermes_tools::workplace::Workplace;

pub use gate::CheckpointGate;
pub use rollback::RollbackError;

use self::aim::Aim;
use self::whereabouts::Whereabouts;
use crate::assembly::Opening;

/// Takes snapshots for one conversation.
pub struct Keeper {
    checkpoints: Checkpoints,
    whereabouts: Whereabouts,
    redactor: Arc<Redactor>,
    retention: Retention,
    tidy_every: Tidy,
    turn: Mutex<Turn>,
}

/// Whether old snapshots go by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tidy {
    Never,
    Every(Duration),
}

/// What happened in the turn that runs.
#[derive(Default)]
struct Turn {
    /// Directories that need no further snapshot.
    done: HashSet<Key>,
    /// Directories that are looked at when it ends.
    changed: Vec<Place>,
    /// Everything that was ever said, as nothing is said twice.
    told: HashSet<String>,
    notices: Vec<String>,
}

/// The store of a home: `checkpoints` in it. None without git.
pub fn store(
    home: &hermes_home::Home,
    settings: &Settings,
    env: &std::collections::BTreeMap<OsString, OsString>,
) -> Result<Option<Checkpoints>, SettingError> {
    let variable = |name: &str| env.get(&OsString::from(name));
    let timeout = variable("HERMES_CHECKPOINT_TIMEOUT").and_then(|value| value.to_str());
    let limits = Limits::from_settings(settings, timeout)?;
    let Some(git) = variable("PATH").and_then(|path| Git::find(path)) else { return Ok(None) };
    let user_home = variable("HOME").map(PathBuf::from);
    Ok(Some(Checkpoints::new(home.path("checkpoints"), git, limits, user_home)))
}

/// What the settings say about throwing snapshots away.
pub fn retention(settings: &Settings) -> Result<Retention, SettingError> {
    let megabytes = u64::try_from(settings.get(&safety::CHECKPOINTS_MAX_TOTAL_SIZE_MB)?).unwrap_or(0);
    Ok(Retention {
        days: u32::try_from(settings.get(&safety::CHECKPOINTS_RETENTION_DAYS)?).unwrap_or(u32::MAX),
        orphans: settings.get(&safety::CHECKPOINTS_DELETE_ORPHANS)?.into(),
        store_bytes: Some(megabytes.saturating_mul(1024 * 1024)),
    })
}

impl Keeper {
    /// A keeper for a conversation, if the settings want one. Starts nothing.
    pub fn open(
        opening: &Opening,
        workplace: &Workplace,
        session: &str,
        redactor: &Arc<Redactor>,
        notices: &mut Vec<String>,
    ) -> Result<Option<Self>, SettingError> {
        let settings = &opening.settings;
        if !settings.get(&safety::CHECKPOINTS_ENABLED)? {
            return Ok(None);
        }
        let Some(checkpoints) = store(&opening.home, settings, &opening.env)? else {
            notices.push(CheckpointError::NoGit.to_string());
            return Ok(None);
        };
        let hours = u64::try_from(settings.get(&safety::CHECKPOINTS_MIN_INTERVAL_HOURS)?).unwrap_or(0);
        let tidies = settings.get(&safety::CHECKPOINTS_AUTO_PRUNE)?;
        let tidy_every = if tidies { Tidy::Every(Duration::from_hours(hours)) } else { Tidy::Never };
        let home = opening.env.get(&OsString::from("HOME")).map(PathBuf::from);
        Ok(Some(Self {
            whereabouts: Whereabouts::new(workplace.clone(), session, &opening.cwd, home),
            checkpoints,
            redactor: Arc::clone(redactor),
            retention: retention(settings)?,
            tidy_every,
            turn: Mutex::default(),
        }))
    }

    /// A new turn: every directory gets a snapshot again before it is changed.
    fn turn_begins(&self) {
        let mut turn = self.turn();
        turn.done.clear();
        turn.changed.clear();
    }

    /// Takes the snapshots an action needs. Blocks. Whatever goes wrong is said and never fails the action.
    fn before(&self, aim: &Aim) {
        // Held throughout: an action that runs at the same time waits for the snapshot too.
        let mut turn = self.turn();
        let places = match self.whereabouts.places(aim, &self.checkpoints) {
            Ok(places) => places,
            Err(why) => return turn.say(format!("no checkpoint was taken: {why}")),
        };
        for place in places {
            if !turn.done.insert(place.key.clone()) {
                continue;
            }
            let why = self.redactor.redact(&aim.why, Policy::Log);
            match self.checkpoints.take(&place, &why) {
                Ok(Taken::Made(_) | Taken::Unchanged) => turn.changed.push(place),
                Ok(Taken::Skipped(skip)) => turn.say(skip.to_string()),
                Err(error) => {
                    turn.say(format!("no checkpoint was taken of {}: {error}", place.key.shown()));
                }
            }
        }
    }

    /// The turn is over: what is different from now on, others changed. Blocks.
    fn turn_ends(&self) {
        let mut turn = self.turn();
        let changed = std::mem::take(&mut turn.changed);
        if changed.is_empty() {
            return;
        }
        for place in changed {
            if let Err(error) = self.checkpoints.look(&place) {
                tracing::warn!("the state of {} after the turn is not known: {error}", place.key.shown());
            }
        }
        if let Tidy::Every(interval) = self.tidy_every
            && let Err(error) = self.checkpoints.tidy(&self.retention, interval)
        {
            tracing::warn!("the checkpoint store was not cleaned up: {error}");
        }
    }

    fn take_notices(&self) -> Vec<String> {
        // A snapshot that is being taken has nothing to say yet.
        self.turn.try_lock().map(|mut turn| std::mem::take(&mut turn.notices)).unwrap_or_default()
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    fn say(&mut self, text: String) {
        if self.told.insert(text.clone()) {
            self.notices.push(text);
        }
    }
}
