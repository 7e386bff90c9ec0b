//! Taking a card, holding it, and taking it away from whoever holds it.

use hermes_store::rusqlite::{self, Transaction, params};
use serde_json::json;

use crate::attempt::{self, End};
use crate::board::{Board, Trouble};
use crate::card::{Card, CardId, Outcome, RunId, Seconds, Status};
use crate::dispatch::ended::forget_failures;
use crate::error::BoardError;
use crate::event::record;
use crate::transition::{Step, decide};
use crate::{act, review, rows};

/// How long a claim holds if nobody renews it, in seconds.
pub const CLAIM_SECONDS: i64 = 900;

/// Who takes a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimer {
    /// This machine's name.
    pub host: String,
    /// The process that takes it.
    pub pid: u32,
}

impl Claimer {
    /// What is written on the card: `host:pid`.
    pub fn lock(&self) -> String {
        format!("{}:{}", self.host, self.pid)
    }

    /// Whether a lock was written on this machine.
    pub fn is_local(&self, lock: &str) -> bool {
        lock.rsplit_once(':').is_some_and(|(host, _)| host == self.host)
    }
}

/// A card that was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The card, as it is now.
    pub card: Card,
    /// The attempt.
    pub run: RunId,
    /// What is written on it.
    pub lock: String,
    /// Until when it holds.
    pub expires: Seconds,
    /// Who works: whom the card was given to, or who looks at it.
    pub profile: Option<String>,
    /// To work, or to look at work.
    pub lane: Lane,
}

/// What an attempt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lane {
    /// To do the work.
    #[default]
    Work,
    /// To look at work that was done.
    Review,
}

/// What came of trying to take a card.
#[derive(Debug, Clone, PartialEq)]
pub enum Claimed {
    /// It is taken.
    Yes(Box<Claim>),
    /// It waits for others and was put back.
    Waits,
}

impl Board {
    /// Takes a card. Of several that try at once, one gets it.
    pub fn claim(
        &mut self,
        id: &CardId,
        claimer: &Claimer,
        seconds: i64,
        now: Seconds,
    ) -> Result<Claimed, BoardError> {
        self.write(|tx| claim(tx, id, claimer, seconds.max(1), now))
    }

    /// Says that the worker of a card is alive; whether it still has the card.
    pub fn heartbeat(
        &mut self,
        id: &CardId,
        run: Option<RunId>,
        note: Option<&str>,
        now: Seconds,
    ) -> Result<bool, BoardError> {
        self.write(|tx| {
            let card = act::card(tx, id)?;
            if card.status != Status::Running || run.is_some_and(|run| card.current_run != Some(run)) {
                return Ok(false);
            }
            tx.execute("UPDATE tasks SET last_heartbeat_at = ?2 WHERE id = ?1", params![id, now])?;
            if let Some(run) = card.current_run {
                tx.execute(
                    "UPDATE task_runs SET last_heartbeat_at = ?2 WHERE id = ?1 AND ended_at IS NULL",
                    params![run, now],
                )?;
            }
            let payload = note.map_or(serde_json::Value::Null, |note| json!({ "note": note }));
            record(tx, id, card.current_run, "heartbeat", &payload, now)?;
            Ok(true)
        })
    }

    /// Makes a claim hold longer; whether it is still this one's.
    pub fn renew(&mut self, id: &CardId, lock: &str, seconds: i64, now: Seconds) -> Result<bool, BoardError> {
        self.write(|tx| {
            let until = now + seconds.max(1);
            let held = tx.execute(
                "UPDATE tasks SET claim_expires = ?3 WHERE id = ?1 AND claim_lock = ?2 AND status = 'running'",
                params![id, lock, until],
            )?;
            if held > 0 {
                tx.execute(
                    "UPDATE task_runs SET claim_expires = ?2 WHERE ended_at IS NULL AND id = \
                     (SELECT current_run_id FROM tasks WHERE id = ?1)",
                    params![id, until],
                )?;
            }
            Ok(held > 0)
        })
    }

    /// Takes a card away from whoever holds it, because somebody says so. What became of the worker is the caller's to
    /// know and is written down as it was told.
    pub fn reclaim(
        &mut self,
        id: &CardId,
        reason: Option<&str>,
        ended: &serde_json::Map<String, serde_json::Value>,
        now: Seconds,
    ) -> Result<(), BoardError> {
        self.write(|tx| {
            let card = act::card(tx, id)?;
            if card.status != Status::Running && card.claim_lock.is_none() {
                let refusal = crate::transition::Refusal::NotFrom {
                    status: card.status,
                    from: crate::transition::Words(&[Status::Running]),
                    done: "taken back",
                };
                return Err(BoardError::Refused { id: id.clone(), refusal }.into());
            }
            let run = card.current_run;
            if let Some(run) = run {
                let end = End { error: reason, ..End::default() };
                attempt::close(tx, id, run, Outcome::Reclaimed, &end, now)?;
            }
            let to = match run {
                Some(run) if card.status == Status::Running => review::home(tx, id, run)?,
                None if card.status == Status::Running => Status::Ready,
                _ => card.status,
            };
            act::release(tx, id, to)?;
            forget_failures(tx, id)?;
            let mut payload = json!({
                "manual": true, "reason": reason, "prev_lock": card.claim_lock, "prev_pid": card.worker_pid,
            });
            if let Some(map) = payload.as_object_mut() {
                map.extend(ended.clone());
            }
            record(tx, id, run, "reclaimed", &payload, now)?;
            Ok(())
        })
    }
}

pub(crate) fn claim(
    tx: &Transaction<'_>,
    id: &CardId,
    claimer: &Claimer,
    seconds: i64,
    now: Seconds,
) -> Result<Claimed, Trouble> {
    let card = act::card(tx, id)?;
    let facts = act::facts(tx, &card)?;
    let step = if card.status == Status::Review { Step::ClaimReview } else { Step::Claim };
    let refuse = |refusal| BoardError::Refused { id: id.clone(), refusal };
    let moved = decide(step, &facts).map_err(refuse)?;
    if moved.to == Status::Todo {
        tx.execute("UPDATE tasks SET status = 'todo' WHERE id = ?1", [id])?;
        record(tx, id, None, moved.event, &json!({ "reason": "parents_not_done" }), now)?;
        return Ok(Claimed::Waits);
    }
    let (lock, expires) = (claimer.lock(), now + seconds);
    let run = attempt::open(tx, &card, &lock, expires, now)?;
    tx.execute(
        "UPDATE tasks SET status = 'running', claim_lock = ?2, claim_expires = ?3, current_run_id = ?4, \
         started_at = coalesce(started_at, ?5), last_heartbeat_at = NULL, worker_pid = NULL WHERE id = ?1",
        params![id, lock, expires, run, now],
    )?;
    let mut payload = json!({ "lock": lock, "expires": expires, "run_id": run });
    if step == Step::ClaimReview {
        payload["source_status"] = json!(Status::Review);
    }
    record(tx, id, Some(run), moved.event, &payload, now)?;
    let card = rows::find(tx, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let lane = if step == Step::ClaimReview { Lane::Review } else { Lane::Work };
    let profile = card.assignee.clone();
    Ok(Claimed::Yes(Box::new(Claim { card, run, lock, expires, profile, lane })))
}
