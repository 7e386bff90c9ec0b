//! Doing what was planned. Every change looks again before it is made: whoever came first is respected.

use hermes_store::rusqlite::{self, Transaction, params};
use serde_json::{Value, json};

use crate::attempt::{self, End};
use crate::board::{Board, Trouble};
use crate::card::{CardId, Outcome, RunId, Seconds, Status};
use crate::claim::{self, Claim, Claimed, Claimer, Lane};
use crate::dispatch::Rules;
use crate::dispatch::ended::{After, ended, forget_failures};
use crate::dispatch::plan::{Assigned, Fate, Judged, Plan, Signal, Skip, Start};
use crate::dispatch::report::{Report, Spawned};
use crate::dispatch::snapshot::Running;
use crate::dispatch::why::Why;
use crate::ending::{Ending, Stop, Verdict};
use crate::error::BoardError;
use crate::event::record;
use crate::transition::{Parents, Step};
use crate::workers::Worker;
use crate::{act, review, state, waiting};

/// Starts and ends processes for the dispatcher. Nothing here waits.
pub trait Launcher {
    /// Starts whoever looks after the worker of a card that was just taken.
    fn launch(&mut self, board: &Board, claim: &Claim) -> Result<(), String>;

    /// Tells whoever looks after a worker that it should end. Why is written on the worker already.
    fn stop(&mut self, worker: &Worker);

    /// Sends a signal to a worker that another program started.
    fn signal_foreign(&mut self, pid: i64, how: Signal);

    /// Whether whoever was started for an attempt can still begin it. One who does not know says yes.
    fn may_begin(&mut self, _run: RunId) -> bool {
        true
    }
}

/// How much longer a card is held whose worker was asked to end.
const DEFERRED: Seconds = 120;

impl Board {
    /// Does what was planned, and says what came of it.
    pub fn apply(
        &mut self,
        plan: &Plan,
        rules: &Rules,
        claimer: &Claimer,
        launcher: &mut dyn Launcher,
        now: Seconds,
    ) -> Result<Report, BoardError> {
        let mut report = Report::passed_over(plan);
        for judged in &plan.attempts {
            self.settle(judged, rules, launcher, now, &mut report)?;
        }
        self.let_planned_go(plan, now, &mut report)?;
        self.write_reasons(plan, now, &mut report)?;
        for start in &plan.start {
            self.start(start, rules, claimer, launcher, now, &mut report)?;
        }
        self.make_jobs(plan, rules, now, &mut report)?;
        Ok(report)
    }

    /// What becomes of one attempt under way.
    fn settle(
        &mut self,
        judged: &Judged,
        rules: &Rules,
        launcher: &mut dyn Launcher,
        now: Seconds,
        report: &mut Report,
    ) -> Result<(), BoardError> {
        let Judged { running, fate } = judged;
        match fate {
            Fate::Extend => {
                let until = now + rules.claim_seconds;
                self.write(|tx| Ok(extend(tx, running, until, &extended(running, until), now)?))?;
            }
            Fate::Release => {
                let payload = taken_back(running, true, now);
                report.reclaimed += u32::from(self.write(|tx| give_back(tx, running, &payload, now))?);
            }
            Fate::Expire { local } => {
                let payload = taken_back(running, *local, now);
                report.reclaimed += u32::from(self.write(|tx| give_back(tx, running, &payload, now))?);
            }
            Fate::End(ending) => {
                let Some(run) = running.run else { return Ok(()) };
                let after = self.write(|tx| {
                    let after = ended(tx, &running.card, run, ending, rules, now)?;
                    tx.execute(
                        "UPDATE hx_workers SET ended_at = ?2 WHERE run_id = ?1 AND ended_at IS NULL",
                        params![run, now],
                    )?;
                    Ok(after)
                })?;
                note_ending(report, running, ending, &after);
            }
            Fate::Stop(stop) => self.stop_worker(running, stop, launcher, now)?,
            Fate::Signal { how, why } => self.signal(running, *how, why, launcher, now)?,
        }
        Ok(())
    }

    /// Wants a worker of ours to end, and leaves it the time for that.
    fn stop_worker(
        &mut self,
        running: &Running,
        stop: &Stop,
        launcher: &mut dyn Launcher,
        now: Seconds,
    ) -> Result<(), BoardError> {
        let Some(run) = running.run else { return Ok(()) };
        let worker = self.ask_to_stop(run, stop)?;
        let until = now + DEFERRED;
        let payload = deferred(running, "heartbeat_stale_worker_alive", until);
        self.write(|tx| Ok(extend(tx, running, until, &payload, now)?))?;
        if let Some(worker) = worker {
            launcher.stop(&worker);
        }
        Ok(())
    }

    /// Sends a signal to a worker of another program, and remembers the first.
    fn signal(
        &mut self,
        running: &Running,
        how: Signal,
        why: &str,
        launcher: &mut dyn Launcher,
        now: Seconds,
    ) -> Result<(), BoardError> {
        let (Some(run), Some(pid)) = (running.run, running.pid) else { return Ok(()) };
        if how == Signal::Ask {
            let until = now + DEFERRED;
            let reason =
                if why == "expired" { "ttl_expired_worker_alive" } else { "heartbeat_stale_worker_alive" };
            let held = self.write(|tx| {
                review::own_row(tx, &running.card)?;
                tx.execute(
                    "UPDATE hx_cards SET signalled_run = ?2, signalled_at = ?3, signalled_for = ?4 WHERE task_id = ?1",
                    params![running.card, run, now, why],
                )?;
                Ok(extend(tx, running, until, &deferred(running, reason, until), now)?)
            })?;
            if !held {
                return Ok(());
            }
        }
        launcher.signal_foreign(pid, how);
        Ok(())
    }

    /// Cards that need not wait any more.
    fn let_planned_go(&mut self, plan: &Plan, now: Seconds, report: &mut Report) -> Result<(), BoardError> {
        if plan.due.is_empty() && plan.rules_changed.is_empty() && plan.promote.is_empty() {
            return Ok(());
        }
        report.promoted += self.write(|tx| {
            let mut promoted = 0;
            for (card, _) in &plan.due {
                promoted += u32::from(wake(tx, card, "scheduled", "run_at", now)?);
            }
            for card in &plan.rules_changed {
                promoted += u32::from(wake(tx, card, "blocked", "settings_changed", now)?);
            }
            for card in &plan.promote {
                if waiting::parents(tx, card)? == Parents::Finished {
                    promoted += u32::from(waiting::promote(tx, card, now)?);
                }
            }
            Ok(promoted)
        })?;
        Ok(())
    }

    /// Writes down why cards are passed over, where that has changed, and to whom the settings gave them.
    fn write_reasons(&mut self, plan: &Plan, now: Seconds, report: &mut Report) -> Result<(), BoardError> {
        let changed: Vec<(&Skip, String)> = plan
            .skip
            .iter()
            .filter_map(|skip| Some((skip, skip.why.to_write()?)))
            .filter(|(skip, reason)| skip.said.as_ref() != Some(reason))
            .collect();
        let given: Vec<(&CardId, &str)> =
            plan.skip.iter().filter_map(|skip| Some((&skip.card, skip.assign.as_deref()?))).collect();
        if changed.is_empty() && given.is_empty() && plan.cleared.is_empty() {
            return Ok(());
        }
        let assigned = self.write(|tx| {
            for card in &plan.cleared {
                tx.prepare_cached("UPDATE hx_cards SET skip_reason = NULL WHERE task_id = ?1")?
                    .execute([card])?;
            }
            for (skip, reason) in &changed {
                review::own_row(tx, &skip.card)?;
                tx.prepare_cached("UPDATE hx_cards SET skip_reason = ?2 WHERE task_id = ?1")?
                    .execute(params![skip.card, reason])?;
                if let Why::Guarded(guard) = skip.why {
                    record(tx, &skip.card, None, "respawn_guarded", &json!({ "reason": guard.word() }), now)?;
                }
            }
            let mut assigned = Vec::new();
            for (card, profile) in &given {
                if assign_by_default(tx, card, profile, now)? {
                    assigned.push((*card).clone());
                }
            }
            Ok(assigned)
        })?;
        report.auto_assigned_default.extend(assigned);
        Ok(())
    }

    /// Makes cards for splitting those in triage. They are started with the next look.
    fn make_jobs(
        &mut self,
        plan: &Plan,
        rules: &Rules,
        now: Seconds,
        report: &mut Report,
    ) -> Result<(), BoardError> {
        let Some(auto) = rules.auto_split.as_ref().filter(|_| !plan.split.is_empty()) else { return Ok(()) };
        let made = self.write(|tx| {
            let mut made = Vec::new();
            for card in &plan.split {
                made.extend(crate::triage::make_job(tx, card, auto, now)?.map(|_| card.clone()));
            }
            Ok(made)
        })?;
        if !made.is_empty() {
            report.wake_at = Some(now);
        }
        report.splitting.extend(made);
        Ok(())
    }

    /// Takes a card and has a worker started for it.
    fn start(
        &mut self,
        start: &Start,
        rules: &Rules,
        claimer: &Claimer,
        launcher: &mut dyn Launcher,
        now: Seconds,
        report: &mut Report,
    ) -> Result<(), BoardError> {
        let Some(claim) = self.write(|tx| take(tx, start, rules, claimer, now))? else { return Ok(()) };
        if start.assigned == Assigned::ByDefault {
            report.auto_assigned_default.push(start.card.clone());
        }
        match launcher.launch(self, &claim) {
            Ok(()) => report.spawned.push(Spawned {
                task_id: start.card.clone(),
                assignee: start.profile.clone(),
                workspace: claim.card.workspace_path.clone().unwrap_or_default(),
            }),
            Err(error) => {
                let ending = Ending::NotStarted { step: "spawn", error };
                if self.ended(&start.card, claim.run, &ending, rules, now)? == After::Blocked {
                    report.auto_blocked.push(start.card.clone());
                }
            }
        }
        Ok(())
    }
}

/// Takes a card as planned, if it still is as it was seen.
fn take(
    tx: &Transaction<'_>,
    start: &Start,
    rules: &Rules,
    claimer: &Claimer,
    now: Seconds,
) -> Result<Option<Claim>, Trouble> {
    let Some(card) = crate::rows::find(tx, &start.card)? else { return Ok(None) };
    let wanted = if start.lane == Lane::Review { Status::Review } else { Status::Ready };
    let extras = crate::extras::Extras::load(tx, &start.card)?;
    let edited = extras.editing_until.is_some_and(|until| until > now);
    if card.status != wanted || card.claim_lock.is_some() || edited || !state::load(tx)?.mode.starts_cards() {
        return Ok(None);
    }
    match start.assigned {
        Assigned::ByDefault => {
            if !assign_by_default(tx, &start.card, &start.profile, now)? {
                return Ok(None);
            }
        }
        Assigned::Before if start.lane == Lane::Work && card.assignee.as_deref() != Some(&start.profile) => {
            return Ok(None);
        }
        Assigned::Before => {}
    }
    let Claimed::Yes(mut claim) = claim::claim(tx, &start.card, claimer, rules.claim_seconds, now)? else {
        return Ok(None);
    };
    review::own_row(tx, &start.card)?;
    let review = (start.lane == Lane::Review).then_some(claim.run);
    tx.prepare_cached(
        "UPDATE hx_cards SET launched_run = ?2, review_run = ?3, not_before = NULL, skip_reason = NULL WHERE task_id = ?1",
    )?
    .execute(params![start.card, claim.run, review])?;
    tx.prepare_cached("UPDATE task_runs SET profile = ?2 WHERE id = ?1")?
        .execute(params![claim.run, start.profile])?;
    claim.profile = Some(start.profile.clone());
    Ok(Some(*claim))
}

/// Gives a card that names nobody to whom the settings name; whether it named nobody still.
fn assign_by_default(
    tx: &Transaction<'_>,
    card: &CardId,
    profile: &str,
    now: Seconds,
) -> rusqlite::Result<bool> {
    let given = tx
        .prepare_cached(
            "UPDATE tasks SET assignee = ?2 WHERE id = ?1 AND (assignee IS NULL OR trim(assignee) = '')",
        )?
        .execute(params![card, profile])?;
    if given == 0 {
        return Ok(false);
    }
    let payload = json!({ "assignee": profile, "source": "kanban.default_assignee" });
    record(tx, card, None, "assigned", &payload, now)?;
    Ok(true)
}

/// Lets a card go on that was put off or given up.
fn wake(tx: &Transaction<'_>, id: &CardId, from: &str, reason: &str, now: Seconds) -> Result<bool, Trouble> {
    let Some(card) = crate::rows::find(tx, id)? else { return Ok(false) };
    if card.status.as_str() != from {
        return Ok(false);
    }
    let (_, step) = act::stepped(tx, id, act::By::Anybody, Step::Unblock)?;
    act::release(tx, id, step.to)?;
    forget_failures(tx, id)?;
    tx.prepare_cached("UPDATE hx_cards SET run_at = NULL WHERE task_id = ?1")?.execute([id])?;
    let mut payload = json!({ "reason": reason });
    if step.to == Status::Todo {
        payload["status"] = json!(step.to);
    }
    record(tx, id, None, step.event, &payload, now)?;
    Ok(true)
}

/// Makes a claim hold longer, if it is the one that was seen.
fn extend(
    tx: &Transaction<'_>,
    running: &Running,
    until: Seconds,
    (event, payload): &(&str, Value),
    now: Seconds,
) -> rusqlite::Result<bool> {
    let held = tx.execute(
        "UPDATE tasks SET claim_expires = ?4 \
         WHERE id = ?1 AND status = 'running' AND current_run_id IS ?2 AND claim_lock IS ?3",
        params![running.card, running.run, running.lock, until],
    )?;
    if held == 0 {
        return Ok(false);
    }
    tx.execute(
        "UPDATE task_runs SET claim_expires = ?2 WHERE id = ?1 AND ended_at IS NULL",
        params![running.run, until],
    )?;
    record(tx, &running.card, running.run, event, payload, now)?;
    Ok(true)
}

fn extended(running: &Running, until: Seconds) -> (&'static str, Value) {
    let payload = json!({
        "reason": "pid_alive", "worker_pid": running.pid, "claim_lock": running.lock,
        "claim_expires_was": running.expires, "claim_expires_now": until, "last_heartbeat_at": running.heartbeat_at,
    });
    ("claim_extended", payload)
}

fn deferred(running: &Running, reason: &str, until: Seconds) -> (&'static str, Value) {
    let payload = json!({
        "reason": reason, "claim_lock": running.lock, "claim_expires_now": until, "prev_pid": running.pid,
        "host_local": true, "termination_attempted": true, "terminated": false, "sigkill": false,
    });
    ("reclaim_deferred", payload)
}

fn taken_back(running: &Running, local: bool, now: Seconds) -> Value {
    json!({
        "stale_lock": running.lock, "worker_pid": running.pid, "claim_expires": running.expires,
        "last_heartbeat_at": running.heartbeat_at, "now": now, "host_local": local, "prev_pid": running.pid,
        "termination_attempted": running.signalled.is_some(), "terminated": running.signalled.is_some(),
        "sigkill": false,
    })
}

/// Takes a card back from a claim that nobody stands behind, if it is still that claim and nobody began or renewed it.
fn give_back(
    tx: &Transaction<'_>,
    running: &Running,
    payload: &Value,
    now: Seconds,
) -> Result<bool, Trouble> {
    let same: bool = tx.query_row(
        "SELECT EXISTS (SELECT 1 FROM tasks WHERE id = ?1 AND status = 'running' AND current_run_id IS ?2 \
         AND claim_lock IS ?3 AND claim_expires IS ?4 AND worker_pid IS ?5)",
        params![running.card, running.run, running.lock, running.expires, running.pid],
        |row| row.get(0),
    )?;
    if !same {
        return Ok(false);
    }
    let home = match running.run {
        Some(run) => close(tx, &running.card, run, now)?,
        None => Status::Ready,
    };
    act::release(tx, &running.card, home)?;
    record(tx, &running.card, running.run, "reclaimed", payload, now)?;
    Ok(true)
}

fn close(tx: &Transaction<'_>, card: &CardId, run: RunId, now: Seconds) -> rusqlite::Result<Status> {
    let home = review::home(tx, card, run)?;
    review::forget(tx, run)?;
    attempt::close(tx, card, run, Outcome::Reclaimed, &End::default(), now)?;
    Ok(home)
}

fn note_ending(report: &mut Report, running: &Running, ending: &Ending, after: &After) {
    let card = running.card.clone();
    match after {
        After::Nothing => return,
        After::Blocked => report.auto_blocked.push(card.clone()),
        _ => {}
    }
    let verdict = running.worker.as_ref().and_then(|worker| worker.verdict.as_ref());
    match (ending, verdict) {
        (Ending::Vanished, Some(Verdict::Quota { .. })) => report.rate_limited.push(card),
        (Ending::TimedOut { .. }, _) => report.timed_out.push(card),
        (Ending::Stale { .. }, _) => report.stale.push(card),
        _ => report.crashed.push(card),
    }
}
