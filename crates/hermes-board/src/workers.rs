//! The workers of attempts: who they are, what they do, and that they should end. Only of workers this program started;
//! the other one keeps no more than a process number.

use hermes_store::rusqlite::{self, Connection, OptionalExtension, Row, params};
use serde_json::json;

use crate::board::{Board, Trouble};
use crate::card::{CardId, RunId, Seconds};
use crate::ending::{Stop, Verdict};
use crate::error::BoardError;
use crate::event::record;

/// A process, so that no other can be taken for it: its number, when it began, and since which start of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it began, in ticks since the machine started.
    pub started_ticks: u64,
    /// Which start of the machine.
    pub boot_id: String,
}

/// What was used up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Tokens sent.
    pub input_tokens: i64,
    /// Tokens received.
    pub output_tokens: i64,
    /// Money, in dollars.
    pub cost_usd: f64,
}

impl Usage {
    /// Tokens of both kinds.
    pub fn tokens(&self) -> i64 {
        self.input_tokens + self.output_tokens
    }
}

/// A worker.
#[derive(Debug, Clone, PartialEq)]
pub struct Worker {
    /// Its attempt.
    pub run: RunId,
    /// Its card.
    pub card: CardId,
    /// The process that looks after it.
    pub process: Process,
    /// When something last came of it.
    pub progress_at: Option<Seconds>,
    /// What it used up.
    pub usage: Usage,
    /// The last thing it said.
    pub last_line: Option<String>,
    /// The conversation it has.
    pub session_id: Option<String>,
    /// That it should end.
    pub stop: Option<Stop>,
    /// What its program said of the attempt.
    pub verdict: Option<Verdict>,
}

/// What came of a worker since it was last said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// What it used up in all.
    pub usage: Option<Usage>,
    /// The last thing it said.
    pub last_line: Option<String>,
    /// The conversation it has.
    pub session_id: Option<String>,
}

pub(crate) const WORKER: &str = "run_id, task_id, pid, started_ticks, boot_id, last_output_at, input_tokens, output_tokens, \
     cost_usd, last_line, session_id, stop, verdict";

pub(crate) fn worker(row: &Row<'_>) -> rusqlite::Result<Worker> {
    let json = |text: Option<String>| text.unwrap_or_default();
    Ok(Worker {
        run: row.get(0)?,
        card: row.get(1)?,
        process: Process {
            pid: row.get(2)?,
            started_ticks: row.get::<_, i64>(3)? as u64,
            boot_id: row.get(4)?,
        },
        progress_at: row.get(5)?,
        usage: Usage { input_tokens: row.get(6)?, output_tokens: row.get(7)?, cost_usd: row.get(8)? },
        last_line: row.get(9)?,
        session_id: row.get(10)?,
        stop: serde_json::from_str(&json(row.get(11)?)).ok(),
        verdict: serde_json::from_str(&json(row.get(12)?)).ok(),
    })
}

pub(crate) fn find(db: &Connection, run: RunId) -> rusqlite::Result<Option<Worker>> {
    db.prepare_cached(&format!("SELECT {WORKER} FROM hx_workers WHERE run_id = ?1"))?
        .query_row([run], worker)
        .optional()
}

impl Board {
    /// A worker begins its attempt. Whether it may: an attempt that is not the card's own any more must not begin.
    pub fn begin(
        &mut self,
        card: &CardId,
        run: RunId,
        process: &Process,
        now: Seconds,
    ) -> Result<bool, BoardError> {
        self.write(|tx| {
            let held = tx.execute(
                "UPDATE tasks SET worker_pid = ?3, last_heartbeat_at = ?4 \
                 WHERE id = ?1 AND current_run_id = ?2 AND status = 'running'",
                params![card, run, process.pid, now],
            )?;
            if held == 0 {
                return Ok(false);
            }
            tx.execute(
                "UPDATE task_runs SET worker_pid = ?2, last_heartbeat_at = ?3 WHERE id = ?1 AND ended_at IS NULL",
                params![run, process.pid, now],
            )?;
            tx.execute(
                "INSERT INTO hx_workers (run_id, task_id, pid, started_ticks, boot_id, last_output_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (run_id) DO UPDATE SET pid = excluded.pid, \
                 started_ticks = excluded.started_ticks, boot_id = excluded.boot_id, ended_at = NULL",
                params![run, card, process.pid, process.started_ticks as i64, process.boot_id, now],
            )?;
            record(tx, card, Some(run), "spawned", &json!({ "pid": process.pid }), now)?;
            Ok(true)
        })
    }

    /// Something came of a worker. It counts as a sign of life for the other program too.
    pub fn progress(&mut self, run: RunId, progress: &Progress, now: Seconds) -> Result<(), BoardError> {
        self.write(|tx| {
            let usage = progress.usage;
            tx.execute(
                "UPDATE hx_workers SET last_output_at = ?2, input_tokens = coalesce(?3, input_tokens), \
                 output_tokens = coalesce(?4, output_tokens), cost_usd = coalesce(?5, cost_usd), \
                 last_line = coalesce(?6, last_line), session_id = coalesce(?7, session_id) WHERE run_id = ?1",
                params![
                    run,
                    now,
                    usage.map(|usage| usage.input_tokens),
                    usage.map(|usage| usage.output_tokens),
                    usage.map(|usage| usage.cost_usd),
                    progress.last_line,
                    progress.session_id,
                ],
            )?;
            tx.execute(
                "UPDATE tasks SET last_heartbeat_at = ?2 WHERE current_run_id = ?1 AND status = 'running'",
                params![run, now],
            )?;
            tx.execute(
                "UPDATE task_runs SET last_heartbeat_at = ?2 WHERE id = ?1 AND ended_at IS NULL",
                params![run, now],
            )?;
            Ok(())
        })
    }

    /// What the worker's own program says of the attempt before it ends.
    pub fn say_verdict(&mut self, run: RunId, verdict: &Verdict) -> Result<(), BoardError> {
        let text = serde_json::to_string(verdict).unwrap_or_default();
        self.write(|tx| {
            tx.execute("UPDATE hx_workers SET verdict = ?2 WHERE run_id = ?1", params![run, text])?;
            Ok(())
        })
    }

    /// Wants a worker to end. The first who wants it is heard; whoever looks after the worker does it. Gives the worker.
    pub fn ask_to_stop(&mut self, run: RunId, stop: &Stop) -> Result<Option<Worker>, BoardError> {
        let text = serde_json::to_string(stop).unwrap_or_default();
        self.write(|tx| {
            tx.execute(
                "UPDATE hx_workers SET stop = coalesce(stop, ?2) WHERE run_id = ?1",
                params![run, text],
            )?;
            find(tx, run).map_err(Trouble::from)
        })
    }

    /// The worker of an attempt.
    pub fn worker(&mut self, run: RunId) -> Result<Option<Worker>, BoardError> {
        self.read(|tx| find(tx, run))
    }

    /// The workers that are not known to have ended, with or without a card.
    pub fn workers(&mut self) -> Result<Vec<Worker>, BoardError> {
        self.read(|tx| {
            let sql = format!("SELECT {WORKER} FROM hx_workers WHERE ended_at IS NULL ORDER BY run_id");
            tx.prepare_cached(&sql)?.query_map([], worker)?.collect()
        })
    }

    /// A worker has ended, and everything it started.
    pub fn worker_ended(&mut self, run: RunId, now: Seconds) -> Result<(), BoardError> {
        self.write(|tx| {
            tx.execute(
                "UPDATE hx_workers SET ended_at = ?2 WHERE run_id = ?1 AND ended_at IS NULL",
                params![run, now],
            )?;
            Ok(())
        })
    }

    /// What all attempts of a card used up.
    pub fn usage(&mut self, card: &CardId) -> Result<Usage, BoardError> {
        self.read(|tx| usage_of(tx, card))
    }
}

pub(crate) fn usage_of(db: &Connection, card: &CardId) -> rusqlite::Result<Usage> {
    db.prepare_cached(
        "SELECT coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(cost_usd), 0.0) \
         FROM hx_workers WHERE task_id = ?1",
    )?
    .query_row([card], |row| {
        Ok(Usage { input_tokens: row.get(0)?, output_tokens: row.get(1)?, cost_usd: row.get(2)? })
    })
}
