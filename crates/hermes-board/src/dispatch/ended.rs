//! What becomes of a card when its worker ended: the one place that decides it, whoever noticed.

use hermes_store::rusqlite::{self, Transaction, params};
use serde_json::{Map, Value, json};

use crate::attempt::{self, End};
use crate::board::{Board, Trouble};
use crate::card::{Card, CardId, Outcome, RunId, Seconds, Status};
use crate::dispatch::Rules;
use crate::ending::{Ending, FailureClass, Killed, Stop, Then, Verdict};
use crate::error::BoardError;
use crate::event::record;
use crate::review::{self, Reviewer};
use crate::{act, workers};

/// Where a card stands after its worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// It was closed before, or belongs to another attempt: nothing was changed.
    Nothing,
    /// It is still under way.
    GoesOn,
    /// It is tried again.
    Again {
        /// Not before then.
        not_before: Option<Seconds>,
    },
    /// Somebody has to look at it.
    Review,
    /// Nobody tries it any more.
    Blocked,
    /// It is finished.
    Done,
}

/// What a worker's program exits with when the provider had enough.
pub const QUOTA_EXIT: i32 = 75;

/// Longest text kept of what went wrong.
const LONGEST_ERROR: usize = 500;

/// The longest a provider's own word is believed.
const LONGEST_QUOTA: Seconds = 24 * 3600;

impl Board {
    /// An attempt ended. What becomes of its card is decided, written down, and told.
    pub fn ended(
        &mut self,
        card: &CardId,
        run: RunId,
        ending: &Ending,
        rules: &Rules,
        now: Seconds,
    ) -> Result<After, BoardError> {
        self.write(|tx| ended(tx, card, run, ending, rules, now))
    }
}

pub(crate) fn ended(
    tx: &Transaction<'_>,
    id: &CardId,
    run: RunId,
    ending: &Ending,
    rules: &Rules,
    now: Seconds,
) -> Result<After, Trouble> {
    let card = act::card(tx, id)?;
    if card.status != Status::Running || card.current_run != Some(run) {
        return Ok(After::Nothing);
    }
    let attempt = Over { tx, card: &card, run, rules, now };
    if review::is_pending(tx, run)? {
        review::forget(tx, run)?;
        if matches!(ending, Ending::Exited { .. }) {
            return attempt.unchecked();
        }
    }
    let verdict = workers::find(tx, run)?.and_then(|worker| worker.verdict);
    Ok(match (ending, verdict) {
        (Ending::Exited { .. } | Ending::Signaled { .. } | Ending::Vanished, Some(verdict)) => {
            attempt.judged(&verdict, exit_code(ending))?
        }
        (Ending::Exited { code: 0 }, None) => attempt.no_verdict("", Some(0))?,
        (Ending::Exited { code: QUOTA_EXIT }, None) => {
            attempt.quota(None, "the provider had enough", Some(QUOTA_EXIT))?
        }
        (Ending::Exited { code }, None) => attempt.crashed("nonzero_exit", *code)?,
        (Ending::Signaled { signal }, None) => attempt.crashed("signaled", *signal)?,
        (Ending::Vanished, None) => attempt.vanished()?,
        (Ending::TimedOut { elapsed, limit, killed }, _) => attempt.timed_out(*elapsed, *limit, *killed)?,
        (Ending::Stale { silent, limit }, _) => attempt.stale(*silent, *limit)?,
        (Ending::Stopped(stop), _) => attempt.stopped(stop)?,
        (Ending::NotStarted { step, error }, _) => attempt.not_started(step, error)?,
    })
}

fn exit_code(ending: &Ending) -> Option<i32> {
    match ending {
        Ending::Exited { code } => Some(*code),
        _ => None,
    }
}

/// A failure to be counted.
pub(crate) struct Failure<'a> {
    pub class: FailureClass,
    pub outcome: Outcome,
    /// What is written down.
    pub event: &'static str,
    pub payload: Map<String, Value>,
    pub error: &'a str,
    /// When it may be tried again at the soonest.
    pub until: Option<Seconds>,
}

/// An attempt that is over and whose card waits for a decision.
pub(crate) struct Over<'a> {
    pub tx: &'a Transaction<'a>,
    pub card: &'a Card,
    pub run: RunId,
    pub rules: &'a Rules,
    pub now: Seconds,
}

impl Over<'_> {
    /// What the worker's own program said.
    fn judged(&self, verdict: &Verdict, code: Option<i32>) -> Result<After, Trouble> {
        match verdict {
            Verdict::None { text } => self.no_verdict(text, code),
            Verdict::OutOfBudget { what } => self.out_of_budget(what),
            Verdict::Quota { until, error } => self.quota(*until, error, code),
            Verdict::Infrastructure { error } => {
                let mut payload = self.process();
                if let Some(code) = code {
                    payload.insert("exit_kind".to_owned(), json!("nonzero_exit"));
                    payload.insert("exit_code".to_owned(), json!(code));
                }
                payload.insert("error".to_owned(), json!(short(error)));
                self.fail(&Failure {
                    class: FailureClass::Infrastructure,
                    outcome: Outcome::Crashed,
                    event: "crashed",
                    payload,
                    error,
                    until: None,
                })
            }
        }
    }

    /// It stopped without saying what came of it. Nothing is thrown away: a person looks at what there is.
    fn no_verdict(&self, text: &str, code: Option<i32>) -> Result<After, Trouble> {
        let mut payload = self.process();
        payload.insert("exit_code".to_owned(), json!(code));
        payload.insert("protocol_violation".to_owned(), json!(true));
        record(
            self.tx,
            &self.card.id,
            Some(self.run),
            "protocol_violation",
            &Value::Object(payload),
            self.now,
        )?;
        let error = "the worker ended without saying what came of it";
        let summary = Some(text.trim()).filter(|text| !text.is_empty());
        self.close(Outcome::Blocked, summary, error)?;
        review::own_row(self.tx, &self.card.id)?;
        self.tx.execute(
            "UPDATE hx_cards SET no_verdicts = no_verdicts + 1 WHERE task_id = ?1",
            [&self.card.id],
        )?;
        self.note_error(error)?;
        review::to_review(self.tx, self.card, self.run, &Reviewer::Human, "no_verdict", self.now)?;
        Ok(After::Review)
    }

    /// It said that the work is done, and nobody ran the commands that must succeed first. A person looks at it.
    fn unchecked(&self) -> Result<After, Trouble> {
        let error = "the commands that must succeed before it is done were not run";
        self.close(Outcome::Completed, None, error)?;
        self.note_error(error)?;
        review::to_review(self.tx, self.card, self.run, &Reviewer::Human, "not_checked", self.now)?;
        Ok(After::Review)
    }

    /// What it may spend is spent: only somebody who gives it more lets it go on.
    fn out_of_budget(&self, what: &str) -> Result<After, Trouble> {
        let reason = format!("its budget is used up: {what}");
        self.close(Outcome::Blocked, None, &reason)?;
        act::release(self.tx, &self.card.id, Status::Blocked)?;
        self.note_error(&reason)?;
        review::own_row(self.tx, &self.card.id)?;
        self.tx.execute("UPDATE hx_cards SET cleared_by = 'operator' WHERE task_id = ?1", [&self.card.id])?;
        let payload = json!({ "reason": reason, "by": "budget" });
        record(self.tx, &self.card.id, Some(self.run), "blocked", &payload, self.now)?;
        Ok(After::Blocked)
    }

    fn quota(&self, until: Option<Seconds>, error: &str, code: Option<i32>) -> Result<After, Trouble> {
        let mut payload = self.process();
        payload.insert("exit_code".to_owned(), json!(code));
        self.fail(&Failure {
            class: FailureClass::Quota,
            outcome: Outcome::RateLimited,
            event: "rate_limited",
            payload,
            error,
            until: until.map(|until| until.min(self.now + LONGEST_QUOTA)),
        })
    }

    fn crashed(&self, kind: &str, code: i32) -> Result<After, Trouble> {
        let mut payload = self.process();
        payload.insert("exit_kind".to_owned(), json!(kind));
        payload.insert("exit_code".to_owned(), json!(code));
        let error = match kind {
            "signaled" => format!("the worker was killed by signal {code}"),
            _ => format!("the worker ended with exit code {code}"),
        };
        self.fail(&Failure {
            class: FailureClass::Task,
            outcome: Outcome::Crashed,
            event: "crashed",
            payload,
            error: &error,
            until: None,
        })
    }

    fn vanished(&self) -> Result<After, Trouble> {
        self.fail(&Failure {
            class: FailureClass::Infrastructure,
            outcome: Outcome::Crashed,
            event: "crashed",
            payload: self.process(),
            error: "the worker is not there any more, and nobody saw it end",
            until: None,
        })
    }

    fn timed_out(&self, elapsed: Seconds, limit: Seconds, killed: Killed) -> Result<After, Trouble> {
        let mut payload = self.process();
        payload.remove("claimer");
        payload.insert("elapsed_seconds".to_owned(), json!(elapsed));
        payload.insert("limit_seconds".to_owned(), json!(limit));
        payload.insert("sigkill".to_owned(), json!(killed == Killed::Forced));
        self.fail(&Failure {
            class: FailureClass::Task,
            outcome: Outcome::TimedOut,
            event: "timed_out",
            payload,
            error: &format!("it took {elapsed} seconds and may take {limit}"),
            until: None,
        })
    }

    fn stale(&self, silent: Seconds, limit: Seconds) -> Result<After, Trouble> {
        let started = started_at(self.tx, self.run)?;
        let payload = json!({
            "elapsed_seconds": self.now - started.unwrap_or(self.now),
            "last_heartbeat_at": self.card.last_heartbeat_at,
            "heartbeat_age_seconds": self.card.last_heartbeat_at.map(|at| self.now - at),
            "timeout_seconds": limit,
            "pid": self.card.worker_pid,
            "termination_attempted": true,
            "terminated": true,
        });
        self.fail(&Failure {
            class: FailureClass::Infrastructure,
            outcome: Outcome::Stale,
            event: "stale",
            payload: object(payload),
            error: &format!("nothing came of it for {silent} seconds"),
            until: None,
        })
    }

    fn not_started(&self, step: &str, error: &str) -> Result<After, Trouble> {
        let error = if step == "spawn" { error.to_owned() } else { format!("{step}: {error}") };
        self.fail(&Failure {
            class: FailureClass::Infrastructure,
            outcome: Outcome::SpawnFailed,
            event: "spawn_failed",
            payload: object(json!({ "error": short(&error) })),
            error: &error,
            until: None,
        })
    }

    /// Somebody wanted it to end: no failure of anybody.
    fn stopped(&self, stop: &Stop) -> Result<After, Trouble> {
        let said = stop.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let reason = format!("stopped by {}{said}", stop.by);
        self.close(Outcome::Reclaimed, None, &reason)?;
        let id = &self.card.id;
        if stop.then == Then::StayOut {
            act::release(self.tx, id, Status::Blocked)?;
            review::own_row(self.tx, id)?;
            self.tx.execute("UPDATE hx_cards SET cleared_by = 'operator' WHERE task_id = ?1", [id])?;
            record(self.tx, id, Some(self.run), "blocked", &json!({ "reason": reason }), self.now)?;
            return Ok(After::Blocked);
        }
        act::release(self.tx, id, self.home()?)?;
        let payload = json!({
            "manual": true, "reason": reason, "prev_lock": self.card.claim_lock, "prev_pid": self.card.worker_pid,
            "host_local": true, "termination_attempted": true, "terminated": true,
        });
        record(self.tx, id, Some(self.run), "reclaimed", &payload, self.now)?;
        Ok(After::Again { not_before: None })
    }

    /// Counts a failure. The card waits, longer each time, and after too many nobody tries any more.
    pub(crate) fn fail(&self, failure: &Failure<'_>) -> Result<After, Trouble> {
        let id = &self.card.id;
        let (failures, limit, source) = self.count(failure.class)?;
        let error = short(failure.error);
        self.close(failure.outcome, None, &error)?;
        self.note_error(&error)?;
        let mut payload = failure.payload.clone();
        if failure.event == "spawn_failed" {
            payload.insert("failures".to_owned(), json!(failures));
        }
        record(self.tx, id, Some(self.run), failure.event, &Value::Object(payload), self.now)?;
        if failures >= limit {
            self.give_up(failure, failures, limit, source)?;
            return Ok(After::Blocked);
        }
        let first =
            if failure.class == FailureClass::Quota { self.rules.quota_cooldown } else { self.rules.backoff };
        let wait = self.now + self.rules.wait(first, failures);
        let not_before = Some(wait.max(failure.until.unwrap_or(wait))).filter(|at| *at > self.now);
        self.tx.execute("UPDATE hx_cards SET not_before = ?2 WHERE task_id = ?1", params![id, not_before])?;
        act::release(self.tx, id, self.home()?)?;
        Ok(After::Again { not_before })
    }

    /// How often it failed that way now, how often it may, and who says so.
    fn count(&self, class: FailureClass) -> Result<(i64, i64, &'static str), Trouble> {
        let id = &self.card.id;
        review::own_row(self.tx, id)?;
        let own = |column: &str| -> rusqlite::Result<i64> {
            self.tx.query_row(
                &format!("UPDATE hx_cards SET {column} = {column} + 1 WHERE task_id = ?1 RETURNING {column}"),
                [id],
                |row| row.get(0),
            )
        };
        Ok(match class {
            FailureClass::Infrastructure => {
                (own("infra_failures")?, i64::from(self.rules.infra_limit), "dispatcher")
            }
            FailureClass::Quota => (own("quota_hits")?, i64::from(self.rules.quota_limit), "dispatcher"),
            FailureClass::Task | FailureClass::Operator => {
                let failures = self.tx.query_row(
                    "UPDATE tasks SET consecutive_failures = consecutive_failures + 1 WHERE id = ?1 \
                     RETURNING consecutive_failures",
                    [id],
                    |row| row.get(0),
                )?;
                match self.card.max_retries {
                    Some(limit) => (failures, limit, "task"),
                    None => (failures, i64::from(self.rules.failure_limit), "dispatcher"),
                }
            }
        })
    }

    /// Nobody tries any more, until an operator, other settings, or a finished parent change something. The second event
    /// is the one the other program respects.
    fn give_up(&self, failure: &Failure<'_>, failures: i64, limit: i64, source: &str) -> Result<(), Trouble> {
        let id = &self.card.id;
        act::release(self.tx, id, Status::Blocked)?;
        self.tx.execute(
            "UPDATE hx_cards SET tripped = ?2, tripped_rules = ?3, not_before = NULL WHERE task_id = ?1",
            params![id, word(failure.class), self.rules.fingerprint],
        )?;
        let mut payload = object(json!({
            "failures": failures, "effective_limit": limit, "limit_source": source, "error": short(failure.error),
            "trigger_outcome": failure.outcome, "class": word(failure.class),
        }));
        for key in ["pid", "claimer", "sigkill"] {
            if let Some(value) = failure.payload.get(key) {
                payload.insert(key.to_owned(), value.clone());
            }
        }
        record(self.tx, id, None, "gave_up", &Value::Object(payload), self.now)?;
        let reason = format!("given up after {failures} failures: {}", short(failure.error));
        record(self.tx, id, None, "blocked", &json!({ "reason": reason, "by": "breaker" }), self.now)?;
        Ok(())
    }

    /// Ends the attempt in the record.
    pub(crate) fn close(&self, outcome: Outcome, summary: Option<&str>, error: &str) -> rusqlite::Result<()> {
        let end = End { summary, error: Some(error), metadata: None };
        attempt::close(self.tx, &self.card.id, self.run, outcome, &end, self.now)
    }

    fn note_error(&self, error: &str) -> rusqlite::Result<()> {
        self.tx.execute(
            "UPDATE tasks SET last_failure_error = ?2 WHERE id = ?1",
            params![self.card.id, short(error)],
        )?;
        Ok(())
    }

    /// Where the card waits to be taken again: a look at it that failed leaves it to be looked at.
    fn home(&self) -> rusqlite::Result<Status> {
        review::home(self.tx, &self.card.id, self.run)
    }

    /// The worker and who took the card, for the record.
    fn process(&self) -> Map<String, Value> {
        object(json!({ "pid": self.card.worker_pid, "claimer": self.card.claim_lock }))
    }
}

fn word(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Task => "task",
        FailureClass::Infrastructure => "infrastructure",
        FailureClass::Quota => "quota",
        FailureClass::Operator => "operator",
    }
}

fn started_at(tx: &Transaction<'_>, run: RunId) -> rusqlite::Result<Option<Seconds>> {
    use rusqlite::OptionalExtension;
    tx.query_row("SELECT started_at FROM task_runs WHERE id = ?1", [run], |row| row.get(0)).optional()
}

pub(crate) fn short(text: &str) -> String {
    text.chars().take(LONGEST_ERROR).collect()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Forgets what went wrong: somebody or something has changed, and the card begins anew.
pub(crate) fn forget_failures(tx: &Transaction<'_>, id: &CardId) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE tasks SET consecutive_failures = 0, last_failure_error = NULL WHERE id = ?1")?
        .execute([id])?;
    tx.prepare_cached(
        "UPDATE hx_cards SET infra_failures = 0, quota_hits = 0, no_verdicts = 0, tripped = NULL, tripped_rules = NULL, \
         not_before = NULL, skip_reason = NULL, cleared_by = NULL WHERE task_id = ?1",
    )?
    .execute([id])?;
    Ok(())
}
