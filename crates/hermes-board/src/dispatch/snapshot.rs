//! What a look at a board shows. Read in one snapshot, set by set.

use std::collections::HashMap;

use hermes_store::rusqlite::{self, Params, Row, Transaction, params};

use crate::board::Board;
use crate::card::{CardId, RunId, Seconds};
use crate::dispatch::guard::{self, Touched};
use crate::dispatch::why::Guard;
use crate::dispatch::{Elsewhere, Rules};
use crate::error::BoardError;
use crate::state::{self, State};
use crate::transition::Parents;
use crate::waiting::{self, Among};
use crate::workers::{self, Worker};

/// How much of a board is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of it.
    All,
    /// What changed since this event, and as many cards as could be started.
    Since(i64),
}

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Workers that have not ended and whose card is not theirs any more: closed, blocked, taken away.
    pub leaving: Vec<Worker>,
    /// Whether cards are started at all.
    pub state: State,
    /// How much was looked at.
    pub scope: Scope,
    /// The newest event at that time: the next look can begin there.
    pub newest_event: i64,
    /// Cards under way.
    pub running: Vec<Running>,
    /// Cards that were put off until now.
    pub due: Vec<Due>,
    /// Cards that were given up under other settings.
    pub rules_changed: Vec<CardId>,
    /// Cards that waited for others and need not any more.
    pub free: Vec<Candidate>,
    /// Cards that can be taken, in the order they should be.
    pub ready: Vec<Candidate>,
    /// Cards that wait to be looked at.
    pub review: Vec<Candidate>,
    /// Cards in triage that are to be split by themselves.
    pub triage: Vec<CardId>,
    /// When something happens by itself next: a wait is over, a card's time has come.
    pub wake_at: Option<Seconds>,
}

/// A card under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// The card.
    pub card: CardId,
    /// Who works.
    pub profile: Option<String>,
    /// The attempt; none only in a file somebody else broke.
    pub run: Option<RunId>,
    /// Who holds it: `host:pid`.
    pub lock: Option<String>,
    /// Until when.
    pub expires: Option<Seconds>,
    /// The worker's process, once it began.
    pub pid: Option<i64>,
    /// When the attempt began.
    pub started_at: Seconds,
    /// When the worker was last heard of.
    pub heartbeat_at: Option<Seconds>,
    /// How long the attempt may take.
    pub max_runtime: Option<Seconds>,
    /// The worker, if this program started it.
    pub worker: Option<Worker>,
    /// Whether a dispatcher of ours took it, to start a worker.
    pub taken: Taken,
    /// That the worker was asked to end, by signal.
    pub signalled: Option<Signalled>,
}

/// Who took a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// A dispatcher of this program.
    ToStart,
    /// Somebody else: a person, another program.
    Otherwise,
}

/// A signal that was sent to a worker which another program started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signalled {
    /// When the first was sent.
    pub at: Seconds,
    /// Why: `timed_out`, `stale`, `expired`.
    pub why: String,
}

/// A card whose time has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Due {
    /// The card.
    pub candidate: Candidate,
    /// Whether it waits for others still.
    pub parents: Parents,
}

/// A card that might be started.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidate {
    /// The card.
    pub card: CardId,
    /// Who should work on it.
    pub assignee: Option<String>,
    /// Larger comes sooner.
    pub priority: i64,
    /// When it should be finished.
    pub deadline: Option<Seconds>,
    /// When it was made.
    pub created_at: Seconds,
    /// The order of cards made in the same second.
    pub row: i64,
    /// Where it is worked on, if that is known.
    pub workspace: Option<String>,
    /// Before then it is not tried.
    pub not_before: Option<Seconds>,
    /// Somebody edits it until then.
    pub editing_until: Option<Seconds>,
    /// What of its budget is used up.
    pub used_up: Option<String>,
    /// Why it should not be started again so soon.
    pub guard: Option<Guard>,
    /// Why it was passed over last time.
    pub skip_reason: Option<String>,
    /// Who should look at it.
    pub reviewer: Option<String>,
    /// Who did the work that is to be looked at.
    pub produced_by: Option<String>,
}

impl Board {
    /// Looks at the board. Nothing is changed.
    pub fn snapshot(&mut self, scope: Scope, rules: &Rules, now: Seconds) -> Result<Snapshot, BoardError> {
        self.read(|tx| look(tx, scope, rules, now))
    }

    /// How many cards run, by who works on them.
    pub fn running(&mut self) -> Result<Elsewhere, BoardError> {
        self.read(|tx| {
            let mut statement = tx.prepare_cached(
                "SELECT coalesce(r.profile, t.assignee), count(*) FROM tasks t \
                 LEFT JOIN task_runs r ON r.id = t.current_run_id WHERE t.status = 'running' GROUP BY 1",
            )?;
            let mut rows = statement.query([])?;
            let mut sum = Elsewhere::default();
            while let Some(row) = rows.next()? {
                let count: u32 = row.get(1)?;
                sum.total += count;
                if let Some(profile) = row.get::<_, Option<String>>(0)? {
                    *sum.by_profile.entry(profile).or_default() += count;
                }
            }
            Ok(sum)
        })
    }
}

/// Candidates looked at beyond those that could be started, when only what changed is: some may be held back.
const SPARE: usize = 16;

fn look(tx: &Transaction<'_>, scope: Scope, rules: &Rules, now: Seconds) -> rusqlite::Result<Snapshot> {
    let running = running(tx)?;
    let among = match scope {
        Scope::All => Among::Board,
        Scope::Since(event) => Among::Since(event),
    };
    let mut found = Found::default();
    let due = due(tx, now, &mut found)?;
    let free = free(tx, among, &mut found)?;
    let room = rules.room(running.len());
    let (ready, review) = match (scope, room) {
        (Scope::Since(_), Some(room)) => {
            (heads(tx, room, rules, now, &mut found)?, review(tx, room, &mut found)?)
        }
        _ => (ready(tx, &mut found)?, review(tx, usize::MAX, &mut found)?),
    };
    let mut snapshot = Snapshot {
        state: state::load(tx)?,
        scope,
        newest_event: tx
            .prepare_cached("SELECT coalesce(max(id), 0) FROM task_events")?
            .query_row([], |row| row.get(0))?,
        leaving: leaving(tx)?,
        running,
        due,
        rules_changed: rules_changed(tx, rules)?,
        free,
        ready,
        review,
        triage: crate::triage::waiting_for_job(tx, rules.auto_split.as_ref(), now)?,
        wake_at: wake_at(tx, now)?,
    };
    found.finish(tx, &mut snapshot, rules, now)?;
    Ok(snapshot)
}

/// What is to be looked up for candidates once all of them are known.
#[derive(Default)]
struct Found {
    /// Those that somebody worked on before.
    touched: Vec<CardId>,
    /// Those with a budget: most tokens, most money.
    budgets: HashMap<CardId, (Option<i64>, Option<f64>)>,
}

impl Found {
    /// Puts in what keeps candidates from being started again.
    fn finish(
        self,
        tx: &Transaction<'_>,
        snapshot: &mut Snapshot,
        rules: &Rules,
        now: Seconds,
    ) -> rusqlite::Result<()> {
        let Snapshot { scope, due, free, ready, .. } = snapshot;
        let others = due.iter().map(|due| &due.candidate).chain(free.iter()).chain(ready.iter());
        let ids: Option<Vec<CardId>> =
            (*scope != Scope::All).then(|| others.map(|candidate| candidate.card.clone()).collect());
        let guards =
            guard::guards(tx, &Touched { attempted: &self.touched, among: ids.as_deref() }, rules, now)?;
        let used = self.used_up(tx)?;
        for candidate in
            ready.iter_mut().chain(free.iter_mut()).chain(due.iter_mut().map(|due| &mut due.candidate))
        {
            candidate.guard = guards.get(&candidate.card).copied();
            candidate.used_up = used.get(&candidate.card).cloned();
        }
        for candidate in &mut snapshot.review {
            candidate.used_up = used.get(&candidate.card).cloned();
        }
        Ok(())
    }

    /// The budgets that are used up, in words.
    fn used_up(&self, tx: &Transaction<'_>) -> rusqlite::Result<HashMap<CardId, String>> {
        let mut used = HashMap::new();
        for (card, (tokens, money)) in &self.budgets {
            if let Some(what) = used_up(*tokens, *money, &workers::usage_of(tx, card)?) {
                used.insert(card.clone(), what);
            }
        }
        Ok(used)
    }
}

/// What of a budget is used up, in words.
pub(crate) fn used_up(tokens: Option<i64>, money: Option<f64>, usage: &workers::Usage) -> Option<String> {
    match (tokens, money) {
        (Some(most), _) if usage.tokens() >= most => Some(format!("{} of {most} tokens", usage.tokens())),
        (_, Some(most)) if usage.cost_usd >= most => Some(format!("${:.2} of ${most:.2}", usage.cost_usd)),
        _ => None,
    }
}

/// Workers that should be gone soon. Until then nobody else begins with their card.
fn leaving(tx: &Transaction<'_>) -> rusqlite::Result<Vec<Worker>> {
    let sql = format!(
        "SELECT {} FROM hx_workers WHERE ended_at IS NULL AND run_id NOT IN \
         (SELECT current_run_id FROM tasks WHERE status = 'running' AND current_run_id IS NOT NULL)",
        workers::WORKER
    );
    tx.prepare_cached(&sql)?.query_map([], workers::worker)?.collect()
}

const CANDIDATE: &str = "SELECT tasks.id, assignee, priority, created_at, tasks.rowid, workspace_path, started_at IS NOT NULL \
     OR completed_at IS NOT NULL OR last_failure_error IS NOT NULL, h.deadline, h.not_before, h.editing_until, h.skip_reason, \
     coalesce(h.review_by, h.reviewer), h.produced_by, h.max_tokens, h.max_cost_usd \
     FROM tasks LEFT JOIN hx_cards h ON h.task_id = tasks.id";

/// Leaps from one profile with cards to the next, however many cards it has.
const PROFILES: &str = "WITH RECURSIVE who(name) AS (SELECT min(assignee) FROM tasks WHERE status = 'ready' UNION ALL \
     SELECT (SELECT min(assignee) FROM tasks WHERE status = 'ready' AND assignee > who.name) FROM who \
     WHERE who.name IS NOT NULL) SELECT name FROM who WHERE name IS NOT NULL";

const HEAD: &str = "status = 'ready' AND assignee IS ?1 AND claim_lock IS NULL AND coalesce(h.not_before, 0) <= ?2 \
     ORDER BY priority DESC, created_at LIMIT ?3";

/// Those for a person are of no use to one that only looks for cards to start.
const REVIEW: &str = "status = 'review' AND claim_lock IS NULL \
     AND (?1 = 9223372036854775807 OR h.review_by IS NOT 'human') ORDER BY priority DESC, created_at LIMIT ?1";

const DUE: &str = "h.run_at <= ?1 AND status = 'scheduled'";

const RULES_CHANGED: &str = "SELECT h.task_id FROM hx_cards h JOIN tasks t ON t.id = h.task_id \
     WHERE h.tripped IS NOT NULL AND h.tripped_rules != ?1 AND t.status = 'blocked'";

const WAKE_AT: &str = "SELECT min(at) FROM (\
     SELECT * FROM (SELECT h.not_before AS at FROM hx_cards h CROSS JOIN tasks t ON t.id = h.task_id \
       WHERE h.not_before > ?1 AND t.status IN ('ready', 'review') ORDER BY h.not_before LIMIT 1) \
     UNION ALL SELECT * FROM (SELECT h.run_at AS at FROM hx_cards h CROSS JOIN tasks t ON t.id = h.task_id \
       WHERE h.run_at > ?1 AND t.status = 'scheduled' ORDER BY h.run_at LIMIT 1))";

fn candidate(row: &Row<'_>, found: &mut Found) -> rusqlite::Result<Candidate> {
    let card: CardId = row.get(0)?;
    if row.get(6)? {
        found.touched.push(card.clone());
    }
    let budget: (Option<i64>, Option<f64>) = (row.get(13)?, row.get(14)?);
    if budget != (None, None) {
        found.budgets.insert(card.clone(), budget);
    }
    Ok(Candidate {
        card,
        assignee: row.get::<_, Option<String>>(1)?.filter(|name| !name.trim().is_empty()),
        priority: row.get::<_, Option<i64>>(2)?.unwrap_or(0),
        created_at: row.get(3)?,
        row: row.get(4)?,
        workspace: row.get(5)?,
        deadline: row.get(7)?,
        not_before: row.get(8)?,
        editing_until: row.get(9)?,
        used_up: None,
        guard: None,
        skip_reason: row.get(10)?,
        reviewer: row.get(11)?,
        produced_by: row.get(12)?,
    })
}

fn candidates(
    tx: &Transaction<'_>,
    which: &str,
    params: impl Params,
    found: &mut Found,
) -> rusqlite::Result<Vec<Candidate>> {
    let mut statement = tx.prepare_cached(&format!("{CANDIDATE} WHERE {which}"))?;
    let mut rows = statement.query(params)?;
    let mut candidates = Vec::new();
    while let Some(row) = rows.next()? {
        candidates.push(candidate(row, found)?);
    }
    Ok(candidates)
}

fn ready(tx: &Transaction<'_>, found: &mut Found) -> rusqlite::Result<Vec<Candidate>> {
    candidates(tx, "status = 'ready' AND claim_lock IS NULL ORDER BY priority DESC, created_at", [], found)
}

/// The first cards of every profile, as many as could be started and some more. Profiles are found by leaping from one to
/// the next, so that it does not matter how many cards wait.
fn heads(
    tx: &Transaction<'_>,
    room: usize,
    rules: &Rules,
    now: Seconds,
    found: &mut Found,
) -> rusqlite::Result<Vec<Candidate>> {
    if room == 0 {
        return Ok(Vec::new());
    }
    let names: Vec<String> =
        tx.prepare_cached(PROFILES)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let nobody = rules.default_assignee.is_some().then_some(None);
    let limit = i64::try_from(room.saturating_add(SPARE)).unwrap_or(i64::MAX);
    let mut all = Vec::new();
    for name in names.into_iter().map(Some).chain(nobody) {
        all.extend(candidates(tx, HEAD, params![name, now, limit], found)?);
    }
    Ok(all)
}

fn review(tx: &Transaction<'_>, room: usize, found: &mut Found) -> rusqlite::Result<Vec<Candidate>> {
    if room == 0 {
        return Ok(Vec::new());
    }
    let limit = i64::try_from(room.saturating_add(SPARE)).unwrap_or(i64::MAX);
    candidates(tx, REVIEW, [limit], found)
}

fn free(tx: &Transaction<'_>, among: Among<'_>, found: &mut Found) -> rusqlite::Result<Vec<Candidate>> {
    let mut all = Vec::new();
    for condition in waiting::conditions(among) {
        all.extend(match among {
            Among::Since(event) => candidates(tx, &condition, [event], found)?,
            _ => candidates(tx, &condition, [rusqlite::types::Null], found)?,
        });
    }
    Ok(all)
}

/// Cards that were put off until now.
fn due(tx: &Transaction<'_>, now: Seconds, found: &mut Found) -> rusqlite::Result<Vec<Due>> {
    let candidates = candidates(tx, DUE, [now], found)?;
    let due = candidates.into_iter().map(|candidate| {
        let parents = waiting::parents(tx, &candidate.card)?;
        Ok(Due { candidate, parents })
    });
    due.collect()
}

/// Cards that were given up under other settings than these.
fn rules_changed(tx: &Transaction<'_>, rules: &Rules) -> rusqlite::Result<Vec<CardId>> {
    tx.prepare_cached(RULES_CHANGED)?.query_map([&rules.fingerprint], |row| row.get(0))?.collect()
}

fn wake_at(tx: &Transaction<'_>, now: Seconds) -> rusqlite::Result<Option<Seconds>> {
    tx.prepare_cached(WAKE_AT)?.query_row([now], |row| row.get(0))
}

fn running(tx: &Transaction<'_>) -> rusqlite::Result<Vec<Running>> {
    let sql = format!(
        "SELECT {} FROM hx_workers WHERE run_id IN (SELECT current_run_id FROM tasks WHERE status = 'running')",
        workers::WORKER
    );
    let workers = tx.prepare_cached(&sql)?.query_map([], workers::worker)?.collect::<Result<Vec<_>, _>>()?;
    let mut workers: HashMap<RunId, Worker> =
        workers.into_iter().map(|worker| (worker.run, worker)).collect();
    let mut statement = tx.prepare_cached(
        "SELECT t.id, coalesce(r.profile, t.assignee), t.current_run_id, t.claim_lock, t.claim_expires, t.worker_pid, \
         coalesce(r.started_at, t.started_at, t.created_at), t.last_heartbeat_at, t.max_runtime_seconds, h.launched_run, \
         h.signalled_run, h.signalled_at, h.signalled_for FROM tasks t LEFT JOIN task_runs r ON r.id = t.current_run_id \
         LEFT JOIN hx_cards h ON h.task_id = t.id WHERE t.status = 'running' ORDER BY t.rowid",
    )?;
    let rows = statement.query_map([], |row| {
        let run: Option<RunId> = row.get(2)?;
        let ours = |launched: Option<RunId>| launched.is_some() && launched == run;
        let signalled = ours(row.get(10)?)
            .then(|| -> rusqlite::Result<Signalled> {
                Ok(Signalled {
                    at: row.get::<_, Option<Seconds>>(11)?.unwrap_or(0),
                    why: row.get::<_, Option<String>>(12)?.unwrap_or_default(),
                })
            })
            .transpose()?;
        Ok(Running {
            card: row.get(0)?,
            profile: row.get(1)?,
            run,
            lock: row.get(3)?,
            expires: row.get(4)?,
            pid: row.get(5)?,
            started_at: row.get(6)?,
            heartbeat_at: row.get(7)?,
            max_runtime: row.get(8)?,
            worker: run.and_then(|run| workers.remove(&run)),
            taken: if ours(row.get(9)?) { Taken::ToStart } else { Taken::Otherwise },
            signalled,
        })
    })?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Overrides;
    use crate::{Root, Slug};

    /// However large a board is: a look at what changed reads no table from one end to the other, and no card but those
    /// it is after.
    #[test]
    fn a_look_at_what_changed_leaps() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path(), Overrides::default());
        let mut board = Board::open(&root, &Slug::default_board()).unwrap();
        let mut queries: Vec<String> = [PROFILES, RULES_CHANGED, WAKE_AT].map(String::from).into();
        let conditions = waiting::conditions(Among::Since(1));
        let which = [HEAD, REVIEW, DUE].into_iter().chain(conditions.iter().map(String::as_str));
        queries.extend(which.map(|which| format!("{CANDIDATE} WHERE {which}")));
        for query in queries {
            let steps: Vec<String> = board
                .read(|tx| {
                    let mut statement = tx.prepare(&format!("EXPLAIN QUERY PLAN {query}"))?;
                    let mut rows = statement.raw_query();
                    let mut steps = Vec::new();
                    while let Some(row) = rows.next()? {
                        steps.push(row.get(3)?);
                    }
                    Ok(steps)
                })
                .unwrap();
            let bad = |step: &&String| {
                // A few rows of the query's own making are no table.
                let own = ["SCAN g", "SCAN who", "SCAN (subquery", "SCAN CONSTANT"]
                    .iter()
                    .any(|own| step.starts_with(own));
                let tripped = step.contains("hx_cards_tripped");
                let scan = step.starts_with("SCAN") && !own && !tripped;
                let sort = query.contains("LIMIT ?") && step.contains("TEMP B-TREE");
                let all_waiting = step.contains("status=?")
                    && query.contains("task_events NOT INDEXED")
                    && !step.contains("id=?");
                scan || sort || all_waiting
            };
            let found: Vec<&String> = steps.iter().filter(bad).collect();
            assert!(found.is_empty(), "{query}\n{steps:#?}");
        }
    }
}
