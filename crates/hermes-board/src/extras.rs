//! What only this program knows about a card, in a table of its own.

use std::collections::BTreeMap;

use hermes_store::rusqlite::{self, Connection, OptionalExtension, Row, Transaction, params};

use crate::card::{CardId, Seconds};

/// See the module.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extras {
    /// When a scheduled card becomes ready.
    pub run_at: Option<Seconds>,
    /// When it should be finished.
    pub deadline: Option<Seconds>,
    /// Before then it is not tried again.
    pub not_before: Option<Seconds>,
    /// The provider the worker uses.
    pub provider: Option<String>,
    /// The toolsets the worker has.
    pub toolsets: Vec<String>,
    /// Most tokens of all attempts.
    pub max_tokens: Option<i64>,
    /// Most money of all attempts, in dollars.
    pub max_cost: Option<f64>,
    /// Who looks at the work: a profile, `human`, or `command:…`.
    pub reviewer: Option<String>,
    /// A command that must succeed before the card is done.
    pub acceptance: Option<String>,
    /// Why the dispatcher passes it over.
    pub skip_reason: Option<String>,
    /// Somebody edits it until then.
    pub editing_until: Option<Seconds>,
}

/// In the order they are read.
const COLUMNS: &str = "run_at, deadline, not_before, provider, toolsets, max_tokens, max_cost_usd, reviewer, acceptance, \
     skip_reason, editing_until";

impl Extras {
    /// What is known of a card.
    pub(crate) fn load(db: &Connection, id: &CardId) -> rusqlite::Result<Self> {
        let sql = format!("SELECT {COLUMNS} FROM hx_cards WHERE task_id = ?1");
        Ok(db.prepare_cached(&sql)?.query_row([id], Self::read).optional()?.unwrap_or_default())
    }

    /// What is known of all cards.
    pub(crate) fn load_all(db: &Connection) -> rusqlite::Result<BTreeMap<CardId, Self>> {
        let sql = format!("SELECT {COLUMNS}, task_id FROM hx_cards");
        db.prepare_cached(&sql)?.query_map([], |row| Ok((row.get(11)?, Self::read(row)?)))?.collect()
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let toolsets: Option<String> = row.get(4)?;
        let names = |names: String| names.split(',').map(str::to_owned).collect();
        Ok(Self {
            run_at: row.get(0)?,
            deadline: row.get(1)?,
            not_before: row.get(2)?,
            provider: row.get(3)?,
            toolsets: toolsets.map(names).unwrap_or_default(),
            max_tokens: row.get(5)?,
            max_cost: row.get(6)?,
            reviewer: row.get(7)?,
            acceptance: row.get(8)?,
            skip_reason: row.get(9)?,
            editing_until: row.get(10)?,
        })
    }

    /// Writes it down, if there is anything.
    pub(crate) fn store(&self, tx: &Transaction<'_>, id: &CardId) -> rusqlite::Result<()> {
        let known = || tx.prepare_cached("SELECT 1 FROM hx_cards WHERE task_id = ?1")?.exists([id]);
        if *self == Self::default() && !known()? {
            return Ok(());
        }
        let toolsets = (!self.toolsets.is_empty()).then(|| self.toolsets.join(","));
        tx.prepare_cached(
            "INSERT INTO hx_cards (task_id, run_at, deadline, not_before, provider, toolsets, max_tokens, max_cost_usd, \
             reviewer, acceptance, skip_reason, editing_until) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
             ON CONFLICT (task_id) DO UPDATE SET run_at = excluded.run_at, deadline = excluded.deadline, \
             not_before = excluded.not_before, provider = excluded.provider, toolsets = excluded.toolsets, \
             max_tokens = excluded.max_tokens, max_cost_usd = excluded.max_cost_usd, reviewer = excluded.reviewer, \
             acceptance = excluded.acceptance, skip_reason = excluded.skip_reason, editing_until = excluded.editing_until",
        )?
        .execute(params![
            id,
            self.run_at,
            self.deadline,
            self.not_before,
            self.provider,
            toolsets,
            self.max_tokens,
            self.max_cost,
            self.reviewer,
            self.acceptance,
            self.skip_reason,
            self.editing_until,
        ])?;
        Ok(())
    }
}
