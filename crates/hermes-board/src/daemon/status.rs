//! What others can read of a dispatcher: who it is, and when it last looked at which board.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hermes_home::files::{Access, Lock, read_if_exists, write_atomic};
use serde::{Deserialize, Serialize};

use super::tick::Known;
use crate::card::Seconds;
use crate::place::Root;
use crate::slug::Slug;

/// How often it is written at most.
const EVERY: Duration = Duration::from_secs(5);

/// What a dispatcher says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Its process.
    pub pid: u32,
    /// Its program's version.
    pub version: String,
    /// When it began.
    pub started_at: Seconds,
    /// When it last looked at anything.
    pub last_tick_at: Option<Seconds>,
    /// Its boards.
    pub boards: BTreeMap<String, OfBoard>,
}

/// What it says of a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfBoard {
    /// When it last looked at it.
    pub last_tick_at: Option<Seconds>,
    /// How many cards ran then.
    pub running: u32,
    /// What is wrong with it.
    pub trouble: Option<String>,
}

/// Whether a dispatcher is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// One is, and this is what it says of itself; the other program's says nothing.
    There(Option<Said>),
    /// None is.
    Nobody,
}

/// Looks whether a dispatcher is there. Nothing is made for that.
pub fn presence(root: &Root) -> Presence {
    let lock = root.dispatcher_lock();
    if !lock.exists() || matches!(Lock::try_acquire(&lock), Ok(Some(_))) {
        return Presence::Nobody;
    }
    let text = read_if_exists(&file(root)).ok().flatten().unwrap_or_default();
    Presence::There(serde_json::from_slice(&text).ok())
}

fn file(root: &Root) -> PathBuf {
    root.dir().join("kanban/.dispatcher.json")
}

/// Writes it down, not too often.
#[derive(Debug)]
pub(super) struct Status {
    started_at: Seconds,
    written: Option<Instant>,
}

impl Status {
    pub fn new(started_at: Seconds) -> Self {
        Self { started_at, written: None }
    }

    pub fn write(&mut self, root: &Root, now: Seconds, boards: &BTreeMap<Slug, Known>) {
        if self.written.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        self.written = Some(Instant::now());
        let of = |known: &Known| OfBoard {
            last_tick_at: known.looked_at,
            running: known.running.total,
            trouble: known.trouble.clone(),
        };
        let said = Said {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: self.started_at,
            last_tick_at: Some(now),
            boards: boards.iter().map(|(slug, known)| (slug.to_string(), of(known))).collect(),
        };
        let text = serde_json::to_vec_pretty(&said).unwrap_or_default();
        if let Err(error) = write_atomic(&file(root), &text, Access::Private) {
            tracing::warn!(%error, "what the dispatcher does cannot be written down");
        }
    }
}

/// Nobody is there any more to say it.
pub(super) fn remove(root: &Root) {
    let _ = std::fs::remove_file(file(root));
}
