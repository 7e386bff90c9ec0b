//! Between "I am done" and done: commands that must succeed, and somebody else who looks at the work.

use hermes_store::rusqlite::{self, Connection, OptionalExtension, Transaction, params};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::act::{self, By};
use crate::board::{Board, Trouble};
use crate::card::{Card, CardId, Outcome, RunId, Seconds, Status};
use crate::claim::Lane;
use crate::complete::{self, Work};
use crate::dispatch::Rules;
use crate::dispatch::ended::{After, Failure, Over};
use crate::ending::FailureClass;
use crate::error::BoardError;
use crate::event::record;
use crate::transition::{Step, decide};

/// Who looks at finished work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reviewer {
    /// A person.
    Human,
    /// A profile.
    Profile(String),
    /// A command.
    Command(String),
}

impl Reviewer {
    /// Reads what stands on a card: a profile, `human`, or `command:…`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(command) = text.strip_prefix("command:") {
            let command = command.trim();
            return (!command.is_empty()).then(|| Self::Command(command.to_owned()));
        }
        let name = crate::card::assignee(text)?;
        Some(if name == "human" { Self::Human } else { Self::Profile(name) })
    }

    fn name(&self) -> &str {
        match self {
            Self::Human | Self::Command(_) => "human",
            Self::Profile(name) => name,
        }
    }
}

/// A command that must succeed before a card is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What for.
    pub kind: CheckKind,
    /// The command, for a shell in the card's workspace.
    pub command: String,
}

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// The card says what must hold.
    Acceptance,
    /// It looks at the work in place of a person or a profile.
    Review,
}

impl CheckKind {
    fn word(self) -> &'static str {
        match self {
            Self::Acceptance => "acceptance",
            Self::Review => "review",
        }
    }
}

/// What came of such a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// It succeeded.
    Passed,
    /// It did not; what it said.
    Failed {
        /// All or the end of its output.
        output: String,
    },
    /// It could not be run.
    Broken {
        /// Why.
        error: String,
    },
}

/// How much of a command's output the author is shown.
const SHOWN: usize = 4000;

/// How often work is sent back before a person has to decide.
pub const MOST_ROUNDS: i64 = 5;

impl Board {
    /// The next command that must succeed before the card of an attempt is done, if its worker has asked for that.
    pub fn pending_check(&mut self, run: RunId) -> Result<Option<Check>, BoardError> {
        self.read(|tx| {
            let Some(pending) = pending(tx, run)? else { return Ok(None) };
            next_check(tx, &pending.card, &pending.passed)
        })
    }

    /// What came of that command. The card is done, waits to be looked at, or goes back to its author.
    pub fn check_ended(
        &mut self,
        run: RunId,
        kind: CheckKind,
        came: &Checked,
        rules: &Rules,
        now: Seconds,
    ) -> Result<After, BoardError> {
        self.write(|tx| checked(tx, run, kind, came, rules, now))
    }

    /// Sends work back to its author, because somebody who looked at it says so. The comment says what to change.
    pub fn send_back(
        &mut self,
        id: &CardId,
        author: &str,
        comment: &str,
        by: By,
        now: Seconds,
    ) -> Result<Status, BoardError> {
        self.write(|tx| {
            let card = act::card(tx, id)?;
            act::own(&card, by)?;
            say(tx, id, author, comment, now)?;
            send_back(tx, &card, Some(comment), now)
        })
    }

    /// What an attempt is for.
    pub fn lane(&mut self, card: &CardId, run: RunId) -> Result<Lane, BoardError> {
        self.read(|tx| lane(tx, card, Some(run)))
    }
}

/// Finished work that waits for commands.
struct Pending {
    card: Card,
    work: Work,
    passed: Vec<CheckKind>,
}

fn pending(db: &Connection, run: RunId) -> rusqlite::Result<Option<Pending>> {
    let found: Option<(CardId, String, String)> = db
        .prepare_cached(
            "SELECT c.task_id, c.work, c.passed FROM hx_checks c JOIN tasks t ON t.id = c.task_id \
             WHERE c.run_id = ?1 AND t.current_run_id = ?1 AND t.status = 'running'",
        )?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((id, work, passed)) = found else { return Ok(None) };
    let Some(card) = crate::rows::find(db, &id)? else { return Ok(None) };
    Ok(Some(Pending {
        card,
        work: serde_json::from_str(&work).unwrap_or_default(),
        passed: serde_json::from_str(&passed).unwrap_or_default(),
    }))
}

/// The first command of a card that has not succeeded yet.
pub(crate) fn next_check(
    db: &Connection,
    card: &Card,
    passed: &[CheckKind],
) -> rusqlite::Result<Option<Check>> {
    let extras = crate::extras::Extras::load(db, &card.id)?;
    let acceptance = extras.acceptance.filter(|command| !command.trim().is_empty());
    let reviewer = match extras.reviewer.as_deref().and_then(Reviewer::parse) {
        Some(Reviewer::Command(command)) => Some(command),
        _ => None,
    };
    let all = [(CheckKind::Acceptance, acceptance), (CheckKind::Review, reviewer)];
    let mut open = all.into_iter().filter(|(kind, _)| !passed.contains(kind));
    Ok(open.find_map(|(kind, command)| Some(Check { kind, command: command? })))
}

/// Whether an attempt waits for a command.
pub(crate) fn is_pending(db: &Connection, run: RunId) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM hx_checks WHERE run_id = ?1")?.exists([run])
}

/// Keeps what a worker says of finished work until its commands have run.
pub(crate) fn ask(
    tx: &Transaction<'_>,
    card: &Card,
    run: RunId,
    work: &Work,
    check: &Check,
    now: Seconds,
) -> rusqlite::Result<()> {
    tx.execute(
        "INSERT INTO hx_checks (run_id, task_id, work, passed, asked_at) VALUES (?1, ?2, ?3, '[]', ?4) \
         ON CONFLICT (run_id) DO UPDATE SET work = excluded.work, passed = '[]', asked_at = excluded.asked_at",
        params![run, card.id, serde_json::to_string(work).unwrap_or_default(), now],
    )?;
    record(tx, &card.id, Some(run), "check_pending", &json!({ "kind": check.kind.word() }), now)?;
    Ok(())
}

fn checked(
    tx: &Transaction<'_>,
    run: RunId,
    kind: CheckKind,
    came: &Checked,
    rules: &Rules,
    now: Seconds,
) -> Result<After, Trouble> {
    let Some(mut pending) = pending(tx, run)? else { return Ok(After::Nothing) };
    let card = &pending.card;
    match came {
        Checked::Passed => {
            pending.passed.push(kind);
            tx.execute(
                "UPDATE hx_checks SET passed = ?2 WHERE run_id = ?1",
                params![run, serde_json::to_string(&pending.passed).unwrap_or_default()],
            )?;
            record(tx, &card.id, Some(run), "check_passed", &json!({ "kind": kind.word() }), now)?;
            if next_check(tx, card, &pending.passed)?.is_some() {
                return Ok(After::GoesOn);
            }
            forget(tx, run)?;
            settle(tx, card, run, &pending.work, now)
        }
        Checked::Failed { output } => {
            forget(tx, run)?;
            let text = format!(
                "The {} command did not succeed. The end of what it said:\n\n{}",
                kind.word(),
                end(output)
            );
            say(tx, &card.id, kind.word(), &text, now)?;
            let payload = json!({ "status": Status::Ready, "reason": format!("{}_failed", kind.word()) });
            let error = format!("the {} command did not succeed", kind.word());
            back(tx, card, run, rules, now).fail(&Failure {
                class: FailureClass::Task,
                outcome: Outcome::Blocked,
                event: "status",
                payload: payload.as_object().cloned().unwrap_or_default(),
                error: &error,
                until: None,
            })
        }
        Checked::Broken { error } => {
            forget(tx, run)?;
            let error = format!("{} command: {error}", kind.word());
            let payload = json!({ "error": crate::dispatch::ended::short(&error) });
            back(tx, card, run, rules, now).fail(&Failure {
                class: FailureClass::Infrastructure,
                outcome: Outcome::SpawnFailed,
                event: "spawn_failed",
                payload: payload.as_object().cloned().unwrap_or_default(),
                error: &error,
                until: None,
            })
        }
    }
}

fn back<'a>(tx: &'a Transaction<'a>, card: &'a Card, run: RunId, rules: &'a Rules, now: Seconds) -> Over<'a> {
    Over { tx, card, run, rules, now }
}

/// Every command has succeeded: somebody looks at the work, or it is done.
pub(crate) fn settle(
    tx: &Transaction<'_>,
    card: &Card,
    run: RunId,
    work: &Work,
    now: Seconds,
) -> Result<After, Trouble> {
    let extras = crate::extras::Extras::load(tx, &card.id)?;
    let reviewer = extras.reviewer.as_deref().and_then(Reviewer::parse);
    let reviewer = reviewer.filter(|reviewer| !matches!(reviewer, Reviewer::Command(_)));
    if let Some(reviewer) = reviewer
        && lane(tx, &card.id, Some(run))? == Lane::Work
    {
        complete::close(tx, card, work, now)?;
        tx.execute(
            "UPDATE tasks SET result = coalesce(?2, result) WHERE id = ?1",
            params![card.id, work.result],
        )?;
        to_review(tx, card, run, &reviewer, "needs_review", now)?;
        return Ok(After::Review);
    }
    complete::finish(tx, card, work, now)?;
    Ok(After::Done)
}

/// Puts a card where somebody looks at it. Its attempt must be closed.
pub(crate) fn to_review(
    tx: &Transaction<'_>,
    card: &Card,
    run: RunId,
    reviewer: &Reviewer,
    reason: &str,
    now: Seconds,
) -> Result<(), Trouble> {
    let facts = act::facts(tx, card)?;
    let step = decide(Step::SendToReview, &facts)
        .map_err(|refusal| BoardError::Refused { id: card.id.clone(), refusal })?;
    // Who looked at it and said nothing did not do the work.
    let author = if lane(tx, &card.id, Some(run))? == Lane::Work { card.assignee.as_deref() } else { None };
    act::release(tx, &card.id, step.to)?;
    own_row(tx, &card.id)?;
    tx.execute(
        "UPDATE hx_cards SET review_by = ?2, review_run = NULL, produced_by = coalesce(?3, produced_by), \
         produced_run = CASE WHEN ?3 IS NULL THEN produced_run ELSE ?4 END, skip_reason = NULL WHERE task_id = ?1",
        params![card.id, reviewer.name(), author, run],
    )?;
    let payload = json!({ "status": step.to, "reason": reason, "reviewer": reviewer.name() });
    record(tx, &card.id, Some(run), step.event, &payload, now)?;
    Ok(())
}

/// Work goes back to its author. Back and forth without end is for a person to decide.
pub(crate) fn send_back(
    tx: &Transaction<'_>,
    card: &Card,
    comment: Option<&str>,
    now: Seconds,
) -> Result<Status, Trouble> {
    let facts = act::facts(tx, card)?;
    let refuse = |refusal| BoardError::Refused { id: card.id.clone(), refusal };
    if card.status == Status::Running && lane(tx, &card.id, card.current_run)? == Lane::Work {
        let refusal = crate::transition::Refusal::NotFrom {
            status: card.status,
            from: crate::transition::Words(&[Status::Review]),
            done: "sent back",
        };
        return Err(refuse(refusal).into());
    }
    let step = decide(Step::SendBack, &facts).map_err(refuse)?;
    if let Some(run) = card.current_run {
        let end = crate::attempt::End { summary: comment, ..crate::attempt::End::default() };
        crate::attempt::close(tx, &card.id, run, Outcome::Completed, &end, now)?;
    }
    own_row(tx, &card.id)?;
    let rounds: i64 = tx.query_row(
        "UPDATE hx_cards SET review_rounds = review_rounds + 1, review_by = NULL, review_run = NULL, not_before = NULL, \
         skip_reason = NULL WHERE task_id = ?1 RETURNING review_rounds",
        [&card.id],
        |row| row.get(0),
    )?;
    if rounds >= MOST_ROUNDS {
        act::release(tx, &card.id, Status::Blocked)?;
        let reason = format!("sent back {rounds} times: somebody has to decide");
        record(tx, &card.id, card.current_run, "blocked", &json!({ "reason": reason, "by": "review" }), now)?;
        return Ok(Status::Blocked);
    }
    act::release(tx, &card.id, step.to)?;
    let payload = json!({ "status": step.to, "reason": "changes_requested" });
    record(tx, &card.id, card.current_run, step.event, &payload, now)?;
    Ok(step.to)
}

/// One who looks at work says that it cannot stay so: it goes back with what was said.
pub(crate) fn reject(
    tx: &Transaction<'_>,
    card: &Card,
    reason: Option<&str>,
    now: Seconds,
) -> Result<Status, Trouble> {
    if let Some(reason) = reason {
        let who: Option<String> = tx
            .prepare_cached("SELECT profile FROM task_runs WHERE id = ?1")?
            .query_row([card.current_run], |row| row.get(0))
            .optional()?
            .flatten();
        say(tx, &card.id, who.as_deref().unwrap_or("reviewer"), reason, now)?;
    }
    send_back(tx, card, reason, now)
}

/// What an attempt is for.
pub(crate) fn lane(db: &Connection, card: &CardId, run: Option<RunId>) -> rusqlite::Result<Lane> {
    let review: Option<RunId> = db
        .prepare_cached("SELECT review_run FROM hx_cards WHERE task_id = ?1")?
        .query_row([card], |row| row.get(0))
        .optional()?
        .flatten();
    Ok(if review.is_some() && review == run { Lane::Review } else { Lane::Work })
}

/// Where the card of an attempt waits to be taken again.
pub(crate) fn home(db: &Connection, card: &CardId, run: RunId) -> rusqlite::Result<Status> {
    Ok(match lane(db, card, Some(run))? {
        Lane::Work => Status::Ready,
        Lane::Review => Status::Review,
    })
}

/// Makes the row that holds what only this program knows of a card.
pub(crate) fn own_row(tx: &Transaction<'_>, card: &CardId) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT OR IGNORE INTO hx_cards (task_id) VALUES (?1)")?.execute([card])?;
    Ok(())
}

/// An attempt waits for no command any more.
pub(crate) fn forget(tx: &Transaction<'_>, run: RunId) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM hx_checks WHERE run_id = ?1")?.execute([run])?;
    Ok(())
}

fn say(tx: &Transaction<'_>, id: &CardId, author: &str, body: &str, now: Seconds) -> rusqlite::Result<()> {
    tx.execute(
        "INSERT INTO task_comments (task_id, author, body, created_at) VALUES (?1, ?2, ?3, ?4)",
        params![id, author, body, now],
    )?;
    let payload = json!({ "author": author, "len": body.chars().count() });
    record(tx, id, None, "commented", &payload, now)?;
    Ok(())
}

/// The end of a text.
fn end(text: &str) -> String {
    let text = text.trim_end();
    let skip = text.chars().count().saturating_sub(SHOWN);
    text.chars().skip(skip).collect()
}
