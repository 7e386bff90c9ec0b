//! Whether a board's cards are started at all.

use hermes_store::rusqlite::{self, Connection, OptionalExtension, Transaction};
use serde::{Deserialize, Serialize};

use crate::board::{Board, Trouble};
use crate::card::Seconds;
use crate::error::BoardError;

/// What a board's dispatcher may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nobody has let it begin yet.
    #[default]
    Parked,
    /// Cards are started.
    Active,
    /// No card is started until somebody resumes it.
    Paused,
    /// What runs is finished; nothing new is started.
    Draining,
}

impl Mode {
    /// Whether cards are started.
    pub fn starts_cards(self) -> bool {
        self == Self::Active
    }
}

/// What a board's dispatcher may do, and who said so.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct State {
    /// What it may do.
    pub mode: Mode,
    /// Who said so; nobody, for a board that was never touched.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Since when.
    pub since: Option<Seconds>,
}

impl Board {
    /// What its dispatcher may do.
    pub fn state(&mut self) -> Result<State, BoardError> {
        self.read(|tx| load(tx))
    }

    /// Says what its dispatcher may do.
    pub fn set_state(&mut self, state: &State) -> Result<(), BoardError> {
        self.write(|tx| store(tx, state).map_err(Trouble::from))
    }
}

pub(crate) fn load(db: &Connection) -> rusqlite::Result<State> {
    let text: Option<String> = db
        .prepare_cached("SELECT value FROM hx_board WHERE key = 'state'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn store(tx: &Transaction<'_>, state: &State) -> rusqlite::Result<()> {
    let text = serde_json::to_string(state).unwrap_or_default();
    tx.prepare_cached(
        "INSERT INTO hx_board (key, value) VALUES ('state', ?1) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    )?
    .execute([text])?;
    Ok(())
}
